#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lauka::report {

/// The style of text for people. The caller knows the terminal; report/ does not ask.
struct Style {
  bool color = false;
  std::size_t width = 0;    ///< cells of a line; 0: no limit. Kept to if 60 or more
  bool verbose = false;     ///< true: rows that are Shown::Verbose, too
  bool histogram = false;   ///< true: a histogram of wall time under each table
  bool ascii = false;       ///< "+-" and "..." instead of signs that the terminal may not have
  bool word_marks = false;  ///< "better" and "worse" instead of emoji; without UTF-8 always
};

/// The styles of a text.
enum class Ink : unsigned char { Plain, Bold, Dim, Green, Red };

/// Returns `text` in `ink`; unchanged if `color` is false, if it is empty, and in Ink::Plain.
std::string inked(std::string_view text, Ink ink, bool color);

/// Returns the cells that UTF-8 `text` takes: 2 for East Asian wide characters and emoji, 0 for
/// combining and invisible ones, 1 for a byte that is not UTF-8 and for "ambiguous" ones (… ± σ).
std::size_t display_width(std::string_view text);

/// Returns `text` in at most `width` cells; if it is wider, … replaces its end.
std::string cut_end(std::string_view text, std::size_t width);
/// The same, but … replaces its middle, since two long command lines differ at their ends.
std::string cut_middle(std::string_view text, std::size_t width);

/// Breaks `text` between words into lines of at most `width` cells (0: no limit), those after the
/// first indented by two more than the first; not within a name in quotes or between a number and
/// its ±. A wider word has a line of its own, whole.
std::string wrapped(std::string_view text, std::size_t width);

/// message_line(text), wrapped.
std::string wrapped_message(std::string_view text, std::size_t width);

/// Returns `text` with our own signs in ASCII: "+-", "...", "-", "better" and "worse" instead of
/// the marks, "~" for a cut. Other characters stay.
std::string to_ascii(std::string_view text);

}  // namespace lauka::report
