#pragma once

#include "core/command.h"
#include "core/result.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace lauka::os {

struct CodeIdentity {
  std::string path;
  std::string build_id{};  ///< raw bytes, not hexadecimal; empty: unknown
  std::uint64_t inode = 0;

  auto operator<=>(const CodeIdentity&) const = default;
};

class CodeSymbols : NonCopyable {
 public:
  virtual ~CodeSymbols() = default;

  /// Returns the symbol, not demangled, of the code at `offset` in the file; empty if unknown.
  virtual std::string find(std::uint64_t offset) = 0;

  virtual void list(const std::function<void(const char*)>& take) = 0;
};

struct OpenedCode {
  std::unique_ptr<CodeSymbols> symbols{};
  std::string why_not{};  ///< such as "the file was replaced"; empty if there are symbols
};

/// True if this lauka was built with elfutils and libiberty.
bool can_read_symbols();

/// Opens a file that `process` has mapped: at the path as the process sees it, or else as lauka
/// sees it. Uses the rights of `user` (nullopt: lauka's own rights). Finds debug symbols by
/// build-id or .gnu_debuglink, but downloads none.
OpenedCode open_code(const CodeIdentity& identity, int process, const std::optional<User>& user);

OpenedCode open_vdso();

/// Returns the demangled name of a C++ (Itanium ABI) or Rust symbol, for Rust without the hash;
/// `symbol` itself if it cannot be demangled, or if `can_read_symbols()` is false.
std::string demangled(const std::string& symbol);

struct SymbolRange {
  std::uint64_t end = 0;  ///< first address after the code; 0: the next symbol's address
  std::string name;
};
using SymbolMap = std::map<std::uint64_t, SymbolRange>;

/// Returns the name of the symbol at `address`; empty if no symbol covers it.
std::string find_symbol(const SymbolMap& symbols, std::uint64_t address);

/// Reads /proc/kallsyms; empty if unreadable, or if the kernel hides the addresses.
SymbolMap kernel_symbols();

/// Reads /tmp/perf-PID.map, which just-in-time compilers write for perf, with the rights of `user`
/// (nullopt: lauka's own rights). Empty if the file cannot be read, is a link, or was last changed
/// in a second that ended before `since` (time since 1970, UTC), perhaps by another process.
SymbolMap jit_symbols(int process, std::chrono::nanoseconds since, const std::optional<User>& user);

/// Parses the text of /proc/kallsyms. Skips symbols that are not code, and hidden addresses.
SymbolMap parse_kernel_symbols(std::string_view text);

SymbolMap parse_jit_symbols(std::string_view text);

}  // namespace lauka::os
