#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lauka::report {

/// The style of text for people. The caller knows the terminal; report/ does not ask.
struct Style {
  bool color = false;
  std::size_t width = 0;  ///< width of lines in cells; 0: no limit; widths below 60 may be exceeded
  bool verbose = false;   ///< true: also show rows that are Shown::Verbose
  bool histogram = false;   ///< true: show a histogram of wall time under each table
  bool ascii = false;       ///< true: "+-" and "..." instead of signs that the terminal may lack
  bool word_marks = false;  ///< true: "better" and "worse" instead of emoji
};

/// A style of text.
enum class Ink : unsigned char { Plain, Bold, Dim, Green, Red };

/// Returns `text` with escape sequences for `ink`; unchanged if `color` is false, `text` is empty
/// or `ink` is Plain.
std::string inked(std::string_view text, Ink ink, bool color);

/// Returns the number of cells that UTF-8 `text` takes: 2 for East Asian wide characters and emoji,
/// 0 for combining and invisible characters, 1 for a byte that is not UTF-8 and for "ambiguous"
/// characters (… ± σ).
std::size_t display_width(std::string_view text);

/// Returns `text` in at most `width` cells; if it is wider, … replaces its end.
std::string cut_end(std::string_view text, std::size_t width);
/// Returns `text` in at most `width` cells; if it is wider, … replaces its middle, because long
/// command lines often differ at their ends.
std::string cut_middle(std::string_view text, std::size_t width);

/// Breaks `text` between words into lines of at most `width` cells (0: no limit). Lines after the
/// first are indented by two more cells than the first. Never breaks a quoted name that fits into a
/// line, or between a number and its ± or …. A word wider than `width` has a line of its own.
std::string wrapped(std::string_view text, std::size_t width);

/// Returns message_line(text), wrapped to `width` cells.
std::string wrapped_message(std::string_view text, std::size_t width);

/// Returns `text` with lauka's own signs in ASCII, such as "+-", "...", "-", "~" for a cut,
/// "better" and "worse" for marks. Other characters are unchanged.
std::string to_ascii(std::string_view text);

}  // namespace lauka::report
