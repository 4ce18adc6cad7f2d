// The part of fmt that is compiled once, as its shared library has it.
#include <fmt/format-inl.h>
