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

/// True for ASCII letters.
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Returns ASCII letters in lower case.
std::string lower_case(std::string_view text);

bool same_ignoring_case(std::string_view left, std::string_view right);

/// Removes the white space at both ends.
std::string_view trimmed(std::string_view text);

/// Splits `text` at each `separator`; without one, returns `text` alone, which may be empty.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Splits `text` at blanks, tabs and ends of lines.
std::vector<std::string_view> blank_separated(std::string_view text);

/// True if `word` is one of them.
bool has_word(std::string_view text, std::string_view word);

/// Returns "1 run", "2 runs".
std::string plural(std::size_t count, std::string_view noun);

/// Returns what follows `separator` in the first line of `text` that begins with `key`, without
/// blanks and double or single quotes around it; nullopt if there is no such line.
std::optional<std::string> find_value(std::string_view text, std::string_view key, char separator);

/// Reads a whole number, decimal or with 0x hexadecimal; nullopt if it is not one or exceeds 64
/// bits.
std::optional<std::uint64_t> parse_number(std::string_view text);

/// Reads hexadecimal digits without 0x, at least one.
std::optional<std::uint64_t> parse_hex(std::string_view digits);

/// Returns "a", "a and b", "a, b and c".
std::string listed(std::span<const std::string> names, std::string_view last_word = "and");

/// Breaks `text` into lines of at most `width` characters, at blanks, or after a comma within a
/// longer word; a word with neither stays whole. `width` 0: one line.
std::vector<std::string_view> wrapped(std::string_view text, std::size_t width);

/// Returns the candidate that `typed` most likely means, or nothing if none is near: one that it
/// abbreviates, else the one of least edit_distance, at most a third of its length.
std::string_view nearest(std::string_view typed, std::span<const std::string_view> candidates);

/// Returns the candidates that `name` may mean, best first, at most three.
std::vector<std::string> nearest_names(std::string_view name,
                                       std::span<const std::string> candidates);

/// Splits `text` into words by the quoting rules of the POSIX shell (XCU 2.2): blanks and newlines
/// separate, backslashes and quotes protect. Nothing is expanded; operators, '#' and '$' are
/// characters like others. Refuses an unterminated quote and a backslash at the end; the error is
/// a predicate, as in numbers.h.
Result<std::vector<std::string>> split_words(std::string_view text);

/// Returns the first shell syntax outside quotes in `text`: "|", "&&", ";", ">", "<", "*", "$HOME",
/// "`"; empty if it has none. A semicolon at the end does not count: find -exec has one.
std::string shell_syntax_in(std::string_view text);

/// Returns `word` as typed into a shell: as it is if that is safe, else in single quotes.
std::string shell_quoted(std::string_view word);

/// Returns the words as typed: quoted, with blanks between. split_words reverses it.
std::string shell_quoted(std::span<const std::string> words);

/// The end of a text that is added in pieces.
class OutputTail {
 public:
  static constexpr int kShown = 4096;  // bytes, about

  void clear() { text_.clear(); }
  void add(std::string_view bytes);

  /// Returns its last lines, whole: at most 20 and about 4 KB.
  std::string last_lines() const;

 private:
  std::string text_;
};

/// Returns the last lines of a whole text.
std::string last_lines_of(std::string text);

// Text from outside lauka (names, paths, events, values, output, baselines) that it shows in a
// terminal, a browser or a spreadsheet.

/// A character of UTF-8, or a byte that is not valid UTF-8.
struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

/// Reads the first character of `text`, which is not empty. Strict: overlong forms, surrogates and
/// anything beyond U+10FFFF are bytes, not characters.
Character first_character(std::string_view text);

/// Returns `text` on one line, unable to control a terminal: control characters become \n, \t or
/// \x1b, characters that turn or hide the text around them (U+202E and its like, U+2028, U+FEFF)
/// become \u202e, bytes that are not UTF-8 \xff. Idempotent.
std::string one_line(std::string_view text);

/// Replaces the middle of `text` by … if it has more than `most` bytes.
std::string without_middle(std::string_view text, std::size_t most);

/// Returns `text` in single quotes, or in double ones if it has single ones, for a message: as
/// one_line, and without its middle if very long.
std::string cited(std::string_view text);

/// Returns a message for standard error: "lauka: " and `text` as one_line, with a line break.
std::string message_line(std::string_view text);

}  // namespace lauka
