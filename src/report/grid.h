#pragma once

#include "report/ansi.h"
#include "report/style.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::report {

/// What stands at one place of a table.
struct Cell {
  std::string text{};
  Ink ink = Ink::Plain;
};

using GridRow = std::vector<Cell>;

/// The cells that each column takes.
std::vector<std::size_t> widths_of(const std::vector<GridRow>& rows);

/// The width of a line with `gap` cells between columns; a column of no width takes no gap either.
std::size_t line_width(const std::vector<std::size_t>& widths, std::size_t gap);

/// Makes the widest columns narrower, each to `least` at the least, until a line fits into `limit`
/// (0: none). Titles and values may be of any length.
void narrow(std::vector<std::size_t>& widths, std::size_t gap, std::size_t limit,
            std::size_t least = 8);

/// Below a table whose deltas have lost their intervals to a narrow terminal.
inline constexpr std::string_view kNoRoomForIntervals =
    "the terminal is too narrow for the intervals of deltas";

/// A line below a table that explains it, broken between words; empty where there is nothing to
/// say.
std::string dim_note(std::string_view note, const Style& style);

/// All texts in ASCII.
void make_ascii(std::vector<GridRow>& rows);

/// The rows as lines, columns left-aligned; what is too wide for its column loses its middle.
std::string grid_text(const std::vector<GridRow>& rows, const std::vector<std::size_t>& widths,
                      std::size_t gap, bool color);

}  // namespace lauka::report
