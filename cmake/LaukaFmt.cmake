# lauka_fmt: fmt as this build links it. A program that must not need shared libraries would have to compile fmt into each
# file that uses it, at 2.6 s a file (Debian has no static libfmt); compiled once from the same headers it costs that once.
add_library(lauka_fmt INTERFACE)
if(NOT LAUKA_STATIC_RUNTIME)
  lauka_try_link(links LOG fmt HEAD "#include <fmt/core.h>" BODY "return fmt::format(\"{}\", 1).empty() ? 1 : 0;" LIBRARIES fmt::fmt)
  if(links)
    message(STATUS "fmt: the library")
    target_link_libraries(lauka_fmt INTERFACE fmt::fmt)
    return()
  endif()
endif()

get_target_property(fmt_headers fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
if(NOT DEFINED LAUKA_FMT_ONCE)
  try_compile(LAUKA_FMT_ONCE ${PROJECT_BINARY_DIR}/fmt_probe
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/fmt_static.cc ${CMAKE_CURRENT_LIST_DIR}/fmt_probe.cc
    CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${fmt_headers}"
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON)
endif()
if(LAUKA_FMT_ONCE)
  message(STATUS "fmt: its headers, compiled once")
  add_library(lauka_fmt_static STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt_static.cc)
  target_include_directories(lauka_fmt_static SYSTEM PUBLIC ${fmt_headers})
  target_link_libraries(lauka_fmt INTERFACE lauka_fmt_static)
else()
  message(STATUS "fmt: its headers, compiled in each file")
  target_link_libraries(lauka_fmt INTERFACE fmt::fmt-header-only)  # another fmt keeps more of itself in templates
endif()
