#pragma once

#include "stats/distributions.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace lauka::stats {

constexpr double to_double(std::size_t count) {
  return static_cast<double>(count);
}

/// The fewest equal samples that count as exact. Two may be equal by chance.
inline constexpr std::size_t kMinForExact = 3;

struct Moments {
  std::size_t count = 0;
  double mean = 0.0;
  /// Sum of squared deviations / (n - 1); nullopt for one sample.
  std::optional<double> variance{};
  double min = 0.0;
  double max = 0.0;

  double range() const { return max - min; }
  /// True if there are at least kMinForExact samples, and all are equal.
  bool is_exact() const { return count >= kMinForExact && min == max; }
  /// Returns the standard deviation with n - 1; nullopt for one sample.
  std::optional<double> stddev() const;
};

/// Computes the moments of `samples` (at least one, all finite, any order). Equal samples have
/// variance 0 exactly.
Moments moments(std::span<const double> samples);

/// Returns the harmonic mean of `samples` (at least one, all positive).
double harmonic_mean(std::span<const double> samples);

/// True if there are samples, and all are positive.
bool are_positive(std::span<const double> samples);

/// Returns the natural logarithms of `samples` (all positive), in their order.
std::vector<double> logarithms(std::span<const double> samples);

/// Returns a copy of `samples` in ascending order.
std::vector<double> sorted(std::span<const double> samples);

/// Returns quantile `p` (0..1) of `ascending` (at least one sample), in the samples' unit.
/// Interpolates linearly between order statistics: Hyndman & Fan 1996, type 7, the default of R and
/// NumPy.
double quantile(std::span<const double> ascending, double p);

/// Returns the middle value of `ascending` (at least one sample), or the mean of the two middle
/// values.
double median(std::span<const double> ascending);

/// Returns the median absolute deviation of `samples` (at least one) from their median `middle`.
double median_deviation(std::span<const double> samples, double middle);

/// The distance of Tukey's fences from the quartiles, in interquartile ranges.
inline constexpr double kOutlierReach = 1.5;
/// The distance of the fences for severe outliers from the quartiles, in interquartile ranges.
inline constexpr double kSevereReach = 3.0;

/// Returns fences `reach` interquartile ranges beyond the quartiles (Tukey 1977).
IntervalEnds tukey_fences(double q1, double q3, double reach);

struct Summary : Moments {
  double median = 0.0;
  double q1 = 0.0;
  double q3 = 0.0;
  /// Number of samples more than kOutlierReach interquartile ranges beyond the quartiles.
  std::size_t outliers = 0;
  /// Number of samples more than kSevereReach interquartile ranges beyond the quartiles.
  std::size_t severe_outliers = 0;
  /// Smallest difference of two samples that is not a rounding error; 0 if there is no such
  /// difference.
  double smallest_step = 0.0;
};

/// Summarizes `samples` (at least one, all finite, any order).
Summary summarize(std::span<const double> samples);

/// Returns half the width of the mean's interval at `confidence` (a fraction), by Student's t;
/// nullopt for one sample. `samples` are in the order measured; if neighbours resemble each other,
/// the interval is wider.
std::optional<double> mean_half_width(std::span<const double> samples, double confidence);

/// The fewest runs of a wall time delta without a warning.
inline constexpr std::size_t kMinDeltaRunsWithoutWarning = 5;
/// The fewest rounds of an undecided gate without a warning.
inline constexpr std::size_t kMinGateRoundsWithoutWarning = 10;

struct FirstRun {
  double first = 0.0;
  double median_of_rest = 0.0;
  /// True if the first run is the slowest, more than 5% above the other runs' median, and above
  /// their fence for severe outliers.
  bool slow = false;
};

/// Compares the first run of a series, which is in the order run, with the other runs; nullopt for
/// fewer than 5 runs.
std::optional<FirstRun> first_run(std::span<const double> series);

/// The runs that are over 1% from the median, and more than 3 + 15 / n interquartile ranges (or
/// ticks, if larger) beyond the quartiles, where n is the number of all runs.
struct SevereOutliers {
  std::size_t count = 0;
  double share = 0.0;
  bool many = false;
};

/// Finds the severe outliers of a series (at least one run, any order).
SevereOutliers severe_outliers(std::span<const double> series);

struct SlowNoise {
  double autocorrelation = 0.0;
  /// True if the autocorrelations (lag 1) of values and of ranks exceed 0.3 and three standard
  /// errors, and the quartiles differ.
  bool slow = false;
};

/// Measures slow noise in a series, which is in the order run; nullopt for fewer than 20 runs.
std::optional<SlowNoise> slow_noise(std::span<const double> series);

struct Drift {
  /// Spearman's correlation of value and position; 0 if all samples are equal.
  double rank_correlation = 0.0;
  /// Relative change from the median of the first third to the median of the last third; 0 if the
  /// first median is 0.
  double change = 0.0;
  /// True if `change` exceeds 2%, and `rank_correlation` exceeds 3.29 standard errors, in either
  /// direction. Standard errors are larger if neighbours resemble each other around a trend.
  bool drifting = false;
};

/// Measures the drift of a series, which is in the order run; nullopt for fewer than 20 runs.
std::optional<Drift> drift(std::span<const double> series);

/// The split of the sorted samples into two groups with the smallest sum of squares within groups.
struct TwoModes {
  double low_mean = 0.0;
  double high_mean = 0.0;
  /// Distance of the groups' means in pooled standard deviations; may be infinite.
  double separation = 0.0;
  double smaller_share = 0.0;
  /// True if the groups' means are more than 4.5 standard deviations apart (pooled, with the error
  /// of rounding to ticks), and each group has at least 20% of the runs.
  bool is_bimodal = false;
};

/// Splits a series (any order) into two groups; nullopt for fewer than 30 runs.
std::optional<TwoModes> two_modes(std::span<const double> series);

}  // namespace lauka::stats
