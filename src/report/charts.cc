#include "report/charts.h"

#include "report/axis.h"
#include "report/format.h"
#include "report/samples.h"
#include "report/svg.h"
#include "report/width.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace lauka::report {

namespace {

constexpr std::size_t kColors = 8;  // as many as the page's style names
constexpr int kMostTicks = 5;       // more do not fit on a phone
constexpr std::size_t kRowHeight = 44;
constexpr std::size_t kOrderHeight = 150;
constexpr std::size_t kAxisHeight = 20;

/// Points of one command in one drawing: ten metrics of ten thousand runs would be a page of 10 MB.
constexpr std::size_t kMostPoints = 400;

/// A metric of all commands, with the axis that holds it.
struct Drawn {
  const Results& results;
  const Metric& metric;
  std::vector<std::vector<Sample>> samples;  // by command
  Axis axis{};
  bool any = false;
};

Drawn drawn(const Results& results, std::size_t metric) {
  Drawn all{results, results.metrics[metric], {}};
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    all.samples.push_back(samples_of(results, c, metric));
    for (const Sample& sample : all.samples.back()) {
      low = std::min(low, sample.value);
      high = std::max(high, sample.value);
    }
  }
  all.any = low <= high;
  if (all.any) all.axis = axis_over(low, high, kMostTicks);
  return all;
}

/// The ticks in words, with as many digits as tell neighbours apart.
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

/// Of long series every so many-th point is drawn, and those outside Tukey's fences always are.
std::vector<Sample> thinned(const std::vector<Sample>& samples, const stats::Summary& summary) {
  if (samples.size() <= kMostPoints) return samples;
  const double reach = 1.5 * (summary.q3 - summary.q1);
  const std::size_t step = (samples.size() + kMostPoints - 1) / kMostPoints;
  std::vector<Sample> kept;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double value = samples[i].value;
    const bool outside = value < summary.q1 - reach || value > summary.q3 + reach;
    if (i % step == 0 || (outside && kept.size() < 2 * kMostPoints)) kept.push_back(samples[i]);
  }
  return kept;
}

std::string told_thinning(const Drawn& all) {
  const bool any = std::any_of(all.samples.begin(), all.samples.end(),
                               [](const auto& samples) { return samples.size() > kMostPoints; });
  return any ? fmt::format(
                   "<p class=\"aside\">Of long series about {} runs are drawn, evenly spread, and "
                   "those far out."
                   "</p>\n",
                   kMostPoints)
             : "";
}

/// What the row of a metric holds; null where no run has a value.
const stats::Summary* summary_of(const Results& results, std::size_t command, std::size_t metric) {
  for (const MetricResult& row : results.commands[command].rows) {
    if (row.metric == metric && row.summary) return &*row.summary;
  }
  return nullptr;
}

/// The outermost values within Tukey's fences.
std::pair<double, double> whiskers(const std::vector<Sample>& samples,
                                   const stats::Summary& summary) {
  const double reach = 1.5 * (summary.q3 - summary.q1);
  std::pair<double, double> ends{summary.q1, summary.q3};
  for (const Sample& sample : samples) {
    if (sample.value >= summary.q1 - reach) ends.first = std::min(ends.first, sample.value);
    if (sample.value <= summary.q3 + reach) ends.second = std::max(ends.second, sample.value);
  }
  return ends;
}

std::string row_label(const Results& results, std::size_t command, std::string_view more) {
  return fmt::format("<p class=\"row\"><span class=\"dot {}\"></span><code>{}</code> {}</p>\n",
                     command_class(command), html_text(results.commands[command].name), more);
}

std::string box_and_points(const Drawn& all, std::size_t command, const stats::Summary& summary) {
  const std::vector<Sample>& samples = all.samples[command];
  const Axis& axis = all.axis;
  const std::string color = command_class(command);
  const double middle = 12;
  std::string content;
  for (const double tick : axis.ticks)
    content += svg_line(axis.percent(tick), 0, axis.percent(tick), kRowHeight, "grid");
  const auto [low, high] = whiskers(samples, summary);
  content += svg_line(axis.percent(low), middle, axis.percent(high), middle, "whisker " + color);
  content += svg_box(axis.percent(summary.q1), axis.percent(summary.q3), 4, 16, "box " + color);
  content += svg_line(axis.percent(summary.median), 4, axis.percent(summary.median), 20,
                      "median " + color);
  std::size_t number = 0;
  for (const Sample& sample : thinned(samples, summary)) {
    // Points side by side hide one another; three lines of them do less so, and are the same in
    // every export.
    const double y = 27 + 5 * static_cast<double>(number++ % 3);
    content +=
        svg_point(axis.percent(sample.value), y, "point " + color,
                  fmt::format("run {}: {}", sample.run + 1, quantity(sample.value, all.metric, 4)));
  }
  return svg(kRowHeight,
             fmt::format("{}: {} of {}", all.metric.name, "distribution",
                         all.results.commands[command].name),
             content);
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string escaped;
  for (const char c : one_line(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string command_class(std::size_t command) {
  return fmt::format("c{}", command % kColors);
}

std::string_view ink_class(Ink ink) {
  switch (ink) {
    case Ink::Green:
      return "better";
    case Ink::Red:
      return "worse";
    case Ink::Dim:
      return "unsure";
    case Ink::Plain:
    case Ink::Bold:
      break;
  }
  return "neutral";
}

std::string distribution_chart(const Results& results, std::size_t metric) {
  const Drawn all = drawn(results, metric);
  if (!all.any) return "";
  std::string html;
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    const stats::Summary* summary = summary_of(results, c, metric);
    if (summary == nullptr) continue;
    html += row_label(results, c, "median " + html_text(quantity(summary->median, all.metric)));
    html += box_and_points(all, c, *summary);
  }
  if (html.empty()) return "";
  return "<div class=\"chart\">\n" + html + svg_axis(labels_of(all.axis, all.metric), kAxisHeight) +
         told_thinning(all) + "</div>\n";
}

std::string order_chart(const Results& results, std::size_t metric) {
  const Drawn all = drawn(results, metric);
  if (!all.any) return "";
  const double runs = static_cast<double>(std::max<std::size_t>(results.runs.size(), 1));
  const auto height_of = [&](double value) {
    return kOrderHeight - 4 - (kOrderHeight - 8) * all.axis.percent(value) / 100;
  };
  std::string legend;
  std::string content;
  for (const TickLabel& label : labels_of(all.axis, all.metric)) {
    const double y = kOrderHeight - 4 - (kOrderHeight - 8) * label.percent / 100;
    content += svg_line(0, y, 100, y, "grid");
    content += fmt::format("<text x=\"0\" y=\"{:.1f}\" class=\"label\">{}</text>\n",
                           std::max(y - 2, 10.0), html_text(label.text));
  }
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    const stats::Summary* summary = summary_of(results, c, metric);
    if (summary == nullptr) continue;
    legend += row_label(results, c, "");
    for (const Sample& sample : thinned(all.samples[c], *summary)) {
      // The left tenth belongs to the labels.
      const double x = 12 + 87 * (static_cast<double>(sample.run) + 0.5) / runs;
      content += svg_point(
          x, height_of(sample.value), "point " + command_class(c),
          fmt::format("run {}: {}", sample.run + 1, quantity(sample.value, all.metric, 4)));
    }
  }
  return "<div class=\"chart\">\n" + legend +
         svg(kOrderHeight, all.metric.name + " in the order of the runs", content) +
         "<p class=\"aside\">first run on the left, last on the right</p>\n</div>\n";
}

}  // namespace lauka::report
