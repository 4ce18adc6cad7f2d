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

}  // namespace lauka::report
