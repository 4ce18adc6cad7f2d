# The headers are Debian's. The one library with object code is compiled here, from the sources of the same release.
include(${CMAKE_CURRENT_LIST_DIR}/HostHeaders.cmake)
lauka_host_headers(Boost::headers boost libboost-dev)
# Boost 1.74 derives from std::unary_function, which libc++ does not have in C++17 and later, unless told so.
target_compile_definitions(Boost::headers INTERFACE BOOST_NO_CXX98_FUNCTION_BASE=1)

set(LAUKA_SOURCES_FOR_MACOS ${PROJECT_SOURCE_DIR}/build/cross-tools CACHE PATH "Where scripts/cross-macos puts sources")
set(from ${LAUKA_SOURCES_FOR_MACOS}/boost_program_options)
file(GLOB sources ${from}/*.cpp)
list(FILTER sources EXCLUDE REGEX /winmain)
if(NOT sources)
  message(FATAL_ERROR "There are no sources of Boost.Program_options in ${from}: run scripts/cross-macos")
endif()
add_library(boost_program_options STATIC EXCLUDE_FROM_ALL ${sources})
target_link_libraries(boost_program_options PUBLIC Boost::headers)
target_compile_options(boost_program_options PRIVATE -w)
add_library(Boost::program_options ALIAS boost_program_options)
set(Boost_FOUND TRUE)
