#include "report/grid.h"

#include "report/width.h"

#include <algorithm>

namespace lauka::report {

std::vector<std::size_t> widths_of(const std::vector<GridRow>& rows) {
  std::vector<std::size_t> widths;
  for (const GridRow& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], display_width(row[c].text));
  }
  return widths;
}

std::size_t line_width(const std::vector<std::size_t>& widths, std::size_t gap) {
  std::size_t total = 0;
  for (const std::size_t width : widths) {
    if (width > 0) total += (total > 0 ? gap : 0) + width;
  }
  return total;
}

void narrow(std::vector<std::size_t>& widths, std::size_t gap, std::size_t limit,
            std::size_t least) {
  while (limit > 0 && line_width(widths, gap) > limit) {
    const auto widest = std::max_element(widths.begin(), widths.end());
    if (widest == widths.end() || *widest <= least) return;
    --*widest;
  }
}

std::string dim_note(std::string_view note, const Style& style) {
  return note.empty() ? "" : inked(wrapped(note, style.width), Ink::Dim, style.color) + "\n";
}

void make_ascii(std::vector<GridRow>& rows) {
  constexpr std::string_view unmarked = "   ";
  for (GridRow& row : rows) {
    for (Cell& cell : row) {
      const bool is_delta = cell.text.starts_with("⚡ ") || cell.text.starts_with("💩 ") ||
                            cell.text.starts_with(unmarked);
      cell.text = is_delta ? ascii_of_delta(cell.text) : ascii_of(cell.text);
    }
  }
}

std::string grid_text(const std::vector<GridRow>& rows, const std::vector<std::size_t>& widths,
                      std::size_t gap, bool color) {
  std::string text;
  for (const GridRow& row : rows) {
    std::size_t pending = 0;
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (widths[c] == 0) continue;
      const std::string cell = cut_middle(row[c].text, widths[c]);
      if (!cell.empty()) {
        text.append(pending, ' ');
        text += inked(cell, row[c].ink, color);
        pending = 0;
      }
      pending += widths[c] - display_width(cell) + gap;
    }
    text += "\n";
  }
  return text;
}

}  // namespace lauka::report
