#pragma once

#include <string>
#include <string_view>

namespace lauka::os {

/// Demangles a symbol of C++ (Itanium ABI) or Rust (both schemes, without the hash). Returns any
/// other symbol unchanged.
std::string demangled(std::string_view symbol);

}  // namespace lauka::os
