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

/// Returns the next piece of a text; empty at its end. The piece is valid until the next call.
using Pieces = std::function<std::string_view()>;

/// Returns `text` in one piece.
Pieces pieces_of(std::string text);

/// The longest line of Valgrind's files that is read, in bytes. Lines are as long as the names of
/// functions, of which C++ has some of 100 kB.
inline constexpr std::size_t kMaxLine = std::size_t{1} << 20U;

/// Reads a text line by line, in as much memory as its longest line needs.
class LineReader {
 public:
  explicit LineReader(Pieces pieces) : pieces_(std::move(pieces)) {}

  /// Returns the next line without its end, valid until the next call. nullopt at the end of the
  /// text, and before a line longer than kMaxLine.
  std::optional<std::string_view> next();

  /// True if the text ended, and its last line had an end.
  bool is_whole() const { return is_whole_; }

 private:
  Pieces pieces_;
  std::string_view piece_{};
  std::string line_{};  // pieces of a line that is not in one piece
  bool is_whole_ = false;
};

/// The totals of a process under the tool's own names, and its command line.
struct Totals {
  std::string command;
  std::map<std::string, std::uint64_t, std::less<>> values;
};

/// Receives the counts of a line of one function, in the order of the file's events.
using FunctionSink =
    std::function<void(std::string_view function, const std::vector<std::uint64_t>& counts)>;

/// Reads a cachegrind.out file. `begin` is called with the names of its events before `sink` is
/// called for each line of counts. Returns nullopt if the file is not one, ends before its summary,
/// or has another summary than the sum of its lines.
std::optional<Totals> read_cachegrind(
    Pieces pieces, const std::function<void(const std::vector<std::string>& events)>& begin,
    const FunctionSink& sink);

/// Reads the JSON of DHAT: the values are `tbk` and `tb` (blocks and bytes that were allocated),
/// `gbk` and `gb` (the same at the peak). Returns nullopt if it is not whole.
std::optional<Totals> read_dhat(Pieces pieces);

}  // namespace lauka::engine::valgrind
