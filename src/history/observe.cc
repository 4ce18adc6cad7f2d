#include "history/observe.h"

#include "core/foreign_text.h"
#include "stats/distributions.h"
#include "stats/steps.h"
#include "stats/summary.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

namespace lauka::history {

namespace {

const std::optional<LogRatio>& ratio_of(const MetricRecord& values, Against against) {
  return against == Against::Anchor ? values.to_anchor : values.to_reference;
}

// The standard error of a median, of normal samples, by that of their mean; and their standard
// deviation by the median absolute one.
constexpr double kErrorOfMedian = 1.2533;
constexpr double kDeviationOfMad = 1.4826;

/// What a session's value is: the median, which one slow run does not move, where all have one.
double value_of(const MetricRecord& values, bool has_medians) {
  return has_medians ? *values.median : values.mean;
}

/// One session's part of an observation.
std::optional<LogRatio> part_of(const MetricRecord& values, Against against, bool is_logarithm,
                                bool has_medians) {
  if (against != Against::Nothing) return ratio_of(values, against);
  const double value = value_of(values, has_medians);
  LogRatio part{.value = is_logarithm ? std::log(value) : value};
  if (has_medians) {
    if (values.mad && values.runs > 1)
      part.error = kErrorOfMedian * kDeviationOfMad * *values.mad /
                   std::sqrt(static_cast<double>(values.runs)) / (is_logarithm ? value : 1.0);
    return part;
  }
  if (values.stddev && values.runs > 0)
    part.error = *values.stddev / std::sqrt(static_cast<double>(values.runs)) /
                 (is_logarithm ? values.mean : 1.0);
  return part;
}

}  // namespace

double reach95(double error, double degrees) {
  constexpr double tail = 0.025;
  return stats::student_t_quantile_above(tail, std::max(1.0, degrees)) * error;
}

double degrees_of_sum(double error, double degrees, double other, double other_degrees) {
  const double a = error * error;
  const double b = other * other;
  if (a + b <= 0.0) return std::max(1.0, std::min(degrees, other_degrees));
  // In parts of their sum, as the squares of small variances are 0.
  const double of_one = a / (a + b);
  const double of_other = b / (a + b);
  return 1.0 / (of_one * of_one / std::max(1.0, degrees) +
                of_other * of_other / std::max(1.0, other_degrees));
}

double hold_errors(std::span<SessionPart> parts) {
  std::vector<double> of_one_run;
  for (const SessionPart& part : parts)
    if (part.ratio.error && part.runs > 0)
      of_one_run.push_back(*part.ratio.error * *part.ratio.error * static_cast<double>(part.runs));
  const double typical = of_one_run.empty() ? 0.0 : stats::median(stats::sorted(of_one_run));
  std::vector<stats::SeriesPoint> points;
  for (SessionPart& part : parts) {
    if (part.ratio.error && part.runs > 0)
      part.ratio.error =
          std::max(*part.ratio.error, std::sqrt(typical / static_cast<double>(part.runs)));
    const double error = part.ratio.error.value_or(0.0);
    points.push_back({part.ratio.value, error * error});
  }
  return stats::noise_between(points);
}

Merged merged(std::span<const SessionPart> parts, double between) {
  std::vector<LogRatio> ratios;
  double degrees = 0.0;
  for (const SessionPart& part : parts) {
    degrees += part.runs > 1 ? static_cast<double>(part.runs - 1) : 0.0;
    LogRatio ratio = part.ratio;
    if (ratio.error && parts.size() > 1)
      ratio.error = std::sqrt(*ratio.error * *ratio.error + between);
    ratios.push_back(ratio);
  }
  return {mean_of(ratios), std::max(1.0, degrees)};
}

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

double Observation::reach() const {
  if (!error) return 0.0;
  const double normal = std::numeric_limits<std::int32_t>::max();
  return reach95(*whole_error(), degrees_of_sum(*error, degrees, link_error, normal));
}

Trend trend_of(const Series& series, Against against) {
  Trend trend{.against = against};
  if (against == Against::Usual)
    trend.against = !series.points.empty() && series.points.back().values.to_anchor
                        ? Against::Anchor
                        : Against::Nothing;
  const bool has_medians =
      std::all_of(series.points.begin(), series.points.end(),
                  [](const SeriesPoint& point) { return point.values.median.has_value(); });
  trend.is_logarithm =
      trend.against != Against::Nothing ||
      std::all_of(series.points.begin(), series.points.end(), [&](const SeriesPoint& point) {
        return value_of(point.values, has_medians) > 0.0;
      });
  std::map<std::string, std::size_t> places;
  std::vector<SessionPart> all;
  std::vector<std::size_t> place_of;  // of each of them, in `commits`
  for (const SeriesPoint& point : series.points) {
    const auto part = part_of(point.values, trend.against, trend.is_logarithm, has_medians);
    if (!part) continue;
    std::size_t place = trend.commits.size();
    if (!point.commit.empty()) place = places.emplace(point.commit, place).first->second;
    if (place == trend.commits.size())
      trend.commits.push_back({.began = point.began, .commit = point.commit});
    all.push_back({*part, point.values.runs});
    place_of.push_back(place);
    if (trend.against == Against::Anchor)
      trend.commits[place].link_error = std::max(trend.commits[place].link_error, point.link_error);
  }
  const double between = hold_errors(all);
  std::vector<std::vector<SessionPart>> parts(trend.commits.size());
  for (std::size_t i = 0; i < all.size(); ++i) parts[place_of[i]].push_back(all[i]);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Merged one = merged(parts[i], between);
    trend.commits[i].sessions = parts[i].size();
    trend.commits[i].value = one.ratio.value;
    trend.commits[i].error = one.ratio.error;
    trend.commits[i].degrees = one.degrees;
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
