#pragma once

#include "stats/delta.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace lauka::stats {

/// A point of an ordered series, such as the history of a benchmark.
struct SeriesPoint {
  double value = 0.0;     ///< value; the logarithm if changes are ratios
  double variance = 0.0;  ///< variance of the sampling error; 0 if unknown
};

/// A lasting change of a series' level.
struct LevelStep {
  std::size_t at = 0;  ///< index of the most probable first point at the new level
  std::size_t earliest =
      0;                   ///< earliest first point of the new level, with the requested confidence
  std::size_t latest = 0;  ///< latest first point of the new level, with the requested confidence
  std::size_t confirmed = 0;  ///< index of the point that confirmed the step; greater than `at`
  double change = 0.0;        ///< new level minus old level
  ChangeBounds bounds{};      ///< confidence interval of `change`
};

/// The result of find_steps.
struct SeriesSteps {
  std::vector<LevelStep> steps{};  ///< confirmed steps, in order
  bool is_last_suspected =
      false;  ///< true if the last point differs and is no step yet; false below 10 points
  /// Index of a step that the last two or more points support and that another point like the last
  /// would confirm; nullopt if missing.
  std::optional<std::size_t> pending{};
  double noise = 0.0;  ///< standard deviation between points, beyond their sampling error; 0 below
                       ///< kMinForSteps points
};

/// The fewest points in which find_steps looks for steps; the noise of fewer points is unknown.
inline constexpr std::size_t kMinForSteps = 6;

/// Estimates the variance between points beyond their sampling error. Compares neighbours and every
/// third point, so that neither steps nor slow drift raise the estimate. Returns 0 for fewer than
/// two points.
double noise_between(std::span<const SeriesPoint> points);

/// Finds the steps of a series. Looks at the series as it grew, point after point, so that a
/// confirmed step is never withdrawn. At each point, compares the last 2 to 12 points with up to 30
/// points before them by a generalized likelihood ratio (Siegmund & Venkatraman 1995), with the
/// noise between neighbours, and by ranks. A series of up to 30 points has too few neighbours:
/// Student's t, with the variance around the two levels, replaces the likelihood ratio. On either
/// side of a step, the point that supports it most counts no more than the second, so that a single
/// point makes no step. All values must be finite and no variance negative. `confidence` (0..1)
/// applies to the intervals only. False steps are rarer than one in a thousand points of normal,
/// heavy-tailed and wild noise (by simulation: tests/stats/change_points_test.cc).
SeriesSteps find_steps(std::span<const SeriesPoint> points, double confidence);

}  // namespace lauka::stats
