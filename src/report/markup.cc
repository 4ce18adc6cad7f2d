#include "core/text.h"
#include "report/exports.h"
#include "report/format.h"
#include "report/lines.h"
#include "report/metric_tables.h"
#include "report/screen.h"
#include "report/suite_screen.h"
#include "report/table.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

// Markdown as GitHub reads it, AsciiDoc as Asciidoctor does, Org as Emacs does.

namespace lauka::report {

namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// True for an underscore within a word, which Markdown and AsciiDoc do not interpret.
bool is_within_word(const std::string& line, std::size_t at) {
  return line[at] == '_' && at > 0 && at + 1 < line.size() && is_word(line[at - 1]) &&
         is_word(line[at + 1]);
}

std::size_t longest_run_of_backticks(std::string_view text) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

std::string markdown_head(const Table& table) {
  std::string head = "|";
  std::string rule = "|";
  for (const TableColumn& column : table.columns) {
    head += " " + markdown_text(column.heading.text) + " |";
    rule += column.is_left ? ":--|" : "--:|";
  }
  return head + "\n" + rule + "\n";
}

/// Writes characters with a meaning in AsciiDoc as character references, which Asciidoctor keeps.
std::string asciidoc_text(std::string_view text) {
  const std::string line = one_line(text);
  std::string escaped;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool is_repeated = (c == '-' || c == '.') && i > 0 && line[i - 1] == c;  // a dash, dots
    const bool is_special = std::string_view("\\`*_#+^~|{}[]<>&('\"").find(c) != line.npos;
    if (is_repeated || (is_special && !is_within_word(line, i)))
      escaped += fmt::format("&#{};", static_cast<int>(c));
    else
      escaped += c;
  }
  return escaped;
}

std::string asciidoc_code(std::string_view text) {
  return text.empty() ? "" : "`" + asciidoc_text(text) + "`";
}

std::string asciidoc_head(const Table& table) {
  std::string columns;
  std::string headings;
  for (const TableColumn& column : table.columns) {
    columns += columns.empty() ? "" : ",";
    columns += column.is_left ? "<" : ">";
    headings += "| " + asciidoc_text(column.heading.text) + "\n";
  }
  return fmt::format("[%header,cols=\"{}\"]\n|===\n{}\n", columns, headings);
}

/// Writes Org's own characters by their names (org-entities).
std::string org_text(std::string_view text) {
  constexpr std::string_view special = "|\\*_^=+[]{}<>$~/";
  constexpr auto names = std::to_array<std::string_view>(
      {"vert", "backslash", "ast", "under", "asciicirc", "equal", "plus", "lbrack", "rbrack",
       "lbrace", "rbrace", "lt", "gt", "dollar", "tilde", "slash"});
  const std::string line = one_line(text);
  std::string escaped;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::size_t name = special.find(line[i]);
    // These are special only after one of those, so that paths and A=1 stay readable.
    const bool is_opening = i == 0 || std::string_view(" -('\"{").find(line[i - 1]) != line.npos;
    const bool is_mark = std::string_view("/=+~").find(line[i]) != line.npos;
    if (name == special.npos || (is_mark && !is_opening))
      escaped += line[i];
    else
      escaped += fmt::format("\\{}{{}}", names[name]);
  }
  return escaped;
}

/// Org has no escapes in verbatim text, so a text that cannot be verbatim is not code.
std::string org_code(std::string_view text) {
  const std::string line = one_line(text);
  if (line.empty()) return "";
  const char mark = line.find('=') == std::string::npos ? '=' : '~';
  const bool fits = line.find('|') == std::string::npos && line.front() != ' ' &&
                    line.back() != ' ' && line.find(mark) == std::string::npos;
  return fits ? mark + line + mark : org_text(line);
}

std::string org_head(const Table& table) {
  std::string head = "|";
  std::string rule;
  for (const TableColumn& column : table.columns) {
    head += " " + org_text(column.heading.text) + " |";
    rule += rule.empty() ? "|---" : "+---";
  }
  return head + "\n" + rule + "|\n";
}

std::string cell_text(const Cell& cell, Holds holds, const Markup& markup) {
  if (cell.text.empty()) return "";
  const auto strong = [&](const std::string& text) {
    return fmt::format("{0}{1}{0}", markup.strong, text);
  };
  if (holds == Holds::Name && cell.ink == Ink::Bold) return strong(markup.text(cell.text));
  if (holds == Holds::Name || holds == Holds::Code) return markup.code(cell.text);
  if (holds == Holds::Text) return markup.word(cell.text);
  const std::string_view mark = cell.mark == Mark::Better  ? markup.better
                                : cell.mark == Mark::Worse ? markup.worse
                                                           : "";
  const std::string text = std::string(mark) + cell.text;
  return cell.is_sure ? strong(text) : text;
}

void write_markup_tables(const Results& results, const Markup& markup, const Sink& sink) {
  if (!is_compact(results)) return write_table(markup_table(results, markup), markup, sink);
  bool is_first = true;
  for (const std::size_t metric : compact_metrics(results, false)) {
    if (!is_first) sink("\n");
    is_first = false;
    sink(markup.text(compact_title(results, metric)) + "\n\n");
    write_table(compact_table(results, metric, Format::Markdown), markup, sink);
  }
}

/// Returns texts as a list, after an empty line; empty without texts.
std::string bullets_of(const std::vector<std::string>& texts, const Markup& markup) {
  std::string list;
  for (const std::string& text : texts)
    list += std::string(markup.bullet) + markup.text(text) + "\n";
  return list.empty() ? "" : "\n" + list;
}

/// The lines below the tables, and the warnings.
void write_below_tables(const std::vector<std::vector<std::string>>& lines,
                        const std::vector<std::string>& warnings, const Markup& markup,
                        const Sink& sink) {
  std::string text;
  for (const std::vector<std::string>& some : lines) text += bullets_of(some, markup);
  if (!warnings.empty()) text += "\nCaveats:\n" + bullets_of(warnings, markup);
  sink(text);
}

void write_suite_markup(const Report& suite, const Markup& markup, const Sink& sink) {
  sink(markup.text(suite_title(suite)) + "\n\n");
  write_table(suite_table(suite), markup, sink);
  write_below_tables({lines_of(gates_in_one_line(suite) + suite_gate_lines(suite, false, false))},
                     warning_texts(suite, {}), markup, sink);
}

void write_session_markup(const Results& results, const Markup& markup, const Sink& sink) {
  const Style style;
  write_markup_tables(results, markup, sink);
  write_below_tables(
      {lines_of(summary_lines(results, style)),
       lines_of(precision_line(results) + gate_lines(results, false) + shell_lines(results))},
      warning_texts(results, style), markup, sink);
}

void write_markup(const Report& report, Markup markup, const Sink& sink) {
  if (report.benchmarks.front().presentation.marks == MarksChoice::Emoji) {
    markup.better = "⚡ ";
    markup.worse = "💩 ";
  }
  if (report.is_suite()) {
    write_suite_markup(report, markup, sink);
  } else {
    write_session_markup(report.benchmarks.front(), markup, sink);
  }
}

}  // namespace

const Markup kMarkdown = {.text = markdown_text,
                          .word = markdown_text,
                          .code = code_cell,
                          .head = markdown_head,
                          .line_break = "<br>"};

const Markup kAsciiDoc = {.text = asciidoc_text,
                          .word = asciidoc_text,
                          .code = asciidoc_code,
                          .head = asciidoc_head,
                          .line_break = " +\n",
                          .strong = "*",
                          .before_row = "",
                          .before_cell = "|",
                          .after_cell = "\n",
                          .after_table = "|===\n",
                          .bullet = "* "};

// In Org a_b has a b below the line, so names are code.
const Markup kOrg = {.text = org_text,
                     .word = org_code,
                     .code = org_code,
                     .head = org_head,
                     .line_break = ", ",
                     .strong = "*"};

void write_table(const Table& table, const Markup& markup, const Sink& sink) {
  sink(markup.head(table));
  for (const TableRow& row : table.rows) {
    std::string line(markup.before_row);
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      line += markup.before_cell;
      if (c < row.size()) line += " " + cell_text(row[c], table.columns[c].holds, markup);
      line += markup.after_cell;
    }
    sink(line.append(markup.after_row));
  }
  sink(markup.after_table);
}

std::string markdown_text(std::string_view text) {
  const std::string line = one_line(text);
  std::string escaped;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!is_within_word(line, i) &&
        std::string_view("\\`*_{}[]<>#|~&$").find(line[i]) != std::string_view::npos)
      escaped += '\\';
    escaped += line[i];
  }
  return escaped;
}

std::string code_cell(std::string_view text) {
  const std::string line = one_line(text);
  const std::string fence(longest_run_of_backticks(line) + 1, '`');
  // A space inside the fence is removed again if there is one at both ends.
  const bool pad = line.empty() || line.front() == '`' || line.back() == '`' ||
                   (line.front() == ' ' && line.back() == ' ');
  std::string code = fence + (pad ? " " : "");
  for (const char c : line) {
    if (c == '|') code += '\\';
    code += c;
  }
  return code + (pad ? " " : "") + fence;
}

void write_markdown(const Report& report, const Sink& sink) {
  write_markup(report, kMarkdown, sink);
}

void write_asciidoc(const Report& report, const Sink& sink) {
  write_markup(report, kAsciiDoc, sink);
}

void write_orgmode(const Report& report, const Sink& sink) {
  write_markup(report, kOrg, sink);
}

}  // namespace lauka::report
