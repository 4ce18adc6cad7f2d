#include "core/numbers.h"
#include "core/text.h"
#include "report/cells.h"
#include "report/charts.h"
#include "report/compact.h"
#include "report/exports.h"
#include "report/format.h"
#include "report/html_tables.h"
#include "report/lines.h"
#include "report/marked_delta.h"
#include "report/suite.h"
#include "report/suite_exports.h"
#include "report/svg.h"
#include "report/table.h"
#include "report/warnings.h"
#include "report/why.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace lauka::report {

namespace {

/// A message in HTML: an option in it is not broken at its hyphens.
std::string message_html(std::string_view message) {
  std::string html;
  std::string_view rest = message;
  while (!rest.empty()) {
    const std::size_t length = std::min(rest.find(' '), rest.size());
    std::string_view word = rest.substr(0, length);
    const std::size_t end = word.find_last_not_of(";:,.)") + 1;
    const bool is_option = word.starts_with("--") && end > 3;
    html += is_option ? fmt::format("<code class=\"option\">{}</code>{}",
                                    html_text(word.substr(0, end)), html_text(word.substr(end)))
                      : html_text(word);
    rest.remove_prefix(length);
    if (rest.empty()) break;
    html += ' ';
    rest.remove_prefix(1);
  }
  return html;
}

/// Each text in an element of its own.
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

/// Where, when and by what: one line.
std::string circumstances(const Circumstances& at) {
  std::string line = fmt::format("lauka {}, {}", at.version,
                                 rfc3339(std::chrono::floor<std::chrono::seconds>(at.began)));
  for (const std::string& fact : {at.machine.cpu_model, at.machine.os, at.machine.architecture}) {
    if (!fact.empty()) line += ", " + fact;
  }
  for (const Label& label : at.labels)
    line +=
        fmt::format("{} {} {}", &label == &at.labels.front() ? " ·" : ",", label.key, label.value);
  return "<p class=\"faint\">" + html_text(line) + "</p>\n";
}

/// "pass" and the like as a mark of its own, and the rest of the gate's line.
std::string gate_item(const gate::Verdict& verdict, std::string line) {
  const bool passes = verdict.answer == gate::Answer::Pass;
  const std::string_view word = passes                                 ? "pass"
                                : verdict.answer == gate::Answer::Fail ? "fail"
                                                                       : "inconclusive";
  const std::string_view css = passes ? "better" : word == "fail" ? "worse" : "unsure";
  const std::string said = fmt::format(": {}: ", word);
  if (const std::size_t at = line.find(said); at != std::string::npos)
    line.replace(at, said.size(), ": ");
  return fmt::format("<li><span class=\"mark {}\">{}</span> {}</li>\n", css, word,
                     message_html(line));
}

std::string gates(const Results& results) {
  const std::vector<std::string> lines = lines_of(gate_lines(results, false));
  if (lines.empty()) return "";
  std::string html = "<ul class=\"gates\">\n";
  for (std::size_t i = 0; i < lines.size() && i < results.verdicts.size(); ++i)
    html += gate_item(results.verdicts[i], lines[i]);
  return html + "</ul>\n";
}

/// What a reader wants first: who won, and whether the gates passed.
std::string verdict_part(const Results& results) {
  const Style style;
  std::string html =
      elements(lines_of(summary_lines(results, style)), "<p class=\"answer\">", "</p>");
  if (!results.complete) {
    html += "<p class=\"fail\">The session was cut short: these are the runs up to then.</p>\n";
  }
  html += elements(lines_of(why_lines(results)), "<p>", "</p>");
  return html + gates(results) +
         elements(lines_of(precision_line(results)), "<p class=\"faint\">", "</p>");
}

/// What has to be kept in mind, and how it was measured.
std::string caveats(const Results& results) {
  const std::vector<std::string> warnings = warning_texts(results, {});
  std::string html;
  if (!warnings.empty()) html += "<h2>Caveats</h2>\n" + list_of(warnings);
  std::vector<std::string> notes = lines_of(shell_lines(results));
  notes.insert(notes.end(), results.notes.begin(), results.notes.end());
  if (!notes.empty()) html += "<h2>Notes</h2>\n<div class=\"faint\">" + list_of(notes) + "</div>\n";
  return html;
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

/// The first metric comes unfolded; the others are there for who asks. Of many commands all are
/// folded, and only the first metric has its deltas drawn, too: the tables have the others.
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

}  // namespace

namespace {

void write_head(const std::string& title, const std::string& description, const Sink& sink) {
  sink(
      fmt::format("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, "
                  "initial-scale=1\">\n<title>{}</title>\n"
                  "<style>{}</style>\n</head>\n<body>\n<h1>{}</h1>\n",
                  html_text(title), html_style(), html_text(title)));
  if (!description.empty()) sink("<p>" + html_text(description) + "</p>\n");
}

void write_foot(const Sink& sink) {
  sink(fmt::format("<script>{}</script>\n</body>\n</html>\n", html_script()));
}

std::string mark_of(const std::string& verdict) {
  if (verdict.empty()) return "";
  const std::string_view css = verdict == "pass"   ? "better"
                               : verdict == "fail" ? "worse"
                                                   : "unsure";
  return fmt::format("<span class=\"mark {}\">{}</span>", css, verdict);
}

void write_suite_table(const SuiteResults& suite, const Sink& sink) {
  const bool names = has_candidate_names(suite);
  sink(fmt::format(
      "<div class=\"scroll\"><table>\n<thead><tr><th>benchmark</th>{}<th class=\"more\">base</th>"
      "<th class=\"more\">candidate</th><th>delta</th><th>verdict</th></tr></thead>\n",
      names ? "<th>command</th>" : ""));
  for (const SuiteCells& cells : cells_of(suite)) {
    const std::string name = html_text(cells.benchmark);
    sink(
        fmt::format("<tr><td>{}</td>{}<td class=\"more\">{}</td><td class=\"more\">{}</td>"
                    "<td class=\"{}\">{}</td><td>{}</td>"
                    "</tr>\n",
                    cells.is_total ? "<b>" + name + "</b>" : name,
                    names ? "<td><code>" + html_text(cells.command) + "</code></td>" : "",
                    html_text(cells.base), html_text(cells.candidate), ink_class(cells.delta.ink),
                    html_text(cells.delta.text), mark_of(cells.verdict)));
  }
  sink("</table></div>\n");
}

}  // namespace

void write_suite_html(const SuiteResults& suite, const Sink& sink) {
  const std::string& title = suite.presentation.title;
  write_head(title.empty() ? plural(suite.benchmarks.size(), "benchmark") + " compared" : title,
             suite.presentation.description, sink);
  sink(circumstances(suite.benchmarks.front().results.circumstances));
  if (!suite.complete())
    sink("<p class=\"fail\">The session was cut short: these are the runs up to then.</p>\n");
  write_suite_table(suite, sink);
  sink(elements(lines_of(gates_in_one_line(suite)), "<p>", "</p>"));
  const auto warnings = suite_warning_texts(suite, {});
  if (!warnings.empty()) sink("<h2>Caveats</h2>\n" + list_of(warnings));
  const auto notes = suite_notes(suite);
  if (!notes.empty()) sink("<h2>Notes</h2>\n<div class=\"faint\">" + list_of(notes) + "</div>\n");
  sink("<h2>Benchmarks</h2>\n");
  for (const BenchmarkResult& one : suite.benchmarks) {
    sink("<details>\n<summary>" + html_text(one.name) + "</summary>\n" + verdict_part(one.results));
    write_drawings(one.results, sink);
    write_tables(one.results, sink);
    sink("</details>\n");
  }
  write_foot(sink);
}

void write_html(const Results& results, const Sink& sink) {
  write_head(title_of(results), results.presentation.description, sink);
  sink(circumstances(results.circumstances) + verdict_part(results));
  write_overview(results, sink);
  sink(caveats(results));
  sink("<h2>Charts</h2>\n");
  write_drawings(results, sink);
  write_tables(results, sink);
  write_foot(sink);
}

}  // namespace lauka::report
