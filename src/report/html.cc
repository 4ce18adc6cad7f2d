#include "core/numbers.h"
#include "core/text.h"
#include "report/charts.h"
#include "report/exports.h"
#include "report/format.h"
#include "report/lines.h"
#include "report/metric_tables.h"
#include "report/screen.h"
#include "report/suite_screen.h"
#include "report/svg.h"

#include <initializer_list>

#include <fmt/format.h>

namespace lauka::report {

namespace {

/// A message in HTML: an option in it is not broken at its hyphens.
std::string message_html(std::string_view message) {
  std::string html;
  for (const std::string_view word : split(message, ' ')) {
    const std::size_t end = word.find_last_not_of(";:,.)") + 1;
    const bool is_option = word.starts_with("--") && end > 3;
    if (word.data() != message.data()) html += ' ';
    html += is_option ? fmt::format("<code class=\"option\">{}</code>{}",
                                    html_text(word.substr(0, end)), html_text(word.substr(end)))
                      : html_text(word);
  }
  return html;
}

/// Returns each text in an element of its own.
std::string elements(const std::vector<std::string>& texts, std::string_view open,
                     std::string_view close) {
  std::string html;
  for (const std::string& text : texts)
    html += fmt::format("{}{}{}\n", open, message_html(text), close);
  return html;
}

std::string list_of(const std::vector<std::string>& texts) {
  return texts.empty() ? "" : "<ul>\n" + elements(texts, "<li>", "</li>") + "</ul>\n";
}

/// Returns place, time and machine: one line.
std::string circumstances(const Circumstances& at) {
  std::string line = fmt::format("lauka {}, {}", at.version,
                                 rfc3339(std::chrono::floor<std::chrono::seconds>(at.began)));
  for (const std::string& fact : {at.machine.cpu_model, at.machine.os, at.machine.architecture}) {
    if (!fact.empty()) line += ", " + fact;
  }
  if (!at.machine.tuning.empty()) line += ", tuned: " + at.machine.tuning;
  for (const Label& label : at.labels)
    line +=
        fmt::format("{} {} {}", &label == &at.labels.front() ? " ·" : ",", label.key, label.value);
  return "<p class=\"faint\">" + html_text(line) + "</p>\n";
}

/// The gates as a list, each with its answer as a mark before its line. `all`: also those that
/// pass. `name`: of the benchmark in a suite; else empty.
std::string gate_items(const Results& results, bool all, const std::string& name) {
  const std::vector<std::string> lines = lines_of(gate_lines(results, false));
  std::string html;
  for (std::size_t i = 0; i < lines.size() && i < results.verdicts.size(); ++i) {
    const gate::Answer answer = results.verdicts[i].answer;
    if (!all && answer == gate::Answer::Pass) continue;
    const std::string_view word = verdict_word(answer).text;
    const std::string said = fmt::format(": {}: ", word);
    std::string line = lines[i];
    if (const std::size_t at = line.find(said); at != std::string::npos)
      line.replace(at, said.size(), ": ");
    html += fmt::format("<li>{} {}{}</li>\n", verdict_html(word),
                        name.empty() ? "" : "<b>" + html_text(name) + "</b>: ", message_html(line));
  }
  return html;
}

std::string gate_list(const std::string& items) {
  return items.empty() ? "" : "<ul class=\"gates\">\n" + items + "</ul>\n";
}

/// Returns the first part of the page: who won, and whether the gates passed.
std::string verdict_part(const Results& results) {
  const Style style;
  std::string html =
      elements(lines_of(summary_lines(results, style)), "<p class=\"answer\">", "</p>");
  if (!results.complete) {
    html += "<p class=\"fail\">The session was cut short: these are the runs up to then.</p>\n";
  }
  const WhyTable why = why_table(results);
  if (results.explanations.size() < 2)
    html += elements(lines_of(why_lines(results)), "<p>", "</p>");
  if (!why.table.rows.empty()) html += table_html(why.table);
  html += elements(why.remarks, "<p class=\"faint\">", "</p>");
  html += elements(lines_of(why_means_differ(results, {})), "<p class=\"faint\">", "</p>");
  return html + gate_list(gate_items(results, true, "")) +
         elements(lines_of(precision_line(results)), "<p class=\"faint\">", "</p>");
}

/// Returns the caveats, and how it was measured.
std::string caveats(const std::vector<std::string>& warnings,
                    const std::vector<std::string>& notes) {
  std::string html;
  if (!warnings.empty()) html += "<h2>Caveats</h2>\n" + list_of(warnings);
  if (!notes.empty()) html += "<h2>Notes</h2>\n<div class=\"faint\">" + list_of(notes) + "</div>\n";
  return html;
}

/// Draws what --tune=compare found.
std::string tuned_comparison(const Tuning& tuning) {
  std::vector<ChangeRow> rows;
  for (const TunedComparison& one : tuning.compared) {
    const auto add = [&](std::string_view what, const TunedChange& change) {
      if (!change.low || !change.high) return;
      const std::string name = fmt::format("{}{}{}, {}", one.benchmark,
                                           one.benchmark.empty() ? "" : ": ", one.command, what);
      const std::string text = delta_text(change_of(change));
      rows.push_back({html_text(name), html_text(text), fmt::format("{}: {}", name, text),
                      "neutral", change_of(change)});
    };
    add("σ", one.stddev);
    add("width of the interval", one.width);
    add("mean", one.mean);
  }
  if (rows.empty()) return "";
  return "<p class=\"faint\">Tuned runs against untuned ones</p>\n" + change_chart(rows);
}

/// Returns what --tune switched, and the machine's state before and after the runs.
std::string tuned_machine(const Circumstances& at) {
  if (!at.tuning) return "";
  const Tuning& tuning = *at.tuning;
  const auto table_of = [](std::initializer_list<std::string_view> headings) {
    Table table;
    for (const std::string_view heading : headings)
      table.columns.push_back({.heading = {std::string(heading)}});
    return table;
  };
  Table vitals = table_of({"machine", "before the first run", "after the last"});
  const auto add = [&](std::string_view what, const auto& before, const auto& after) {
    const auto text = [](const auto& value) {
      return value ? fmt::format("{}", *value) : std::string("not known");
    };
    if (before || after)
      vitals.rows.push_back({{std::string(what)}, {text(before)}, {text(after)}});
  };
  add("throttle events", tuning.before.throttles, tuning.after.throttles);
  add("temperature, °C", tuning.before.celsius, tuning.after.celsius);
  add("stolen ticks", tuning.before.stolen_ticks, tuning.after.stolen_ticks);
  add("ticks", tuning.before.ticks, tuning.after.ticks);
  Table switched = table_of({"switch", "before", "during"});
  for (const TunedSwitch& one : tuning.switched)
    switched.rows.push_back({{one.name}, {one.before}, {one.during}});
  std::vector<std::string> missing;
  for (const UntunedSwitch& one : tuning.not_possible)
    missing.push_back("not switched: " + one.name + ", " + one.why);
  std::string html = "<details>\n<summary>Tuned machine</summary>\n" + tuned_comparison(tuning);
  for (const Table* table : {&switched, &vitals})
    if (!table->rows.empty()) html += table_html(*table);
  return html + list_of(missing) + "</details>\n";
}

std::string title_of(const Results& results) {
  if (!results.presentation.title.empty()) return results.presentation.title;
  if (results.commands.size() > 2) return plural(results.commands.size(), "command") + " compared";
  std::string names;
  for (const CommandResult& command : results.commands)
    names += (names.empty() ? "" : " and ") + command.name;
  return names;
}

/// The metric that the headline speaks of.
void write_overview(const Results& results, const Sink& sink) {
  const auto metric = primary_metric(results.metrics);
  if (!metric || !is_drawn(results, *metric)) return;
  sink("<h2>" + html_text(results.metrics[*metric].name) + "</h2>\n");
  overview_chart(results, *metric, sink);
  const std::string scan = scan_chart(results, *metric);
  if (!scan.empty()) sink("<h2>Scaling</h2>\n" + scan);
  const std::string matrix = delta_matrix(results);
  if (!matrix.empty()) {
    sink(fmt::format(
        "<h2>Differences from {}</h2>\n",
        results.reference.baseline
            ? html_text(results.reference.baseline->file)
            : "<code>" + html_text(results.commands[results.reference.command].name) + "</code>"));
    sink(matrix);
  }
}

/// The first metric comes unfolded; the others on request. With many commands all are folded, and
/// only the first metric has its deltas drawn, too: the tables have the others.
void write_drawings(const Results& results, const Sink& sink) {
  const auto primary = primary_metric(results.metrics);
  const bool has_many = results.commands.size() > kMostUnfolded;
  for (std::size_t m = 0; m < results.metrics.size(); ++m) {
    if (!is_drawn(results, m)) continue;
    const Metric& metric = results.metrics[m];
    const std::string title =
        html_text(metric.note.empty() ? metric.name : metric.name + " " + metric.note);
    sink(fmt::format("<details{}>\n<summary>{}</summary>\n<h3>Distribution</h3>\n",
                     m == primary && !has_many ? " open" : "", title));
    distribution_chart(results, m, sink);
    const std::string deltas = m == primary || !has_many ? delta_chart(results, m) : "";
    if (!deltas.empty()) {
      sink(fmt::format("<h3>Differences, with their {:g}% intervals</h3>\n",
                       100 * results.confidence) +
           deltas);
    }
    sink("<h3>Runs over time</h3>\n");
    time_chart(results, m, sink);
    sink("</details>\n");
  }
}

/// The table of each command, folded.
void write_tables(const Results& results, const Sink& sink) {
  sink("<details>\n<summary>Tables</summary>\n");
  for (const std::size_t c : order_of(results)) {
    const CommandResult& command = results.commands[c];
    sink(fmt::format("<h3>{}: {}</h3>\n", html_text(benchmark_title(results, c)),
                     command_html(results, c)));
    if (has_values(command)) sink(table_html(full_table(results, c, Format::Html, true)));
  }
  sink("</details>\n");
}

std::string page_title(const Report& report) {
  const std::string& title = report.benchmarks.front().presentation.title;
  if (!report.is_suite()) return title_of(report.benchmarks.front());
  return title.empty() ? plural(report.benchmarks.size(), "benchmark") + " compared" : title;
}

void write_suite_page(const Report& suite, const Sink& sink) {
  if (!suite.complete())
    sink("<p class=\"fail\">The session was cut short: these are the runs up to then.</p>\n");
  sink(elements(lines_of(gates_in_one_line(suite)), "<p class=\"answer\">", "</p>"));
  std::string items;
  for (const Results* one : order_of(suite)) items += gate_items(*one, false, one->benchmark);
  sink(gate_list(items));
  if (const std::string changes = change_chart(suite_changes(suite)); !changes.empty())
    sink("<h2>Changes</h2>\n" + changes);
  sink("<h2>" + html_text(suite_title(suite)) + "</h2>\n" + table_html(suite_table(suite)));
  sink(caveats(warning_texts(suite, {}), notes_of(suite)));
  sink("<h2>Benchmarks</h2>\n");
  for (const Results* one : order_of(suite)) {
    sink("<details>\n<summary>" + html_text(one->benchmark) + "</summary>\n" + verdict_part(*one));
    write_drawings(*one, sink);
    write_tables(*one, sink);
    sink("</details>\n");
  }
}

void write_session_page(const Results& results, const Sink& sink) {
  sink(verdict_part(results));
  write_overview(results, sink);
  std::vector<std::string> notes = lines_of(shell_lines(results));
  notes.insert(notes.end(), results.notes.begin(), results.notes.end());
  sink(caveats(warning_texts(results, {}), notes));
  sink("<h2>Charts</h2>\n");
  write_drawings(results, sink);
  write_tables(results, sink);
}

}  // namespace

void write_html(const Report& report, const Sink& sink) {
  const Results& first = report.benchmarks.front();
  write_page_begin(page_title(report), "", sink);
  if (!first.presentation.description.empty())
    sink("<p>" + html_text(first.presentation.description) + "</p>\n");
  sink(circumstances(first.circumstances));
  if (report.is_suite()) {
    write_suite_page(report, sink);
  } else {
    write_session_page(first, sink);
  }
  sink(tuned_machine(first.circumstances));
  write_page_end(html_script(), sink);
}

}  // namespace lauka::report
