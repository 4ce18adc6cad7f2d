#include "report/axis.h"
#include "report/charts.h"
#include "report/format.h"
#include "report/metric_tables.h"
#include "report/svg.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace lauka::report {

namespace {

constexpr std::size_t kDeltaHeight = 22;

double low_of(const stats::Change& change) {
  return change.bounds ? change.bounds->low : *change.change;
}

double high_of(const stats::Change& change) {
  return change.bounds ? change.bounds->high : *change.change;
}

/// The line of no difference is always on it.
Axis axis_of_changes(const std::vector<ChangeRow>& rows) {
  double low = 0.0;
  double high = 0.0;
  for (const ChangeRow& row : rows) {
    low = std::min(low, low_of(row.change));
    high = std::max(high, high_of(row.change));
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

std::string drawing_of(const ChangeRow& row, const Axis& axis) {
  const double middle = static_cast<double>(kDeltaHeight) / 2;
  std::string content = svg_grid(axis, kDeltaHeight);
  content += svg_path("zero", fmt::format("M{:.1f} 0v{}", across(axis, 0), kDeltaHeight));
  if (row.change.bounds) {
    const double top = middle - 5;
    content +=
        svg_path("interval", fmt::format("M{0:.1f} {2}v10M{1:.1f} {2}v10M{0:.1f} {3}H{1:.1f}",
                                         across(axis, row.change.bounds->low),
                                         across(axis, row.change.bounds->high), top, middle));
  }
  content +=
      svg_path("estimate", fmt::format("M{:.1f} {}h0", across(axis, *row.change.change), middle));
  return svg_row(kDeltaHeight, row.css_class, row.title, content);
}

}  // namespace

std::string change_chart(const std::vector<ChangeRow>& rows) {
  if (rows.empty()) return "";
  const Axis axis = axis_of_changes(rows);
  std::string html;
  for (const ChangeRow& row : rows)
    html += "<p class=\"row\">" + row.heading + "</p>\n" + drawing_of(row, axis);
  return "<div class=\"chart\">\n" + html + svg_axis(percent_labels(axis)) + "</div>\n";
}

std::string delta_chart(const Results& results, std::size_t metric) {
  std::vector<ChangeRow> rows;
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    const std::string& name = results.commands[c].name;
    for (const MetricResult& row : results.commands[c].rows) {
      if (row.metric != metric || !row.delta || !row.delta->change) continue;
      if (!std::isfinite(low_of(*row.delta)) || !std::isfinite(high_of(*row.delta))) continue;
      const Cell delta = delta_cell(*row.delta, results.metrics[metric].better);
      const std::string_view css_class = ink_class(delta.ink);
      rows.push_back(
          {.heading = fmt::format("<span class=\"dot {}\"></span><code>{}</code> <span "
                                  "class=\"{}\">{}</span>",
                                  command_class(c), html_text(name), css_class, marked_html(delta)),
           .title = name + ": " + delta_text(*row.delta),
           .css_class = css_class,
           .change = *row.delta});
    }
  }
  return change_chart(rows);
}

}  // namespace lauka::report
