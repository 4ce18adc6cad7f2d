# Every target of ours links this; imported packages do not.
add_library(lauka_warnings INTERFACE)
target_compile_options(lauka_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
  $<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast -Wnon-virtual-dtor -Woverloaded-virtual>)
