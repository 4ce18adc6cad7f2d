# Every target of ours links this; imported packages do not.
add_library(lauka_warnings INTERFACE)
target_compile_options(lauka_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
  $<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast -Wnon-virtual-dtor -Woverloaded-virtual>)

# gcc 12 warns of a good deal of `"text" + std::string` when it optimizes (its bug 105329 and the like), and of the idle
# alternatives of a variant that is moved; more of it where the standard library comes precompiled.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(lauka_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread>)
endif()
