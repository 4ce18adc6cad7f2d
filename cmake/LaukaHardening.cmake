# What the program as users get it is built with besides, as it runs as root and reads what others write: sizes that the
# compiler knows are checked while it runs, overwritten return addresses are noticed, and what the linker has filled in
# cannot be changed. `scripts/check package` verifies it.
add_library(lauka_hardening INTERFACE)
if(APPLE)
  return()  # the compiler's defaults there
endif()
set(fortified 3)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  set(fortified 2)
endif()
# _FORTIFY_SOURCE needs optimization, and the sanitizers have checks of their own.
target_compile_options(lauka_hardening INTERFACE
  $<$<CONFIG:Release>:-fstack-protector-strong;-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=${fortified}>)
target_link_options(lauka_hardening INTERFACE $<$<CONFIG:Release>:-Wl,-z,relro,-z,now,-z,noexecstack>)
