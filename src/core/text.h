#pragma once

#include "core/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lauka {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// ASCII letters in lower case.
std::string lower_case(std::string_view text);

bool same_ignoring_case(std::string_view left, std::string_view right);

/// Without the white space at both ends.
std::string_view trimmed(std::string_view text);

/// The parts between `separator`; one (maybe empty) where there is none in it.
std::vector<std::string_view> split(std::string_view text, char separator);

/// The words between blanks, tabs and ends of lines.
std::vector<std::string_view> blank_separated(std::string_view text);

/// "1 run", "2 runs".
std::string plural(std::size_t count, std::string_view noun);

/// What stands behind `separator` in the first line of `text` that begins with `key`, without
/// blanks and double or single quotes around it; none where there is no such line.
std::optional<std::string> value_of(std::string_view text, std::string_view key, char separator);

/// A whole number, decimal or with 0x hexadecimal; none where it is anything else or exceeds 64
/// bits.
std::optional<std::uint64_t> parse_number(std::string_view text);

/// Hexadecimal digits without 0x, at least one.
std::optional<std::uint64_t> parse_hex(std::string_view digits);

/// "a", "a and b", "a, b and c".
std::string listed(std::span<const std::string> names, std::string_view last_word = "and");

/// `text` in lines of at most `width` characters, broken at blanks, and within a longer word after
/// a comma; what has neither stays whole. `width` 0: one line.
std::vector<std::string_view> wrapped(std::string_view text, std::size_t width);

/// How many insertions, deletions, replacements and swaps of neighbours turn one into the other
/// (optimal string alignment).
std::size_t edit_distance(std::string_view from, std::string_view to);

/// The candidate that `typed` was most likely meant to be, or nothing where none is near: one that
/// it abbreviates, else the one of least edit_distance, at most a third of its length.
std::string_view nearest(std::string_view typed, std::span<const std::string_view> candidates);

/// Those of `candidates` that `name` may have been meant to be, best first, at most three.
std::vector<std::string> nearest_names(std::string_view name,
                                       std::span<const std::string> candidates);

/// The words of `text` by the quoting rules of the POSIX shell (XCU 2.2): blanks and newlines
/// separate, backslashes and quotes protect. Nothing is expanded; operators, '#' and '$' are
/// characters like others. Refuses an unterminated quote and a backslash at the end; the error is
/// a predicate, as in numbers.h.
Result<std::vector<std::string>> split_words(std::string_view text);

/// What in `text` would have a meaning to a shell outside quotes, and has none without one: "|",
/// "&&", ";", ">", "<", "*", "$HOME", "`"; empty where there is nothing of that kind. A semicolon
/// at the end is none, as find -exec has it there.
std::string shell_syntax_in(std::string_view text);

/// `word` as one would type it into a shell: as it is where that is safe, else in single quotes.
std::string shell_quoted(std::string_view word);

/// The words as one would type them: quoted, with blanks between. split_words gives them back.
std::string shell_quoted(std::span<const std::string> words);

/// `text` with a backslash before each of the characters `special`.
std::string backslashed(std::string_view text, std::string_view special);

/// A line of a manual page as roff takes it: what would be a request, a quote or another character
/// there is escaped.
std::string for_roff(std::string_view text);

/// The end of a text that comes in pieces.
class OutputTail {
 public:
  static constexpr int kShown = 4096;  // bytes, about

  void clear() { text_.clear(); }
  void add(std::string_view bytes);

  /// Its last lines, whole: at most 20 and about 4 KB.
  std::string last_lines() const;

 private:
  std::string text_;
};

/// The same of a whole text.
std::string last_lines_of(std::string text);

}  // namespace lauka
