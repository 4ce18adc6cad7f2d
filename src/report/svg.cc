#include "report/svg.h"

#include "core/choices.h"
#include "core/text.h"
#include "report/charts.h"
#include "report/format.h"

#include <utility>

#include <fmt/format.h>

namespace lauka::report {

namespace {

constexpr double kNearEnd = 8.0;  // percent: a centred label would be cut off there on a phone

}  // namespace

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

std::string svg_begin(std::size_t height, std::string_view title) {
  return fmt::format("<svg width=\"100%\" height=\"{}\" role=\"img\"><title>{}</title>\n", height,
                     html_text(title));
}

std::string svg(std::size_t height, std::string_view title, std::string_view content) {
  return svg_begin(height, title).append(content) + "</svg>\n";
}

std::string svg_line(double x1_percent, double y1, double x2_percent, double y2,
                     std::string_view css_class) {
  return fmt::format(
      "<line x1=\"{:.2f}%\" y1=\"{:.1f}\" x2=\"{:.2f}%\" y2=\"{:.1f}\" class=\"{}\"/>\n",
      x1_percent, y1, x2_percent, y2, css_class);
}

std::string svg_point(double x_percent, double y, double radius, std::string_view css_class,
                      std::string_view tooltip) {
  return fmt::format(
      "<circle cx=\"{:.2f}%\" cy=\"{:.1f}\" r=\"{:g}\" class=\"{}\"><title>{}</title></circle>\n",
      x_percent, y, radius, css_class, html_text(tooltip));
}

double across(const Axis& axis, double value) {
  return axis.percent(value) * static_cast<double>(kAcross) / 100;
}

std::string svg_row(std::size_t height, std::string_view css_class, std::string_view label,
                    std::string_view content) {
  return fmt::format(
      "<svg class=\"line {}\" height=\"{}\" viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" "
      "role=\"img\" aria-label=\"{}\">{}</svg>\n",
      css_class, height, kAcross, height, html_text(label), content);
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
  for (const TickLabel& label : labels) {
    const std::string_view anchor = label.percent < kNearEnd         ? "start"
                                    : label.percent > 100 - kNearEnd ? "end"
                                                                     : "middle";
    content += svg_line(label.percent, 0, label.percent, 4, "tick");
    content +=
        fmt::format("<text x=\"{:.2f}%\" y=\"{}\" text-anchor=\"{}\" class=\"label\">{}</text>\n",
                    label.percent, kAxisHeight - 3, anchor, html_text(label.text));
  }
  return fmt::format("<svg width=\"100%\" height=\"{}\" aria-hidden=\"true\">\n{}</svg>\n",
                     kAxisHeight, content);
}

std::string hover_attributes(const Axis& axis, const Metric& metric, std::string_view along) {
  double size = 1.0;
  std::string_view suffix = unit_symbol(metric.unit);
  if (metric.unit == Unit::Count || metric.unit == Unit::Ratio) suffix = "";
  if (metric.unit == Unit::Fraction) {
    size = 0.01;
    suffix = "%";
  }
  // The unit that the axis is labelled in, where it is one with a constant size.
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
      "data-unit=\"{}\"",
      along, axis.low, axis.high, size, suffix);
}

}  // namespace lauka::report
