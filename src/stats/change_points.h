#pragma once

#include "stats/delta.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace lauka::stats {

/// A point of an ordered series, such as a commit's.
struct SeriesPoint {
  double value = 0.0;     ///< a logarithm, if changes should be ratios
  double variance = 0.0;  ///< variance of the sampling error; 0 if unknown
};

/// A change of a series' level from some point on.
struct Step {
  std::size_t at = 0;  ///< the first point after it, most probably
  std::size_t earliest =
      0;  ///< first of the points among which the step is, with the asked confidence
  std::size_t latest = 0;
  std::size_t confirmed = 0;  ///< the point with which it was sure; later than `at`
  double change = 0.0;        ///< change of the level
  ChangeBounds bounds{};      ///< bounds of the change
};

/// The steps of a series.
struct SeriesSteps {
  std::vector<Step> steps{};       ///< steps that a later point confirmed, in order
  bool is_last_suspected = false;  ///< the last point alone would be one
  /// The place of a step that one more point like the last would confirm, and that the last two
  /// or more support; nullopt if there is none.
  std::optional<std::size_t> pending{};
  double noise = 0.0;  ///< standard deviation between points, without their sampling error
};

/// Fewer points have no steps: their noise is not known.
inline constexpr std::size_t kMinForSteps = 6;

/// Estimates the variance between points, without their sampling error, from neighbours: neither
/// steps nor slow drift change it. 0 for fewer than two points.
double noise_between(std::span<const SeriesPoint> points);

/// Finds the steps of a series by looking at it as it grew, so that one which was confirmed is
/// never taken back: at each point the last 2 to 12 are compared with up to 30 before those (a
/// generalized likelihood ratio: Siegmund & Venkatraman 1995), by the noise between neighbours,
/// which neither steps nor slow drift change, and by their ranks. Up to 30 points have too
/// few neighbours: there it is Student's t, by the variance about the two levels. On either side
/// the point that supports a step most counts no more than the second, so that a single point makes
/// no step. The interval of a step is the two levels' interval; its place is in doubt from
/// `earliest` to `latest`. No value may be other than finite, no variance negative. `confidence` is
/// the intervals'; the rate of false steps is fixed: less than once in a thousand points of normal,
/// heavy-tailed and wild noise (by simulation: tests/stats/change_points_test.cc).
SeriesSteps find_steps(std::span<const SeriesPoint> points, double confidence);

}  // namespace lauka::stats
