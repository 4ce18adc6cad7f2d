#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace lauka::stats {

// Checks if a series, in the order run, is well described by mean and deviation: each function
// returns the numbers of a warning and whether to warn, or nullopt if there are too few runs. On
// quiet noise each warns of one series in a thousand.

/// The fewest runs for a useful interval of a delta.
inline constexpr std::size_t kFewForDelta = 5;
/// The fewest rounds to decide about small changes.
inline constexpr std::size_t kFewForGate = 10;

/// The first run against the others.
struct FirstRun {
  double first = 0.0;
  double median_of_rest = 0.0;
  bool slow =
      false;  ///< the slowest, severely outside the others, and more than 5% above their median
};

/// At least 5 runs.
std::optional<FirstRun> first_run(std::span<const double> series);

/// Runs far outside, three interquartile ranges beyond the quartiles and over 1% from the median.
struct SevereOutliers {
  std::size_t count = 0;
  double share = 0.0;  ///< of the runs, a fraction
  bool many = false;   ///< at least 5%
};

/// At least one run.
SevereOutliers severe_outliers(std::span<const double> series);

/// Likeness of neighbouring runs.
struct SlowNoise {
  double autocorrelation = 0.0;  ///< at lag 1, -1..1; 0 for equal samples
  bool slow = false;             ///< above 0.3 and three times its chance value
};

/// At least 20 runs.
std::optional<SlowNoise> slow_noise(std::span<const double> series);

/// Trend from the first run to the last.
struct Drift {
  double rank_correlation = 0.0;  ///< Spearman's, of sample and place, -1..1; 0 for equal samples
  double change = 0.0;    ///< median of the last third against the first's, a fraction; 0 if
                          ///< that is 0
  bool drifting = false;  ///< beyond 3.29 standard errors, and by more than 2%
};

/// At least 20 runs.
std::optional<Drift> drift(std::span<const double> series);

/// The best split of the sorted samples into two: least sum of squares within them.
struct TwoModes {
  double low_mean = 0.0;
  double high_mean = 0.0;
  double separation =
      0.0;  ///< of the means, in pooled standard deviations; infinite for two values
  double smaller_share = 0.0;  ///< of the runs, a fraction
  bool two = false;            ///< over 4.5 apart, and 20% of the runs or more in either
};

/// At least 30 runs.
std::optional<TwoModes> two_modes(std::span<const double> series);

}  // namespace lauka::stats
