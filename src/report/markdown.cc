#include "core/foreign_text.h"
#include "core/text.h"
#include "report/cells.h"
#include "report/columns.h"
#include "report/compact.h"
#include "report/exports.h"
#include "report/lines.h"
#include "report/parameters.h"
#include "report/suite.h"
#include "report/table.h"
#include "report/warnings.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace lauka::report {

namespace {

std::size_t longest_run_of_backticks(std::string_view text) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Text that is not code, with nothing in it that Markdown or HTML would act on. An underscore
/// within a word is no mark.
std::string plain_text(std::string_view text) {
  const std::string line = one_line(text);
  std::string escaped;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool within_word = line[i] == '_' && i > 0 && i + 1 < line.size() &&
                             is_word(line[i - 1]) && is_word(line[i + 1]);
    if (!within_word &&
        std::string_view("\\`*_{}[]<>#|~&$").find(line[i]) != std::string_view::npos)
      escaped += '\\';
    escaped += line[i];
  }
  return escaped;
}

bool is_shown(const Metric& metric) {
  return metric.shown != Shown::Verbose;
}

bool has_deltas(const Results& results) {
  return std::any_of(results.commands.begin(), results.commands.end(), [](const auto& command) {
    return std::any_of(command.rows.begin(), command.rows.end(),
                       [](const MetricResult& row) { return row.delta.has_value(); });
  });
}

/// The cells of a row, each with the | after it. Of names and of deltas Markdown wants to know
/// more.
std::string row_cells(const RowOf& row) {
  std::string text;
  for (const Column* column : columns_of(row.shape)) {
    Cell cell = column->cell(row);
    if (column->is_text) cell.text = plain_text(cell.text);
    cell.text.erase(0, std::min(cell.text.find_first_not_of(' '), cell.text.size()));
    const bool is_sure =
        row.values != nullptr && row.values->delta && row.values->delta->is_significant();
    if (column->is_delta() && is_sure) cell.text = "**" + cell.text + "**";
    text += " " + cell.text + " |";
  }
  return text;
}

/// The headings and the rule below them; the first columns are of texts.
std::string head_of(const std::vector<std::string>& first, const TableShape& shape) {
  std::string head = "|";
  std::string rule = "|";
  const auto add = [&](std::string_view heading, bool is_text) {
    head.append(" ").append(heading) += " |";
    rule += is_text ? ":--|" : "--:|";
  };
  for (const std::string& heading : first) add(plain_text(heading), heading == first.front());
  for (const Column* column : columns_of(shape)) add(column->heading, column->is_text);
  return head + "\n" + rule + "\n";
}

std::string table_rows(const Results& results, std::size_t index, const TableShape& shape) {
  const CommandResult& command = results.commands[index];
  std::string first =
      code_cell(command.name) + "<br>" + plural(command.runs, "run") + failed_and_redone(command);
  for (const Parameter& parameter : command.parameters) {
    first += "<br>" + plain_text(parameter.name + " = " + parameter.value);
  }
  std::string text;
  for (const MetricResult& row : command.rows) {
    const Metric& metric = results.metrics[row.metric];
    if (!is_shown(metric) || command.runs == 0) continue;
    text += "| " + first + " |" + row_cells({results, index, metric, &row, shape}) + "\n";
    first.clear();
  }
  if (!text.empty()) return text;
  text = "| " + first + " |";
  for (std::size_t i = 0; i < columns_of(shape).size(); ++i) text += " |";
  return text + "\n";
}

void write_table(const Results& results, const Sink& sink) {
  const TableShape shape{.format = Format::Markdown, .has_deltas = has_deltas(results)};
  sink(head_of({"command"}, shape));
  for (const std::size_t c : order_of(results)) sink(table_rows(results, c, shape));
}

/// A row for each command, of one metric.
void write_compact(const Results& results, std::size_t metric, const Sink& sink) {
  const TableShape shape = compact_shape(results, metric, {.format = Format::Markdown});
  std::vector<std::string> first = {"command"};
  const std::vector<std::string> parameters = parameter_names(results);
  first.insert(first.end(), parameters.begin(), parameters.end());
  sink(plain_text(compact_title(results, metric)) + "\n\n" + head_of(first, shape));
  for (const std::size_t c : order_of(results)) {
    const CommandResult& command = results.commands[c];
    std::string text = "| " + code_cell(command.name) + " |";
    for (const std::string& name : parameters) {
      const Parameter* parameter = find_parameter(command, name);
      text += " " + (parameter == nullptr ? "" : plain_text(parameter->value)) + " |";
    }
    sink(text +
         row_cells({results, c, results.metrics[metric], shown_row(command, metric), shape}) +
         "\n");
  }
}

void write_markdown_tables(const Results& results, const Sink& sink) {
  if (!is_compact(results)) return write_table(results, sink);
  bool is_first = true;
  for (const std::size_t metric : compact_metrics(results, false)) {
    if (!is_first) sink("\n");
    is_first = false;
    write_compact(results, metric, sink);
  }
}

/// Texts as a list, after an empty line; nothing where there are none.
std::string bullets_of(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += "- " + plain_text(text) + "\n";
  return list.empty() ? "" : "\n" + list;
}

/// The lines below the tables, and the warnings.
void write_below_tables(const std::vector<std::vector<std::string>>& lines,
                        const std::vector<std::string>& warnings, const Sink& sink) {
  std::string text;
  for (const std::vector<std::string>& some : lines) text += bullets_of(some);
  if (!warnings.empty()) text += "\nCaveats:\n" + bullets_of(warnings);
  sink(text);
}

std::string suite_row(const SuiteCells& cells, bool has_names, bool has_metrics) {
  const std::string name = cells.is_total            ? "**" + plain_text(cells.benchmark) + "**"
                           : cells.benchmark.empty() ? ""
                                                     : code_cell(cells.benchmark);
  std::string row = "| " + name + " |";
  if (has_names) row += " " + (cells.command.empty() ? "" : code_cell(cells.command)) + " |";
  if (has_metrics) row += " " + plain_text(cells.metric) + " |";
  std::string delta = cells.delta.text;
  delta.erase(0, std::min(delta.find_first_not_of(' '), delta.size()));
  if (cells.is_sure) delta = fmt::format("**{}**", delta);
  return row + fmt::format(" {} | {} | {} | {} |\n", plain_text(cells.base),
                           plain_text(cells.candidate), delta, cells.verdict);
}

void write_suite_markdown(const Report& suite, const Sink& sink) {
  const bool names = has_candidate_names(suite);
  const bool metrics = has_metrics(suite);
  sink(plain_text(suite_title(suite)) +
       fmt::format("\n\n| benchmark |{}{} base | candidate | delta | verdict |\n"
                   "|:--|{}{}--:|--:|--:|:--|\n",
                   names ? " command |" : "", metrics ? " metric |" : "", names ? ":--|" : "",
                   metrics ? ":--|" : ""));
  for (const SuiteCells& cells : cells_of(suite)) sink(suite_row(cells, names, metrics));
  write_below_tables({lines_of(gates_in_one_line(suite) + suite_gate_lines(suite, false, false))},
                     warning_texts(suite, {}), sink);
}

void write_session_markdown(const Results& results, const Sink& sink) {
  const Style style;
  write_markdown_tables(results, sink);
  write_below_tables(
      {lines_of(summary_lines(results, style)),
       lines_of(precision_line(results) + gate_lines(results, false) + shell_lines(results))},
      warning_texts(results, style), sink);
}

}  // namespace

std::string code_cell(std::string_view text) {
  const std::string line = one_line(text);
  const std::string fence(longest_run_of_backticks(line) + 1, '`');
  // A space inside the fence is taken off again where there is one at both ends.
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
  if (report.is_suite()) {
    write_suite_markdown(report, sink);
  } else {
    write_session_markdown(report.benchmarks.front(), sink);
  }
}

}  // namespace lauka::report
