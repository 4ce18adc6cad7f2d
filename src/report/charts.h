#pragma once

#include "core/choices.h"
#include "core/metric.h"
#include "report/style.h"
#include "results/results.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The drawings of --export-html's page: SVG inside HTML. Horizontal positions are percentages, so
// that a drawing fills any width while its text keeps its size. A script is needed only to name the
// run under the pointer.

namespace lauka::report {

inline constexpr std::size_t kAcross = 1000;  ///< units of a stretched picture

/// The range of the values included so far; at first empty: `low` is above `high`.
struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;

  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// A scale of values drawn from one edge of a picture to the other.
struct Axis {
  double low = 0.0;
  double high = 1.0;            ///< above `low`
  std::vector<double> ticks{};  ///< ascending, within the ends
  bool is_logarithmic = false;  ///< then `low` is above 0

  /// Returns the place of `value` in percent of the way, 0 to 100.
  double percent(double value) const;
};

/// Returns an axis that holds both values with some room at each end, and about five round numbers
/// on it: multiples of 1, 2 or 5 times a power of ten.
Axis axis_over(double low, double high);

/// The same for values above 0 whose logarithms are drawn.
Axis logarithmic_axis(double low, double high);

/// True if a linear axis would draw the smallest values as one: `high` is over 50 times `low`.
bool spans_decades(double low, double high);

/// One label of an axis and its place, in percent from the left.
struct TickLabel {
  double percent = 0.0;
  std::string text;
  std::string below{};  ///< a second line
};

/// Returns the place of a value on an axis that is `kAcross` units long.
double across(const Axis& axis, double value);

/// Returns a row of a chart: a picture `kAcross` units wide, whose lines keep their thickness
/// however it is stretched. Screen readers read `label`, or skip an empty one. All marks of a kind
/// are one path: a page has thousands of rows, and many elements make it slow to open.
std::string svg_row(std::size_t height, std::string_view css_class, std::string_view label,
                    std::string_view content);
std::string svg_path(std::string_view css_class, std::string_view path);

/// The vertical lines of an axis over the whole height of a row.
std::string svg_grid(const Axis& axis, std::size_t height);

/// A point of a path, in the units of its picture.
struct Spot {
  std::size_t x = 0;
  std::size_t y = 0;
};

/// Draws points as one path, which takes a tenth of the bytes of circles. Each point is the round
/// end of a line of no length, so it stays round however the picture is stretched.
std::string svg_spots(const std::vector<Spot>& spots, std::string_view css_class,
                      std::string_view attributes);

/// Draws the labels below an axis, those at its ends kept inside the drawing.
std::string svg_axis(const std::vector<TickLabel>& labels);

/// Returns a picture `height` pixels high with the labels of `axis`. Values go from bottom to top,
/// places from left to right: `content` is drawn `count` units wide and `kAcross` units high.
std::string svg_along(std::size_t height, const Axis& axis, const Metric& metric, std::size_t count,
                      std::string_view title, std::string_view content);

/// Returns the place in such a picture, in percent of its whole width.
double percent_along(double place, std::size_t count);

/// Returns the attributes by which the page's script converts a place to a value.
std::string hover_attributes(const Axis& axis, const Metric& metric, std::string_view along);

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

/// Most commands with all charts. With more, the charts below the overview are folded, and those
/// that repeat it or the tables are left out: a browser is slow with ten thousand drawings.
constexpr std::size_t kMaxUnfolded = 20;

/// Returns the summary of a metric's row; null if no run has a value.
const stats::Summary* summary_of(const Results& results, std::size_t command, std::size_t metric);

/// Draws a metric's values, a row for each command: a box plot (whiskers to the last values within
/// Tukey's fences), and the runs below, as points or as a shape.
void distribution_chart(const Results& results, std::size_t metric, const Sink& sink);

/// Draws the runs of each layout of each command (--layouts) as a strip of points, with their mean.
/// Nothing without layouts, or with more strips than a page holds.
void layout_chart(const Results& results, std::size_t metric, const Sink& sink);

/// A metric's values over time, all commands in one picture, so that drift is seen.
void time_chart(const Results& results, std::size_t metric, const Sink& sink);

/// Draws each command's median with its interval, the shape of its distribution, and the delta:
/// twice, from zero and closer up, with a switch that needs no script.
void overview_chart(const Results& results, std::size_t metric, const Sink& sink);

/// Draws the value against the numeric parameter, a line for each command typed, on linear and
/// logarithmic axes; with the power law, if one fits. Empty unless a parameter has three numbers.
std::string scan_chart(const Results& results, std::size_t metric);

/// Returns the result of a scan of one command, empty for other sessions: "wall time grows as
/// n^1.02 (0.98 … 1.06); fastest at n = 10 (mean 12.3ms)".
std::string scan_headline(const Results& results, std::size_t metric);

/// A change that is drawn.
struct ChangeRow {
  std::string name;            ///< HTML, before the drawing: the row's name
  std::string value;           ///< HTML, after the drawing: the change in words
  std::string title;           ///< text, for screen readers
  std::string_view css_class;  ///< class of the colour
  stats::Change change;
  std::optional<double> limit{};  ///< limit of a gate, drawn as a change; nullopt: no gate
};

/// `html`: the beginning of a change's row; `name`: the same for screen readers.
ChangeRow change_row(std::string html, const std::string& name, const stats::Change& change,
                     Better better);

/// Draws changes with their intervals, a row each, around the line of no difference. Leaves out
/// rows whose ends are not finite; empty if none is left.
std::string change_chart(std::vector<ChangeRow> rows);

/// Draws the deltas of a metric with change_chart, a row for each candidate; empty if no delta can
/// be drawn.
std::string delta_chart(const Results& results, std::size_t metric);

}  // namespace lauka::report
