#pragma once

#include <string>
#include <string_view>

namespace lauka::os {

/// Returns the name of a function as its programmer wrote it: of C++ (Itanium's ABI) and of Rust,
/// in its old and new (v0) scheme, without Rust's hashes. Another symbol is returned as it is.
std::string demangled(std::string_view symbol);

}  // namespace lauka::os
