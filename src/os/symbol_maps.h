#pragma once

#include "core/command.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::os {

struct SymbolRange {
  std::uint64_t end = 0;  ///< first address after the code; 0: the next symbol's address
  std::vector<std::string> names;
};

using SymbolMap = std::map<std::uint64_t, SymbolRange>;

/// Returns the names of the symbol at `address`; empty if no symbol covers it.
std::vector<std::string> find_symbol(const SymbolMap& symbols, std::uint64_t address);

/// Reads /proc/kallsyms; empty if unreadable, or if the kernel hides the addresses.
SymbolMap read_kernel_symbols();

/// Reads /tmp/perf-PID.map, which just-in-time compilers write for perf, with the rights of `user`
/// (nullopt: lauka's own rights). Empty if the file cannot be read, is a link, or was last changed
/// in a second that ended before `since` (time since 1970, UTC), perhaps by another process.
SymbolMap read_jit_symbols(int process, std::chrono::nanoseconds since,
                           const std::optional<User>& user);

/// Parses the text of /proc/kallsyms. Skips symbols that are not code, and hidden addresses.
SymbolMap parse_kernel_symbols(std::string_view text);

SymbolMap parse_jit_symbols(std::string_view text);

}  // namespace lauka::os
