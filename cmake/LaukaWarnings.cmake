# Every target of ours links this; imported packages do not. To look for what to warn of takes a sixth of a build's time, and who
# builds the program to use it can do nothing about it: the release preset looks only where warnings are errors, as in CI.
option(LAUKA_WARNINGS "Compile with warnings" ON)
add_library(lauka_warnings INTERFACE)
# An error in every preset: a kind without its case takes the way of the last one.
set(no_missing_case -Werror=switch)
if(NOT LAUKA_WARNINGS AND NOT CMAKE_COMPILE_WARNING_AS_ERROR)
  # What gcc warns of on its own account when it optimizes; see below.
  target_compile_options(lauka_warnings INTERFACE ${no_missing_case} $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow -Wno-stringop-overread>)
  return()
endif()
target_compile_options(lauka_warnings INTERFACE ${no_missing_case}
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
  $<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast -Wnon-virtual-dtor -Woverloaded-virtual -Wdeprecated-copy-dtor>)

# gcc 12 to 14 warn of a good deal of `"text" + std::string` when they optimize (gcc's bug 105329 and the like), and of the idle
# alternatives of a variant that is moved; more of it where the standard library comes precompiled.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15)
  target_compile_options(lauka_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread>)
endif()
