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

#include <functional>
#include <span>

#include <fmt/format.h>

namespace lauka::report {

namespace {

constexpr std::string_view kSigns =
    "<svg width=\"0\" height=\"0\" aria-hidden=\"true\">"
    "<symbol id=\"better\" viewBox=\"0 0 10 10\"><path d=\"M1 5l3 3 5-6\"/></symbol>"
    "<symbol id=\"worse\" viewBox=\"0 0 10 10\"><path d=\"M2 2l6 6M8 2l-6 6\"/></symbol></svg>\n";

/// Returns a message as HTML. Prevents line breaks inside an option, and next to ± and ….
std::string message_html(std::string_view message) {
  const auto is_sign = [](std::string_view word) { return word == "±" || word == "…"; };
  std::string html;
  std::string_view before;
  for (const std::string_view word : split(message, ' ')) {
    const std::size_t end = word.find_last_not_of(";:,.)") + 1;
    const bool is_option = word.starts_with("--") && end > 3;
    if (word.data() != message.data()) html += is_sign(word) || is_sign(before) ? "\u00a0" : " ";
    html += is_option ? fmt::format("<code class=\"option\">{}</code>{}",
                                    html_text(word.substr(0, end)), html_text(word.substr(end)))
                      : html_text(word);
    before = word;
  }
  return html;
}

std::string elements(const std::vector<std::string>& texts, std::string_view open,
                     std::string_view close) {
  std::string html;
  for (const std::string& text : texts)
    html += fmt::format("{}{}{}\n", open, message_html(text), close);
  return html;
}

std::string paragraphs(std::string_view lines, std::string_view css_class) {
  return elements(lines_with_text(lines), fmt::format("<p class=\"{}\">", css_class), "</p>");
}

std::string paragraphs(std::string_view lines) {
  return elements(lines_with_text(lines), "<p>", "</p>");
}

std::string function_part(const Results& results) {
  const std::vector<FunctionSection> sections = function_sections(results);
  std::string html;
  for (const FunctionSection& section : sections)
    html += "<h3>" + html_text(section.title) + "</h3>\n" + table_html(section.table, "sortable");
  return sections.empty() ? paragraphs(why_no_functions(results), "faint") : html;
}

std::string html_list(const std::vector<std::string>& texts) {
  return texts.empty() ? "" : "<ul>\n" + elements(texts, "<li>", "</li>") + "</ul>\n";
}

std::string circumstances(const Circumstances& at) {
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

std::string gate_items(const Results& results, bool all, const std::string& name) {
  std::string html;
  for (const gate::Verdict& verdict : results.findings.verdicts)
    if (all || verdict.answer != gate::Answer::Pass || risen_wall_time(results, verdict) != nullptr)
      html +=
          fmt::format("<li>{} {}{}{}</li>\n", verdict_html(Cell{.decision = verdict.decision()}),
                      name.empty() ? "" : "<b>" + html_text(name) + "</b>: ",
                      message_html(gate_line(results, verdict, "")),
                      html_list(lines_with_text(lines_below_gate(results, verdict))));
  return html;
}

std::string gate_list(const std::string& items) {
  return items.empty() ? "" : "<ul class=\"gates\">\n" + items + "</ul>\n";
}

constexpr std::string_view kCutShort =
    "<p class=\"fail\">The session was cut short: these are the runs up to then.</p>\n";

std::string verdict_part(const Results& results) {
  std::string html = paragraphs(race_line(results), "answer") +
                     paragraphs(comparison_lines(results, {}), "answer");
  if (!results.session.complete) html += kCutShort;
  const WhyTable why = why_table(results);
  if (results.explanations.size() < 2) html += paragraphs(why_lines(results));
  if (!why.table.rows.empty()) html += table_html(why.table);
  html += elements(why.remarks, "<p class=\"faint\">", "</p>");
  return html + paragraphs(layout_lines(results)) +
         paragraphs(layouts_advice_line(results), "faint") +
         paragraphs(lines_about_contradicting_means(results, {}), "faint") +
         paragraphs(function_summary(results)) + gate_list(gate_items(results, true, "")) +
         paragraphs(precision_line(results), "faint");
}

std::string caveats(const std::vector<std::string>& warnings,
                    const std::vector<std::string>& notes) {
  std::string html;
  if (!warnings.empty()) html += "<h2>Caveats</h2>\n" + html_list(warnings);
  if (!notes.empty())
    html += "<h2>Notes</h2>\n<div class=\"faint\">" + html_list(notes) + "</div>\n";
  return html;
}

std::string tuned_comparison(const Tuning& tuning) {
  std::vector<ChangeRow> rows;
  for (const TunedComparison& comparison : tuning.compare) {
    const auto add = [&](std::string_view what, const TunedChange& change) {
      if (!change.low || !change.high) return;
      const std::string name =
          fmt::format("{}{}{}, {}", comparison.benchmark, comparison.benchmark.empty() ? "" : ": ",
                      comparison.command, what);
      rows.push_back({html_text(name), html_text(delta_text(to_change(change))), "neutral",
                      to_change(change)});
    };
    add("σ", comparison.stddev);
    add("width of the interval", comparison.interval_width);
    add("mean", comparison.mean);
  }
  if (rows.empty()) return "";
  return "<p class=\"faint\">Tuned runs compared with untuned ones</p>\n" + change_chart(rows);
}

std::string tuned_machine(const Circumstances& at) {
  if (!at.tuning) return "";
  const Tuning& tuning = *at.tuning;
  Table vitals{.columns = {{.heading = {"machine"}},
                           {.heading = {"before the first run"}},
                           {.heading = {"after the last"}}}};

  const auto text_of = [](const auto& value) {
    return value ? fmt::format("{}", *value) : std::string("not known");
  };
  const auto add_if_known = [&](std::string_view what, const auto& before, const auto& after) {
    if (before || after)
      vitals.rows.push_back({{std::string(what)}, {text_of(before)}, {text_of(after)}});
  };

  add_if_known("throttle events", tuning.before.throttles, tuning.after.throttles);
  add_if_known("temperature, °C", tuning.before.celsius, tuning.after.celsius);
  add_if_known("stolen ticks", tuning.before.stolen_ticks, tuning.after.stolen_ticks);
  add_if_known("ticks", tuning.before.ticks, tuning.after.ticks);

  Table switched{
      .columns = {{.heading = {"switch"}}, {.heading = {"before"}}, {.heading = {"during"}}}};
  for (const TunedSwitch& tuned : tuning.switched)
    switched.rows.push_back({{tuned.name}, {tuned.before}, {tuned.during}});

  std::vector<std::string> missing;
  for (const UntunedSwitch& untuned : tuning.not_possible)
    missing.push_back("not changed: " + untuned.name + ", " + untuned.why);

  std::string html = "<details>\n<summary>Tuned machine</summary>\n" + tuned_comparison(tuning);
  for (const Table* table : {&switched, &vitals})
    if (!table->rows.empty()) html += table_html(*table);
  return html + html_list(missing) + "</details>\n";
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
                     settings.opens_primary && m == primary ? " open" : "", drawings.attributes(m),
                     html_text(metric_title(results.session.metrics[m]))));
    if (settings.write_rest) settings.write_rest(m);
    sink("</details>\n");
  }
  sink("</div>\n");
}

/// A page has room for everything that differs between two sides.
constexpr Style kPage{.shows_all_differences = true};

constexpr std::string_view kNoScript =
    "<noscript><p class=\"faint\">A script draws the charts, but scripts are switched off here. "
    "The tables show the numbers.</p></noscript>\n";

/// Returns what the values and percentages of the first table are.
std::string meaning_of_values(const Results& results) {
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

void write_overview(const Results& results, const Sink& sink) {
  const auto metric = primary_metric(results.session.metrics);
  if (!metric || !has_any_summary(results, *metric)) return;

  sink("<h2>" + html_text(results.session.metrics[*metric].name) + "</h2>\n");
  if (has_compact_table_first(results) || results.findings.race)
    sink(table_html(compact_table(results, *metric)));
  write_overview_chart(results, *metric, sink);

  if (has_deltas_of(results, *metric)) sink(meaning_of_values(results));

  const std::string race = race_chart(results);
  if (!race.empty())
    sink("<h2>When each command left the race</h2>\n" + race +
         "<p class=\"aside\">Each bar is as long as the rounds that the command took part "
         "in.</p>\n");

  const std::string scan = scan_chart(results, *metric);
  if (!scan.empty()) sink("<h2>Scaling</h2>\n" + scan);

  const std::string matrix = differences_html(results);
  if (!matrix.empty()) {
    const std::string* baseline = earlier_file(results.session);
    const std::string reference =
        baseline != nullptr ? html_text(*baseline)
                            : "<code>" + html_text(name_of_references(results)) + "</code>";
    sink(fmt::format("<h2>Differences from {}</h2>\n", reference));
    sink(matrix);
  }
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

std::string page_title(const Report& report) {
  const Results& first = report.benchmarks.front();
  if (!first.presentation.title.empty()) return first.presentation.title;
  if (report.is_suite()) return plural(report.benchmarks.size(), "benchmark") + " compared";
  if (first.commands.size() > 2) return plural(first.commands.size(), "command") + " compared";
  std::string names;
  for (const Command& command : first.session.commands)
    names += (names.empty() ? "" : " and ") + command.name;
  return names;
}

std::string changes_in_one_line(std::span<const ChangeRow> changes) {
  const auto count = [&](std::string_view css_class) {
    return std::ranges::count(changes, css_class, &ChangeRow::css_class);
  };
  const auto worse = count(ink_class(Ink::Red));
  const auto better = count(ink_class(Ink::Green));
  return fmt::format("{} worse, {} better, {} without a significant change",
                     worse == 0 ? "Nothing" : fmt::format("{}", worse), better,
                     std::ssize(changes) - worse - better);
}

void write_suite_page(const Report& suite, const Sink& sink) {
  if (!suite.complete()) sink(kCutShort);

  // The geometric means are the last of the changes.
  const std::vector<ChangeRow> changes = suite_changes(suite);
  const auto of_benchmarks = std::span(changes).first(changes.size() - suite.geomeans.size());
  sink(paragraphs(changes_in_one_line(of_benchmarks), "answer"));
  sink(paragraphs(suite_race_lines(suite)));
  sink(paragraphs(gates_in_one_line(suite)) + paragraphs(largest_function_change_lines(suite)));

  std::string items;
  for (const Results* results : benchmarks_in_table_order(suite))
    items += gate_items(*results, false, results->benchmark);
  sink(gate_list(items));
  sink(circumstances(suite.benchmarks.front().session.circumstances));

  if (const std::string chart = change_chart(changes); !chart.empty())
    sink("<h2>Changes</h2>\n" + chart);
  sink("<h2>" + html_text(suite_title(suite)) + "</h2>\n" + table_html(suite_table(suite)));
  sink(caveats(warning_texts(suite, kPage), note_lines(suite)));

  sink("<h2>Benchmarks</h2>\n");
  sink(kNoScript);
  // All benchmarks together have so many points that a browser still shows the page quickly.
  constexpr std::size_t points_of_suite = 16'000;
  const std::size_t max_points =
      std::clamp<std::size_t>(points_of_suite / suite.benchmarks.size(), 16, kMaxDrawnPoints);

  for (const Results* results : benchmarks_in_table_order(suite)) {
    sink("<details>\n<summary>" + html_text(results->benchmark) + "</summary>\n" +
         verdict_part(*results) + function_part(*results) + path_graphs(*results) +
         table_html(metrics_table(*results, true), "matrix metrics"));
    write_charts(*results, {.max_points = max_points}, sink);
    sink("</details>\n");
  }
}

void write_session_page(const Report& report, const Sink& sink) {
  const Results& results = report.benchmarks.front();
  sink(verdict_part(results) + circumstances(results.session.circumstances));
  sink(function_part(results) + path_graphs(results));
  if (is_scan(results)) sink("<div class=\"scanned\">\n");
  write_overview(results, sink);
  std::vector<std::string> notes = lines_with_text(shell_start_time_lines(results));
  for (const Note& note : results.session.notes) notes.push_back(note.text);
  sink(caveats(warning_texts(report, kPage), notes));
  sink(fmt::format("<h2>Charts</h2>\n{}", kNoScript));
  write_drawings(results, sink);
  write_tables(results, sink);
  if (is_scan(results)) sink("</div>\n");
}

}  // namespace

void write_page_begin(const std::string& title, std::string_view style, const Sink& sink) {
  sink(fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<style>{1}{2}</style>\n</head>\n<body>\n{3}<main>\n<h1>{0}</h1>\n",
      html_text(title), page_files::kStyleCss, style, kSigns));
}

void write_page_end(std::string_view script, const Sink& sink) {
  sink(fmt::format("</main>\n<script>{}{}</script>\n</body>\n</html>\n", page_files::kTooltipJs,
                   script));
}

void write_html(const Report& report, const Sink& sink) {
  const Results& first = report.benchmarks.front();
  write_page_begin(page_title(report), "", sink);

  if (!first.presentation.description.empty())
    sink("<p>" + html_text(first.presentation.description) + "</p>\n");
  if (report.is_suite())
    write_suite_page(report, sink);
  else
    write_session_page(report, sink);
  sink(tuned_machine(first.session.circumstances));

  const auto has_function_table = [](const Results& results) {
    return results.presentation.functions && !function_metrics(results).empty();
  };
  const auto has_paths = [](const Results& results) {
    return std::ranges::any_of(results.session.function_tables,
                               [](const FunctionTable& table) { return !table.paths.empty(); });
  };

  // A page gets only the scripts that it needs.
  std::string scripts(page_files::kDrawingJs);
  if (std::ranges::any_of(report.benchmarks, has_function_table)) scripts += page_files::kSortingJs;
  if (std::ranges::any_of(report.benchmarks, has_paths)) scripts += page_files::kIcicleJs;
  write_page_end(scripts, sink);
}

}  // namespace lauka::report
