#include "report/suite_screen.h"

#include "core/text.h"
#include "report/format.h"
#include "report/function_lines.h"
#include "report/lines.h"
#include "report/paths.h"
#include "report/race_lines.h"
#include "report/screen.h"
#include "report/table.h"
#include "report/warning_lines.h"
#include "results/analyse.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace lauka::report {

namespace {

/// A row of the suite's table: a candidate by one metric. Without candidates, a benchmark has a
/// single row.
struct SuiteRow {
  const Results* results = nullptr;
  std::optional<std::size_t> candidate{};
  std::optional<std::size_t> metric{};
  bool is_first = true;  ///< of its benchmark, whose name only this row shows

  bool is_anchor() const {
    return candidate && candidate == results->session.reference.anchor_index;
  }
};

Cell make_value_cell(const MetricResult& values, const Metric& metric) {
  const std::string mean = short_mean_text(values, metric);
  return {.text = values.quantile ? mean : mean_cell_text(values, metric), .shorter_texts = {mean}};
}

Cell make_value_cell(const SuiteRow& row, std::size_t command) {
  const Results& results = *row.results;
  const MetricResult* values =
      row.metric ? row_if_has_values(results.commands[command], *row.metric) : nullptr;
  if (values == nullptr) return {"n/a"};
  return make_value_cell(*values, results.session.metrics[*row.metric]);
}

Cell make_base_cell(const SuiteRow& row) {
  if (row.is_anchor()) return {};
  const Results& results = *row.results;
  if (const auto base = results.session.reference.index_in_session(row.candidate.value_or(0)))
    return make_value_cell(row, *base);
  if (!row.candidate || !row.metric) return {};
  return make_value_cell(result_of_reference(results, *row.candidate, *row.metric),
                         results.session.metrics[*row.metric]);
}

/// Returns the delta of the row's candidate; null if the row has no candidate or metric, or if the
/// candidate has no values to compare. An anchor is not compared.
const stats::Delta* find_delta(const SuiteRow& row) {
  if (!row.candidate || !row.metric || row.is_anchor()) return nullptr;
  const MetricResult* values =
      row_if_has_values(row.results->commands[*row.candidate], *row.metric);
  return values == nullptr || !values->delta ? nullptr : &*values->delta;
}

Cell make_delta_cell(const SuiteRow& row) {
  if (row.is_anchor())
    return {.text = "anchor", .ink = Ink::Dim, .mark = Mark::Blank, .shorter_texts = {"anchor"}};
  const stats::Delta* delta = find_delta(row);
  return delta == nullptr ? Cell{}
                          : delta_cell(*delta, row.results->session.metrics[*row.metric].better);
}

const gate::Verdict* find_worst_verdict(const SuiteRow& row) {
  const gate::Verdict* worst = nullptr;
  const auto badness = [](gate::Answer answer) {
    return answer == gate::Answer::Fail ? 2 : answer == gate::Answer::Inconclusive ? 1 : 0;
  };
  for (const gate::Verdict& verdict : row.results->findings.verdicts)
    if (verdict.candidate == row.candidate && verdict.metric == row.metric &&
        (worst == nullptr || badness(verdict.answer) > badness(worst->answer)))
      worst = &verdict;
  return worst;
}

Cell make_worst_verdict_cell(const SuiteRow& row) {
  const gate::Verdict* worst = find_worst_verdict(row);
  return worst == nullptr ? Cell{} : verdict_cell(*row.results, *worst);
}

/// How the runs of a command ended, under the name that the table gives to the command's part in a
/// comparison.
struct NamedEndings {
  std::string_view part;
  Endings endings;
};

/// Returns the endings of the commands that the row is about.
std::vector<NamedEndings> list_endings(const SuiteRow& row) {
  const Results& results = *row.results;
  if (!row.candidate)
    return {{"base", results.commands[results.session.reference.index_for(0)].endings}};

  const Endings& own = results.commands[*row.candidate].endings;
  if (row.is_anchor()) return {{"anchor", own}};
  return {{"base", results.endings_of_reference(*row.candidate)}, {"candidate", own}};
}

enum class FailureReasons : unsigned char { Given, LeftOut };

/// Returns "base 3 of 12 (status 1), candidate 12 of 12 (SIGSEGV)"; empty if no run failed.
std::string list_failures(const SuiteRow& row, FailureReasons reasons) {
  std::string list;
  for (const NamedEndings& command : list_endings(row)) {
    const std::string failures =
        failed_runs_text(command.endings, reasons == FailureReasons::Given);
    if (!failures.empty())
      list += fmt::format("{}{} {}", list.empty() ? "" : ", ", command.part, failures);
  }
  return list;
}

Cell make_failed_cell(const SuiteRow& row) {
  return {.text = list_failures(row, FailureReasons::Given),
          .ink = Ink::Red,
          .shorter_texts = {list_failures(row, FailureReasons::LeftOut)}};
}

TableColumn make_column(const char* heading, CellContent content, Cut cut = Cut::Nothing) {
  return {.heading = {heading, Ink::Bold},
          .cell_content = content,
          .is_left_aligned = content != CellContent::Delta,
          .cut = cut};
}

/// Returns a column of values, which a narrow terminal leaves out with `part`.
TableColumn make_value_column(const char* heading, OmittedPart part) {
  TableColumn column = make_column(heading, CellContent::Number);
  column.is_left_aligned = false;
  column.shortened_when_omitting = {OmittedPart::Deviation};
  column.dropped_when_omitting = part;
  column.is_dropped_on_phone = true;
  return column;
}

/// Returns a column whose cells have a shorter text without each of `parts`.
TableColumn make_shortened_column(const char* heading, CellContent content,
                                  std::vector<OmittedPart> parts) {
  TableColumn column = make_column(heading, content);
  column.shortened_when_omitting = std::move(parts);
  return column;
}

std::string find_headline_metric(const Results& results) {
  const auto metric = primary_metric(results.session.metrics);
  return metric ? results.session.metrics[*metric].name : std::string();
}

std::string make_geomean_title(const Report& suite, const Geomean& mean) {
  if (mean.benchmark_count == suite.benchmarks.size()) return "geomean";
  return fmt::format("geomean of {}", mean.benchmark_count);
}

std::vector<std::size_t> list_candidates(const Results& results) {
  std::vector<std::size_t> candidates = commands_in_table_order(results);
  std::erase_if(candidates,
                [&](std::size_t c) { return !results.session.reference.is_candidate(c); });
  return candidates;
}

std::vector<SuiteRow> make_rows(const Report& suite) {
  std::vector<SuiteRow> rows;
  for (const Results* results : benchmarks_in_table_order(suite)) {
    const std::size_t first = rows.size();
    for (const std::size_t candidate : list_candidates(*results))
      for (const auto metric : suite_metrics(*results, candidate))
        rows.push_back({results, candidate, metric, rows.size() == first});
    if (rows.size() == first)
      rows.push_back({results, std::nullopt, primary_metric(results->session.metrics), true});
    if (results->session.reference.anchor_index)
      rows.push_back({results, results->session.reference.anchor_index, rows[first].metric, false});
  }
  return rows;
}

std::string metric_of(const SuiteRow& row) {
  return row.metric ? row.results->session.metrics[*row.metric].name : std::string();
}

bool has_metrics(const Report& suite, const std::vector<SuiteRow>& rows) {
  const std::string first = metric_of(rows.front());
  return std::ranges::any_of(rows, [&](const SuiteRow& row) { return metric_of(row) != first; }) ||
         std::ranges::any_of(suite.geomeans,
                             [&](const Geomean& mean) { return mean.metric != first; });
}

struct SuiteShape {
  bool has_commands = false;
  bool has_metrics = false;
  bool has_gates = false;
  bool all_rows_may_have_deltas = false;
  bool has_failures = false;
};

SuiteShape find_shape(const Report& suite, const std::vector<SuiteRow>& rows) {
  const auto has_several_commands = [](const Results& results) {
    return results.session.reference.anchor_index || find_candidates(results).size() > 1;
  };
  const auto may_have_delta = [](const SuiteRow& row) { return row.candidate && !row.is_anchor(); };
  const auto has_failures = [](const SuiteRow& row) { return !make_failed_cell(row).text.empty(); };

  return {.has_commands = std::ranges::any_of(suite.benchmarks, has_several_commands),
          .has_metrics = has_metrics(suite, rows),
          .has_gates = !suite.verdicts().empty(),
          .all_rows_may_have_deltas = std::ranges::all_of(rows, may_have_delta),
          .has_failures = std::ranges::any_of(rows, has_failures)};
}

/// Returns the columns of the suite's table. Each column also says what it loses in a terminal that
/// is too narrow for the table.
std::vector<TableColumn> make_columns(const SuiteShape& shape) {
  std::vector<TableColumn> columns = {make_column("benchmark", CellContent::Name, Cut::Middle)};

  if (shape.has_commands) columns.push_back(make_column("command", CellContent::Code, Cut::Middle));
  if (shape.has_metrics) columns.push_back(make_column("metric", CellContent::Text));

  // The values may be left out only if the deltas remain.
  const auto values_dropped_when_omitting =
      shape.all_rows_may_have_deltas ? OmittedPart::Values : OmittedPart::Never;
  columns.push_back(make_value_column("base", values_dropped_when_omitting));
  columns.push_back(make_value_column("candidate", values_dropped_when_omitting));

  // A verdict loses its figure first, and then its limit. Failed runs lose the reasons.
  columns.push_back(make_shortened_column("delta", CellContent::Delta, {OmittedPart::Interval}));
  if (shape.has_gates)
    columns.push_back(make_shortened_column("verdict", CellContent::Verdict,
                                            {OmittedPart::Deviation, OmittedPart::Interval}));
  if (shape.has_failures)
    columns.push_back(
        make_shortened_column("failed runs", CellContent::Number, {OmittedPart::Deviation}));
  return columns;
}

/// Returns the name of a row in a chart: the benchmark, and the command and the metric if rows of
/// the suite differ in them.
std::string make_name_html(const SuiteShape& shape, const std::string& benchmark,
                           const std::string& command, const std::string& metric) {
  std::string html = "<span><b>" + html_text(benchmark) + "</b>";
  if (shape.has_commands && !command.empty()) html += " <code>" + html_text(command) + "</code>";
  if (shape.has_metrics) html += " <span class=\"aside\">" + html_text(metric) + "</span>";
  return html + "</span>";
}

TableRow make_cells(const SuiteRow& row, const SuiteShape& shape) {
  TableRow cells = {{row.is_first ? row.results->benchmark : ""}};
  if (shape.has_commands)
    cells.push_back({row.candidate ? row.results->session.commands[*row.candidate].name : ""});
  if (shape.has_metrics) cells.push_back({metric_of(row)});
  cells.push_back(make_base_cell(row));
  cells.push_back(row.candidate ? make_value_cell(row, *row.candidate) : Cell{});
  cells.push_back(make_delta_cell(row));
  if (shape.has_gates) cells.push_back(make_worst_verdict_cell(row));
  if (shape.has_failures) cells.push_back(make_failed_cell(row));
  return cells;
}

TableRow make_cells(const Geomean& mean, const Report& suite, const SuiteShape& shape) {
  TableRow cells = {{make_geomean_title(suite, mean), Ink::Bold}};
  if (shape.has_commands) cells.push_back({mean.candidate});
  if (shape.has_metrics) cells.push_back({mean.metric});
  cells.insert(cells.end(), {{}, {}, delta_cell(mean.change, mean.better)});
  if (shape.has_gates) cells.emplace_back();
  if (shape.has_failures) cells.emplace_back();
  return cells;
}

struct SharedLine {
  WarningLine words;  ///< `text` fits all benchmarks in `names`
  std::vector<std::string> names{};
};

/// Changes the words of a line so that they fit `other`, too.
void generalize(WarningLine& words, const WarningLine& other) {
  if (words.text == other.text) return;
  if (words.text_without_names != other.text_without_names)
    words.text_without_names = words.text_of_kind;
  words.text = words.text_without_names;
}

/// Returns "'a' and 'b': ", or "5 benchmarks: " if there are too many names for a line. A line
/// about all benchmarks of the suite names none of them.
std::string name_benchmarks(const std::vector<std::string>& names, const Report& suite) {
  constexpr std::size_t max_named = 3;
  if (names.size() == suite.benchmarks.size()) return "";
  return (names.size() > max_named ? plural(names.size(), "benchmark") : listed(names)) + ": ";
}

/// Changes a shared line so that it fits `line` and names its benchmark, too.
void add_line(SharedLine& shared, const WarningLine& line, const std::string& benchmark) {
  generalize(shared.words, line);

  // A benchmark may have several lines of one kind. It is named once.
  const bool is_named = !shared.names.empty() && shared.names.back() == benchmark;
  if (!is_named) shared.names.push_back(benchmark);
}

/// Returns the lines about single benchmarks. Those of the same kind are one line, and so are those
/// without a kind that differ only in names. `lines_by_benchmark`: in the order of the suite.
std::vector<SharedLine> share_lines(
    const Report& suite, const std::vector<std::vector<WarningLine>>& lines_by_benchmark) {
  std::vector<SharedLine> shared_lines;
  std::map<std::string, std::size_t> index_by_key;
  for (std::size_t i = 0; i < lines_by_benchmark.size(); ++i) {
    const std::string benchmark = cited(suite.benchmarks[i].benchmark);
    for (const WarningLine& line : lines_by_benchmark[i]) {
      const std::string key = line.kind.empty() ? line.text_without_names : std::string(line.kind);
      const auto [entry, is_new] = index_by_key.try_emplace(key, shared_lines.size());
      if (is_new) shared_lines.push_back({line});
      add_line(shared_lines[entry->second], line, benchmark);
    }
  }
  return shared_lines;
}

/// Joins the lines about single benchmarks, because several benchmarks often have the same warning
/// or note.
std::vector<std::string> join_lines_of_benchmarks(
    const Report& suite, const std::vector<std::vector<WarningLine>>& lines_by_benchmark) {
  std::vector<std::string> texts;
  for (const SharedLine& shared : share_lines(suite, lines_by_benchmark))
    texts.push_back(name_benchmarks(shared.names, suite) + shared.words.text);
  return texts;
}

std::vector<std::string> list_warnings(const Report& report, const Style& style,
                                       WarningOrder order) {
  std::vector<std::vector<WarningLine>> lines;
  for (const Results& results : report.benchmarks)
    lines.push_back(warning_lines(results, style, order));
  return join_lines_of_benchmarks(report, lines);
}

/// Returns the sections of each benchmark, below its name.
std::string write_each_benchmark(const Report& suite, const Style& style) {
  std::string text;
  for (const Results* results : benchmarks_in_table_order(suite)) {
    const ScreenSections of_benchmark =
        screen_sections_of_benchmark(*results, style, ScreenContent::All);
    text += inked(one_line(results->benchmark), Ink::Bold, style.color) + "\n\n" +
            of_benchmark.tables + of_benchmark.verdicts + "\n";
  }
  return text;
}

/// Returns the histograms of each benchmark, and then the functions and call paths of each, below
/// its name; empty if there are none.
std::string write_details_of_each(const Report& suite, const Style& style) {
  std::string text;
  const auto add = [&](const Results& results, const std::string& details) {
    if (!details.empty())
      text += "\n" + inked(one_line(results.benchmark), Ink::Bold, style.color) + details;
  };
  for (const Results* results : benchmarks_in_table_order(suite))
    if (style.shows_histograms) add(*results, "\n" + histograms(*results, style));
  for (const Results* results : benchmarks_in_table_order(suite))
    add(*results, function_text(*results, style) + path_text(*results, style));
  return text;
}

/// Returns the suite's table, and the details below it. With --verbose, the full text about each
/// benchmark is before it instead.
std::string write_suite_tables(const Report& suite, const Style& style) {
  const std::string table = inked(suite_title(suite), Ink::Bold, style.color) + "\n" +
                            terminal_text_with_note(suite_table(suite), style);

  // The text about each benchmark has the other lines and details already.
  if (style.verbose) return write_each_benchmark(suite, style) + table;
  return table + dim_note(suite_layout_lines(suite), style) + write_details_of_each(suite, style);
}

/// Returns the verdicts on the suite's gates, of which `listed_gates` have their own lines, and the
/// outcomes of races.
std::string write_suite_verdicts(const Report& suite, ListedGates listed_gates,
                                 const Style& style) {
  return suite_gate_lines(suite, listed_gates, style.color) + gates_in_one_line(suite) +
         suite_race_lines(suite);
}

/// Returns the row of a chart for the candidate of a table's row.
ChangeRow make_change_row(const SuiteRow& row, const SuiteShape& shape, const stats::Delta& delta) {
  const Results& results = *row.results;
  const std::string& command = results.session.commands[*row.candidate].name;
  ChangeRow change = change_row(make_name_html(shape, results.benchmark, command, metric_of(row)),
                                delta, results.session.metrics[*row.metric].better);

  // The chart marks the limit of a gate, of several gates that of the worst verdict. A limit in the
  // unit of the metric has no place on its axis of changes.
  const gate::Verdict* worst = find_worst_verdict(row);
  if (worst != nullptr && worst->condition.limit.is_change())
    change.gate_limit = worst->condition.limit.fraction();
  return change;
}

bool has_any_values(const Results& results) {
  return std::ranges::any_of(results.commands, has_values);
}

}  // namespace

std::vector<const Results*> benchmarks_in_table_order(const Report& suite) {
  std::vector<const Results*> order;
  for (const Results& results : suite.benchmarks) order.push_back(&results);
  if (suite.benchmarks.front().presentation.sort == SortChoice::Command) return order;
  std::ranges::stable_sort(order, {}, [&](const Results* results) {
    const auto alike =
        std::ranges::find(suite.benchmarks, find_headline_metric(*results), find_headline_metric);
    const auto candidates = list_candidates(*results);
    const Reference& reference = results->session.reference;
    const std::size_t otherwise = candidates.empty() ? reference.index_for(0) : candidates.front();
    const std::size_t shown = reference.index_in_session(0).value_or(otherwise);
    return std::pair(alike - suite.benchmarks.begin(), value_of_primary_metric(*results, shown));
  });
  return order;
}

std::string suite_title(const Report& suite) {
  const std::vector<SuiteRow> rows = make_rows(suite);
  const std::string metric = has_metrics(suite, rows) ? "" : one_line(metric_of(rows.front()));
  const std::string title = plural(suite.benchmarks.size(), "benchmark");
  return metric.empty() ? title : metric + " of " + title;
}

Table suite_table(const Report& suite) {
  const std::vector<SuiteRow> rows = make_rows(suite);
  const SuiteShape shape = find_shape(suite, rows);
  constexpr std::size_t min_width = 10;
  Table table{
      .columns = make_columns(shape),
      .steps = {{.gap = 4, .min_cut_width = 2 * min_width},
                {.min_cut_width = 2 * min_width},
                {.last_omitted_part = OmittedPart::Deviation, .min_cut_width = 2 * min_width},
                {.last_omitted_part = OmittedPart::Interval, .min_cut_width = 2 * min_width},
                {.last_omitted_part = OmittedPart::Values, .min_cut_width = 2 * min_width}},
      .min_cut_column_width = min_width};
  for (const SuiteRow& row : rows) table.rows.push_back(make_cells(row, shape));
  for (const Geomean& mean : suite.geomeans) table.rows.push_back(make_cells(mean, suite, shape));
  return table;
}

// The rows are drawn as a chart beside the suite's table: each candidate's change with its
// interval, and then the geometric means.
std::vector<ChangeRow> suite_changes(const Report& suite) {
  const std::vector<SuiteRow> rows = make_rows(suite);
  const SuiteShape shape = find_shape(suite, rows);
  std::vector<ChangeRow> changes;

  for (const SuiteRow& row : rows)
    if (const stats::Delta* delta = find_delta(row))
      changes.push_back(make_change_row(row, shape, *delta));
  for (const Geomean& mean : suite.geomeans)
    changes.push_back(change_row(
        make_name_html(shape, make_geomean_title(suite, mean), mean.candidate, mean.metric),
        mean.change, mean.better));

  return changes;
}

std::string gates_in_one_line(const Report& suite) {
  const std::vector<gate::Verdict> verdicts = suite.verdicts();
  if (verdicts.empty()) return "";
  std::string counts;
  for (const gate::Decision decision :
       {gate::Decision::Fail, gate::Decision::Inconclusive, gate::Decision::Pass}) {
    const auto count = std::ranges::count(verdicts, decision, &gate::Verdict::decision);
    if (count > 0)
      counts +=
          fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, verdict_word(decision).first);
  }
  const double percent = 100.0 * (1.0 - suite.benchmarks.front().session.confidence);
  return plural(verdicts.size(), "gate") + ": " + counts +
         (suite.job_error_rate == gate::ErrorRate::AnyFalseFail
              ? fmt::format(" (the chance of any false alarm is at most {:.3g}%)\n", percent)
              : fmt::format(
                    " (of those that fail, at most {:.3g}% are expected to be false alarms)\n",
                    percent));
}

// A suite has a table with a row for each candidate, then the verdicts on its gates. --verbose puts
// the full text about each benchmark before them.
ScreenSections screen_sections(const Report& report, const Style& style, ScreenContent content) {
  if (!report.is_suite())
    return screen_sections_of_benchmark(report.benchmarks.front(), style, content);

  // Without any values, there are no tables, and gates have nothing to test. Other messages say
  // that all runs failed, and which of the candidates had gates (all_runs_failed_lines()).
  if (std::ranges::none_of(report.benchmarks, has_any_values)) return {};

  const bool shows_tables = content != ScreenContent::VerdictsOnly;
  const std::string tables = shows_tables ? write_suite_tables(report, style) : "";

  const bool shows_each_benchmark = shows_tables && style.verbose;
  const std::string verdict_lines = write_suite_verdicts(
      report, shows_each_benchmark ? ListedGates::All : ListedGates::AllButPlainPasses, style);

  // An empty line separates the verdicts from the tables.
  const std::string separator = tables.empty() || verdict_lines.empty() ? "" : "\n";

  // wrapped_lines() already converts to ASCII where the style demands it.
  return {.tables = style.ascii ? to_ascii(tables) : tables,
          .verdicts = separator + wrapped_lines(verdict_lines, style)};
}

std::vector<std::string> warning_texts(const Report& report, const Style& style) {
  return list_warnings(report, style, WarningOrder::AsFound);
}

std::vector<std::string> screen_warnings(const Report& report, const Style& style) {
  constexpr std::size_t max_shown = 2;
  std::vector<std::string> lines = list_warnings(report, style, WarningOrder::ByWeight);
  for (std::string& line : lines) line.insert(0, "warning: ");
  if (style.verbose || lines.size() <= max_shown) return lines;
  const std::size_t hidden = lines.size() - max_shown;
  lines.resize(max_shown);
  lines.push_back(plural(hidden, "more warning") +
                  (hidden == 1 ? ": -v shows it" : ": -v shows them"));
  return lines;
}

std::vector<std::string> note_texts(const Report& suite, std::optional<std::string_view> hidden) {
  std::vector<std::vector<WarningLine>> lines;
  for (const Results& results : suite.benchmarks) {
    auto& notes = lines.emplace_back();
    for (const Note& note : results.session.notes)
      if (note.kind != hidden) notes.push_back({note.text, note.text});
  }
  if (suite.is_suite()) return join_lines_of_benchmarks(suite, lines);
  std::vector<std::string> texts;
  for (const WarningLine& line : lines.front()) texts.push_back(line.text);
  return texts;
}

}  // namespace lauka::report
