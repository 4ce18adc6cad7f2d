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

/// `text` on one line, with nothing that steers a terminal: control characters become \n, \t or
/// \x1b.
std::string one_line(std::string_view text);

}  // namespace lauka::report
