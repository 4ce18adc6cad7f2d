#include "report/scan_chart.h"

#include "core/numbers.h"
#include "core/text.h"
#include "report/charts.h"
#include "report/format.h"
#include "report/table.h"
#include "results/analyse.h"
#include "stats/models.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace lauka::report {

namespace {

constexpr std::size_t kScanHeight = 220;
constexpr std::size_t kMinParameterValues = 3;
constexpr double kMinFit = 0.95;  // smallest r² of a power law that is shown

/// A command in a scan, by its runs that succeeded.
struct ScanPoint {
  double x = 0.0;     ///< value of the parameter
  double y = 0.0;     ///< median
  double low = 0.0;   ///< first quartile
  double high = 0.0;  ///< third quartile
  double mean = 0.0;
  std::size_t command = 0;
};

struct ScanSeries {
  std::string name;
  std::vector<ScanPoint> points;
};

std::optional<double> parse_number(const std::string& text) {
  const auto number = parse_decimal(text, {-1e300, true}, {1e300, true});
  return number ? std::optional(*number) : std::nullopt;
}

/// Returns the different values that a parameter has in the commands; empty if one of them is not a
/// number.
std::set<double> list_numbers(const Results& results, const std::string& parameter_name) {
  std::set<double> values;
  for (const Command& command : results.session.commands) {
    const Parameter* parameter = find_parameter(command, parameter_name);
    if (parameter == nullptr) continue;

    const auto number = parse_number(parameter->value);
    if (!number) return {};
    values.insert(*number);
  }
  return values;
}

/// Returns the parameter with the most values among the parameters that have only numbers as
/// values; nullopt if no such parameter has kMinParameterValues values.
std::optional<std::string> find_scanned_parameter(const Results& results) {
  std::optional<std::string> parameter_with_most;
  std::size_t most_values = kMinParameterValues - 1;
  for (const std::string& name : parameter_names(results)) {
    const std::size_t value_count = list_numbers(results, name).size();
    if (value_count <= most_values) continue;
    most_values = value_count;
    parameter_with_most = name;
  }
  return parameter_with_most;
}

/// `parameter`: found by find_scanned_parameter(), so that its values are numbers.
double read_scanned_value(const Parameter& parameter) {
  return *parse_number(parameter.value);
}

std::string name_of_series(const Command& command, const std::string& parameter) {
  std::string name = command.unfilled_name.empty() ? command.name : command.unfilled_name;
  for (const Parameter& other : command.parameters)
    if (other.name != parameter) name += ", " + other.name + " = " + other.value;
  return name;
}

/// Returns a command's point. The chart has no place for a command without the parameter, or
/// without values: returns nullopt.
std::optional<ScanPoint> make_point(const Results& results, std::size_t command, std::size_t metric,
                                    const std::string& scanned_parameter) {
  const Parameter* scanned = find_parameter(results.session.commands[command], scanned_parameter);
  const auto summary = summarize_succeeded_runs(results, command, metric);
  if (scanned == nullptr || !summary) return std::nullopt;
  return ScanPoint{.x = read_scanned_value(*scanned),
                   .y = summary->median,
                   .low = summary->q1,
                   .high = summary->q3,
                   .mean = summary->mean,
                   .command = command};
}

/// All series that were found so far.
struct SeriesList {
  std::vector<ScanSeries> all{};
  /// Indices by the typed command and the name. Two commands that the user typed may have the same
  /// name.
  std::map<std::pair<std::size_t, std::string>, std::size_t> indices{};

  ScanSeries& find_or_add(std::size_t typed_command, std::string name) {
    const auto [entry, is_new] = indices.try_emplace({typed_command, name}, all.size());
    if (is_new) all.push_back({.name = std::move(name), .points = {}});
    return all[entry->second];
  }
};

/// Divides the commands into series, each of which becomes a line of the chart. The commands of a
/// series differ only in the value of the scanned parameter, which find_scanned_parameter() has
/// found.
std::vector<ScanSeries> make_series(const Results& results, std::size_t metric,
                                    const std::string& scanned_parameter) {
  SeriesList series_list;
  for (std::size_t index = 0; index < results.commands.size(); ++index) {
    const auto point = make_point(results, index, metric, scanned_parameter);
    if (!point) continue;

    // The name contains the values of the other parameters.
    const Command& command = results.session.commands[index];
    series_list.find_or_add(command.typed_command_index, name_of_series(command, scanned_parameter))
        .points.push_back(*point);
  }

  for (ScanSeries& series : series_list.all) std::ranges::sort(series.points, {}, &ScanPoint::x);
  return std::move(series_list.all);
}

std::optional<stats::PowerLaw> fit_power_law(const ScanSeries& series, double confidence) {
  std::vector<double> x;
  std::vector<double> y;
  for (const ScanPoint& point : series.points) {
    x.push_back(point.x);
    y.push_back(point.y);
  }
  const auto law = stats::fit_power_law(x, y, confidence);
  return law && law->r_squared >= kMinFit ? law : std::nullopt;
}

/// Returns the extents of x and y.
std::pair<Extent, Extent> find_extents(const std::vector<ScanSeries>& all) {
  Extent x;
  Extent y;
  for (const ScanSeries& series : all) {
    for (const ScanPoint& point : series.points) {
      x.include(point.x);
      for (const double value : {point.low, point.y, point.high}) y.include(value);
    }
  }
  return {x, y};
}

struct Axes {
  Axis x;
  Axis y;

  /// Positions in SVG units. SVG counts y from the top, so a larger value has a smaller position.
  double x_position(double value) const { return svg_position(x, value); }
  double y_position(double value) const {
    return static_cast<double>(kSvgUnits) - svg_position(y, value);
  }
};

std::string draw_line(const Axes& axes, const ScanSeries& series, std::string_view parameter,
                      const std::string& color) {
  std::string trend;
  std::string intervals;
  std::string labels;
  std::vector<Spot> spots;
  for (const ScanPoint& point : series.points) {
    const double x = axes.x_position(point.x);
    trend += fmt::format("{}{:.1f} {:.1f}", trend.empty() ? 'M' : 'L', x, axes.y_position(point.y));
    intervals += fmt::format("M{:.1f} {:.1f}V{:.1f}", x, axes.y_position(point.low),
                             axes.y_position(point.high));
    labels += fmt::format("{}{} = {:.6g}", labels.empty() ? "" : "|", parameter, point.x);
    spots.push_back({static_cast<std::size_t>(std::lround(x)),
                     static_cast<std::size_t>(std::lround(axes.y_position(point.y)))});
  }
  return svg_path("trend " + color, trend) + svg_path("interval " + color, intervals) +
         svg_spots(spots, color, fmt::format(" data-labels=\"{}\"", html_text(labels)));
}

std::string draw_power_law(const Axes& axes, const ScanSeries& series, const stats::PowerLaw& law) {
  const auto at = [&](double x) {
    return fmt::format("{:.1f} {:.1f}", axes.x_position(x),
                       axes.y_position(law.factor * std::pow(x, law.exponent)));
  };
  return svg_path("fitted", "M" + at(series.points.front().x) + "L" + at(series.points.back().x));
}

/// Returns the measured values of the parameter that are far enough from each other for their
/// labels. The smallest and the largest always have one.
std::vector<double> choose_measured_ticks(const std::vector<ScanSeries>& all, const Axis& axis) {
  constexpr double min_gap_percent = 9.0;
  std::set<double> values;
  for (const ScanSeries& series : all)
    for (const ScanPoint& point : series.points) values.insert(point.x);
  std::vector<double> ticks;
  for (const double value : values) {
    const bool is_last = value == *values.rbegin();
    const auto is_near = [&](double other) {
      return axis.percent(value) - axis.percent(other) < min_gap_percent;
    };
    if (is_last) std::erase_if(ticks, is_near);
    if (ticks.empty() || is_last || !is_near(ticks.back())) ticks.push_back(value);
  }
  return ticks;
}

/// A metric against the values of a parameter.
struct Scan {
  const Results& results;
  std::size_t metric = 0;
  std::string parameter{};
  std::vector<ScanSeries> all_series{};
};

enum class AxisScale : unsigned char { Linear, Logarithmic };

/// Returns axes for all points of the scan. The values of the parameter are the horizontal axis.
Axes make_axes(const Scan& scan, AxisScale scale) {
  const auto [x, y] = find_extents(scan.all_series);
  if (scale == AxisScale::Logarithmic)
    return {logarithmic_axis(x.low, x.high), logarithmic_axis(y.low, y.high)};

  // A linear axis of values begins at 0, so that their sizes can be compared.
  return {linear_axis(x.low, x.high), linear_axis(std::min(y.low, 0.0), y.high)};
}

/// Draws the lines of all series. A fitted power law is drawn as a straight line, which it is only
/// on logarithmic axes.
std::string draw_lines(const Scan& scan, const Axes& axes, AxisScale scale) {
  std::string content;
  for (std::size_t i = 0; i < scan.all_series.size(); ++i) {
    const ScanSeries& series = scan.all_series[i];
    if (scale == AxisScale::Logarithmic)
      if (const auto power_law = fit_power_law(series, scan.results.session.confidence))
        content += draw_power_law(axes, series, *power_law);
    content += draw_line(axes, series, scan.parameter, color_class(i));
  }
  return content;
}

std::vector<TickLabel> label_horizontal_ticks(const Axes& axes) {
  std::vector<TickLabel> labels;
  for (const double tick : axes.x.ticks) {
    const double without_rounding_error = std::fabs(tick) < 1e-12 ? 0 : tick;
    labels.push_back({.position_percent = horizontal_percent(axes.x_position(tick), kSvgUnits),
                      .text = fmt::format("{:.6g}", without_rounding_error)});
  }
  return labels;
}

/// Draws the chart with axes of one scale. The page has a view for each scale that is possible, and
/// the reader switches between them.
std::string draw_view(const Scan& scan, AxisScale scale) {
  Axes axes = make_axes(scan, scale);
  axes.x.ticks = choose_measured_ticks(scan.all_series, axes.x);
  const Metric& metric = scan.results.session.metrics[scan.metric];
  return fmt::format("<div class=\"view {}\"{}>\n",
                     scale == AxisScale::Logarithmic ? "logarithmic" : "linear",
                     hover_attributes(axes.y, metric, "y")) +
         svg_with_vertical_axis(
             {.height_pixels = kScanHeight,
              .axis = axes.y,
              .metric = metric,
              .width_units = kSvgUnits,
              .title = metric.name + " against " + scan.parameter,
              .content = svg_grid(axes.x, kSvgUnits) + draw_lines(scan, axes, scale)}) +
         svg_tick_labels(label_horizontal_ticks(axes)) + "</div>\n";
}

/// Returns a paragraph with the colour of a series, and how its values grow with the parameter.
std::string describe_series(const Scan& scan, std::size_t index) {
  const ScanSeries& series = scan.all_series[index];
  const double confidence = scan.results.session.confidence;
  std::string html = fmt::format("<p class=\"row\"><span class=\"dot {}\"></span><code>{}</code>",
                                 color_class(index), html_text(series.name));
  if (const auto power_law = fit_power_law(series, confidence))
    html += fmt::format(
        " grows as {}<sup>{:.2f}</sup> <span class=\"aside\">({:g}% interval of "
        "the exponent: {:.2f} … {:.2f})</span>",
        html_text(scan.parameter), power_law->exponent, 100 * confidence, power_law->exponent_low,
        power_law->exponent_high);
  return html + "</p>\n";
}

/// Returns a paragraph for each series, and then one that says what the chart shows.
std::string make_legend(const Scan& scan) {
  const Results& results = scan.results;
  const std::string parameter = html_text(scan.parameter);

  std::string html;
  for (std::size_t i = 0; i < scan.all_series.size(); ++i) html += describe_series(scan, i);

  // In a scan, the page's other charts show a series in its colour, too, but with a strength for
  // each value.
  std::string about_colours;
  if (is_scan(results))
    about_colours = "; everywhere else, a stronger colour means a larger " + parameter;
  return html + fmt::format(
                    "<p class=\"aside\">{0} against {1}: medians, with the quartiles as "
                    "vertical lines{2}</p>\n",
                    html_text(results.session.metrics[scan.metric].name), parameter, about_colours);
}

/// Returns how the metric depends on the parameter, as the first part of a sentence: "wall time
/// grows as n^1.02 (0.98 … 1.06); ". Empty if it is not certain whether it grows or falls.
std::string describe_growth(const ScanSeries& series, const Metric& metric,
                            const std::string& parameter, double confidence) {
  const auto law = fit_power_law(series, confidence);
  if (!law) return "";
  const bool is_direction_certain = law->exponent_low > 0 || law->exponent_high < 0;
  if (!is_direction_certain) return "";
  return fmt::format("{} {} as {}^{:.2f} ({:.2f} … {:.2f}); ",
                     metric_in_words(one_line(metric.name)), law->exponent < 0 ? "falls" : "grows",
                     one_line(parameter), law->exponent, law->exponent_low, law->exponent_high);
}

std::string_view choose_superlative(const Metric& metric) {
  if (metric.better == Better::More) return "highest";
  return metric.role == Role::WallTime ? "fastest" : "lowest";
}

const ScanPoint& find_best_point(const Results& results, std::size_t metric,
                                 const std::vector<ScanSeries>& all) {
  const bool is_more = results.session.metrics[metric].better == Better::More;
  const ScanPoint* best = &all.front().points.front();
  for (const ScanSeries& series : all)
    for (const ScanPoint& point : series.points)
      if (is_more ? point.mean > best->mean : point.mean < best->mean) best = &point;
  return *best;
}

/// Returns ", not significantly different from n = 8", with the reference of the command at the
/// best value, which may be best by chance; empty if they differ, or were not compared.
std::string say_if_best_by_chance(const Results& results, std::size_t best_command,
                                  std::size_t metric) {
  const MetricResult* row = metric_result_of(results.commands[best_command], metric);
  const auto reference = results.session.reference.index_in_session(best_command);
  if (!row->delta || row->delta->is_significant() || !reference) return "";
  return ", not significantly different from " +
         parameters_text(results.session.commands[*reference]) + detectable_text(row->detectable);
}

/// Returns the names of all series, each once.
std::vector<std::string> list_series_names(const Results& results, const std::string& parameter) {
  std::vector<std::string> names;
  for (const Command& command : results.session.commands) {
    const std::string name = name_of_series(command, parameter);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

/// Returns the strength of the colour for each of at least two values. It grows evenly from the
/// smallest value (0) to the largest one (1).
std::map<double, double> find_strengths(const std::set<double>& values) {
  std::map<double, double> strengths;
  double smaller_values = 0.0;
  for (const double value : values) {
    strengths[value] = smaller_values / static_cast<double>(values.size() - 1);
    ++smaller_values;
  }
  return strengths;
}

}  // namespace

bool is_scan(const Results& results) {
  if (!has_single_typed_command(results)) return false;
  const auto parameter = find_scanned_parameter(results);
  return parameter && std::ranges::all_of(results.session.commands, [&](const Command& command) {
           return find_parameter(command, *parameter) != nullptr;
         });
}

// In a scan, a single command is run with several numbers as values of a parameter. Commands that
// differ only in this parameter share a colour, whose strength shows the value.
std::vector<std::pair<std::size_t, double>> scan_colors(const Results& results) {
  if (!is_scan(results)) return {};

  const std::string scanned_parameter = *find_scanned_parameter(results);
  const std::vector<std::string> series_names = list_series_names(results, scanned_parameter);
  const std::map<double, double> strengths =
      find_strengths(list_numbers(results, scanned_parameter));

  // is_scan() has checked that each command has the parameter, with a number as its value.
  std::vector<std::pair<std::size_t, double>> colors;
  for (const Command& command : results.session.commands) {
    const std::string name = name_of_series(command, scanned_parameter);
    const auto color_number = std::ranges::find(series_names, name) - series_names.begin();
    const Parameter& scanned = *find_parameter(command, scanned_parameter);
    colors.emplace_back(color_number, strengths.at(read_scanned_value(scanned)));
  }
  return colors;
}

// In a scan, a single command is run with several numbers as values of a parameter. The headline
// says how the metric depends on the parameter, and at which value it is best.
std::string scan_headline(const Results& results, std::size_t metric_index) {
  if (!is_scan(results)) return "";
  const std::string parameter = *find_scanned_parameter(results);
  const std::vector<ScanSeries> all_series = make_series(results, metric_index, parameter);
  if (all_series.empty()) return "";

  const Metric& metric = results.session.metrics[metric_index];
  const ScanPoint& best = find_best_point(results, metric_index, all_series);
  const std::string best_value = fmt::format(
      "{} at {} (mean {})", choose_superlative(metric),
      parameters_text(results.session.commands[best.command]), quantity(best.mean, metric));

  if (all_series.size() == 1) {
    const std::string growth =
        describe_growth(all_series.front(), metric, parameter, results.session.confidence);
    if (!growth.empty()) return growth + best_value;
  }

  // Without a known growth, the best value may be best by chance.
  return best_value + say_if_best_by_chance(results, best.command, metric_index);
}

std::string scan_chart(const Results& results, std::size_t metric) {
  const auto parameter = find_scanned_parameter(results);
  if (!parameter) return "";
  const Scan scan{results, metric, *parameter, make_series(results, metric, *parameter)};
  if (scan.all_series.empty()) return "";

  const auto [x, y] = find_extents(scan.all_series);
  const bool can_be_logarithmic = x.low > 0 && y.low > 0 && x.high > x.low;
  std::string html = "<div class=\"chart\">\n";
  if (can_be_logarithmic) {
    const bool is_wide = needs_logarithmic_axis(y.low, y.high);
    html += view_switch("scan", "linear", "linear", !is_wide) +
            view_switch("scan", "logarithmic", "logarithmic", is_wide);
  }
  html += draw_view(scan, AxisScale::Linear);
  if (can_be_logarithmic) html += draw_view(scan, AxisScale::Logarithmic);
  return html + make_legend(scan) + "</div>\n";
}

}  // namespace lauka::report
