#include "report/axis.h"
#include "report/charts.h"
#include "report/format.h"
#include "report/histogram.h"
#include "report/metric_tables.h"
#include "report/svg.h"
#include "stats/distributions.h"
#include "stats/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace lauka::report {

namespace {

constexpr std::size_t kOverviewHeight = 30;
constexpr std::size_t kFewestForInterval = 6;
constexpr std::size_t kFewestForShape = 6;

/// A command's part of the overview.
struct Line {
  std::size_t command = 0;
  std::vector<double> values;  // ascending
  double median = 0.0;
  std::optional<std::pair<double, double>> interval{};
};

/// The interval of a median by ranks: it asks nothing of the distribution. None of few values.
std::optional<std::pair<double, double>> interval_of_median(const std::vector<double>& ascending,
                                                            double confidence) {
  const std::size_t count = ascending.size();
  if (count < kFewestForInterval) return std::nullopt;
  const auto n = static_cast<double>(count);
  const double reach = stats::normal_quantile_above((1.0 - confidence) / 2.0) * std::sqrt(n) / 2.0;
  const double low = std::max(std::floor(n / 2.0 - reach), 1.0);
  const double high = std::min(std::ceil(n / 2.0 + 1.0 + reach), n);
  return std::pair{ascending[static_cast<std::size_t>(low) - 1],
                   ascending[static_cast<std::size_t>(high) - 1]};
}

std::vector<Line> lines_of(const Results& results, std::size_t metric) {
  std::vector<Line> lines;
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    const stats::Summary* summary = summary_of(results, c, metric);
    if (summary == nullptr) continue;
    Line line{.command = c, .values = {}, .median = summary->median};
    for (const Sample& sample : samples_of(results, c, metric)) line.values.push_back(sample.value);
    std::sort(line.values.begin(), line.values.end());
    line.interval = interval_of_median(line.values, results.confidence);
    lines.push_back(std::move(line));
  }
  return lines;
}

/// The shape shows what lies within, lest one slow run make it a needle.
stats::Fences fences_of(const std::vector<double>& ascending) {
  const auto at = [&](double part) {
    return ascending[static_cast<std::size_t>(part * static_cast<double>(ascending.size() - 1))];
  };
  return stats::tukey_fences(at(0.25), at(0.75), stats::kOutlierReach);
}

Axis axis_of(const std::vector<Line>& lines, bool from_zero) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const Line& line : lines) {
    if (line.values.empty()) continue;
    const auto [lowest, highest] = fences_of(line.values);
    low = std::min(low, std::max(lowest, line.values.front()));
    high = std::max(high, std::min(highest, line.values.back()));
  }
  if (low > high) return {};
  if (!from_zero) return axis_over(low, high, kMostTicks);
  Axis axis = axis_over(std::min(low, 0.0), std::max(high, 0.0), kMostTicks);
  if (low >= 0.0) axis.low = 0.0;  // no room is needed beside zero
  return axis;
}

/// How the values are spread, as a shape that is as high as they are many. The counts of neighbours
/// are smoothed twice: bins are an artefact.
std::string shape_of(const Line& line, const Axis& axis) {
  if (line.values.size() < kFewestForShape) return "";
  const auto [lowest, highest] = fences_of(line.values);
  const double low = std::max(lowest, line.values.front());
  const double high = std::min(highest, line.values.back());
  if (!(high > low)) return "";
  constexpr std::size_t bins = 32;
  std::vector<double> counts(bins + 2, 0.0);  // with an empty one at either end
  for (const double value : line.values) {
    if (value < low || value > high) continue;
    const auto bin =
        static_cast<std::size_t>(std::lround((value - low) / (high - low) * (bins - 1)));
    counts[bin + 1] += 1.0;
  }
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<double> smooth = counts;
    for (std::size_t i = 1; i + 1 < counts.size(); ++i)
      smooth[i] = (counts[i - 1] + 2 * counts[i] + counts[i + 1]) / 4;
    counts = std::move(smooth);
  }
  const double most = *std::max_element(counts.begin(), counts.end());
  std::string above;
  std::string below;
  constexpr double middle = static_cast<double>(kOverviewHeight) / 2;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double value =
        low + (high - low) * (static_cast<double>(i) - 1.0) / static_cast<double>(bins - 1);
    const double x = across(axis, value);
    const double half = counts[i] / most * (middle - 2);
    above += fmt::format("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", x, middle - half);
    below.insert(0, fmt::format("L{:.1f} {:.1f}", x, middle + half));
  }
  return svg_path("shape", above + below + "z");
}

std::string drawing_of(const Results& results, const Metric& metric, const Line& line,
                       const Axis& axis) {
  const double middle = static_cast<double>(kOverviewHeight) / 2;
  std::string marks;
  std::string title = fmt::format("{}: median {}", results.commands[line.command].name,
                                  quantity(line.median, metric));
  if (line.interval) {
    const auto [low, high] = *line.interval;
    marks = svg_path(
        "span", fmt::format("M{:.1f} {}H{:.1f}", across(axis, low), middle, across(axis, high)));
    const auto ends = range(low, high, metric);
    title += fmt::format(" ({} … {})", ends.first, ends.second);
  }
  marks += svg_path("middle", fmt::format("M{:.1f} {}h0", across(axis, line.median), middle));
  return svg_row(kOverviewHeight, command_class(line.command), title,
                 fmt::format("<title>{}</title>", html_text(title)) +
                     svg_grid(axis, kOverviewHeight) + shape_of(line, axis) + marks);
}

std::string numbers_of(const Results& results, std::size_t metric, const Line& line) {
  std::string html = html_text(quantity(line.median, results.metrics[metric]));
  for (const MetricResult& row : results.commands[line.command].rows) {
    if (row.metric != metric || !row.delta) continue;
    const Cell delta = delta_cell(*row.delta, results.metrics[metric].better);
    html += fmt::format(" <span class=\"{}\">{}</span>", ink_class(delta.ink), marked_html(delta));
  }
  return html;
}

void view(const Results& results, std::size_t metric, const std::vector<Line>& lines,
          bool from_zero, const Sink& sink) {
  const Metric& of = results.metrics[metric];
  const Axis axis = axis_of(lines, from_zero);
  sink(fmt::format("<div class=\"bars view {}\">\n", from_zero ? "from-zero" : "close-up"));
  for (const Line& line : lines) {
    sink(
        fmt::format("<div class=\"who\"><span class=\"dot {}\"></span><code>{}</code></div>"
                    "<div class=\"value\">{}</div><div class=\"drawing\">{}</div>\n",
                    command_class(line.command), html_text(results.commands[line.command].name),
                    numbers_of(results, metric, line), drawing_of(results, of, line, axis)));
  }
  sink("<div class=\"who\"></div><div class=\"value\"></div><div class=\"drawing\">" +
       svg_axis(labels_of(axis, of)) + "</div>\n</div>\n");
}

}  // namespace

void overview_chart(const Results& results, std::size_t metric, const Sink& sink) {
  const std::vector<Line> lines = lines_of(results, metric);
  if (lines.empty()) return;
  sink(
      "<div class=\"chart\">\n"
      "<input type=\"radio\" name=\"overview\" id=\"overview-zero\" checked>"
      "<label for=\"overview-zero\">from zero</label>\n"
      "<input type=\"radio\" name=\"overview\" id=\"overview-close\">"
      "<label for=\"overview-close\">close up</label>\n");
  view(results, metric, lines, true, sink);
  view(results, metric, lines, false, sink);
  const bool has_interval = std::any_of(lines.begin(), lines.end(),
                                        [](const Line& line) { return line.interval.has_value(); });
  sink("<p class=\"aside\">dot: the median");
  if (has_interval) {
    sink(fmt::format("; bar: its {:g}% confidence interval; shape: where the runs lie",
                     100 * results.confidence));
  }
  sink("</p>\n</div>\n");
}

}  // namespace lauka::report
