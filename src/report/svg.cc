#include "report/svg.h"

#include "report/charts.h"

#include <fmt/format.h>

namespace lauka::report {

namespace {

constexpr double kNearEnd = 8.0;  // percent: a centred label would be cut off there on a phone

}  // namespace

std::string svg(std::size_t height, std::string_view title, std::string_view content) {
  return fmt::format("<svg width=\"100%\" height=\"{}\" role=\"img\"><title>{}</title>\n{}</svg>\n",
                     height, html_text(title), content);
}

std::string svg_line(double x1_percent, double y1, double x2_percent, double y2,
                     std::string_view css_class) {
  return fmt::format(
      "<line x1=\"{:.2f}%\" y1=\"{:.1f}\" x2=\"{:.2f}%\" y2=\"{:.1f}\" class=\"{}\"/>\n",
      x1_percent, y1, x2_percent, y2, css_class);
}

std::string svg_point(double x_percent, double y, std::string_view css_class,
                      std::string_view tooltip) {
  return fmt::format(
      "<circle cx=\"{:.2f}%\" cy=\"{:.1f}\" r=\"2.5\" class=\"{}\"><title>{}</title></circle>\n",
      x_percent, y, css_class, html_text(tooltip));
}

std::string svg_box(double from_percent, double to_percent, double y, double height,
                    std::string_view css_class) {
  return fmt::format(
      "<rect x=\"{:.2f}%\" y=\"{:.1f}\" width=\"{:.2f}%\" height=\"{:.1f}\" class=\"{}\"/>\n",
      from_percent, y, to_percent - from_percent, height, css_class);
}

std::string svg_axis(const std::vector<TickLabel>& labels, std::size_t height) {
  std::string content;
  for (const TickLabel& label : labels) {
    const std::string_view anchor = label.percent < kNearEnd         ? "start"
                                    : label.percent > 100 - kNearEnd ? "end"
                                                                     : "middle";
    content += svg_line(label.percent, 0, label.percent, 4, "tick");
    content +=
        fmt::format("<text x=\"{:.2f}%\" y=\"{}\" text-anchor=\"{}\" class=\"label\">{}</text>\n",
                    label.percent, height - 3, anchor, html_text(label.text));
  }
  return fmt::format("<svg width=\"100%\" height=\"{}\" aria-hidden=\"true\">\n{}</svg>\n", height,
                     content);
}

}  // namespace lauka::report
