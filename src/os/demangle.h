#pragma once

#include <string>
#include <string_view>

namespace lauka::os {

/// Returns a function's name as its programmer wrote it, for C++ (Itanium ABI) and Rust (old and v0
/// schemes, without hashes). Returns a symbol that it cannot read as it is.
std::string demangled(std::string_view symbol);

}  // namespace lauka::os
