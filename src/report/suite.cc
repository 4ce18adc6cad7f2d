#include "report/suite.h"

#include "core/foreign_text.h"
#include "core/text.h"
#include "report/cells.h"
#include "report/format.h"
#include "report/lines.h"
#include "report/metric_tables.h"
#include "report/screen.h"
#include "report/warnings.h"
#include "report/width.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace lauka::report {
namespace {

/// A candidate of a benchmark, or a benchmark that has none.
struct SuiteRow {
  const Results* results = nullptr;        // its benchmark's
  std::optional<std::size_t> candidate{};  // none: there is nothing to compare
  std::optional<std::size_t> metric{};     // index into its results' metrics
  bool is_first = true;                    // of its benchmark
};

std::string value_text(const SuiteRow& row, std::size_t command, bool deviation) {
  const Results& results = *row.results;
  if (!row.metric) return "n/a";
  const MetricResult* values = shown_row(results.commands[command], *row.metric);
  if (values == nullptr) return "n/a";
  const Metric& metric = results.metrics[*row.metric];
  if (values->quantile) return quantile_cell(*values, metric, false);
  return deviation || !values->summary ? mean_cell(*values, metric)
                                       : quantity(values->summary->mean, metric);
}

Cell value_cell(const SuiteRow& row, std::size_t command) {
  return {.text = value_text(row, command, true), .narrower = {value_text(row, command, false)}};
}

Cell base_cell(const SuiteRow& row) {
  const Results& results = *row.results;
  if (!results.reference.baseline) return value_cell(row, results.reference.command);
  return {row.candidate ? results.reference_of(*row.candidate) : ""};
}

Cell delta_cell_of(const SuiteRow& row) {
  if (!row.candidate || !row.metric) return {};
  const MetricResult* values = shown_row(row.results->commands[*row.candidate], *row.metric);
  return values == nullptr || !values->delta
             ? Cell{}
             : delta_cell(*values->delta, row.results->metrics[*row.metric].better);
}

/// "pass", "fail" or "inconclusive", the worst of the gates on the row's candidate; empty where
/// there is none.
Cell verdict_cell(const SuiteRow& row) {
  std::string_view word;
  for (const gate::Verdict& verdict : row.results->verdicts) {
    if (verdict.candidate != row.candidate.value_or(0)) continue;
    if (verdict.answer == gate::Answer::Fail) return {"fail", Ink::Red};
    if (verdict.answer == gate::Answer::Inconclusive || word.empty())
      word = verdict.answer == gate::Answer::Pass ? "pass" : "inconclusive";
  }
  return {std::string(word), word == "pass" ? Ink::Green : Ink::Bold};
}

TableColumn suite_column(const char* heading, Holds holds, Cut cut = Cut::Nothing) {
  return {.heading = {heading, Ink::Bold},
          .holds = holds,
          .is_left = holds != Holds::Delta,
          .cut = cut};
}

TableColumn value_column(const char* heading) {
  TableColumn column = suite_column(heading, Holds::Number);
  column.is_left = false;
  column.narrows = {Less::Deviation};
  column.is_more = true;
  return column;
}

/// The name of the metric that a benchmark shows first; empty if it shows none.
std::string headline_name(const Results& results) {
  const auto metric = primary_metric(results.metrics);
  return metric ? results.metrics[*metric].name : std::string();
}

/// Whether the benchmarks do not all show the same metric first.
bool has_metrics(const Report& suite) {
  return std::ranges::any_of(suite.benchmarks, [&](const Results& one) {
    return headline_name(one) != headline_name(suite.benchmarks.front());
  });
}

/// "geomean", and the number of benchmarks where it is not made of all.
std::string geomean_title(const Report& suite, const Geomean& mean) {
  if (mean.benchmarks == suite.benchmarks.size()) return "geomean";
  return fmt::format("geomean of {}", mean.benchmarks);
}

/// Returns the commands of a benchmark that have a row, in the order of its tables.
std::vector<std::size_t> listed_candidates(const Results& results) {
  std::vector<std::size_t> candidates = order_of(results);
  std::erase_if(candidates, [&](std::size_t c) { return !results.reference.is_candidate(c); });
  return candidates;
}

std::vector<SuiteRow> rows_of(const Report& suite) {
  std::vector<SuiteRow> rows;
  for (const Results* one : order_of(suite)) {
    const auto metric = primary_metric(one->metrics);
    const auto candidates = listed_candidates(*one);
    if (candidates.empty()) rows.push_back({one, std::nullopt, metric, true});
    for (const std::size_t candidate : candidates)
      rows.push_back({one, candidate, metric, candidate == candidates.front()});
  }
  return rows;
}

/// The columns that not every suite's table has.
struct SuiteShape {
  bool has_commands = false;  ///< a benchmark has several candidates
  bool has_metrics = false;
  bool has_gates = false;
};

SuiteShape suite_shape(const Report& suite) {
  return {std::ranges::any_of(suite.benchmarks,
                              [](const Results& one) { return candidates_of(one).size() > 1; }),
          has_metrics(suite), !suite.verdicts().empty()};
}

std::vector<TableColumn> suite_columns(const SuiteShape& shape) {
  std::vector<TableColumn> columns = {suite_column("benchmark", Holds::Name, Cut::Middle)};
  if (shape.has_commands) columns.push_back(suite_column("command", Holds::Code, Cut::Middle));
  if (shape.has_metrics) columns.push_back(suite_column("metric", Holds::Text));
  columns.push_back(value_column("base"));
  columns.push_back(value_column("candidate"));
  columns.push_back(suite_column("delta", Holds::Delta));
  columns.back().narrows = {Less::Interval};
  if (shape.has_gates) columns.push_back(suite_column("verdict", Holds::Verdict));
  return columns;
}

TableRow suite_cells(const SuiteRow& row, const SuiteShape& shape) {
  TableRow cells = {{row.is_first ? row.results->benchmark : ""}};
  if (shape.has_commands)
    cells.push_back({row.candidate ? row.results->commands[*row.candidate].name : ""});
  if (shape.has_metrics)
    cells.push_back({row.metric ? row.results->metrics[*row.metric].name : ""});
  cells.push_back(base_cell(row));
  cells.push_back(row.candidate ? value_cell(row, *row.candidate) : Cell{});
  cells.push_back(delta_cell_of(row));
  if (shape.has_gates) cells.push_back(verdict_cell(row));
  return cells;
}

TableRow suite_cells(const Geomean& mean, const Report& suite, const SuiteShape& shape) {
  TableRow cells = {{geomean_title(suite, mean), Ink::Bold}};
  if (shape.has_commands) cells.push_back({mean.candidate});
  if (shape.has_metrics) cells.push_back({mean.metric});
  cells.insert(cells.end(), {{}, {}, delta_cell(mean.change, mean.better)});
  if (shape.has_gates) cells.emplace_back();
  return cells;
}

/// The table, and what it lacks in a narrow terminal.
std::string suite_table_text(const Report& suite, const Style& style) {
  const Table table = suite_table(suite);
  const Fitted fitted = fit({&table, 1}, style);
  return terminal_text(table, fitted, style) +
         (fitted.lacks(Less::Interval) ? dim_note(kNoRoomForIntervals, style) : "");
}

}  // namespace

std::vector<const Results*> order_of(const Report& suite) {
  std::vector<const Results*> order;
  for (const Results& one : suite.benchmarks) order.push_back(&one);
  if (suite.benchmarks.front().presentation.sort == SortChoice::Command) return order;
  std::ranges::stable_sort(order, {}, [&](const Results* one) {
    const auto alike =
        std::ranges::find(suite.benchmarks, headline_name(*one), headline_name);  // seconds, bytes
    const auto candidates = listed_candidates(*one);
    const bool has_base = !one->reference.baseline || candidates.empty();
    const std::size_t shown = has_base ? one->reference.command : candidates.front();
    return std::pair(alike - suite.benchmarks.begin(), sort_value(*one, shown));
  });
  return order;
}

std::string suite_title(const Report& suite) {
  const Results& first = suite.benchmarks.front();
  const auto metric = primary_metric(first.metrics);
  std::string title = plural(suite.benchmarks.size(), "benchmark");
  if (!has_metrics(suite) && metric) title = one_line(first.metrics[*metric].name) + " of " + title;
  return title;
}

Table suite_table(const Report& suite) {
  const SuiteShape shape = suite_shape(suite);
  constexpr std::size_t shortest = 10;
  Table table{.columns = suite_columns(shape),
              .steps = {{.gap = 4, .longest = 2 * shortest},
                        {.longest = 2 * shortest},
                        {.less = Less::Deviation, .longest = 2 * shortest},
                        {.less = Less::Interval, .longest = 2 * shortest}},
              .shortest = shortest};
  for (const SuiteRow& row : rows_of(suite)) table.rows.push_back(suite_cells(row, shape));
  for (const Geomean& mean : suite.geomeans) table.rows.push_back(suite_cells(mean, suite, shape));
  return table;
}

std::string suite_gate_lines(const Report& suite, bool all, bool color) {
  std::string text;
  for (const Results& one : suite.benchmarks) {
    const std::vector<std::string> lines = lines_of(gate_lines(one, color));
    for (std::size_t i = 0; i < lines.size() && i < one.verdicts.size(); ++i)
      if (all || one.verdicts[i].answer != gate::Answer::Pass)
        text += one_line(one.benchmark) + ": " + lines[i] + "\n";
  }
  return text;
}

std::string gates_in_one_line(const Report& suite) {
  const std::vector<gate::Verdict> verdicts = suite.verdicts();
  if (verdicts.empty()) return "";
  std::string counts;
  constexpr auto answers = std::to_array<std::pair<gate::Answer, std::string_view>>(
      {{gate::Answer::Fail, "fail"},
       {gate::Answer::Inconclusive, "inconclusive"},
       {gate::Answer::Pass, "pass"}});
  for (const auto& [answer, word] : answers) {
    const auto count =
        std::count_if(verdicts.begin(), verdicts.end(),
                      [wanted = answer](const auto& one) { return one.answer == wanted; });
    if (count > 0) counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, word);
  }
  const double percent = 100.0 * (1.0 - suite.benchmarks.front().confidence);
  return plural(verdicts.size(), "gate") + ": " + counts +
         (suite.risk == gate::Risk::Any
              ? fmt::format(" (any false alarm: at most {:.3g}%)\n", percent)
              : fmt::format(" (false alarms among those that fail: at most {:.3g}%)\n", percent));
}

std::string suite_screen(const Report& suite, const Style& style, bool quiet) {
  const bool any = std::ranges::any_of(suite.benchmarks, [](const Results& one) {
    return std::ranges::any_of(one.commands,
                               [](const CommandResult& command) { return command.runs > 0; });
  });
  if (!any) return "";
  std::string text;
  if (style.verbose && !quiet) {
    for (const Results* one : order_of(suite))
      text += inked(one_line(one->benchmark), Ink::Bold, style.color) + "\n\n" +
              screen(*one, style, false) + "\n";
  }
  if (!quiet)
    text +=
        inked(suite_title(suite), Ink::Bold, style.color) + "\n" + suite_table_text(suite, style);
  if (!quiet && !style.verbose && style.histogram) {  // else they are in the tables above
    for (const Results* one : order_of(suite))
      text += "\n" + inked(one_line(one->benchmark), Ink::Bold, style.color) + "\n" +
              histograms(*one, style);
  }
  std::string below = suite_gate_lines(suite, quiet || style.verbose, style.color);
  if (!quiet) below += gates_in_one_line(suite);
  if (!text.empty() && !below.empty()) text += "\n";
  for (const std::string& line : lines_of(below))
    text += wrapped(style.ascii ? ascii_of(line) : line, style.width) + "\n";
  return style.ascii ? ascii_of(text) : text;
}

namespace {

/// Texts, each once, in the order in which they first came, behind the names of their benchmarks
/// where these are not all.
std::vector<std::string> with_names(const Report& suite,
                                    const std::vector<std::vector<std::string>>& texts) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> names;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    for (const std::string& text : texts[i]) {
      if (names.count(text) == 0) order.push_back(text);
      auto& of_text = names[text];
      const std::string name = cited(suite.benchmarks[i].benchmark);
      if (of_text.empty() || of_text.back() != name) of_text.push_back(name);
    }
  }
  std::vector<std::string> lines;
  constexpr std::size_t most_named = 3;
  for (const std::string& text : order) {
    std::vector<std::string>& of_text = names[text];
    if (of_text.size() == suite.benchmarks.size()) {
      lines.push_back(text);
      continue;
    }
    const std::string who =
        of_text.size() > most_named ? plural(of_text.size(), "benchmark") : listed(of_text);
    lines.push_back(fmt::format("{}: {}", who, text));
  }
  return lines;
}

}  // namespace

std::vector<std::string> warning_texts(const Report& suite, const Style& style) {
  if (!suite.is_suite()) return warning_texts(suite.benchmarks.front(), style);
  std::vector<std::vector<std::string>> texts;
  for (const Results& one : suite.benchmarks) texts.push_back(warning_texts(one, style));
  return with_names(suite, texts);
}

std::vector<std::string> notes_of(const Report& suite) {
  if (!suite.is_suite()) return suite.benchmarks.front().notes;
  std::vector<std::vector<std::string>> texts;
  for (const Results& one : suite.benchmarks) texts.push_back(one.notes);
  return with_names(suite, texts);
}

}  // namespace lauka::report
