#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lauka {

// Names, paths, events, values, what a program wrote, what a baseline holds: lauka did not write
// that, and shows it to a terminal, a browser or a spreadsheet.

/// What a text begins with: a character of UTF-8, or one byte that is none.
struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

/// Of `text`, which is not empty. Strict: overlong forms, surrogates and anything beyond U+10FFFF
/// are bytes, not characters.
Character first_character(std::string_view text);

/// `text` on one line, with nothing that steers whoever shows it: control characters become \n, \t
/// or \x1b, those that turn or hide what stands around them (U+202E and its like, U+2028, U+FEFF)
/// become \u202e, bytes that are not UTF-8 \xff. The same if it is done again.
std::string one_line(std::string_view text);

/// `text` with its middle replaced by … where it has more than `most` bytes.
std::string without_middle(std::string_view text, std::size_t most);

/// `text` in single quotes, for a message: as one_line, and without its middle where it is very
/// long.
std::string cited(std::string_view text);

/// "lauka: " and `text` as one_line, with a line break: what every message on standard error is.
std::string message_line(std::string_view text);

}  // namespace lauka
