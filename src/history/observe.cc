#include "history/observe.h"

#include "core/foreign_text.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace lauka::history {

namespace {

/// One session's part of an observation.
struct Part {
  double value = 0.0;
  std::optional<double> error{};
  double link_error = 0.0;
};

const std::optional<LogRatio>& ratio_of(const MetricRecord& values, Against against) {
  return against == Against::Anchor ? values.to_anchor : values.to_reference;
}

std::optional<Part> part_of(const SeriesPoint& point, Against against, bool is_logarithm) {
  const MetricRecord& values = point.values;
  if (against != Against::Nothing) {
    const auto& ratio = ratio_of(values, against);
    if (!ratio) return std::nullopt;
    return Part{ratio->value, ratio->error, against == Against::Anchor ? point.link_error : 0.0};
  }
  Part part{.value = is_logarithm ? std::log(values.mean) : values.mean};
  if (values.stddev && values.runs > 0)
    part.error = *values.stddev / std::sqrt(static_cast<double>(values.runs)) /
                 (is_logarithm ? values.mean : 1.0);
  return part;
}

/// Weighted by how sure each is, where all say so.
Part mean_of(const std::vector<Part>& parts) {
  const bool has_weights =
      std::all_of(parts.begin(), parts.end(), [](const Part& part) { return part.error > 0.0; });
  double weights = 0.0;
  double sum = 0.0;
  double squares = 0.0;
  double link_error = 0.0;
  bool has_errors = true;
  for (const Part& part : parts) {
    const double weight = has_weights ? 1.0 / (*part.error * *part.error) : 1.0;
    weights += weight;
    sum += weight * part.value;
    has_errors = has_errors && part.error.has_value();
    link_error = std::max(link_error, part.link_error);
    squares += weight * weight * part.error.value_or(0.0) * part.error.value_or(0.0);
  }
  Part mean{.value = sum / weights, .link_error = link_error};
  if (has_errors) mean.error = std::sqrt(squares) / weights;
  return mean;
}

}  // namespace

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
  std::vector<std::vector<Part>> parts;
  for (const SeriesPoint& point : series.points) {
    const auto part = part_of(point, trend.against, trend.is_logarithm);
    if (!part) continue;
    std::size_t place = trend.commits.size();
    if (!point.commit.empty()) place = places.emplace(point.commit, place).first->second;
    if (place == trend.commits.size()) {
      trend.commits.push_back({.began = point.began, .commit = point.commit});
      parts.emplace_back();
    }
    parts[place].push_back(*part);
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part mean = mean_of(parts[i]);
    trend.commits[i].sessions = parts[i].size();
    trend.commits[i].value = mean.value;
    trend.commits[i].error = mean.error;
    trend.commits[i].link_error = mean.link_error;
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
