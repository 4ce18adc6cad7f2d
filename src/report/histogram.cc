#include "report/histogram.h"

#include "report/format.h"
#include "report/width.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace lauka::report {

namespace {

constexpr std::size_t kMostBins = 12;
constexpr std::size_t kWidestBar = 50;
constexpr std::size_t kNarrowestBar = 8;
constexpr std::string_view kIndent = "  ";

/// `eighths` of a cell, in whole and partial blocks.
std::string bar(std::size_t eighths) {
  constexpr std::array<std::string_view, 8> partial = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  return text.append(partial[eighths % 8]);
}

std::size_t bin_count(const stats::Summary& summary, double low, double high, std::size_t most) {
  const double width =
      2 * (summary.q3 - summary.q1) / std::cbrt(static_cast<double>(summary.count));
  if (width <= 0) return most;
  return static_cast<std::size_t>(
      std::clamp(std::ceil((high - low) / width), 1.0, static_cast<double>(most)));
}

std::vector<double> values_of(const Results& results, std::size_t command, std::size_t metric) {
  std::vector<double> values;
  for (const Sample& sample : samples_of(results, command, metric)) values.push_back(sample.value);
  return values;
}

/// "583ms … 585ms", the ends aligned; each with as many digits as the narrowest bin takes.
std::vector<std::string> labels_of(const std::vector<Bin>& bins, const Metric& metric) {
  std::vector<std::pair<std::string, std::string>> ends;
  std::array<std::size_t, 2> widths{};
  for (const Bin& bin : bins) {
    ends.push_back(range(bin.low, bin.high, metric));
    widths = {std::max(widths[0], display_width(ends.back().first)),
              std::max(widths[1], display_width(ends.back().second))};
  }
  std::vector<std::string> labels;
  labels.reserve(ends.size());
  for (const auto& [low, high] : ends) {
    labels.push_back(fmt::format("{:>{}}{} … {:>{}}{}", "", widths[0] - display_width(low), low, "",
                                 widths[1] - display_width(high), high));
  }
  return labels;
}

}  // namespace

std::vector<Sample> samples_of(const Results& results, std::size_t command, std::size_t metric) {
  std::vector<Sample> samples;
  for (const std::uint32_t run : results.runs->of(command)) {
    if (const auto value = results.runs->value(run, metric)) samples.push_back({run, *value});
  }
  return samples;
}

std::vector<Bin> bins_of(std::span<const double> values, const stats::Summary& summary,
                         std::size_t most) {
  const stats::Fences fences = stats::tukey_fences(summary.q1, summary.q3, stats::kSevereReach);
  const bool has_spread = fences.low < fences.high;  // else they would shut out all but one value
  const double low = has_spread ? std::max(summary.min, fences.low) : summary.min;
  const double high = has_spread ? std::min(summary.max, fences.high) : summary.max;
  if (low >= high) return {{summary.min, summary.max, values.size()}};
  std::vector<Bin> bins(bin_count(summary, low, high, most));
  const double width = (high - low) / static_cast<double>(bins.size());
  for (std::size_t i = 0; i < bins.size(); ++i) {
    bins[i].low = low + width * static_cast<double>(i);
    bins[i].high = low + width * static_cast<double>(i + 1);
  }
  for (const double value : values) {
    const double place =
        std::clamp((value - low) / width, 0.0, static_cast<double>(bins.size() - 1));
    ++bins[static_cast<std::size_t>(place)].count;
  }
  bins.front().low = summary.min;
  bins.back().high = summary.max;
  return bins;
}

std::string histogram(const Results& results, std::size_t command, const Style& style) {
  const MetricResult* row = row_of(results, command, Role::WallTime);
  if (row == nullptr || !row->summary) return "";
  const std::vector<double> values = values_of(results, command, row->metric);
  const std::vector<Bin> bins = bins_of(values, *row->summary, kMostBins);
  const std::vector<std::string> labels = labels_of(bins, results.metrics[row->metric]);
  std::size_t most = 0;
  for (const Bin& bin : bins) most = std::max(most, bin.count);
  const std::size_t beside =
      kIndent.size() + display_width(labels.front()) + 2 + 1 + fmt::formatted_size("{}", most);
  std::size_t widest = kWidestBar;
  if (style.width > 0) {
    widest = std::clamp(style.width > beside ? style.width - beside : 0, kNarrowestBar, kWidestBar);
  }
  std::string text;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const std::size_t least = bins[i].count > 0 ? 1 : 0;  // one run is to be seen among thousands
    const std::string drawn = bar(std::max(least, bins[i].count * widest * 8 / most));
    text += fmt::format("{}{}  {}{}{}\n", kIndent, labels[i], drawn, drawn.empty() ? "" : " ",
                        bins[i].count);
  }
  return text;
}

}  // namespace lauka::report
