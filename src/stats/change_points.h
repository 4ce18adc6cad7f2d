#pragma once

#include "stats/distributions.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace lauka::stats {

struct SeriesPoint {
  double value = 0.0;     ///< measured value, or its logarithm if changes are ratios
  double variance = 0.0;  ///< squared standard error of `value`; 0 if it is exact or unknown
};

/// A lasting change of a series' level. `earliest_first_point` and `latest_first_point` are the
/// ends of the confidence range of `first_point`.
struct LevelStep {
  std::size_t first_point = 0;  ///< index of the most probable first point at the new level
  std::size_t earliest_first_point = 0;
  std::size_t latest_first_point = 0;
  /// Index of the point that confirmed the step; greater than `first_point`.
  std::size_t confirming_point = 0;
  double change = 0.0;
  IntervalEnds bounds{};
};

struct SeriesSteps {
  std::vector<LevelStep> steps{};
  /// True if the last point is far from the current level but confirms no step; false if unknown.
  bool may_last_point_be_step = false;
  /// Index of the first point of an unconfirmed step: two or more points are at the new level, and
  /// a copy of the last point would confirm the step. nullopt if there is no such step.
  std::optional<std::size_t> pending_first_point{};
  /// Standard deviation of points at the same level, beyond their sampling error; 0 for fewer than
  /// kMinForSteps points.
  double noise_deviation = 0.0;
};

inline constexpr std::size_t kMinForSteps = 6;

/// Estimates the variance of points at the same level, beyond their sampling error; 0 for fewer
/// than two points. Steps and slow drift hardly raise the estimate.
double estimate_noise_variance(std::span<const SeriesPoint> points);

/// Finds the steps of a series. At each point, compares the last 2 to 12 points with up to 30
/// points before them: in the first 30 points of the series by Student's t, later by a generalized
/// likelihood ratio (Siegmund & Venkatraman 1995) and by ranks. All values must be finite and no
/// variance negative. `confidence` (0..1) applies to intervals and ranges only. Finds nothing in
/// fewer than kMinForSteps points.
SeriesSteps find_steps(std::span<const SeriesPoint> points, double confidence);

}  // namespace lauka::stats
