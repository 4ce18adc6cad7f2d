# Boost.Program_options: Boost::program_options. Boost's own CMake files choose by what is there, not by what links.
if(TARGET Boost::program_options)  # that of a toolchain
  set(ProgramOptions_FOUND TRUE)
  return()
endif()
lauka_choose_library(ProgramOptions Boost::program_options REQUIRED NAME Boost.Program_options DEBIAN libboost-program-options-dev
  HEADERS boost/program_options.hpp=Boost_INCLUDE_DIR LIBRARIES boost_program_options=Boost_PROGRAM_OPTIONS_LIBRARY
  HINTS ${Boost_LIBRARY_DIRS} ${Boost_DIR}/../..
  HEAD "#include <boost/program_options/errors.hpp>" BODY "boost::program_options::unknown_option error;")
set(definitions BOOST_ALL_NO_LIB)
if(ProgramOptions_LINK STREQUAL "shared")
  list(APPEND definitions BOOST_PROGRAM_OPTIONS_DYN_LINK)
endif()
set_property(TARGET Boost::program_options APPEND PROPERTY INTERFACE_LINK_LIBRARIES Boost::headers)
set_property(TARGET Boost::program_options PROPERTY INTERFACE_COMPILE_DEFINITIONS ${definitions})
