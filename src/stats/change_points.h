#pragma once

#include "stats/delta.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace lauka::stats {

struct SeriesPoint {
  double value = 0.0;     ///< value, or its logarithm if changes are ratios
  double variance = 0.0;  ///< variance of the sampling error; 0 if exact or unknown
};

/// A lasting change of a series' level. `earliest` and `latest` are the ends of the confidence
/// range of `at`.
struct LevelStep {
  std::size_t at = 0;  ///< index of the most probable first point at the new level
  std::size_t earliest = 0;
  std::size_t latest = 0;
  std::size_t confirmed = 0;  ///< index of the point that confirmed the step; greater than `at`
  double change = 0.0;
  ChangeBounds bounds{};
};

struct SeriesSteps {
  std::vector<LevelStep> steps{};
  bool is_last_suspected =
      false;  ///< true if the last point is far from the current level but confirms no step; false
              ///< if there are too few points to judge it
  /// Index of the first point of an unconfirmed step: two or more points are at the new level, and
  /// another point like the last would confirm the step. nullopt if missing.
  std::optional<std::size_t> pending{};
  double noise = 0.0;  ///< standard deviation between points beyond their sampling error; 0 below
                       ///< kMinForSteps points
};

inline constexpr std::size_t kMinForSteps = 6;

/// Estimates the variance between points beyond their sampling error; 0 for fewer than two points.
/// Steps and slow drift hardly raise the estimate.
double noise_between(std::span<const SeriesPoint> points);

/// Finds the steps of a series point after point, so that a confirmed step is never withdrawn.
/// Compares the last 2 to 12 points with up to 30 points before them: among the first 30 points of
/// the series by Student's t, later by a generalized likelihood ratio (Siegmund & Venkatraman 1995)
/// and by ranks. A single point makes no step. All values must be finite and no variance negative.
/// `confidence` (0..1) applies to the intervals only. False steps are rarer than one in a thousand
/// points of normal, heavy-tailed and wild noise (by simulation:
/// tests/stats/change_points_test.cc).
SeriesSteps find_steps(std::span<const SeriesPoint> points, double confidence);

}  // namespace lauka::stats
