#pragma once

#include "core/result.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lauka {

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

}  // namespace lauka
