#include "history/observe.h"

#include "core/foreign_text.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace lauka::history {

namespace {

const std::optional<LogRatio>& ratio_of(const MetricRecord& values, Against against) {
  return against == Against::Anchor ? values.to_anchor : values.to_reference;
}

/// One session's part of an observation.
std::optional<LogRatio> part_of(const MetricRecord& values, Against against, bool is_logarithm) {
  if (against != Against::Nothing) return ratio_of(values, against);
  LogRatio part{.value = is_logarithm ? std::log(values.mean) : values.mean};
  if (values.stddev && values.runs > 0)
    part.error = *values.stddev / std::sqrt(static_cast<double>(values.runs)) /
                 (is_logarithm ? values.mean : 1.0);
  return part;
}

}  // namespace

LogRatio mean_of(std::span<const LogRatio> ratios) {
  const bool has_weights = std::all_of(ratios.begin(), ratios.end(),
                                       [](const LogRatio& one) { return one.error > 0.0; });
  double weights = 0.0;
  double sum = 0.0;
  double squares = 0.0;
  bool has_errors = true;
  for (const LogRatio& one : ratios) {
    const double weight = has_weights ? 1.0 / (*one.error * *one.error) : 1.0;
    weights += weight;
    sum += weight * one.value;
    has_errors = has_errors && one.error.has_value();
    squares += weight * weight * one.error.value_or(0.0) * one.error.value_or(0.0);
  }
  LogRatio mean{.value = sum / weights};
  if (has_errors) mean.error = std::sqrt(squares) / weights;
  return mean;
}

std::optional<double> Observation::whole_error() const {
  return error ? std::optional(std::hypot(*error, link_error)) : std::nullopt;
}

Trend trend_of(const Series& series, Against against) {
  Trend trend{.against = against};
  if (against == Against::Usual)
    trend.against = !series.points.empty() && series.points.back().values.to_anchor
                        ? Against::Anchor
                        : Against::Nothing;
  trend.is_logarithm =
      trend.against != Against::Nothing ||
      std::all_of(series.points.begin(), series.points.end(),
                  [](const SeriesPoint& point) { return point.values.mean > 0.0; });
  std::map<std::string, std::size_t> places;
  std::vector<std::vector<LogRatio>> parts;
  for (const SeriesPoint& point : series.points) {
    const auto part = part_of(point.values, trend.against, trend.is_logarithm);
    if (!part) continue;
    std::size_t place = trend.commits.size();
    if (!point.commit.empty()) place = places.emplace(point.commit, place).first->second;
    if (place == trend.commits.size()) {
      trend.commits.push_back({.began = point.began, .commit = point.commit});
      parts.emplace_back();
    }
    parts[place].push_back(*part);
    if (trend.against == Against::Anchor)
      trend.commits[place].link_error = std::max(trend.commits[place].link_error, point.link_error);
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const LogRatio mean = mean_of(parts[i]);
    trend.commits[i].sessions = parts[i].size();
    trend.commits[i].value = mean.value;
    trend.commits[i].error = mean.error;
  }
  return trend;
}

std::string title_of(const Series& series) {
  std::string title = series.variant.benchmark + ", " + series.metric.name;
  for (const std::string& part : {series.variant.role, series.variant.command})
    if (!part.empty()) title += ", " + part;
  return one_line(title);
}

std::string_view words_of(Against against) {
  switch (against) {
    case Against::Reference:
      return "to the reference";
    case Against::Anchor:
      return "to the anchor";
    case Against::Usual:
    case Against::Nothing:
      break;
  }
  return "value";
}

}  // namespace lauka::history
