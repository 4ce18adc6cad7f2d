#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lauka::report {

/// How text for people is to look. The caller knows the terminal; report/ does not ask.
struct Style {
  bool color = false;
  std::size_t width = 0;    ///< cells of a line; 0: no limit. Kept to where it is 60 or more
  bool verbose = false;     ///< also the rows that are Shown::Verbose
  bool histogram = false;   ///< of wall time, under each table
  bool ascii = false;       ///< "+-" and "..." instead of signs that the terminal may not have
  bool word_marks = false;  ///< "better" and "worse" instead of emoji; without UTF-8 always
};

/// All the looks a text can have.
enum class Ink : unsigned char { Plain, Bold, Dim, Green, Red };

/// `text` in `ink`; as it is where `color` is false, where it is empty, and in Ink::Plain.
std::string inked(std::string_view text, Ink ink, bool color);

/// Goes to the start of the line and clears it.
inline constexpr std::string_view kEraseLine = "\r\x1b[K";

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

}  // namespace lauka::report
