#include "core/foreign_text.h"
#include "report/cells.h"
#include "report/compact.h"
#include "report/exports.h"
#include "report/format.h"
#include "report/gates.h"
#include "report/marked_delta.h"
#include "report/parameters.h"
#include "report/precision.h"
#include "report/shell.h"
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

std::string delta_cell(const MetricResult& row, const Metric& metric) {
  if (!row.delta) return "";
  const MarkedDelta delta = marked_delta(*row.delta, metric.better);
  const std::string text = delta.text.substr(delta.text.find_first_not_of(' '));
  return row.delta->is_significant() ? "**" + text + "**" : text;
}

std::string table_rows(const Results& results, std::size_t index, bool with_deltas) {
  const CommandResult& command = results.commands[index];
  std::string first = code_cell(command.name) + "<br>" + plural(command.runs, "run");
  if (command.failed_runs > 0) first += fmt::format(", {} failed", command.failed_runs);
  if (command.redone_runs > 0) first += fmt::format(", {} redone", command.redone_runs);
  for (const Parameter& parameter : command.parameters) {
    first += "<br>" + plain_text(parameter.name + " = " + parameter.value);
  }
  std::string text;
  for (const MetricResult& row : command.rows) {
    const Metric& metric = results.metrics[row.metric];
    if (!is_shown(metric) || command.runs == 0) continue;
    text += fmt::format("| {} | {} | {} | {} | {} |", first,
                        plain_text(name_cell(metric, row, command.runs)), mean_cell(row, metric),
                        row.summary ? range_cell(*row.summary, metric, true) : "",
                        row.summary ? outliers_cell(*row.summary, true) : "");
    if (with_deltas) {
      text += fmt::format(" {} | {} |", delta_cell(row, metric),
                          row.delta ? interval_text(*row.delta) : "");
    }
    text += "\n";
    first.clear();
  }
  return text.empty() ? fmt::format("| {} | | | | |{}\n", first, with_deltas ? " | |" : "") : text;
}

void write_table(const Results& results, const Sink& sink) {
  const bool with_deltas = has_deltas(results);
  std::string text = "| command | measurement | mean ± σ | min … max | outliers |";
  text += with_deltas ? " delta | low … high |\n" : "\n";
  text += "|:--|:--|--:|--:|--:|";
  text += with_deltas ? "--:|--:|\n" : "\n";
  sink(text);
  for (const std::size_t c : order_of(results)) sink(table_rows(results, c, with_deltas));
}

std::string compact_row(const Results& results, std::size_t metric, std::size_t index,
                        bool with_deltas) {
  const CommandResult& command = results.commands[index];
  const Metric& of = results.metrics[metric];
  const MetricResult* row = shown_row(command, metric);
  std::string text = "| " + code_cell(command.name) + " |";
  for (const std::string& name : parameter_names(results)) {
    const Parameter* parameter = find_parameter(command, name);
    text += " " + (parameter == nullptr ? "" : plain_text(parameter->value)) + " |";
  }
  if (has_runs_column(results)) text += " " + runs_cell(command) + " |";
  text += fmt::format(" {} | {} |", row == nullptr ? "n/a" : mean_cell(*row, of),
                      row != nullptr && row->summary ? range_cell(*row->summary, of, true) : "");
  if (with_deltas) {
    const bool is_reference = index == results.reference.command && !results.reference.baseline;
    text += fmt::format(" {} | {} |",
                        row != nullptr && row->delta ? delta_cell(*row, of)
                        : is_reference               ? "reference"
                                                     : "",
                        row != nullptr && row->delta ? interval_text(*row->delta) : "");
  }
  return text + "\n";
}

/// A row for each command, of one metric.
void write_compact(const Results& results, std::size_t metric, const Sink& sink) {
  const bool with_deltas = has_deltas(results);
  std::string head = "| command |";
  std::string rule = "|:--|";
  const auto add = [&](const std::string& title) {
    head += " " + title + " |";
    rule += "--:|";
  };
  for (const std::string& name : parameter_names(results)) add(plain_text(name));
  if (has_runs_column(results)) add("runs");
  add("mean ± σ");
  add("min … max");
  if (with_deltas) {
    add("delta");
    add("low … high");
  }
  sink(plain_text(compact_title(results, metric)) + "\n\n" + head + "\n" + rule + "\n");
  for (const std::size_t c : order_of(results)) sink(compact_row(results, metric, c, with_deltas));
}

void write_tables(const Results& results, const Sink& sink) {
  if (!is_compact(results)) return write_table(results, sink);
  bool is_first = true;
  for (const std::size_t metric : compact_metrics(results, false)) {
    if (!is_first) sink("\n");
    is_first = false;
    write_compact(results, metric, sink);
  }
}

/// Texts as a list, after an empty line; nothing where there are none.
std::string list_of(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += "- " + plain_text(text) + "\n";
  return list.empty() ? "" : "\n" + list;
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

void write_markdown(const Results& results, const Sink& sink) {
  const Style style;
  write_tables(results, sink);
  std::string text = list_of(lines_of(summary_lines(results, style)));
  text += list_of(
      lines_of(precision_line(results) + gate_lines(results, false) + shell_lines(results)));
  const std::vector<std::string> warnings = warning_texts(results, style);
  if (!warnings.empty()) text += "\nCaveats:\n" + list_of(warnings);
  sink(text);
}

}  // namespace lauka::report
