#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lauka {

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

/// Returns `text` in single quotes, for a message: as one_line, and without its middle if very
/// long.
std::string cited(std::string_view text);

/// Returns a message for standard error: "lauka: " and `text` as one_line, with a line break.
std::string message_line(std::string_view text);

}  // namespace lauka
