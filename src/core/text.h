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

/// Returns `text` with ASCII letters in lower case.
std::string lower_case(std::string_view text);

bool same_ignoring_case(std::string_view left, std::string_view right);

/// Removes the white space at both ends.
std::string_view trimmed(std::string_view text);

/// Splits `text` at each `separator`. Without a separator the result is `text` alone, even if
/// empty.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Splits `text` at blanks, tabs and line breaks, without empty parts.
std::vector<std::string_view> blank_separated(std::string_view text);

/// True if `word` is one of the words of `text`, which blanks separate.
bool has_word(std::string_view text, std::string_view word);

/// Returns "1 run" or "2 runs" for the noun "run".
std::string plural(std::size_t count, std::string_view noun);

/// Finds the first line of `text` whose part before `separator` is `key`, and returns the part
/// after it; both parts without surrounding blanks, the latter without quotes. nullopt if there is
/// no such line.
std::optional<std::string> find_value(std::string_view text, std::string_view key, char separator);

/// Reads a whole number, decimal or hexadecimal with 0x; nullopt if `text` is not a number or the
/// number exceeds 64 bits.
std::optional<std::uint64_t> parse_number(std::string_view text);

/// Reads hexadecimal digits without 0x; nullopt if `digits` is empty or has other characters, or
/// the number exceeds 64 bits.
std::optional<std::uint64_t> parse_hex(std::string_view digits);

/// Returns "a", "a and b" or "a, b and c"; `last_word` replaces "and".
std::string listed(std::span<const std::string> names, std::string_view last_word = "and");

/// Breaks `text` into lines of at most `width` bytes, at blanks or after a comma within a longer
/// word. A longer word without a comma in its first `width` bytes stays whole. `width` 0 means one
/// line.
std::vector<std::string_view> wrapped(std::string_view text, std::size_t width);

/// Returns the candidate that `typed` most likely means: the first that it abbreviates with at
/// least two characters, else the one with the smallest edit_distance, if that is 1 or at most a
/// third of the length of `typed`. Empty if no candidate is near.
std::string_view nearest(std::string_view typed, std::span<const std::string_view> candidates);

/// Returns at most three candidates that `name` may mean, the best first.
std::vector<std::string> nearest_names(std::string_view name,
                                       std::span<const std::string> candidates);

/// Splits `text` into words by the quoting rules of the POSIX shell (XCU 2.2): blanks and newlines
/// separate words; backslashes and quotes protect characters. Expands nothing; operators, '#' and
/// '$' are ordinary characters. Refuses an unterminated quote and a backslash at the end. The error
/// is a predicate; the caller adds the subject.
Result<std::vector<std::string>> split_words(std::string_view text);

/// Returns the first shell syntax outside quotes in `text`: "|", "&&", ";", ">", "<", "*", "~",
/// "{a,b}", "$HOME", "`" (the last two also in double quotes); empty if missing. Ignores a
/// semicolon at the end of a find command, because -exec has one.
std::string shell_syntax_in(std::string_view text);

/// Returns `word` as a user would type it into a shell: unchanged if safe, else in single quotes.
std::string shell_quoted(std::string_view word);

/// Returns `words` as a user would type them into a shell, with blanks between. split_words
/// reverses this.
std::string shell_quoted(std::span<const std::string> words);

/// Keeps the end of a text that is added in pieces.
class OutputTail {
 public:
  static constexpr int kShown = 4096;  // number of bytes kept, at least

  void clear() { text_.clear(); }
  void add(std::string_view bytes);

  /// Returns the last lines, at most 20 and 4 KB; the first is cut only if it is alone.
  std::string last_lines() const;

 private:
  std::string text_;
};

/// Returns the last lines of `text`, as OutputTail does.
std::string last_lines_of(std::string text);

// Text from outside lauka (names, paths, events, output, baselines), made safe for a terminal, a
// browser or a spreadsheet.

/// A UTF-8 character, or a single byte that is not valid UTF-8.
struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

/// Reads the first character of `text`, which must not be empty. Overlong forms, surrogates and
/// codes above U+10FFFF are not valid: the result is a single byte.
Character first_character(std::string_view text);

/// Returns `text` as one line that cannot control a terminal. Control characters become \n, \t or
/// \x1b; characters that reorder or hide text (such as U+202E, U+2028, U+FEFF) become \u202e; bytes
/// that are not UTF-8 become \xff. Idempotent.
std::string one_line(std::string_view text);

/// Replaces the middle of `text` by … if `text` has more than `most` bytes.
std::string without_middle(std::string_view text, std::size_t most);

/// Returns `text` for a message: on one line, in single quotes (in double quotes if it contains
/// only single ones), and without its middle if very long.
std::string cited(std::string_view text);

/// Returns a line for standard error: "lauka: " and `text`, made safe by one_line, without its
/// middle if very long.
std::string message_line(std::string_view text);

}  // namespace lauka
