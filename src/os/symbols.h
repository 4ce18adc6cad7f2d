#pragma once

#include "core/command.h"
#include "core/result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lauka::os {

struct CodeIdentity {
  std::string path;        ///< without " (deleted)", which the kernel appends
  std::string build_id{};  ///< raw bytes, not hexadecimal; empty: unknown
  std::uint64_t inode = 0;

  auto operator<=>(const CodeIdentity&) const = default;
};

class CodeSymbols : NonCopyable {
 public:
  virtual ~CodeSymbols() = default;

  /// Returns the symbols, not demangled, of the function that has the code at `offset` in the file:
  /// several if they have one address. Empty if unknown.
  virtual std::vector<std::string> find(std::uint64_t offset) = 0;

  /// True if the code at `offset` only jumps to a function of a shared library (a procedure linkage
  /// table), and therefore has no symbol.
  virtual bool is_call_stub(std::uint64_t offset) = 0;

  /// Calls `take` with the symbols of each address of a function.
  virtual void list(const std::function<void(std::span<const char* const>)>& take) = 0;
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

/// Longest demangled name, in bytes. A symbol of 300 bytes may stand for a name of gigabytes.
inline constexpr std::size_t kMaxDemangled = 16'384;

/// Returns the demangled name of a C++ (Itanium ABI) or Rust symbol, for Rust without the hash;
/// `symbol` itself if it cannot be demangled, if the name would be longer than kMaxDemangled, or if
/// `can_read_symbols()` is false.
std::string demangled(const std::string& symbol);

}  // namespace lauka::os
