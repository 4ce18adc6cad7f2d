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

// Finds functions by the addresses of their code: linux_symbols.cc with elfutils, symbols_absent.cc
// without it.

namespace lauka::os {

/// A file with code, as the kernel knew it when a process mapped the file.
struct CodeIdentity {
  std::string path;         ///< path as the process saw it
  std::string build_id{};   ///< bytes of the build-id, not hexadecimal; empty: unknown
  std::uint64_t inode = 0;  ///< 0: unknown

  auto operator<=>(const CodeIdentity&) const = default;
};

/// The symbols of one file.
class CodeSymbols : NonCopyable {
 public:
  virtual ~CodeSymbols() = default;

  /// Returns the mangled symbol of the function at `offset` in the file; empty if missing.
  virtual std::string find(std::uint64_t offset) = 0;

  /// Calls `take` with the mangled symbol of each function.
  virtual void list(const std::function<void(const char*)>& take) = 0;
};

/// The symbols of a file, or why they are missing.
struct OpenedCode {
  std::unique_ptr<CodeSymbols> symbols{};
  std::string
      why_not{};  ///< reason without subject: "the file was replaced"; empty if there are symbols
};

/// True if this lauka was built with elfutils.
bool has_symbols();

/// Opens a file that `process` has mapped, as the process sees it while it lives, else as lauka
/// sees it, with the rights of `user` (nullopt: lauka's own). Finds debug symbols by build-id in
/// /usr/lib/debug, or by .gnu_debuglink; downloads nothing.
OpenedCode open_code(const CodeIdentity& identity, int process, const std::optional<User>& user);

/// Opens the code that the kernel maps into each process ("[vdso]"), from lauka's own memory.
OpenedCode open_vdso();

/// A symbol of a SymbolMap, whose keys are start addresses.
struct SymbolRange {
  std::uint64_t end = 0;  ///< first address after the code; 0: the code ends at the next symbol
  std::string name;
};
using SymbolMap = std::map<std::uint64_t, SymbolRange>;

/// Returns the name of the symbol at `address`; empty if no symbol covers it.
std::string find_symbol(const SymbolMap& symbols, std::uint64_t address);

/// Reads /proc/kallsyms; empty if it cannot be read, or if the kernel hides the addresses.
SymbolMap kernel_symbols();

/// Reads /tmp/perf-PID.map, which just-in-time compilers write for perf, with the rights of `user`
/// (nullopt: lauka's own). Empty if the file is missing, a link or not readable, or older than
/// `since` (time since 1970, UTC), because it may be an earlier process's.
SymbolMap compiled_symbols(int process, std::chrono::nanoseconds since,
                           const std::optional<User>& user);

/// Parses the text of /proc/kallsyms. Skips symbols that are not code or whose address is hidden.
SymbolMap parse_kernel_symbols(std::string_view text);

/// Parses the text of a perf-PID.map. Skips lines that cannot be parsed.
SymbolMap parse_compiled_symbols(std::string_view text);

}  // namespace lauka::os
