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
  std::string path;         ///< path that the process saw
  std::string build_id{};   ///< bytes of the build-id; empty: unknown
  std::uint64_t inode = 0;  ///< inode; 0: unknown

  auto operator<=>(const CodeIdentity&) const = default;
};

/// The symbols of one file.
class CodeSymbols : NonCopyable {
 public:
  virtual ~CodeSymbols() = default;

  /// Returns the mangled symbol of the function at an offset in the file; empty if there is none.
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

/// A symbol of a SymbolMap, whose key is the address where it begins.
struct SymbolRange {
  std::uint64_t end = 0;  ///< address after the code; 0: up to the next symbol
  std::string name;
};
using SymbolMap = std::map<std::uint64_t, SymbolRange>;

/// Returns the name of the symbol at an address; empty if no symbol covers it.
std::string find_symbol(const SymbolMap& symbols, std::uint64_t address);

/// Reads /proc/kallsyms; empty if the kernel hides the addresses.
SymbolMap kernel_symbols();

/// Reads /tmp/perf-PID.map, which compilers at run time write for perf. Empty if it is missing, or
/// was written before `since` (time since 1970, UTC): it may be an earlier process's.
SymbolMap compiled_symbols(int process, std::chrono::nanoseconds since);

/// Parses the text of /proc/kallsyms. Skips lines that are not code.
SymbolMap parse_kernel_symbols(std::string_view text);

/// Parses the text of a perf-PID.map. Skips lines that cannot be read.
SymbolMap parse_compiled_symbols(std::string_view text);

}  // namespace lauka::os
