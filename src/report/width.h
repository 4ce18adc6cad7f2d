#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lauka::report {

/// Terminal cells that UTF-8 `text` takes: 2 for East Asian wide characters and emoji, 0 for
/// combining marks and invisible format characters, 1 for each byte that is not UTF-8. East Asian
/// "ambiguous" characters (… ± σ) take 1, as terminals draw them by default.
std::size_t display_width(std::string_view text);

/// `text` in at most `width` cells, its end replaced by … where it is wider.
std::string cut_end(std::string_view text, std::size_t width);

/// `text` in at most `width` cells, its middle replaced by … where it is wider: of two long command
/// lines the ends are what differs.
std::string cut_middle(std::string_view text, std::size_t width);

/// `text` broken between words into lines of at most `width` cells (0: no limit), those after the
/// first indented by two; not within a name in quotes or between a number and its ±. A word that is
/// wider stands alone, whole.
std::string wrapped(std::string_view text, std::size_t width);

/// message_line(text), wrapped.
std::string wrapped_message(std::string_view text, std::size_t width);

/// `text` with our own signs in ASCII: "+-", "...", "-", "better" and "worse" instead of the marks,
/// "~" where something was cut.
/// Other characters stay as they are.
std::string ascii_of(std::string_view text);

/// The same of a delta in a column, whose marks and blanks take as many cells.
std::string ascii_of_delta(std::string_view text);

}  // namespace lauka::report
