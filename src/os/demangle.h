#pragma once

#include <string>
#include <string_view>

namespace lauka::os {

/// Returns the demangled name of a C++ (Itanium ABI) or Rust symbol, for Rust without the hash;
/// `symbol` itself if it cannot be demangled.
std::string demangled(std::string_view symbol);

}  // namespace lauka::os
