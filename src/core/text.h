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

/// Return `text` with ASCII letters in lower or upper case, whatever the locale.
std::string lower_case(std::string_view text);
std::string upper_case(std::string_view text);

bool same_ignoring_case(std::string_view left, std::string_view right);

/// Returns `text` without blanks, tabs and line breaks at both ends.
std::string_view trimmed(std::string_view text);

/// Splits `text` at each `separator`; parts may be empty.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Splits `text` at blanks, tabs and line breaks; leaves out empty parts.
std::vector<std::string_view> blank_separated(std::string_view text);

bool has_word(std::string_view text, std::string_view word);

/// Returns "1 run" or "2 runs" for the noun "run".
std::string plural(std::size_t count, std::string_view noun);

/// Returns the value in the first line "key<separator>value" of `text` that has the key `key`;
/// nullopt if missing. Surrounding blanks and quotes are removed.
std::optional<std::string> find_value(std::string_view text, std::string_view key, char separator);

/// Reads a whole number of at most 64 bits, decimal or hexadecimal with 0x; nullopt for other text.
std::optional<std::uint64_t> parse_number(std::string_view text);

/// Reads a hexadecimal number of at most 64 bits without 0x; nullopt for other text.
std::optional<std::uint64_t> parse_hex(std::string_view digits);

/// Returns "a", "a and b" or "a, b and c"; `last_word` replaces "and".
std::string listed(std::span<const std::string> names, std::string_view last_word = "and");

/// Breaks `text` at blanks into lines of at most `width` bytes (0: no limit). A longer word is
/// broken after a comma if possible; else the word stays whole.
std::vector<std::string_view> wrapped(std::string_view text, std::size_t width);

/// Returns the candidate that `typed` abbreviates or most resembles; empty if no candidate is
/// similar.
std::string_view nearest(std::string_view typed, std::span<const std::string_view> candidates);

/// Returns up to three candidates that `name` may mean, the most similar first.
std::vector<std::string> nearest_names(std::string_view name,
                                       std::span<const std::string> candidates);

/// Splits `text` into words by the quoting rules of the POSIX shell (XCU 2.2), without expansions;
/// operators are ordinary characters. The error is a predicate: "has an unterminated single quote".
Result<std::vector<std::string>> split_words(std::string_view text);

/// Returns the first common shell syntax in `text` that quotes do not protect ("|", "$HOME"); empty
/// if no syntax is found.
std::string shell_syntax_in(std::string_view text);

/// Returns `word` as a user would type it into a shell: unchanged if safe, else in single quotes.
std::string shell_quoted(std::string_view word);

std::string shell_quoted(std::span<const std::string> words);

/// Keeps the end of a text that is added in pieces.
class OutputTail {
 public:
  static constexpr int kShown = 4096;  // largest size of last_lines(), in bytes

  void clear() { text_.clear(); }
  void add(std::string_view bytes);

  /// Returns the last lines: at most 20, and at most kShown bytes.
  std::string last_lines() const;

 private:
  std::string text_;
};

/// Returns the last lines of `text`: at most 20, and at most OutputTail::kShown bytes.
std::string last_lines_of(std::string text);

/// A UTF-8 character, or a single byte that is not valid UTF-8.
struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

/// Reads the first character of `text`, which must not be empty. A byte that is not valid UTF-8 is
/// read alone.
Character first_character(std::string_view text);

/// Returns `text` as one line that cannot control a terminal: characters that break lines, change
/// the direction of text or hide in it, and invalid bytes, become escapes (\n, \u202e, \xff).
std::string one_line(std::string_view text);

/// Returns `text`, with … in place of its middle if it has more than `most` bytes.
std::string without_middle(std::string_view text, std::size_t most);

/// Returns `text` in quotes for a message, made safe by one_line(). A very long text loses its
/// middle.
std::string cited(std::string_view text);

/// Returns "lauka: " and `text` as a line for standard error, made safe by one_line(). A very long
/// text loses its middle.
std::string message_line(std::string_view text);

/// Returns the last part of a path: "prog" of "./build/prog".
std::string_view file_name_of(std::string_view path);

/// Returns a path that is relative to `folder` as lauka has to write it in its own folder.
/// `folder`: empty if it is lauka's own.
std::string path_seen_from(const std::string& folder, const std::string& path);

}  // namespace lauka
