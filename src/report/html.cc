#include "report/html.h"

#include "core/numbers.h"
#include "core/text.h"
#include "report/charts.h"
#include "report/format.h"
#include "report/function_lines.h"
#include "report/layout_lines.h"
#include "report/lines.h"
#include "report/page_files.h"
#include "report/path_graph.h"
#include "report/race_lines.h"
#include "report/scan_chart.h"
#include "report/screen.h"
#include "report/suite_screen.h"
#include "report/table.h"
#include "results/analyse.h"

#include <array>
#include <functional>
#include <span>

#include <fmt/format.h>

namespace lauka::report {

namespace {

/// Defines the signs that tables show beside a delta. Each use refers to a sign by its id.
constexpr std::string_view kSignDefinitions =
    "<svg width=\"0\" height=\"0\" aria-hidden=\"true\">"
    "<symbol id=\"better\" viewBox=\"0 0 10 10\"><path d=\"M1 5l3 3 5-6\"/></symbol>"
    "<symbol id=\"worse\" viewBox=\"0 0 10 10\"><path d=\"M2 2l6 6M8 2l-6 6\"/></symbol></svg>\n";

/// Returns a message as HTML. Prevents line breaks inside an option, and next to ± and ….
std::string message_html(std::string_view message) {
  const auto is_sign = [](std::string_view word) { return word == "±" || word == "…"; };
  std::string html;
  std::string_view previous_word;
  for (const std::string_view word : split(message, ' ')) {
    const std::size_t end = word.find_last_not_of(";:,.)") + 1;
    // Every option has two letters or more after the hyphens; a bare -- is none.
    const bool is_option = word.starts_with("--") && end > 3;
    if (word.data() != message.data())
      html += is_sign(word) || is_sign(previous_word) ? "\u00a0" : " ";
    html += is_option ? fmt::format("<code class=\"option\">{}</code>{}",
                                    html_text(word.substr(0, end)), html_text(word.substr(end)))
                      : html_text(word);
    previous_word = word;
  }
  return html;
}

/// Returns each text as an HTML element.
std::string wrap_each(const std::vector<std::string>& texts, std::string_view open,
                      std::string_view close) {
  std::string html;
  for (const std::string& text : texts)
    html += fmt::format("{}{}{}\n", open, message_html(text), close);
  return html;
}

std::string make_paragraphs(std::string_view lines, std::string_view css_class) {
  return wrap_each(lines_with_text(lines), fmt::format("<p class=\"{}\">", css_class), "</p>");
}

std::string make_paragraphs(std::string_view lines) {
  return wrap_each(lines_with_text(lines), "<p>", "</p>");
}

std::string make_part_on_profiled_functions(const Results& results) {
  const std::vector<FunctionSection> sections = function_sections(results);
  std::string html;
  for (const FunctionSection& section : sections)
    html += "<h3>" + html_text(section.title) + "</h3>\n" + table_html(section.table, "sortable");
  return sections.empty() ? make_paragraphs(why_no_functions(results), "faint") : html;
}

std::string make_html_list(const std::vector<std::string>& texts) {
  return texts.empty() ? "" : "<ul>\n" + wrap_each(texts, "<li>", "</li>") + "</ul>\n";
}

std::string describe_circumstances(const Circumstances& at) {
  std::string line = fmt::format("lauka {}, {}", at.version,
                                 rfc3339(std::chrono::floor<std::chrono::seconds>(at.began)));
  for (const std::string& fact : {at.machine.cpu_model, at.machine.os, at.machine.architecture})
    if (!fact.empty()) line += ", " + fact;
  if (!at.machine.tuning.empty()) line += ", tuned: " + at.machine.tuning;
  for (const Label& label : at.labels)
    line +=
        fmt::format("{} {} {}", &label == &at.labels.front() ? " ·" : ",", label.key, label.value);
  return "<p class=\"faint\">" + html_text(line) + "</p>\n";
}

/// Returns a list item for each verdict. Without `lists_passes`, leaves out gates that passed,
/// unless their wall time rose. `name`: name of the benchmark; empty: no name is shown.
std::string list_gates(const Results& results, bool lists_passes, const std::string& name) {
  std::string html;
  for (const gate::Verdict& verdict : results.findings.verdicts)
    if (lists_passes || verdict.answer != gate::Answer::Pass ||
        risen_wall_time(results, verdict) != nullptr)
      html +=
          fmt::format("<li>{} {}{}{}</li>\n", verdict_html(Cell{.decision = verdict.decision()}),
                      name.empty() ? "" : "<b>" + html_text(name) + "</b>: ",
                      message_html(gate_line(results, verdict, "")),
                      make_html_list(lines_with_text(lines_below_gate(results, verdict))));
  return html;
}

std::string wrap_gate_items(const std::string& items) {
  return items.empty() ? "" : "<ul class=\"gates\">\n" + items + "</ul>\n";
}

constexpr std::string_view kCutShortNote =
    "<p class=\"fail\">The session was cut short: these are the runs up to then.</p>\n";

std::string make_verdict_part(const Results& results) {
  std::string html = make_paragraphs(race_line(results), "answer") +
                     make_paragraphs(comparison_lines(results, {}), "answer");
  if (!results.session.complete) html += kCutShortNote;
  const WhyTable why = why_table(results);
  if (results.explanations.size() < 2) html += make_paragraphs(why_lines(results));
  if (!why.table.rows.empty()) html += table_html(why.table);
  html += wrap_each(why.remarks, "<p class=\"faint\">", "</p>");
  return html + make_paragraphs(layout_lines(results)) +
         make_paragraphs(layouts_advice_line(results), "faint") +
         make_paragraphs(lines_about_contradicting_means(results, {}), "faint") +
         make_paragraphs(function_summary(results)) +
         wrap_gate_items(list_gates(results, true, "")) +
         make_paragraphs(precision_line(results), "faint");
}

std::string make_caveats(const std::vector<std::string>& warnings,
                         const std::vector<std::string>& notes) {
  std::string html;
  if (!warnings.empty()) html += "<h2>Caveats</h2>\n" + make_html_list(warnings);
  if (!notes.empty())
    html += "<h2>Notes</h2>\n<div class=\"faint\">" + make_html_list(notes) + "</div>\n";
  return html;
}

/// A figure of the runs that --tune may change.
struct TunedFigure {
  std::string_view name;
  TunedChange TunedComparison::*change;
};

constexpr auto kTunedFigures = std::to_array<TunedFigure>({
    {"σ", &TunedComparison::stddev},
    {"width of the interval", &TunedComparison::interval_width},
    {"mean", &TunedComparison::mean},
});

/// Returns the command with its benchmark, which it has only in a suite.
std::string name_compared_command(const TunedComparison& comparison) {
  return comparison.benchmark.empty() ? comparison.command
                                      : comparison.benchmark + ": " + comparison.command;
}

/// Returns the row of a change by --tune. A program that has changed is drawn as better or worse.
/// Here the program is the same on both sides, so neither would be true.
ChangeRow make_neutral_row(const std::string& name, const stats::Change& change) {
  return {.name_html = html_text(name),
          .change_html = html_text(delta_text(change)),
          .css_class = "neutral",
          .change = change};
}

/// Draws what --tune, which makes the machine quieter, was good for: how much the scatter, the
/// width of the interval and the mean of tuned runs differ from those of untuned runs.
std::string chart_changes_by_tuning(const Tuning& tuning) {
  std::vector<ChangeRow> rows;
  for (const TunedComparison& comparison : tuning.compare) {
    for (const TunedFigure& figure : kTunedFigures) {
      // The chart draws intervals, so a change without one has no row.
      const TunedChange& change = comparison.*figure.change;
      const bool has_interval = change.low && change.high;
      if (!has_interval) continue;
      const std::string name =
          fmt::format("{}, {}", name_compared_command(comparison), figure.name);
      rows.push_back(make_neutral_row(name, to_change(change)));
    }
  }
  if (rows.empty()) return "";
  return "<p class=\"faint\">Tuned runs compared with untuned ones</p>\n" + change_chart(rows);
}

/// Returns what the machine's sensors and counters said before and after the runs. The runs were
/// disturbed if there were throttle events, or if many of all ticks were stolen by a hypervisor.
Table make_vitals_table(const Tuning& tuning) {
  Table table{.columns = {{.heading = {"machine"}},
                          {.heading = {"before the first run"}},
                          {.heading = {"after the last"}}}};

  const auto text_of = [](const auto& value) {
    return value ? fmt::format("{}", *value) : std::string("not known");
  };
  const auto add_row_if_known = [&](std::string_view what, const auto& before, const auto& after) {
    if (before || after)
      table.rows.push_back({{std::string(what)}, {text_of(before)}, {text_of(after)}});
  };

  add_row_if_known("throttle events", tuning.before.throttles, tuning.after.throttles);
  add_row_if_known("temperature, °C", tuning.before.celsius, tuning.after.celsius);
  add_row_if_known("stolen ticks", tuning.before.stolen_ticks, tuning.after.stolen_ticks);
  add_row_if_known("ticks", tuning.before.ticks, tuning.after.ticks);
  return table;
}

/// Returns the part of the page on --tune, which changes settings of the machine (switches) while
/// lauka measures. It is folded, and empty without --tune.
std::string describe_tuned_machine(const Circumstances& at) {
  if (!at.tuning) return "";
  const Tuning& tuning = *at.tuning;

  Table switches{
      .columns = {{.heading = {"switch"}}, {.heading = {"before"}}, {.heading = {"during"}}}};
  for (const TunedSwitch& tuned : tuning.switched)
    switches.rows.push_back({{tuned.name}, {tuned.before}, {tuned.during}});

  std::vector<std::string> unchanged;
  for (const UntunedSwitch& untuned : tuning.not_possible)
    unchanged.push_back("not changed: " + untuned.name + ", " + untuned.why);

  std::string html =
      "<details>\n<summary>Tuned machine</summary>\n" + chart_changes_by_tuning(tuning);
  for (const Table& table : {switches, make_vitals_table(tuning)})
    if (!table.rows.empty()) html += table_html(table);
  return html + make_html_list(unchanged) + "</details>\n";
}

struct ChartSettings {
  std::size_t max_points = 0;
  bool opens_primary = true;  ///< false: all charts are folded
  std::function<void(std::size_t metric)>
      write_rest{};  ///< writes what follows a chart; may be empty
};

void write_charts(const Results& results, const ChartSettings& settings, const Sink& sink) {
  const auto primary = primary_metric(results.session.metrics);
  MetricDrawings drawings(results, settings.max_points);
  sink(fmt::format("<div data-runs=\"{}\" data-commands=\"{}\">\n",
                   std::max<std::size_t>(results.session.runs.size(), 1),
                   commands_for_page_script(results)));
  for (std::size_t m = 0; m < results.session.metrics.size(); ++m) {
    if (!has_any_summary(results, m) || (m != primary && is_constant(results, m))) continue;
    sink(fmt::format("<details{}{}>\n<summary>{}</summary>\n",
                     settings.opens_primary && m == primary ? " open" : "",
                     drawings.make_attributes(m),
                     html_text(metric_title(results.session.metrics[m]))));
    if (settings.write_rest) settings.write_rest(m);
    sink("</details>\n");
  }
  sink("</div>\n");
}

/// A page has room for everything that differs between two sides.
constexpr Style kPageStyle{.shows_all_differences = true};

constexpr std::string_view kNoScript =
    "<noscript><p class=\"faint\">A script draws the charts, but scripts are switched off here. "
    "The tables show the numbers.</p></noscript>\n";

/// Returns what the values and percentages of the first table are.
std::string explain_values(const Results& results) {
  std::size_t with_layouts = 0;
  for (std::size_t c = 0; c < results.commands.size(); ++c)
    if (count_layouts(results.session, c) > 1) ++with_layouts;

  std::string text =
      "Values are medians. Percentages are changes of the typical round, which may "
      "differ from the change of the medians.";
  if (with_layouts == results.commands.size())
    text = "Values are means over layouts. Percentages are mean changes over layouts.";
  else if (with_layouts > 0)
    text += " For commands with layouts, both are means over layouts.";
  return "<p class=\"aside\">" + text + "</p>\n";
}

void write_race_part(const Results& results, const Sink& sink) {
  const std::string race = race_chart(results);
  if (!race.empty())
    sink("<h2>When each command left the race</h2>\n" + race +
         "<p class=\"aside\">Each bar is as long as the rounds that the command took part "
         "in.</p>\n");
}

/// Returns what the commands are compared with: a file of an earlier session (--baseline), or a
/// command of this session.
std::string name_reference_html(const Results& results) {
  const std::string* baseline = earlier_file(results.session);
  return baseline != nullptr ? html_text(*baseline)
                             : "<code>" + html_text(name_of_references(results)) + "</code>";
}

void write_difference_part(const Results& results, const Sink& sink) {
  const std::string difference_table = differences_html(results);
  if (difference_table.empty()) return;
  sink(fmt::format("<h2>Differences from {}</h2>\n", name_reference_html(results)));
  sink(difference_table);
}

/// Writes the part of a session's page that compares the commands at a glance, by the metric that
/// matters most. The charts that only some sessions have (of a race, a scan, or many differences)
/// come last.
void write_overview(const Results& results, const Sink& sink) {
  const auto metric = primary_metric(results.session.metrics);
  if (!metric || !has_any_summary(results, *metric)) return;

  sink("<h2>" + html_text(results.session.metrics[*metric].name) + "</h2>\n");
  // With several commands, a reader first wants a table with a row for each of them.
  if (has_compact_table_first(results) || results.findings.race)
    sink(table_html(compact_table(results, *metric)));
  write_overview_chart(results, *metric, sink);

  // Only percentages need to be explained, and without deltas there are none.
  if (has_deltas_of(results, *metric)) sink(explain_values(results));

  write_race_part(results, sink);
  const std::string scan = scan_chart(results, *metric);
  if (!scan.empty()) sink("<h2>Scaling</h2>\n" + scan);
  write_difference_part(results, sink);
}

/// Writes the charts of the metrics. With many commands, all charts are folded, and only the
/// primary metric has a chart of deltas.
void write_drawings(const Results& results, const Sink& sink) {
  const auto primary = primary_metric(results.session.metrics);
  const bool has_many = results.commands.size() > kMaxCommandsWithAllDeltaCharts;
  const auto write_rest = [&](std::size_t metric) {
    const std::string deltas = metric == primary || !has_many ? delta_chart(results, metric) : "";
    if (!deltas.empty())
      sink(fmt::format("<h3>Differences, with their {:g}% intervals</h3>\n",
                       100 * results.session.confidence) +
           deltas);
    write_layout_chart(results, metric, sink);
  };

  write_charts(
      results,
      {.max_points = kMaxDrawnPoints, .opens_primary = !has_many, .write_rest = write_rest}, sink);
}

void write_tables(const Results& results, const Sink& sink) {
  sink("<details>\n<summary>Tables</summary>\n");
  const std::vector<std::string> classes = command_classes(results);
  for (const std::size_t c : commands_in_table_order(results)) {
    const CommandResult& command = results.commands[c];
    sink(fmt::format("<h3>{}: {}</h3>\n", html_text(command_title(results, c)),
                     command_html(results, c, classes[c])));
    if (has_values(command)) sink(table_html(full_table(results, c, true, true)));
  }
  sink("</details>\n");
}

std::string choose_page_title(const Report& report) {
  const Results& first = report.benchmarks.front();
  if (!first.presentation.title.empty()) return first.presentation.title;
  if (report.is_suite()) return plural(report.benchmarks.size(), "benchmark") + " compared";
  if (first.commands.size() > 2) return plural(first.commands.size(), "command") + " compared";
  std::string names;
  for (const Command& command : first.session.commands)
    names += (names.empty() ? "" : " and ") + command.name;
  return names;
}

std::string count_changes(std::span<const ChangeRow> changes) {
  const auto count_class = [&](std::string_view css_class) {
    return std::ranges::count(changes, css_class, &ChangeRow::css_class);
  };
  const auto worse = count_class(ink_class(Ink::Red));
  const auto better = count_class(ink_class(Ink::Green));
  return fmt::format("{} worse, {} better, {} without a significant change",
                     worse == 0 ? "Nothing" : fmt::format("{}", worse), better,
                     std::ssize(changes) - worse - better);
}

/// Returns the changes of the benchmarks alone. After them, the list has their geometric means,
/// which are no further changes.
std::span<const ChangeRow> changes_of_benchmarks(const Report& suite,
                                                 const std::vector<ChangeRow>& changes) {
  return std::span(changes).first(changes.size() - suite.geomeans.size());
}

/// Returns the list of a suite's gates, the limits that commands must keep. A suite may have
/// hundreds of them, so the list leaves out those that were passed, unless the wall time rose.
std::string list_suite_gates(const Report& suite) {
  constexpr bool lists_passes = false;
  std::string gate_items;
  for (const Results* results : benchmarks_in_table_order(suite))
    gate_items += list_gates(*results, lists_passes, results->benchmark);
  return wrap_gate_items(gate_items);
}

/// Returns how many points a chart of a benchmark may have. All benchmarks together draw only so
/// many points that a browser shows the page quickly. In a huge suite, each chart keeps a few
/// points all the same.
std::size_t max_points_of_benchmark(const Report& suite) {
  constexpr std::size_t points_of_suite = 16'000;
  constexpr std::size_t fewest_points = 16;
  return std::clamp<std::size_t>(points_of_suite / suite.benchmarks.size(), fewest_points,
                                 kMaxDrawnPoints);
}

/// Writes the folded part of a suite's benchmark.
void write_benchmark_part(const Results& results, std::size_t max_points, const Sink& sink) {
  constexpr bool shows_every_metric = true;
  sink("<details>\n<summary>" + html_text(results.benchmark) + "</summary>\n" +
       make_verdict_part(results) + make_part_on_profiled_functions(results) +
       call_path_graphs(results) +
       table_html(metrics_table(results, shows_every_metric), "matrix metrics"));
  write_charts(results, {.max_points = max_points}, sink);
  sink("</details>\n");
}

/// Writes the page of a suite: first what all benchmarks say together, and then each benchmark in a
/// part that the reader can unfold.
void write_suite_page(const Report& suite, const Sink& sink) {
  if (!suite.complete()) sink(kCutShortNote);

  const std::vector<ChangeRow> changes = suite_changes(suite);
  const std::string answer = count_changes(changes_of_benchmarks(suite, changes));
  sink(make_paragraphs(answer, "answer"));
  sink(make_paragraphs(suite_race_lines(suite)));
  sink(make_paragraphs(gates_in_one_line(suite)) +
       make_paragraphs(largest_function_change_lines(suite)));
  sink(list_suite_gates(suite));

  // The benchmarks of a suite share their circumstances, so those of the first stand for all.
  sink(describe_circumstances(suite.benchmarks.front().session.circumstances));

  if (const std::string chart = change_chart(changes); !chart.empty())
    sink("<h2>Changes</h2>\n" + chart);
  sink("<h2>" + html_text(suite_title(suite)) + "</h2>\n" + table_html(suite_table(suite)));
  sink(make_caveats(warning_texts(suite, kPageStyle), note_texts(suite)));

  // Without scripts, the benchmarks have no charts. The page says so above the benchmarks.
  sink("<h2>Benchmarks</h2>\n");
  sink(kNoScript);
  for (const Results* results : benchmarks_in_table_order(suite))
    write_benchmark_part(*results, max_points_of_benchmark(suite), sink);
}

void write_session_page(const Report& report, const Sink& sink) {
  const Results& results = report.benchmarks.front();
  sink(make_verdict_part(results) + describe_circumstances(results.session.circumstances));
  sink(make_part_on_profiled_functions(results) + call_path_graphs(results));
  if (is_scan(results)) sink("<div class=\"scanned\">\n");
  write_overview(results, sink);
  std::vector<std::string> notes = lines_with_text(shell_start_time_lines(results));
  for (const Note& note : results.session.notes) notes.push_back(note.text);
  sink(make_caveats(warning_texts(report, kPageStyle), notes));
  sink(fmt::format("<h2>Charts</h2>\n{}", kNoScript));
  write_drawings(results, sink);
  write_tables(results, sink);
  if (is_scan(results)) sink("</div>\n");
}

bool has_function_table(const Results& results) {
  return results.presentation.functions && !function_metrics(results).empty();
}

bool has_call_paths(const Results& results) {
  return std::ranges::any_of(results.session.function_tables,
                             [](const FunctionTable& table) { return !table.paths.empty(); });
}

/// Returns the scripts that the page needs: all pages draw charts, tables of functions can be
/// sorted, and call paths are drawn as icicle graphs.
std::string choose_scripts(const Report& report) {
  std::string scripts(page_files::kDrawingJs);
  if (std::ranges::any_of(report.benchmarks, has_function_table)) scripts += page_files::kSortingJs;
  if (std::ranges::any_of(report.benchmarks, has_call_paths)) scripts += page_files::kIcicleJs;
  return scripts;
}

}  // namespace

void write_page_begin(const std::string& title, std::string_view style, const Sink& sink) {
  sink(fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<style>{1}{2}</style>\n</head>\n<body>\n{3}<main>\n<h1>{0}</h1>\n",
      html_text(title), page_files::kStyleCss, style, kSignDefinitions));
}

void write_page_end(std::string_view script, const Sink& sink) {
  sink(fmt::format("</main>\n<script>{}{}</script>\n</body>\n</html>\n", page_files::kTooltipJs,
                   script));
}

/// Writes the page of a session or a suite, which is one file without references to others.
void write_html(const Report& report, const Sink& sink) {
  // The title and the machine are the same for all benchmarks of a suite.
  const Results& first = report.benchmarks.front();
  write_page_begin(choose_page_title(report), "", sink);

  if (!first.presentation.description.empty())
    sink("<p>" + html_text(first.presentation.description) + "</p>\n");
  if (report.is_suite())
    write_suite_page(report, sink);
  else
    write_session_page(report, sink);
  sink(describe_tuned_machine(first.session.circumstances));

  write_page_end(choose_scripts(report), sink);
}

}  // namespace lauka::report
