# libplist for LaukaLibplist.cmake, compiled from Debian's sources where scripts/cross-macos has put them. Read at the end of
# project(), since that file looks for a library in folders.
include(${CMAKE_CURRENT_LIST_DIR}/HostHeaders.cmake)
set(LAUKA_SOURCES_FOR_MACOS ${PROJECT_SOURCE_DIR}/build/cross-tools CACHE PATH "Where scripts/cross-macos puts sources")
file(GLOB sources ${LAUKA_SOURCES_FOR_MACOS}/libplist/*.c)
list(FILTER sources EXCLUDE REGEX /cnary\\.c)  # an example
if(NOT sources)
  message(FATAL_ERROR "There are no sources of libplist in ${LAUKA_SOURCES_FOR_MACOS}/libplist: run scripts/cross-macos")
endif()
lauka_host_headers(libplist_headers plist libplist-dev)
add_library(libplist_for_macos STATIC EXCLUDE_FROM_ALL ${sources})
target_link_libraries(libplist_for_macos PUBLIC libplist_headers)
list(GET sources 0 first_source)
get_filename_component(sources_folder ${first_source} DIRECTORY)
target_include_directories(libplist_for_macos PRIVATE ${sources_folder})  # some of its own headers stand in angles
target_compile_options(libplist_for_macos PRIVATE -w)
# What its configure script would find.
target_compile_definitions(libplist_for_macos PRIVATE HAVE_MEMMEM HAVE_STRPTIME HAVE_GMTIME_R HAVE_LOCALTIME_R
  HAVE_TIMEGM HAVE_TM_TM_GMTOFF HAVE_TM_TM_ZONE)
set(LAUKA_LIBPLIST ON CACHE STRING "")
set(LIBPLIST_INCLUDE_DIR ${PROJECT_BINARY_DIR}/host-headers CACHE PATH "")
set(LIBPLIST_STATIC_LIBRARY libplist_for_macos CACHE STRING "")
