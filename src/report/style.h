#pragma once

#include <cstddef>

namespace lauka::report {

/// How text for people is to look. The caller knows the terminal; report/ does not ask.
struct Style {
  bool color = false;
  std::size_t width = 0;   ///< cells of a line; 0: no limit. Kept to where it is 60 or more
  bool verbose = false;    ///< also the rows that are Shown::Verbose
  bool histogram = false;  ///< of wall time, under each table
  bool ascii = false;      ///< "+-" and "..." instead of signs that the terminal may not have
};

}  // namespace lauka::report
