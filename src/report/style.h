#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lauka::report {

struct Style {
  bool color = false;
  std::size_t width = 0;  ///< preferred width of lines in cells; 0: no limit
  bool verbose = false;
  bool shows_all_differences = false;  ///< true: also those between two sides that need `verbose`
  bool shows_histograms = false;
  bool ascii = false;  ///< true: "+-" and "..." instead of signs that the terminal may lack
  bool shows_marks_as_words = false;
};

enum class Ink : unsigned char { Plain, Bold, Dim, Green, Red };

/// Returns `text` with the escape sequences for `ink`, if `color` is true.
std::string inked(std::string_view text, Ink ink, bool color);

/// Returns the number of terminal cells that UTF-8 `text` takes: 2 for wide East Asian characters
/// and most emoji, 0 for combining characters.
std::size_t display_width(std::string_view text);

/// Returns `text` in at most `width` cells. If it is wider, … replaces its end.
std::string cut_end(std::string_view text, std::size_t width);
/// Returns `text` in at most `width` cells. If it is wider, … replaces its middle, because long
/// command lines often differ at their ends.
std::string cut_middle(std::string_view text, std::size_t width);

/// Breaks `text` between words into lines of at most `width` cells; 0: no limit. Lines after the
/// first are indented by two more cells than the first. Words that are too wide stay whole.
std::string wrapped_to_cells(std::string_view text, std::size_t width);

/// Returns `text` as a message for standard error, wrapped to `width` cells; 0: no limit.
std::string wrapped_message(std::string_view text, std::size_t width);

/// Returns `text` with the signs that lauka uses, such as ± and …, in ASCII. Other characters are
/// unchanged.
std::string to_ascii(std::string_view text);

}  // namespace lauka::report
