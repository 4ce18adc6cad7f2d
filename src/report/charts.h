#pragma once

#include "core/choices.h"
#include "core/metric.h"
#include "report/style.h"
#include "results/results.h"

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::report {

inline constexpr std::size_t kSvgUnits = 1000;  ///< length of an axis in SVG units

/// The range of the values included so far. An empty range has `low` above `high`.
struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;

  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// A scale of values along one side of a drawing, from `low` to `high`.
struct Axis {
  double low = 0.0;
  double high = 1.0;
  std::vector<double> ticks{};
  bool is_logarithmic = false;

  /// Returns the position of `value` in percent of the axis, at least 0 and at most 100.
  double percent(double value) const;
};

/// Returns a linear axis that contains both values, with some room at each end, and a few ticks at
/// round numbers.
Axis linear_axis(double low, double high);

/// Returns a logarithmic axis that contains both values, which must be positive.
Axis logarithmic_axis(double low, double high);

/// True if `low` is positive and `high` is more than 50 times `low`.
bool needs_logarithmic_axis(double low, double high);

/// The label of a tick. `percent`: position of the tick in percent of the picture's width or
/// height.
struct TickLabel {
  double position_percent = 0.0;
  std::string text;
  std::string second_line{};
};

/// Returns the position of `value` on an axis, from 0 to kSvgUnits.
double svg_position(const Axis& axis, double value);

/// Returns an SVG picture kSvgUnits units wide, which is stretched to the available width.
/// `height`: in pixels. `label`: text for screen readers; empty: they skip the picture.
std::string stretched_svg(std::size_t height, std::string_view css_class, std::string_view label,
                          std::string_view content);
std::string svg_path(std::string_view css_class, std::string_view path);

std::string svg_grid(const Axis& axis, std::size_t height);

struct Spot {
  std::size_t x = 0;
  std::size_t y = 0;
};

/// Returns an SVG path that draws a dot at each of `spots`. The dots stay round if the picture is
/// stretched.
std::string svg_spots(const std::vector<Spot>& spots, std::string_view css_class,
                      std::string_view attributes);

std::string svg_tick_labels(const std::vector<TickLabel>& labels);

/// A drawing beside a vertical axis with labels.
struct SvgWithAxis {
  std::size_t height_pixels = 0;
  const Axis& axis;
  const Metric& metric;         ///< metric of the axis
  std::size_t width_units = 0;  ///< width of the drawing's space, which is kSvgUnits units high
  std::string title{};
  std::string content{};  ///< SVG elements
};

/// Returns an SVG picture of a drawing.
std::string svg_with_vertical_axis(const SvgWithAxis& drawing);

/// Returns the horizontal position of `place` (0 to `count`) in the picture of
/// svg_with_vertical_axis, in percent of the picture's width.
double horizontal_percent(double place, std::size_t count);

/// Returns the HTML attributes with which the page's script converts a position to a value.
/// `along`: "x" for a horizontal axis, "y" for a vertical axis.
std::string hover_attributes(const Axis& axis, const Metric& metric, std::string_view along);

/// Escapes text for HTML, and makes control characters visible.
std::string html_text(std::string_view text);

/// Returns the CSS class of a colour. There are eight colours, which begin again after the last
/// one.
std::string color_class(std::size_t number);

/// Returns the CSS classes of each command's colour. In a scan, the strength of the colour shows
/// the parameter's value.
std::vector<std::string> command_classes(const Results& results);

/// Returns a command's name, after a dot in its colour, as HTML. `classes`: the command's element
/// of command_classes.
std::string command_html(const Results& results, std::size_t command, std::string_view classes);

/// Returns a radio button that chooses a view of a chart, with its label.
std::string view_switch(std::string_view chart, std::string_view view, std::string_view label,
                        bool is_chosen);

std::string_view ink_class(Ink ink);

bool has_any_summary(const Results& results, std::size_t metric);

/// The number of commands above which a session's page has a chart of deltas for the primary metric
/// only.
constexpr std::size_t kMaxCommandsWithAllDeltaCharts = 20;

/// Returns the summary of a metric's values; null if the command has no values of the metric.
const stats::Summary* find_summary(const Results& results, std::size_t command, std::size_t metric);

/// The intended largest number of points in a drawing.
inline constexpr std::size_t kMaxDrawnPoints = 2000;

/// Returns a line for each command: the CSS classes of its colour, "|" and its name as HTML.
std::string commands_for_page_script(const Results& results);

/// Makes the data from which the page's script draws the metrics of a session: box plots,
/// distributions, and runs over time.
class MetricDrawings {
 public:
  MetricDrawings(const Results& results, std::size_t max_points)
      : results_(results), max_points_(max_points) {}

  /// Returns the HTML attributes of a metric, which page/drawing.js reads. A command's runs are
  /// only written for the first metric that has them, so metrics must come in the order of the
  /// page.
  std::string make_attributes(std::size_t metric_index);

 private:
  std::string omit_runs_of_first_metric(std::size_t command, std::string run_distances);

  const Results& results_;
  std::size_t max_points_;
  std::map<std::size_t, std::string> run_distances_by_command_{};  // of its first metric
};

/// Writes a chart with a strip for each layout (--layouts) of each command, with runs as points and
/// their mean as a line. Writes nothing for a single layout or more than 200 strips.
void write_layout_chart(const Results& results, std::size_t metric, const Sink& sink);

/// Writes a chart with each command's median, the median's interval, the distribution of the runs
/// and the delta. Writes nothing if no command has values.
void write_overview_chart(const Results& results, std::size_t metric, const Sink& sink);

struct ChangeRow {
  std::string name_html;
  std::string change_html;
  std::string_view css_class;
  stats::Change change;
  /// Limit of a gate as a fraction: 0.05 for +5%; nullopt: no limit is drawn.
  std::optional<double> gate_limit{};
};

/// Returns the row of a change. `html`: name of the row, as HTML.
ChangeRow change_row(std::string html, const stats::Change& change, Better better);

/// Returns a chart with a row for each change. Leaves out rows whose change is unknown, or whose
/// change or interval is infinite. Empty if no row is left.
std::string change_chart(std::vector<ChangeRow> rows);

/// Returns a chart with a bar for each command of a race, as long as the rounds that it took part
/// in, the best command first. Empty without a race.
std::string race_chart(const Results& results);

std::string delta_chart(const Results& results, std::size_t metric);

}  // namespace lauka::report
