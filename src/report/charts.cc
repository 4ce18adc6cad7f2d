#include "report/charts.h"

#include "core/foreign_text.h"
#include "report/axis.h"
#include "report/format.h"
#include "report/histogram.h"
#include "report/svg.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace lauka::report {

namespace {

constexpr std::size_t kColors = 8;  // as many as the page's style names
constexpr std::size_t kRowHeight = 44;
constexpr std::size_t kTimeHeight = 150;

/// Points of one drawing, whatever the number of runs and commands.
constexpr std::size_t kMostPoints = 2000;
/// Up to so many runs of a command are drawn one by one below its box; more are a shape.
constexpr std::size_t kMostSingly = 150;

/// A metric of all commands, with the axis that holds it.
struct Drawn {
  const Results& results;
  const Metric& metric;
  std::vector<std::vector<Sample>> samples;  // by command
  Axis axis{};

  std::size_t place_of(double value) const {
    return static_cast<std::size_t>(std::lround(across(axis, value)));
  }
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
  if (low <= high) all.axis = axis_over(low, high, kMostTicks);
  return all;
}

/// The outermost values within Tukey's fences.
std::pair<double, double> whiskers(const std::vector<Sample>& samples,
                                   const stats::Summary& summary) {
  const stats::Fences fences = stats::tukey_fences(summary.q1, summary.q3, stats::kOutlierReach);
  std::pair<double, double> ends{summary.q1, summary.q3};
  for (const Sample& sample : samples) {
    if (sample.value >= fences.low) ends.first = std::min(ends.first, sample.value);
    if (sample.value <= fences.high) ends.second = std::max(ends.second, sample.value);
  }
  return ends;
}

std::string row_label(const Results& results, std::size_t command, std::string_view more) {
  return fmt::format("<p class=\"row\"><span class=\"dot {}\"></span><code>{}</code> {}</p>\n",
                     command_class(command), html_text(results.commands[command].name), more);
}

/// The places of values, more than kMostSingly, in `bins` of the axis: how many lie in each.
std::vector<double> density_of(const Drawn& all, std::size_t command, std::size_t bins) {
  std::vector<double> counts(bins, 0.0);
  for (const Sample& sample : all.samples[command]) {
    const auto bin = all.place_of(sample.value) * bins / (kAcross + 1);
    counts[bin] += 1.0;
  }
  return counts;
}

/// Runs below a box: single ones in three lines, since points side by side hide one another; of
/// many a shape whose height is their number.
std::string runs_below(const Drawn& all, std::size_t command) {
  const std::vector<Sample>& samples = all.samples[command];
  constexpr std::size_t top = 24;
  if (samples.size() > kMostSingly) {
    constexpr std::size_t bins = 120;
    constexpr auto height = static_cast<double>(kRowHeight - top);
    const std::vector<double> counts = density_of(all, command, bins);
    const double most = *std::max_element(counts.begin(), counts.end());
    std::string path = fmt::format("M0 {}", kRowHeight);
    for (std::size_t i = 0; i < bins; ++i) {
      path +=
          fmt::format("L{} {:.1f}h{}", i * kAcross / bins,
                      static_cast<double>(kRowHeight) - height * counts[i] / most, kAcross / bins);
    }
    return svg_path("shape", fmt::format("{}V{}z", path, kRowHeight));
  }
  std::vector<Spot> spots;
  std::string numbers;
  for (const Sample& sample : samples) {
    spots.push_back({all.place_of(sample.value), top + 4 + 5 * (spots.size() % 3)});
    numbers += (numbers.empty() ? "" : " ") + std::to_string(sample.run + 1);
  }
  return svg_spots(spots, command_class(command),
                   fmt::format(" data-name=\"{}\" data-runs=\"{}\"",
                               html_text(all.results.commands[command].name), numbers));
}

std::string box_and_runs(const Drawn& all, std::size_t command, const stats::Summary& summary) {
  const auto at = [&](double value) { return across(all.axis, value); };
  const auto [low, high] = whiskers(all.samples[command], summary);
  const std::string box =
      fmt::format("M{0:.1f} 12H{1:.1f}M{2:.1f} 12H{3:.1f}M{1:.1f} 4H{2:.1f}v16H{1:.1f}z", at(low),
                  at(summary.q1), at(summary.q3), at(high));
  return svg_row(
      kRowHeight, "plot " + command_class(command),
      fmt::format("{}: distribution of {}", all.metric.name, all.results.commands[command].name),
      svg_grid(all.axis, kRowHeight) + svg_path("box", box) +
          svg_path("median", fmt::format("M{:.1f} 4v16", at(summary.median))) +
          runs_below(all, command));
}

/// Of a long series the lowest and the highest of every so many neighbours, so that what lies far
/// out is always there.
std::vector<Sample> thinned(const std::vector<Sample>& all, std::size_t most) {
  if (all.size() <= most) return all;
  const std::size_t pairs = std::max<std::size_t>(most / 2, 1);
  std::vector<Sample> kept;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(all.size() * pair / pairs);
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(all.size() * (pair + 1) / pairs);
    const auto [low, high] = std::minmax_element(
        begin, end, [](const Sample& a, const Sample& b) { return a.value < b.value; });
    kept.push_back(*low);
    if (high != low) kept.push_back(*high);
  }
  return kept;
}

/// The runs of a command, from left to right as they were run.
std::string spots_over_time(const Drawn& all, std::size_t command, std::size_t most, bool& thins) {
  std::vector<Spot> spots;
  const std::vector<Sample> kept = thinned(all.samples[command], most);
  spots.reserve(kept.size());
  thins = thins || kept.size() < all.samples[command].size();
  for (const Sample& sample : kept)
    spots.push_back({sample.run, kAcross - all.place_of(sample.value)});
  return svg_spots(spots, command_class(command),
                   fmt::format(" data-name=\"{}\"", html_text(all.results.commands[command].name)));
}

std::string legend_of(const Results& results, std::size_t metric) {
  std::string html = "<p class=\"row\">";
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    if (summary_of(results, c, metric) == nullptr) continue;
    html += fmt::format("<span class=\"dot {}\"></span><code>{}</code> ", command_class(c),
                        html_text(results.commands[c].name));
  }
  return html + "</p>\n";
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

const stats::Summary* summary_of(const Results& results, std::size_t command, std::size_t metric) {
  for (const MetricResult& row : results.commands[command].rows) {
    if (row.metric == metric && row.summary) return &*row.summary;
  }
  return nullptr;
}

bool is_drawn(const Results& results, std::size_t metric) {
  for (std::size_t c = 0; c < results.commands.size(); ++c)
    if (summary_of(results, c, metric) != nullptr) return true;
  return false;
}

void distribution_chart(const Results& results, std::size_t metric, const Sink& sink) {
  const Drawn all = drawn(results, metric);
  sink(fmt::format("<div class=\"chart\"{}>\n", hover_attributes(all.axis, all.metric, "x")));
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    const stats::Summary* summary = summary_of(results, c, metric);
    if (summary == nullptr) continue;
    sink(row_label(results, c, "median " + html_text(quantity(summary->median, all.metric))));
    sink(box_and_runs(all, c, *summary));
  }
  sink(svg_axis(labels_of(all.axis, all.metric)) + "</div>\n");
}

void time_chart(const Results& results, std::size_t metric, const Sink& sink) {
  const Drawn all = drawn(results, metric);
  const std::size_t runs = std::max<std::size_t>(results.runs->size(), 1);
  const std::size_t most =
      std::max<std::size_t>(kMostPoints / std::max<std::size_t>(results.commands.size(), 1), 2);
  const bool has_many = results.commands.size() > kMostUnfolded;
  sink(fmt::format("<div class=\"chart\"{}>\n", hover_attributes(all.axis, all.metric, "y")));
  if (!has_many) sink(legend_of(results, metric));
  sink(svg_begin(kTimeHeight, all.metric.name + " over time"));
  for (const TickLabel& label : labels_of(all.axis, all.metric)) {
    const double y = static_cast<double>(kTimeHeight) * (1 - label.percent / 100);
    sink(svg_line(0, y, 100, y, "grid"));
    sink(fmt::format("<text x=\"0\" y=\"{:.1f}\" class=\"label\">{}</text>\n",
                     std::max(y - 2, 10.0), html_text(label.text)));
  }
  // What is left of it belongs to the labels.
  sink(
      fmt::format("<svg class=\"plot\" x=\"15%\" width=\"84%\" height=\"{}\" viewBox=\"0 0 {} {}\" "
                  "preserveAspectRatio=\"none\">\n",
                  kTimeHeight, runs, kAcross));
  bool thins = false;
  for (std::size_t c = 0; c < results.commands.size(); ++c)
    if (summary_of(results, c, metric) != nullptr) sink(spots_over_time(all, c, most, thins));
  sink("</svg>\n</svg>\n<p class=\"aside\">first run on the left, last on the right");
  if (has_many) sink("; the pointer over a run names its command");
  if (thins) sink("; of so many runs the lowest and the highest of neighbours are drawn");
  sink("</p>\n</div>\n");
}

}  // namespace lauka::report
