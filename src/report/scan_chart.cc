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

/// Returns the parameter with the most values among the parameters that have only numbers as
/// values; nullopt if no such parameter has kMinParameterValues values.
std::optional<std::string> find_scanned_parameter(const Results& results) {
  std::optional<std::string> parameter_with_most;
  std::size_t most_values = kMinParameterValues - 1;
  for (const std::string& name : parameter_names(results)) {
    std::set<double> values;
    bool all_are_numbers = true;
    for (const Command& command : results.session.commands) {
      const Parameter* parameter = find_parameter(command, name);
      if (parameter == nullptr) continue;
      const auto number = parse_number(parameter->value);
      all_are_numbers = all_are_numbers && number.has_value();
      if (number) values.insert(*number);
    }

    if (!all_are_numbers || values.size() <= most_values) continue;
    most_values = values.size();
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

/// `parameter`: found by find_scanned_parameter().
std::vector<ScanSeries> make_series(const Results& results, std::size_t metric,
                                    const std::string& parameter) {
  // A series has the commands that differ only in the value of `parameter`. Its name tells apart
  // the values of other parameters, but not typed commands that have the same name.
  std::vector<ScanSeries> all;
  using TypedCommandAndName = std::pair<std::size_t, std::string>;
  std::map<TypedCommandAndName, std::size_t> index_of_series;
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    const Command& command = results.session.commands[c];
    const Parameter* scanned = find_parameter(command, parameter);
    if (scanned == nullptr) continue;

    const auto summary = summarize_succeeded_runs(results, c, metric);
    if (!summary) continue;

    std::string name = name_of_series(command, parameter);
    const auto [known, is_new] =
        index_of_series.try_emplace({command.source_command_index, name}, all.size());
    if (is_new) all.push_back({std::move(name), {}});

    const double x = read_scanned_value(*scanned);
    all[known->second].points.push_back({.x = x,
                                         .y = summary->median,
                                         .low = summary->q1,
                                         .high = summary->q3,
                                         .mean = summary->mean,
                                         .command = c});
  }

  for (ScanSeries& series : all) std::ranges::sort(series.points, {}, &ScanPoint::x);
  return all;
}

std::optional<stats::PowerLaw> fit_law(const ScanSeries& series, double confidence) {
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

std::string draw_law(const Axes& axes, const ScanSeries& series, const stats::PowerLaw& law) {
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
  std::vector<ScanSeries> all{};
};

enum class AxisScale : unsigned char { Linear, Logarithmic };

std::string draw_view(const Scan& scan, AxisScale scale) {
  const std::vector<ScanSeries>& all = scan.all;
  const Metric& metric = scan.results.session.metrics[scan.metric];
  const bool is_logarithmic = scale == AxisScale::Logarithmic;

  // A linear axis of values begins at 0, so that their sizes can be compared.
  const auto [x, y] = find_extents(all);
  const double lowest_y = is_logarithmic ? y.low : std::min(y.low, 0.0);
  const auto make_axis = is_logarithmic ? logarithmic_axis : linear_axis;
  Axes axes{make_axis(x.low, x.high), make_axis(lowest_y, y.high)};
  axes.x.ticks = choose_measured_ticks(all, axes.x);

  std::string content = svg_grid(axes.x, kSvgUnits);
  for (std::size_t i = 0; i < all.size(); ++i) {
    // A power law is a straight line only on logarithmic axes.
    if (is_logarithmic)
      if (const auto law = fit_law(all[i], scan.results.session.confidence))
        content += draw_law(axes, all[i], *law);
    content += draw_line(axes, all[i], scan.parameter, color_class(i));
  }

  std::vector<TickLabel> labels;
  for (const double tick : axes.x.ticks) {
    const double without_rounding_error = std::fabs(tick) < 1e-12 ? 0 : tick;
    labels.push_back({horizontal_percent(axes.x_position(tick), kSvgUnits),
                      fmt::format("{:.6g}", without_rounding_error)});
  }

  return fmt::format("<div class=\"view {}\"{}>\n", is_logarithmic ? "logarithmic" : "linear",
                     hover_attributes(axes.y, metric, "y")) +
         svg_with_vertical_axis({.height_pixels = kScanHeight,
                                 .axis = axes.y,
                                 .metric = metric,
                                 .width_units = kSvgUnits,
                                 .title = metric.name + " against " + scan.parameter,
                                 .content = content}) +
         svg_tick_labels(labels) + "</div>\n";
}

std::string make_legend(const Scan& scan) {
  const Results& results = scan.results;
  const std::vector<ScanSeries>& all = scan.all;
  const std::string parameter = html_text(scan.parameter);

  std::string html;
  for (std::size_t i = 0; i < all.size(); ++i) {
    html += fmt::format("<p class=\"row\"><span class=\"dot {}\"></span><code>{}</code>",
                        color_class(i), html_text(all[i].name));
    if (const auto law = fit_law(all[i], results.session.confidence))
      html += fmt::format(
          " grows as {}<sup>{:.2f}</sup> <span class=\"aside\">({:g}% interval of "
          "the exponent: {:.2f} … {:.2f})</span>",
          parameter, law->exponent, 100 * results.session.confidence, law->exponent_low,
          law->exponent_high);
    html += "</p>\n";
  }

  std::string about_colours;
  if (is_scan(results))
    about_colours = "; everywhere else, a stronger colour means a larger " + parameter;
  return html + fmt::format(
                    "<p class=\"aside\">{0} against {1}: medians, with the quartiles as "
                    "vertical lines{2}</p>\n",
                    html_text(results.session.metrics[scan.metric].name), parameter, about_colours);
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

}  // namespace

bool is_scan(const Results& results) {
  if (!has_single_typed_command(results)) return false;
  const auto parameter = find_scanned_parameter(results);
  return parameter && std::ranges::all_of(results.session.commands, [&](const Command& command) {
           return find_parameter(command, *parameter) != nullptr;
         });
}

std::vector<std::pair<std::size_t, double>> scan_colors(const Results& results) {
  if (!is_scan(results)) return {};
  const std::string parameter = *find_scanned_parameter(results);
  const auto value_of = [&](const Command& command) {
    return read_scanned_value(*find_parameter(command, parameter));
  };

  std::vector<std::string> lines;
  std::set<double> values;
  for (const Command& command : results.session.commands) {
    const std::string name = name_of_series(command, parameter);
    if (std::ranges::find(lines, name) == lines.end()) lines.push_back(name);
    values.insert(value_of(command));
  }

  // The strength of a colour grows evenly from the smallest value (0) to the largest one (1).
  std::map<double, double> strengths;
  double smaller_values = 0.0;
  for (const double value : values) {
    strengths[value] = smaller_values / static_cast<double>(values.size() - 1);
    ++smaller_values;
  }

  std::vector<std::pair<std::size_t, double>> colors;
  for (const Command& command : results.session.commands) {
    const auto line = std::ranges::find(lines, name_of_series(command, parameter));
    colors.emplace_back(line - lines.begin(), strengths.at(value_of(command)));
  }

  return colors;
}

std::string scan_headline(const Results& results, std::size_t metric) {
  if (!is_scan(results)) return "";
  const std::string parameter = *find_scanned_parameter(results);
  const std::vector<ScanSeries> all = make_series(results, metric, parameter);
  if (all.empty()) return "";

  // The law is told only of a single series, and if it certainly grows or falls.
  const Metric& measured = results.session.metrics[metric];
  std::string text;
  const auto law =
      all.size() == 1 ? fit_law(all.front(), results.session.confidence) : std::nullopt;
  const bool is_law_sure = law && (law->exponent_low > 0 || law->exponent_high < 0);
  if (is_law_sure)
    text =
        fmt::format("{} {} as {}^{:.2f} ({:.2f} … {:.2f}); ",
                    metric_in_words(one_line(measured.name)), law->exponent < 0 ? "falls" : "grows",
                    one_line(parameter), law->exponent, law->exponent_low, law->exponent_high);

  std::string_view superlative = "lowest";
  if (measured.better == Better::More)
    superlative = "highest";
  else if (measured.role == Role::WallTime)
    superlative = "fastest";

  const ScanPoint& best = find_best_point(results, metric, all);
  text += fmt::format("{} at {} (mean {})", superlative,
                      parameters_text(results.session.commands[best.command]),
                      quantity(best.mean, measured));

  // Without a law, users may take the best value for better than it is.
  const MetricResult* row = row_of(results.commands[best.command], metric);
  const auto reference = results.session.reference.index_in_session(best.command);
  if (is_law_sure || !row->delta || row->delta->is_significant() || !reference) return text;
  return text + ", not significantly different from " +
         parameters_text(results.session.commands[*reference]) + detectable_text(row->detectable);
}

std::string scan_chart(const Results& results, std::size_t metric) {
  const auto parameter = find_scanned_parameter(results);
  if (!parameter) return "";
  const Scan scan{results, metric, *parameter, make_series(results, metric, *parameter)};
  if (scan.all.empty()) return "";

  const auto [x, y] = find_extents(scan.all);
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
