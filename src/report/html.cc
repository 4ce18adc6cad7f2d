#include "report/html.h"

#include "report/cells.h"
#include "report/charts.h"
#include "report/format.h"
#include "report/gates.h"
#include "report/marked_delta.h"
#include "report/precision.h"
#include "report/shell.h"
#include "report/table.h"
#include "report/warnings.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace lauka::report {

namespace {

/// Each text in an element of its own.
std::string elements(const std::vector<std::string>& texts, std::string_view open,
                     std::string_view close) {
  std::string html;
  for (const std::string& text : texts)
    html += fmt::format("{}{}{}\n", open, html_text(text), close);
  return html;
}

std::string list_of(const std::vector<std::string>& texts) {
  return texts.empty() ? "" : "<ul>\n" + elements(texts, "<li>", "</li>") + "</ul>\n";
}

/// Where, when and by what: one line.
std::string circumstances(const Circumstances& at) {
  std::string line = fmt::format("lauka {}, {}", at.version, rfc3339(at.began));
  for (const std::string& fact : {at.machine.cpu_model, at.machine.os, at.machine.architecture}) {
    if (!fact.empty()) line += ", " + fact;
  }
  return "<p class=\"faint\">" + html_text(line) + "</p>\n";
}

std::string answers(const Results& results) {
  const Style style;
  std::string html =
      elements(lines_of(summary_lines(results, style)), "<p class=\"answer\">", "</p>");
  if (!results.complete) {
    html += "<p class=\"fail\">The session was cut short: these are the runs up to then.</p>\n";
  }
  html += list_of(lines_of(gate_lines(results, false)));
  html += elements(lines_of(precision_line(results) + shell_lines(results)), "<p class=\"faint\">",
                   "</p>");
  const std::vector<std::string> warnings = warning_texts(results, style);
  if (!warnings.empty()) html += "<h2>What weakens the numbers</h2>\n" + list_of(warnings);
  if (!results.notes.empty()) {
    html += "<h2>Notes</h2>\n<div class=\"faint\">" + list_of(results.notes) + "</div>\n";
  }
  return html;
}

std::string delta_cell(const MetricResult& row, const Metric& metric) {
  if (!row.delta) return "<td></td>";
  const MarkedDelta delta = marked_delta(*row.delta, metric.better);
  return fmt::format("<td class=\"{}\">{}</td>", ink_class(delta.ink), html_text(delta.text));
}

/// The delta stands before the range: on a phone the first three columns are seen.
std::string table_row(const MetricResult& row, const Metric& metric, const CommandResult& command,
                      bool with_delta) {
  std::string html =
      fmt::format("<tr><td>{}</td><td>{}</td>{}", html_text(name_cell(metric, row, command.runs)),
                  html_text(mean_cell(row, metric)), with_delta ? delta_cell(row, metric) : "");
  html += row.summary ? fmt::format("<td>{}</td><td>{}</td>",
                                    html_text(range_cell(*row.summary, metric, true)),
                                    outliers_cell(*row.summary, true))
                      : std::string("<td></td><td></td>");
  return html + "</tr>\n";
}

std::string table_of(const Results& results, std::size_t index) {
  const CommandResult& command = results.commands[index];
  const bool with_delta =
      std::any_of(command.rows.begin(), command.rows.end(),
                  [](const MetricResult& row) { return row.delta.has_value(); });
  std::string html = fmt::format(
      "<h3><span class=\"dot {}\"></span>{}: <code>{}</code></h3>\n", command_class(index),
      html_text(benchmark_title(command, index + 1)), html_text(command.name));
  if (command.runs == 0) return html;
  html += fmt::format(
      "<div class=\"scroll\"><table>\n<thead><tr><th>measurement</th><th>mean ± σ</th>{}"
      "<th>min … max</th><th>outliers</th></tr></thead>\n<tbody>\n",
      with_delta ? "<th>delta</th>" : "");
  for (const MetricResult& row : command.rows) {
    html += table_row(row, results.metrics[row.metric], command, with_delta);
  }
  return html + "</tbody>\n</table></div>\n";
}

/// All drawings of a metric; empty where nothing of it can be drawn.
std::string drawings_of(const Results& results, std::size_t metric) {
  const std::string distribution = distribution_chart(results, metric);
  if (distribution.empty()) return "";
  const std::string deltas = delta_chart(results, metric);
  std::string html = "<h3>Distribution</h3>\n" + distribution;
  if (!deltas.empty()) {
    html += fmt::format("<h3>Deltas with their {:g}% intervals</h3>\n", 100 * results.confidence) +
            deltas;
  }
  return html + "<h3>In the order of the runs</h3>\n" + order_chart(results, metric);
}

/// What the table of the terminal shows comes unfolded.
std::string metrics_of_page(const Results& results) {
  std::string html;
  for (std::size_t m = 0; m < results.metrics.size(); ++m) {
    const std::string drawings = drawings_of(results, m);
    if (drawings.empty()) continue;
    const Metric& metric = results.metrics[m];
    const std::string title =
        html_text(metric.note.empty() ? metric.name : metric.name + " " + metric.note);
    html += fmt::format("<details{}>\n<summary>{}</summary>\n{}</details>\n",
                        metric.shown == Shown::Always ? " open" : "", title, drawings);
  }
  return html;
}

}  // namespace

std::string results_html(const Results& results) {
  std::string names;
  for (const CommandResult& command : results.commands)
    names += (names.empty() ? "" : ", ") + command.name;
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>lauka: "
      "{}</title>\n<style>{}</style>\n"
      "</head>\n<body>\n<h1>lauka</h1>\n",
      html_text(names), html_style());
  html += circumstances(results.circumstances) + answers(results);
  html += "<h2>Measurements</h2>\n";
  for (std::size_t c = 0; c < results.commands.size(); ++c) html += table_of(results, c);
  html += "<h2>Drawn</h2>\n" + metrics_of_page(results);
  return html + "</body>\n</html>\n";
}

}  // namespace lauka::report
