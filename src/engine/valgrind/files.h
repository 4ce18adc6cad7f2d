#pragma once

#include "core/result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lauka::engine::valgrind {

/// A function that returns the next piece of a text, or an empty piece at the end. A piece is valid
/// until the next call.
using Pieces = std::function<std::string_view()>;

/// Returns a function that returns `text` in one piece.
Pieces pieces_of(std::string text);

/// Longest line that is read, in bytes.
inline constexpr std::size_t kMaxLine = std::size_t{1} << 20U;

class LineReader {
 public:
  explicit LineReader(Pieces pieces) : pieces_(std::move(pieces)) {}

  /// Returns the next line without its line break, valid until the next call; nullopt if no
  /// complete line of at most kMaxLine bytes follows.
  std::optional<std::string_view> next();

  /// True if next() has returned nullopt because no text was left.
  bool has_read_all() const { return has_read_all_; }

 private:
  Pieces pieces_;
  std::string_view piece_{};
  std::string line_{};
  bool has_read_all_ = false;
};

/// The command line of a process, and the process's total counts by the tool's names for counts.
struct TotalsOfProcess {
  std::string command;
  std::map<std::string, std::uint64_t, std::less<>> values;
};

/// A function that receives the counts of one source line of a function, in the order of the file's
/// events.
using FunctionLineSink =
    std::function<void(std::string_view function, const std::vector<std::uint64_t>& counts)>;

/// Reads a cachegrind.out file. Calls `begin` with the names of the file's events, then `sink` for
/// each line of counts. Returns the totals; nullopt if the file is incomplete or malformed.
std::optional<TotalsOfProcess> read_cachegrind(
    Pieces pieces, const std::function<void(const std::vector<std::string>& events)>& begin,
    const FunctionLineSink& sink);

/// Reads DHAT's JSON. Returns the totals `tbk` and `tb` (blocks and bytes that were allocated),
/// `gbk` and `gb` (blocks and bytes at the peak); nullopt if the file is incomplete or malformed.
std::optional<TotalsOfProcess> read_dhat(Pieces pieces);

}  // namespace lauka::engine::valgrind
