#include "report/table.h"

#include "core/text.h"
#include "report/charts.h"

#include <algorithm>

#include <fmt/format.h>

namespace lauka::report {

namespace {

constexpr std::string_view kNoMark = "   ";      // as wide as "⚡ "
constexpr std::string_view kNoWord = "       ";  // as wide as "better "

bool is_foreign(Holds holds) {
  return holds == Holds::Name || holds == Holds::Code || holds == Holds::Text;
}

std::size_t form_of(const TableColumn& column, Less less) {
  return static_cast<std::size_t>(
      std::ranges::count_if(column.narrows, [&](Less narrows) { return narrows <= less; }));
}

std::string_view mark_text(Mark mark, std::size_t form, bool words) {
  if (mark == Mark::Better) return words ? "better " : "⚡ ";
  if (mark == Mark::Worse) return words ? "worse  " : "💩 ";
  if (mark == Mark::None || (mark == Mark::BlankWhereRoomy && form > 0)) return "";
  return words ? kNoWord : kNoMark;
}

/// Returns a cell as shown in a terminal.
std::string shown(const Cell& cell, const TableColumn& column, Less less, const Style& style) {
  if (less >= column.goes) return "";
  const std::size_t form = std::min(form_of(column, less), cell.narrower.size());
  const std::string& text = form == 0 ? cell.text : cell.narrower[form - 1];
  if (text.empty()) return "";
  const std::string line = is_foreign(column.holds) ? one_line(text) : text;
  return std::string(mark_text(cell.mark, form, style.ascii || style.word_marks)) +
         (style.ascii ? ascii_of(line) : line);
}

/// A column of no width takes no gap.
std::size_t line_width(const std::vector<std::size_t>& widths, std::size_t gap) {
  std::size_t total = 0;
  for (const std::size_t width : widths)
    if (width > 0) total += (total > 0 ? gap : 0) + width;
  return total;
}

std::vector<std::size_t> widths_of(std::span<const Table> tables, const TableStep& step,
                                   const Style& style) {
  std::vector<std::size_t> widths;
  for (const Table& table : tables) {
    widths.resize(std::max(widths.size(), table.columns.size()), 0);
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const TableColumn& column = table.columns[c];
      std::size_t& width = widths[c];
      width = std::max(width, display_width(shown(column.heading, column, step.less, style)));
      if (step.roomy) width = std::max(width, column.roomy_width);
      for (const TableRow& row : table.rows)
        if (c < row.size())
          width = std::max(width, display_width(shown(row[c], column, step.less, style)));
    }
  }
  return widths;
}

/// Makes the widest columns that may be cut narrower until a line fits into `limit`.
void narrow(std::vector<std::size_t>& widths, const Table& table, std::size_t gap,
            std::size_t limit) {
  while (line_width(widths, gap) > limit) {
    std::size_t* widest = nullptr;
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      if (table.columns[c].cut != Cut::Nothing && (widest == nullptr || widths[c] > *widest))
        widest = &widths[c];
    if (widest == nullptr || *widest <= table.shortest) return;
    --*widest;
  }
}

/// A line of cells, aligned to the left.
std::string line_of(const Table& table, const TableRow& row, const Fitted& fitted,
                    const Style& style) {
  std::string line;
  std::size_t pending = 0;
  for (std::size_t c = 0; c < std::min(row.size(), table.columns.size()); ++c) {
    const std::size_t width = fitted.widths[c];
    if (width == 0) continue;
    const TableColumn& column = table.columns[c];
    const std::string whole = shown(row[c], column, fitted.step.less, style);
    const std::string cell =
        column.cut == Cut::End ? cut_end(whole, width) : cut_middle(whole, width);
    if (!cell.empty()) {
      line.append(pending, ' ');
      line += inked(cell, row[c].ink, style.color);
      pending = 0;
    }
    pending += width - display_width(cell) + fitted.step.gap;
  }
  return line;
}

/// Returns a delta that may be broken before its interval or in the interval's middle.
std::string breakable(const std::string& delta) {
  constexpr std::string_view no_break = "\u00a0";
  std::string html;
  for (std::size_t i = 0; i < delta.size(); ++i) {
    const bool may_break =
        delta[i] == ' ' && i > 0 &&
        (delta.substr(i + 1).starts_with("(") || delta.substr(0, i).ends_with("…"));
    if (delta[i] == ' ' && !may_break)
      html += no_break;
    else
      html += delta[i];
  }
  return html_text(html);
}

std::string cell_html(const Cell& cell, Holds holds) {
  if (holds == Holds::Markup) return cell.text;
  if (holds == Holds::Verdict) return verdict_html(cell.text);
  if (holds == Holds::Delta) return marked_html(cell);
  const std::string text = html_text(cell.text);
  if (holds == Holds::Name && cell.ink == Ink::Bold) return "<b>" + text + "</b>";
  return holds == Holds::Code && !text.empty() ? "<code>" + text + "</code>" : text;
}

/// A delta is coloured, and so is the word in the reference's place. The first cell is its row's
/// heading.
std::string td_of(const Cell& cell, const TableColumn& column, bool is_first) {
  std::string_view css = column.is_more ? "more" : "";
  if (column.holds == Holds::Delta && !cell.text.empty()) css = ink_class(cell.ink);
  const bool is_heading = is_first && !cell.text.empty();
  return fmt::format("<{}{}>{}</{}>", is_heading ? "th scope=\"row\"" : "td",
                     css.empty() ? "" : fmt::format(" class=\"{}\"", css),
                     cell_html(cell, column.holds), is_heading ? "th" : "td");
}

}  // namespace

Fitted fit(std::span<const Table> tables, const Style& style) {
  Fitted fitted;
  if (tables.empty()) return fitted;
  const Table& widest = *std::ranges::max_element(
      tables, {}, [](const Table& table) { return table.columns.size(); });
  for (const TableStep& step : widest.steps) {
    fitted.step = step;
    fitted.widths = widths_of(tables, step, style);
    std::vector<std::size_t> cut = fitted.widths;
    for (std::size_t c = 0; c < widest.columns.size(); ++c)
      if (widest.columns[c].cut != Cut::Nothing) cut[c] = std::min(cut[c], step.longest);
    fitted.fits = style.width == 0 || line_width(cut, step.gap) <= style.width;
    if (fitted.fits) break;
  }
  if (style.width > 0) narrow(fitted.widths, widest, fitted.step.gap, style.width);
  return fitted;
}

std::string terminal_text(const Table& table, const Fitted& fitted, const Style& style) {
  if (table.rows.empty()) return "";
  TableRow headings;
  for (const TableColumn& column : table.columns) headings.push_back(column.heading);
  std::string text = inked(line_of(table, headings, fitted, style), table.heading, style.color);
  if (!text.empty()) text += "\n";
  for (const TableRow& row : table.rows) text += line_of(table, row, fitted, style) + "\n";
  return text;
}

std::string terminal_text(const Table& table, const Style& style) {
  return terminal_text(table, fit({&table, 1}, style), style);
}

std::string dim_note(std::string_view note, const Style& style) {
  return note.empty() ? "" : inked(wrapped(note, style.width), Ink::Dim, style.color) + "\n";
}

std::string table_html(const Table& table, std::string_view css_class) {
  std::string html =
      "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"table\"><table";
  if (!css_class.empty()) html += fmt::format(" class=\"{}\"", css_class);
  html += ">\n<thead><tr>";
  for (const TableColumn& column : table.columns)
    html += fmt::format("<th scope=\"col\"{}>{}</th>", column.is_more ? " class=\"more\"" : "",
                        html_text(column.heading.text));
  html += "</tr></thead>\n<tbody>\n";
  for (const TableRow& row : table.rows) {
    html += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c) html += td_of(row[c], table.columns[c], c == 0);
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table></div>\n";
}

std::string marked_text(const Cell& cell, bool words) {
  return std::string(cell.text.empty() ? "" : mark_text(cell.mark, 0, words)) + cell.text;
}

std::string marked_html(const Cell& cell) {
  std::string mark;
  if (cell.mark == Mark::Better || cell.mark == Mark::Worse)
    mark = fmt::format(
        "<svg class=\"sign\" viewBox=\"0 0 10 10\" role=\"img\" aria-label=\"{}\">"
        "<path d=\"{}\"/></svg>\u00a0",
        cell.mark == Mark::Better ? "better" : "worse",
        cell.mark == Mark::Better ? "M1 5l3 3 5-6" : "M2 2l6 6M8 2l-6 6");
  return mark + breakable(cell.text);
}

std::string verdict_html(std::string_view verdict) {
  if (verdict.empty()) return "";
  const std::string_view word = verdict.substr(0, verdict.find(':'));
  const std::string_view css = word == "pass" ? "better" : word == "fail" ? "worse" : "unsure";
  const std::string_view figures = verdict.substr(std::min(word.size() + 2, verdict.size()));
  return fmt::format("<span class=\"mark {}\">{}</span>{}{}", css, word,
                     figures.empty() ? "" : "<br>", html_text(figures));
}

}  // namespace lauka::report
