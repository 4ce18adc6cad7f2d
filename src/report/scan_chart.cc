#include "core/foreign_text.h"
#include "core/numbers.h"
#include "report/axis.h"
#include "report/cells.h"
#include "report/charts.h"
#include "report/format.h"
#include "report/metric_tables.h"
#include "report/svg.h"
#include "stats/power_law.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace lauka::report {

namespace {

constexpr std::size_t kScanHeight = 220;
constexpr std::size_t kFewestValues = 3;
constexpr double kLeft = 12.0;      // percent, of the labels of the vertical axis
constexpr double kWidth = 86.0;     // percent, of what is drawn beside them
constexpr double kLeastFit = 0.95;  // of the variance; below, a power law says nothing

/// One command with one value of the parameter.
struct Point {
  double x = 0.0;
  double y = 0.0;  // the median
  double low = 0.0;
  double high = 0.0;  // the quartiles
  std::size_t command = 0;
};

/// The commands that differ in nothing but the parameter.
struct Series {
  std::string name;
  std::vector<Point> points;  // ascending
};

std::optional<double> number_of(const std::string& text) {
  const auto number = parse_decimal(text, {-1e300, true}, {1e300, true});
  return number ? std::optional(*number) : std::nullopt;
}

/// The parameter of which most different values are numbers; none with fewer than three.
std::optional<std::string> scanned(const Results& results) {
  std::optional<std::string> best;
  std::size_t most = kFewestValues - 1;
  for (const std::string& name : parameter_names(results)) {
    std::set<double> values;
    bool all_are_numbers = true;
    for (const CommandResult& command : results.commands) {
      const Parameter* parameter = find_parameter(command, name);
      if (parameter == nullptr) continue;
      const auto number = number_of(parameter->value);
      all_are_numbers = all_are_numbers && number.has_value();
      if (number) values.insert(*number);
    }
    if (!all_are_numbers || values.size() <= most) continue;
    most = values.size();
    best = name;
  }
  return best;
}

/// What tells a series from the others.
std::string name_of_series(const CommandResult& command, const std::string& parameter) {
  std::string name = command.pattern.empty() ? command.name : command.pattern;
  for (const Parameter& other : command.parameters)
    if (other.name != parameter) name += ", " + other.name + " = " + other.value;
  return name;
}

std::vector<Series> series_of(const Results& results, std::size_t metric,
                              const std::string& parameter) {
  std::vector<Series> all;
  std::map<std::pair<std::size_t, std::string>, std::size_t> places;
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    const CommandResult& command = results.commands[c];
    const Parameter* value = find_parameter(command, parameter);
    const stats::Summary* summary = summary_of(results, c, metric);
    if (value == nullptr || summary == nullptr) continue;
    std::string name = name_of_series(command, parameter);
    const auto [place, is_new] = places.try_emplace({command.typed, name}, all.size());
    if (is_new) all.push_back({std::move(name), {}});
    all[place->second].points.push_back(
        {*number_of(value->value), summary->median, summary->q1, summary->q3, c});
  }
  for (Series& series : all) {
    std::sort(series.points.begin(), series.points.end(),
              [](const Point& a, const Point& b) { return a.x < b.x; });
  }
  return all;
}

/// An axis of values or of their logarithms.
struct ScanScale {
  Axis axis;
  bool is_logarithmic = false;

  double percent(double value) const {
    return axis.percent(is_logarithmic ? std::log10(value) : value);
  }
};

ScanScale scale_over(double low, double high, bool logarithmic) {
  if (!logarithmic) return {axis_over(low, high, kMostTicks), false};
  ScanScale scale{axis_over(std::log10(low), std::log10(high), kMostTicks), true};
  scale.axis.ticks.clear();
  const bool is_wide = std::log10(high / low) > 2;
  const int last = static_cast<int>(std::floor(scale.axis.high));
  for (int power = static_cast<int>(std::floor(scale.axis.low)); power <= last; ++power) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double tick = power + std::log10(factor);
      const bool is_within = tick >= scale.axis.low && tick <= scale.axis.high;
      if (is_within && (factor == 1.0 || !is_wide)) scale.axis.ticks.push_back(tick);
    }
  }
  return scale;
}

double value_of(const ScanScale& scale, double tick) {
  return scale.is_logarithmic ? std::pow(10.0, tick) : tick;
}

/// "1.02 (0.98 … 1.06)" where a power law fits; else empty.
std::optional<stats::PowerLaw> law_of(const Series& series, double confidence) {
  std::vector<double> x;
  std::vector<double> y;
  for (const Point& point : series.points) {
    x.push_back(point.x);
    y.push_back(point.y);
  }
  const auto law = stats::power_law_of(x, y, confidence);
  return law && law->r_squared >= kLeastFit ? law : std::nullopt;
}

std::string class_of(std::size_t series) {
  return command_class(series);
}

struct Extent {
  double low_x, high_x, low_y, high_y;
};

Extent extent_of(const std::vector<Series>& all) {
  const Point& first = all.front().points.front();
  Extent extent{first.x, first.x, first.low, first.high};
  for (const Series& series : all) {
    for (const Point& point : series.points) {
      extent.low_x = std::min(extent.low_x, point.x);
      extent.high_x = std::max(extent.high_x, point.x);
      extent.low_y = std::min({extent.low_y, point.low, point.y});
      extent.high_y = std::max({extent.high_y, point.high, point.y});
    }
  }
  return extent;
}

/// One picture: the axes, and each series as a line of points with their quartiles.
class Picture {
 public:
  Picture(const Results& results, std::size_t metric, ScanScale x, ScanScale y)
      : results_(results), metric_(results.metrics[metric]), x_(std::move(x)), y_(std::move(y)) {}

  double across(double value) const { return kLeft + kWidth * x_.percent(value) / 100; }
  double down(double value) const {
    return static_cast<double>(kScanHeight) * (1 - y_.percent(value) / 100);
  }

  std::string grid() const {
    std::string content;
    for (const double tick : y_.axis.ticks) {
      const double value = value_of(y_, tick);
      const double y = down(value);
      content += svg_line(kLeft, y, kLeft + kWidth, y, "grid");
      content += fmt::format("<text x=\"0\" y=\"{:.1f}\" class=\"label\">{}</text>\n",
                             std::clamp(y + 4, 10.0, static_cast<double>(kScanHeight)),
                             html_text(quantity(value, metric_)));
    }
    for (const double tick : x_.axis.ticks) {
      const double x = across(value_of(x_, tick));
      content += svg_line(x, 0, x, static_cast<double>(kScanHeight), "grid");
    }
    return content;
  }

  std::string of(const Series& series, std::size_t number) const {
    const std::string color = class_of(number);
    std::string content;
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      const Point& point = series.points[i];
      if (i > 0) {
        const Point& before = series.points[i - 1];
        content += svg_line(across(before.x), down(before.y), across(point.x), down(point.y),
                            "trend " + color);
      }
      content += svg_line(across(point.x), down(point.low), across(point.x), down(point.high),
                          "interval " + color);
      content += svg_point(
          across(point.x), down(point.y), 3.5, "typical " + color,
          fmt::format("{}: {}", results_.commands[point.command].name, quantity(point.y, metric_)));
    }
    return content;
  }

  std::string fitted(const stats::PowerLaw& law, const Series& series) const {
    const auto at = [&](double x) { return law.factor * std::pow(x, law.exponent); };
    const double from = series.points.front().x;
    const double to = series.points.back().x;
    return svg_line(across(from), down(at(from)), across(to), down(at(to)), "fitted");
  }

  std::string axis_below() const {
    std::vector<TickLabel> labels;
    for (const double tick : x_.axis.ticks) {
      const double value = value_of(x_, tick);
      labels.push_back(
          {across(value), fmt::format("{:.6g}", std::fabs(value) < 1e-12 ? 0 : value)});
    }
    return svg_axis(labels);
  }

 private:
  const Results& results_;
  const Metric& metric_;
  ScanScale x_;
  ScanScale y_;
};

std::string view(const Results& results, std::size_t metric, const std::vector<Series>& all,
                 bool logarithmic) {
  const Extent extent = extent_of(all);
  const Picture picture(results, metric, scale_over(extent.low_x, extent.high_x, logarithmic),
                        scale_over(logarithmic ? extent.low_y : std::min(extent.low_y, 0.0),
                                   extent.high_y, logarithmic));
  std::string content = picture.grid();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto law = logarithmic ? law_of(all[i], results.confidence) : std::nullopt;
    if (law) content += picture.fitted(*law, all[i]);
    content += picture.of(all[i], i);
  }
  return fmt::format("<div class=\"view {}\">\n", logarithmic ? "logarithmic" : "linear") +
         svg(kScanHeight, results.metrics[metric].name + " against the parameter", content) +
         picture.axis_below() + "</div>\n";
}

std::string legend(const Results& results, std::size_t metric, const std::vector<Series>& all,
                   const std::string& parameter) {
  std::string html;
  for (std::size_t i = 0; i < all.size(); ++i) {
    html += fmt::format("<p class=\"row\"><span class=\"dot {}\"></span><code>{}</code>",
                        class_of(i), html_text(all[i].name));
    if (const auto law = law_of(all[i], results.confidence)) {
      html += fmt::format(
          " grows as {}<sup>{:.2f}</sup> <span class=\"aside\">({:g}% interval of "
          "the exponent: {:.2f} … {:.2f})</span>",
          html_text(parameter), law->exponent, 100 * results.confidence, law->low, law->high);
    }
    html += "</p>\n";
  }
  return html + fmt::format(
                    "<p class=\"aside\">{} against {}: medians, with the quartiles as "
                    "vertical lines</p>\n",
                    html_text(results.metrics[metric].name), html_text(parameter));
}

}  // namespace

std::string scan_chart(const Results& results, std::size_t metric) {
  const auto parameter = scanned(results);
  if (!parameter) return "";
  const std::vector<Series> all = series_of(results, metric, *parameter);
  if (all.empty()) return "";
  const Extent extent = extent_of(all);
  const bool can_be_logarithmic =
      extent.low_x > 0 && extent.low_y > 0 && extent.high_x > extent.low_x;
  std::string html = "<div class=\"chart\">\n";
  if (can_be_logarithmic) {
    html +=
        "<input type=\"radio\" name=\"scan\" id=\"scan-linear\" checked>"
        "<label for=\"scan-linear\">linear</label>\n"
        "<input type=\"radio\" name=\"scan\" id=\"scan-logarithmic\">"
        "<label for=\"scan-logarithmic\">logarithmic</label>\n";
  }
  html += view(results, metric, all, false);
  if (can_be_logarithmic) html += view(results, metric, all, true);
  return html + legend(results, metric, all, *parameter) + "</div>\n";
}

}  // namespace lauka::report
