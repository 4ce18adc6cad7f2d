#pragma once

#include "core/result.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

// The functions at addresses of code: linux_symbols.cc by elfutils, symbols_absent.cc without it.

namespace lauka::os {

/// A file with code, as the kernel knew it when a process mapped it.
struct CodeIdentity {
  std::string path;         ///< as the process saw it
  std::string build_id{};   ///< its bytes; empty: not known
  std::uint64_t inode = 0;  ///< 0: not known

  auto operator<=>(const CodeIdentity&) const = default;
};

/// The symbols of one file.
class CodeSymbols : NonCopyable {
 public:
  virtual ~CodeSymbols() = default;

  /// Returns the symbol, as the linker has it, of the function at an offset in the file; empty if
  /// it has none.
  virtual std::string find(std::uint64_t offset) = 0;
};

/// The symbols of a file, or why they are missing.
struct OpenedCode {
  std::unique_ptr<CodeSymbols> symbols{};
  std::string why_not{};  ///< "the file was replaced"
};

/// True if this lauka was built with elfutils.
bool has_symbols();

/// Opens a file that `process` has mapped: as the process sees it while it lives, else as lauka
/// does. Debug symbols are found by build-id in /usr/lib/debug; nothing is downloaded.
OpenedCode open_code(const CodeIdentity& identity, int process);

/// Opens the code that the kernel itself gives to each process ("[vdso]").
OpenedCode open_vdso();

/// Names by the address where they begin, each up to its end or the next.
struct SymbolRange {
  std::uint64_t end = 0;  ///< 0: up to the next
  std::string name;
};
using SymbolMap = std::map<std::uint64_t, SymbolRange>;

/// Returns the name at an address; empty if there is none.
std::string find_symbol(const SymbolMap& symbols, std::uint64_t address);

/// Reads /proc/kallsyms; empty if it hides addresses.
SymbolMap kernel_symbols();

/// Reads the map that a compiler at run time writes for perf, /tmp/perf-PID.map. Empty if there is
/// none that was written after `since` (1970, UTC): it may be of an earlier process.
SymbolMap compiled_symbols(int process, std::chrono::nanoseconds since);

/// Parse the lines of these files.
SymbolMap parse_kernel_symbols(std::string_view text);
SymbolMap parse_compiled_symbols(std::string_view text);

}  // namespace lauka::os
