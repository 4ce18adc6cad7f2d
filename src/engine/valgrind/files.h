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

/// Returns a Pieces that yields `text` in one piece.
Pieces pieces_of(std::string text);

/// The longest line in Valgrind's files that is read, in bytes. Lines are as long as names of
/// functions, and C++ has names of 100 kB.
inline constexpr std::size_t kMaxLine = std::size_t{1} << 20U;

/// Reads a text line by line. Needs only as much memory as the longest line.
class LineReader {
 public:
  explicit LineReader(Pieces pieces) : pieces_(std::move(pieces)) {}

  /// Returns the next line without its line break, valid until the next call. nullopt at the end of
  /// the text, before a last line without line break, and before a line longer than kMaxLine.
  std::optional<std::string_view> next();

  /// True if next() has reached the end of the text, and the last line ended with a line break.
  bool is_whole() const { return is_whole_; }

 private:
  Pieces pieces_;
  std::string_view piece_{};
  std::string line_{};  // a line that spans several pieces
  bool is_whole_ = false;
};

/// The command line of a process, and its totals by the tool's own names.
struct Totals {
  std::string command;
  std::map<std::string, std::uint64_t, std::less<>> values;
};

/// Receives the counts of one line of a function, in the order of the file's events.
using FunctionSink =
    std::function<void(std::string_view function, const std::vector<std::uint64_t>& counts)>;

/// Reads a cachegrind.out file. Calls `begin` with the names of the file's events, then `sink` for
/// each line of counts. Returns nullopt if the file has another format, does not end with its
/// summary, or its summary differs from the sum of its lines.
std::optional<Totals> read_cachegrind(
    Pieces pieces, const std::function<void(const std::vector<std::string>& events)>& begin,
    const FunctionSink& sink);

/// Reads DHAT's JSON: `tbk` and `tb` are blocks and bytes allocated, `gbk` and `gb` blocks and
/// bytes at the peak, summed over all program points. Returns nullopt if the file is incomplete or
/// has another format.
std::optional<Totals> read_dhat(Pieces pieces);

}  // namespace lauka::engine::valgrind
