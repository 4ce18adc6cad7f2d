#include "report/svg.h"

#include "core/choices.h"
#include "core/text.h"
#include "report/charts.h"
#include "report/format.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace lauka::report {

namespace {

constexpr double kAlongLeft = 15.0;   // percent, of the labels
constexpr double kAlongWidth = 84.0;  // percent
constexpr double kNearEnd = 8.0;      // percent: a centred label would be cut off there on a phone

constexpr double kRoom = 0.04;  // of the range, at each end

double round_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-12)) return factor * power;
  }
  return 10 * power;
}

/// A line of a drawing with a width in percent.
std::string svg_line(double x1_percent, double y1, double x2_percent, double y2,
                     std::string_view css_class) {
  return fmt::format(
      "<line x1=\"{:.2f}%\" y1=\"{:.1f}\" x2=\"{:.2f}%\" y2=\"{:.1f}\" class=\"{}\"/>\n",
      x1_percent, y1, x2_percent, y2, css_class);
}

}  // namespace

double Axis::percent(double value) const {
  const double place = is_logarithmic ? 100 * std::log(value / low) / std::log(high / low)
                                      : 100 * (value - low) / (high - low);
  return std::isfinite(place) ? std::clamp(place, 0.0, 100.0) : 0.0;
}

Axis axis_over(double low, double high, int most_ticks) {
  // Equal values, or all but equal ones, get a range that is drawn in the middle.
  const double least_range = 1e-9 * std::max(std::fabs(low), std::fabs(high));
  if (high - low <= least_range) {
    const double room =
        low == 0 && high == 0 ? 1.0 : 0.01 * std::max(std::fabs(low), std::fabs(high));
    low -= room;
    high += room;
  }
  const double room = kRoom * (high - low);
  Axis axis{low - room, high + room, {}};
  const double step = round_step((axis.high - axis.low) / most_ticks);
  for (double count = std::ceil(axis.low / step); count * step <= axis.high; ++count) {
    axis.ticks.push_back(count * step);
  }
  return axis;
}

Axis logarithmic_axis(double low, double high, int most_ticks) {
  const Axis powers = axis_over(std::log10(low), std::log10(high), most_ticks);
  Axis axis{std::pow(10.0, powers.low), std::pow(10.0, powers.high), {}, true};
  const int first = static_cast<int>(std::floor(powers.low));
  const int last = static_cast<int>(std::floor(powers.high));
  const bool is_wide = high > 100 * low;
  const int every = (last - first - 1) / most_ticks + 1;  // power of ten
  for (int power = first; power <= last; ++power) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double tick = factor * std::pow(10.0, power);
      const bool is_shown = is_wide ? factor == 1.0 && power % every == 0 : true;
      if (is_shown && tick >= axis.low && tick <= axis.high) axis.ticks.push_back(tick);
    }
  }
  return axis;
}

bool spans_decades(double low, double high) {
  constexpr double far = 50.0;
  return low > 0.0 && high > far * low;
}

std::vector<TickLabel> labels_of(const Axis& axis, const Metric& metric) {
  std::vector<TickLabel> labels;
  for (std::size_t i = 0; i < axis.ticks.size(); ++i) {
    const double value = axis.ticks[i];
    std::string text = quantity(value, metric);
    if (i + 1 < axis.ticks.size())
      text = range(value, axis.ticks[i + 1], metric).first;
    else if (i > 0)
      text = range(axis.ticks[i - 1], value, metric).second;
    labels.push_back({axis.percent(value), std::move(text)});
  }
  return labels;
}

double across(const Axis& axis, double value) {
  return axis.percent(value) * static_cast<double>(kAcross) / 100;
}

std::string svg_row(std::size_t height, std::string_view css_class, std::string_view label,
                    std::string_view content) {
  return fmt::format(
      "<svg class=\"line {}\" height=\"{}\" viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" "
      "{}>{}</svg>\n",
      css_class, height, kAcross, height,
      label.empty() ? "aria-hidden=\"true\""
                    : fmt::format("role=\"img\" aria-label=\"{}\"", html_text(label)),
      content);
}

std::string svg_path(std::string_view css_class, std::string_view path) {
  return fmt::format("<path class=\"{}\" d=\"{}\"/>", css_class, path);
}

std::string svg_grid(const Axis& axis, std::size_t height) {
  std::string path;
  for (const double tick : axis.ticks)
    path += fmt::format("M{:.1f} 0v{}", across(axis, tick), height);
  return svg_path("grid", path);
}

std::string svg_spots(const std::vector<Spot>& spots, std::string_view css_class,
                      std::string_view attributes) {
  std::string path;
  for (const Spot& spot : spots) path += fmt::format("M{} {}h0", spot.x, spot.y);
  return fmt::format("<path class=\"spots {}\"{} d=\"{}\"/>\n", css_class, attributes, path);
}

std::string svg_axis(const std::vector<TickLabel>& labels) {
  std::string content;
  std::size_t height = kAxisHeight;
  for (const TickLabel& label : labels) {
    const std::string_view anchor = label.percent < kNearEnd         ? "start"
                                    : label.percent > 100 - kNearEnd ? "end"
                                                                     : "middle";
    content += svg_line(label.percent, 0, label.percent, 4, "tick");
    const auto add_line = [&](std::string_view text, std::size_t y) {
      content +=
          fmt::format("<text x=\"{:.2f}%\" y=\"{}\" text-anchor=\"{}\" class=\"label\">{}</text>\n",
                      label.percent, y, anchor, html_text(text));
    };
    add_line(label.text, kAxisHeight - 3);
    if (label.below.empty()) continue;
    height = 2 * kAxisHeight - 5;
    add_line(label.below, height - 3);
  }
  return fmt::format("<svg width=\"100%\" height=\"{}\" aria-hidden=\"true\">\n{}</svg>\n", height,
                     content);
}

std::string svg_along(std::size_t height, const Axis& axis, const Metric& metric, std::size_t count,
                      std::string_view title, std::string_view content) {
  std::string grid;
  for (const TickLabel& label : labels_of(axis, metric)) {
    const double y = static_cast<double>(height) * (1 - label.percent / 100);
    grid += svg_line(0, y, 100, y, "grid");
    grid += fmt::format("<text x=\"0\" y=\"{:.1f}\" class=\"label\">{}</text>\n",
                        std::max(y - 2, 10.0), html_text(label.text));
  }
  return fmt::format(
      "<svg width=\"100%\" height=\"{0}\" role=\"img\"><title>{1}</title>\n{2}"
      "<svg class=\"plot\" x=\"{3}%\" width=\"{4}%\" height=\"{0}\" viewBox=\"0 0 {5} {6}\" "
      "preserveAspectRatio=\"none\">\n{7}</svg>\n</svg>\n",
      height, html_text(title), grid, kAlongLeft, kAlongWidth, count, kAcross, content);
}

double percent_along(double place, std::size_t count) {
  return kAlongLeft + kAlongWidth * place / static_cast<double>(count);
}

std::string hover_attributes(const Axis& axis, const Metric& metric, std::string_view along) {
  double size = 1.0;
  std::string_view suffix = unit_symbol(metric.unit);
  if (metric.unit == Unit::Count || metric.unit == Unit::Ratio) suffix = "";
  if (metric.unit == Unit::Fraction) {
    size = 0.01;
    suffix = "%";
  }
  // The unit of the axis's labels, if its size is constant.
  const std::string shown = quantity(axis.high, metric);
  for (const DisplayUnit& unit : kDisplayUnits) {
    const bool is_fitting = unit.unit == metric.unit && shown.ends_with(unit.suffix) &&
                            shown.size() > unit.suffix.size() &&
                            is_digit(shown[shown.size() - unit.suffix.size() - 1]);
    if (!is_fitting) continue;
    size = unit.size;
    suffix = unit.suffix;
  }
  return fmt::format(
      " data-along=\"{}\" data-low=\"{}\" data-high=\"{}\" data-size=\"{}\" "
      "data-unit=\"{}\"{}",
      along, axis.low, axis.high, size, suffix, axis.is_logarithmic ? " data-log=\"1\"" : "");
}

}  // namespace lauka::report
