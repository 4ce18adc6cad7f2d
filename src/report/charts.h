#pragma once

#include "core/choices.h"
#include "core/metric.h"
#include "report/style.h"
#include "results/results.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The drawings on the page of --export-html: SVG inside HTML. Horizontal positions are percentages,
// so that a drawing fills any width while its text keeps its size. The page's script draws the
// parts that are opened on request, and names the run under the pointer.

namespace lauka::report {

inline constexpr std::size_t kAcross = 1000;  ///< width of a stretched picture in its own units

/// The range of the values included so far. At first it is empty, with `low` above `high`.
struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;

  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// A scale of values from one edge of a picture to the other.
struct Axis {
  double low = 0.0;
  double high = 1.0;            ///< greater than `low`
  std::vector<double> ticks{};  ///< values with a label, ascending, from `low` to `high`
  bool is_logarithmic = false;  ///< true: logarithmic, with positive `low`

  /// Returns the position of `value`, 0 to 100 percent.
  double percent(double value) const;
};

/// Returns a linear axis that contains both values with some room at each end, and about five ticks
/// at multiples of 1, 2 or 5 times a power of ten.
Axis axis_over(double low, double high);

/// Returns a logarithmic axis that contains both values, which are positive.
Axis logarithmic_axis(double low, double high);

/// True if a linear axis would not separate the smallest values: `high` is over 50 times `low`,
/// which is positive.
bool spans_decades(double low, double high);

/// A label of an axis, and its position in percent from the left.
struct TickLabel {
  double percent = 0.0;
  std::string text;
  std::string below{};  ///< second line of the label; may be empty
};

/// Returns the position of a value on an axis that is kAcross units long.
double across(const Axis& axis, double value);

/// Returns a row of a chart: a picture kAcross units wide, whose lines keep their thickness if it
/// is stretched. `label` is for screen readers; empty: they skip the picture. All marks of a kind
/// should be one path, because a page with thousands of rows and many elements opens slowly.
std::string svg_row(std::size_t height, std::string_view css_class, std::string_view label,
                    std::string_view content);
/// Returns a path in the style of a CSS class.
std::string svg_path(std::string_view css_class, std::string_view path);

/// Returns vertical lines at the ticks of an axis, over the whole height of a row.
std::string svg_grid(const Axis& axis, std::size_t height);

/// A point of a path, in the units of its picture.
struct Spot {
  std::size_t x = 0;
  std::size_t y = 0;
};

/// Draws points as a single path, which takes a tenth of the bytes of circles. Each point is the
/// round end of a line without length, so it stays round if the picture is stretched.
std::string svg_spots(const std::vector<Spot>& spots, std::string_view css_class,
                      std::string_view attributes);

/// Draws labels below an axis; labels at its ends stay inside the drawing.
std::string svg_axis(const std::vector<TickLabel>& labels);

/// Returns a picture `height` pixels high with the labels of a vertical `axis`. `content` is drawn
/// in a space `count` units wide and kAcross units high.
std::string svg_along(std::size_t height, const Axis& axis, const Metric& metric, std::size_t count,
                      std::string_view title, std::string_view content);

/// Returns the horizontal position of `place` (0 to `count`) in svg_along's picture, in percent of
/// the whole width.
double percent_along(double place, std::size_t count);

/// Returns the attributes with which the page's script converts a position to a value.
std::string hover_attributes(const Axis& axis, const Metric& metric, std::string_view along);

/// Returns text for HTML: makes control characters visible, and escapes HTML's own characters.
std::string html_text(std::string_view text);

/// Returns the CSS class of a colour; there are eight colours, which repeat.
std::string color_class(std::size_t number);

/// Returns the CSS classes of each command's colour. A scan's commands have the colour of their
/// line in scan_chart, and a shade: the larger the parameter, the stronger the shade.
std::vector<std::string> command_classes(const Results& results);

/// Returns a command's name, after a dot in its colour, as HTML. `classes`: from command_classes.
std::string command_html(const Results& results, std::size_t command, std::string_view classes);

/// Returns a switch that shows one of several views of a chart without a script. Its id is
/// CHART-VIEW.
std::string view_switch(std::string_view chart, std::string_view view, std::string_view label,
                        bool is_chosen);

/// Returns the CSS class of a text in `ink`: better, worse, unsure or neutral.
std::string_view ink_class(Ink ink);

/// True if a command has values of the metric.
bool is_drawn(const Results& results, std::size_t metric);

/// The largest number of commands with all charts. With more commands, charts below the overview
/// are folded, and charts that repeat it or the tables are left out, because browsers are slow with
/// ten thousand drawings.
constexpr std::size_t kMaxUnfolded = 20;

/// Returns the summary of a metric; null if it has none, as when no run has a value.
const stats::Summary* summary_of(const Results& results, std::size_t command, std::size_t metric);

/// About the largest number of points in a drawing, whatever the number of runs; each command has
/// at least two.
inline constexpr std::size_t kMaxPoints = 2000;

/// Returns a line for each command: the CSS classes of its colour, "|", and its name.
std::string command_names(const Results& results);

/// The numbers of a session's drawings. The page's script draws a metric when the user opens its
/// part of the page: a box plot for each command (whiskers to the last values within Tukey's
/// fences), its runs as points or as a shape, and its runs over time.
class MetricDrawings {
 public:
  /// `max_points`: about the largest number of points in a drawing.
  MetricDrawings(const Results& results, std::size_t max_points)
      : results_(results), max_points_(max_points) {}

  /// Returns the attributes of a metric's element, whose parent has the command_names. data-axis:
  /// low end, high end, size of the unit, 1 if logarithmic, and the unit; then for each tick its
  /// position in percent and its label. data-rows: a line for each command with values: its index;
  /// its median as text; the positions of whiskers and quartiles; the distances between its runs
  /// (empty: they equal those in the command's first line); the positions of its runs; its shape.
  /// data-thinned: present if runs were left out.
  std::string attributes(std::size_t metric);

 private:
  const Results& results_;
  std::size_t max_points_;
  std::map<std::size_t, std::string> first_runs_{};  ///< runs of the first metric, by command
};

/// Draws the runs of each layout of each command (--layouts) as a strip of points with their mean.
/// Draws nothing without layouts, or with more strips than fit on a page.
void layout_chart(const Results& results, std::size_t metric, const Sink& sink);

/// Draws each command's median with its interval, the shape of its distribution, and the delta. Has
/// two views, from zero and closer up (logarithmic if values are far apart), with a switch that
/// needs no script. Draws nothing without values.
void overview_chart(const Results& results, std::size_t metric, const Sink& sink);

/// Draws a metric against a numeric parameter, with a line for each typed command and each value of
/// other parameters, on linear axes and, if all is positive, logarithmic ones, and the power law if
/// one fits. Empty without values, or unless a parameter has three numbers.
std::string scan_chart(const Results& results, std::size_t metric);

/// True if a single command was typed, with at least three numbers for a parameter. The user asked
/// for the differences between such commands, which are neither good nor bad.
bool is_scan(const Results& results);

/// Returns for each command of a scan the number of its line in scan_chart, and the rank of its
/// parameter's value as a fraction, 0 to 1. Empty if the session is not a scan.
std::vector<std::pair<std::size_t, double>> places_in_scan(const Results& results);

/// Returns the result of a scan of one command: "wall time grows as n^1.02 (0.98 … 1.06); fastest
/// at n = 10 (mean 12.3ms)". Empty for other sessions, and without values.
std::string scan_headline(const Results& results, std::size_t metric);

/// A change to be drawn.
struct ChangeRow {
  std::string name;            ///< HTML before the drawing: name of the row
  std::string value;           ///< HTML after the drawing: the change in words
  std::string_view css_class;  ///< CSS class of the colour
  stats::Change change;
  std::optional<double> limit{};  ///< gate's limit as a change; nullopt: no gate
};

/// Returns the row of a change, which begins with `html`.
ChangeRow change_row(std::string html, const stats::Change& change, Better better);

/// Draws changes with their intervals, one per row, around the line of no difference. Leaves out
/// rows without a change, or whose ends are not finite; empty if no row is left.
std::string change_chart(std::vector<ChangeRow> rows);

/// Draws the deltas of a metric with change_chart, a row for each candidate; empty if no delta can
/// be drawn.
std::string delta_chart(const Results& results, std::size_t metric);

}  // namespace lauka::report
