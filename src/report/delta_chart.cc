#include "report/axis.h"
#include "report/charts.h"
#include "report/format.h"
#include "report/marked_delta.h"
#include "report/svg.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace lauka::report {

namespace {

constexpr std::size_t kRowHeight = 22;

/// A delta that can be drawn, with the command it is of.
struct Row {
  std::size_t command;
  stats::Delta delta;
  double low() const { return delta.bounds ? delta.bounds->low : *delta.change; }
  double high() const { return delta.bounds ? delta.bounds->high : *delta.change; }
};

std::vector<Row> rows_of(const Results& results, std::size_t metric) {
  std::vector<Row> rows;
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    for (const MetricResult& row : results.commands[c].rows) {
      if (row.metric != metric || !row.delta || !row.delta->change) continue;
      const Row drawn{c, *row.delta};
      if (std::isfinite(drawn.low()) && std::isfinite(drawn.high())) rows.push_back(drawn);
    }
  }
  return rows;
}

/// The line of no difference is always on it.
Axis axis_of(const std::vector<Row>& rows) {
  double low = 0.0;
  double high = 0.0;
  for (const Row& row : rows) {
    low = std::min(low, row.low());
    high = std::max(high, row.high());
  }
  return axis_over(low, high, kMostTicks);
}

std::vector<TickLabel> percent_labels(const Axis& axis) {
  std::vector<TickLabel> labels;
  const double step = axis.ticks.size() > 1 ? axis.ticks[1] - axis.ticks[0] : 1.0;
  const int decimals =
      std::clamp(static_cast<int>(std::ceil(-std::log10(100 * step) - 1e-9)), 0, 6);
  for (const double tick : axis.ticks) {
    const double value = std::fabs(tick) < step / 2 ? 0.0 : tick;
    labels.push_back({axis.percent(tick), value == 0.0 ? "0%" : signed_percent(value, decimals)});
  }
  return labels;
}

std::string drawing_of(const Row& row, const Axis& axis, std::string_view css_class,
                       std::string_view title) {
  const double middle = static_cast<double>(kRowHeight) / 2;
  std::string content = svg_grid(axis, kRowHeight);
  content += svg_path("zero", fmt::format("M{:.1f} 0v{}", across(axis, 0), kRowHeight));
  if (row.delta.bounds) {
    const double top = middle - 5;
    content += svg_path(
        "interval", fmt::format("M{0:.1f} {2}v10M{1:.1f} {2}v10M{0:.1f} {3}H{1:.1f}",
                                across(axis, row.low()), across(axis, row.high()), top, middle));
  }
  content +=
      svg_path("estimate", fmt::format("M{:.1f} {}h0", across(axis, *row.delta.change), middle));
  return svg_row(kRowHeight, css_class, title, content);
}

}  // namespace

std::string delta_chart(const Results& results, std::size_t metric) {
  const std::vector<Row> rows = rows_of(results, metric);
  if (rows.empty()) return "";
  const Axis axis = axis_of(rows);
  std::string html;
  for (const Row& row : rows) {
    const MarkedDelta delta = marked_delta(row.delta, results.metrics[metric].better);
    const std::string& name = results.commands[row.command].name;
    const std::string_view css_class = ink_class(delta.ink);
    html += fmt::format(
        "<p class=\"row\"><span class=\"dot {}\"></span><code>{}</code> <span "
        "class=\"{}\">{}</span></p>\n",
        command_class(row.command), html_text(name), css_class, html_text(delta.text));
    html += drawing_of(row, axis, css_class, name + ": " + delta_text(row.delta));
  }
  return "<div class=\"chart\">\n" + html + svg_axis(percent_labels(axis)) + "</div>\n";
}

}  // namespace lauka::report
