#pragma once

#include "core/choices.h"
#include "report/style.h"
#include "results/results.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The drawings of the page that --export-html writes: SVG inside HTML. Horizontal positions are
// percentages, so that a drawing fills any width while its text keeps its size. Only naming the run
// under the pointer needs a script.

namespace lauka::report {

/// Returns text for HTML: control characters made visible, HTML's own characters escaped.
std::string html_text(std::string_view text);

/// Returns the class of a command's colour, which repeats from the eighth on.
std::string command_class(std::size_t command);

/// A command's name after a dot in its colour, as HTML.
std::string command_html(const Results& results, std::size_t command);

/// A switch that shows one of several views of a chart, without a script: `CHART-VIEW` is its id.
std::string view_switch(std::string_view chart, std::string_view view, std::string_view label,
                        bool is_chosen);

/// The class of a text in that ink: better, worse, unsure or neutral.
std::string_view ink_class(Ink ink);

/// True if a command has values of the metric.
bool is_drawn(const Results& results, std::size_t metric);

/// With more commands than this, all charts below the overview are folded, and those that repeat
/// the overview and the tables are left out: a browser is slow with ten thousand drawings.
constexpr std::size_t kMostUnfolded = 20;

/// Returns the summary of a metric's row; null if no run has a value.
const stats::Summary* summary_of(const Results& results, std::size_t command, std::size_t metric);

/// A metric's values, a row for each command: the quartiles a box, the median a line in it,
/// whiskers to the last values within Tukey's fences, and the runs below, as points or as a shape.
void distribution_chart(const Results& results, std::size_t metric, const Sink& sink);

/// A metric's values over time, all commands in one picture, so that drift is seen.
void time_chart(const Results& results, std::size_t metric, const Sink& sink);

/// Draws the overview: each command's typical value (the median) with its interval, the shape of
/// its distribution, and the delta. Drawn twice, from zero and closer up, with a switch that needs
/// no script.
void overview_chart(const Results& results, std::size_t metric, const Sink& sink);

/// Draws the value against the parameter whose values are numbers, a line for each command typed,
/// on linear and on logarithmic axes; with the power law, if one fits. Empty unless a parameter has
/// three numeric values.
std::string scan_chart(const Results& results, std::size_t metric);

/// "wall time grows as n^1.02 (0.98 … 1.06); fastest at n = 10 (mean 12.3ms)": the result of a scan
/// of one command, with the law if it has one parameter. Empty for other sessions.
std::string scan_headline(const Results& results, std::size_t metric);

/// A change that is drawn.
struct ChangeRow {
  std::string name;            ///< HTML, before the drawing
  std::string value;           ///< HTML, after it
  std::string title;           ///< text, for screen readers
  std::string_view css_class;  ///< of its colour
  stats::Change change;
  std::optional<double> limit{};  ///< of a gate, as a change; drawn as well
};

/// `html`: the beginning of a change's row; `name`: the same for screen readers.
ChangeRow change_row(std::string html, const std::string& name, const stats::Change& change,
                     Better better);

/// Changes with their intervals, a row each, around the line of no difference. Rows whose ends are
/// not numbers are left out; empty if none is left.
std::string change_chart(std::vector<ChangeRow> rows);

/// The deltas of a metric with their intervals, a row for each candidate, around the line of no
/// difference. Empty if none can be drawn.
std::string delta_chart(const Results& results, std::size_t metric);

}  // namespace lauka::report
