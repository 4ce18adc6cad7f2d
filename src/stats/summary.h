#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace lauka::stats {

constexpr double to_double(std::size_t count) {
  return static_cast<double>(count);
}

/// The moments of a series.
struct Moments {
  std::size_t count = 0;
  double mean = 0.0;
  std::optional<double>
      variance{};  ///< sum of squared deviations / (n - 1), never negative; nullopt for one sample
  double min = 0.0;
  double max = 0.0;

  double range() const { return max - min; }
  /// Returns the square root of the variance; 0 for one sample, so check `variance` first.
  double deviation() const;
};

/// Computes mean and variance of `samples` (at least one, all finite, any order) in two passes.
/// Corrects the mean once by the mean deviation from it, and takes the variance of deviations:
/// neither loses digits to a large offset, and equal samples have variance 0 exactly.
Moments moments(std::span<const double> samples);

/// Returns the harmonic mean of `samples` (at least one, all positive). For rates, it is the rate
/// over the whole time.
double harmonic_mean(std::span<const double> samples);

/// Returns a copy of `samples` in ascending order.
std::vector<double> sorted(std::span<const double> samples);

/// Returns quantile `p` (0..1) of `ascending` (at least one sample), in the samples' unit.
/// Interpolates linearly between order statistics: Hyndman & Fan 1996, type 7, the default of R and
/// NumPy.
double quantile(std::span<const double> ascending, double p);

/// Returns the middle value of `ascending`, or the mean of the two middle values.
double median(std::span<const double> ascending);

/// Returns the median absolute deviation of `samples` (at least one) from their median `middle`.
double median_deviation(std::span<const double> samples, double middle);

/// The distance of Tukey's fences from the quartiles, in interquartile ranges.
inline constexpr double kOutlierReach = 1.5;
/// The distance of the fences for severe outliers, in interquartile ranges.
inline constexpr double kSevereReach = 3.0;

/// The limits beyond which samples are outliers.
struct Fences {
  double low = 0.0;
  double high = 0.0;

  /// True if `sample` is strictly outside. If the fences coincide, every different sample is
  /// outside.
  bool leave_out(double sample) const { return sample < low || sample > high; }
};

/// Returns fences `reach` interquartile ranges beyond the quartiles `q1` and `q3` (Tukey 1977). The
/// median absolute deviation was rejected: for a program with two speeds it calls the rarer speed
/// outliers (15% of the runs at 70:30), and it is 0 if more than half of the samples are equal.
Fences tukey_fences(double q1, double q3, double reach);

/// Returns the step of the clock or counter as far as `ascending` shows it: the smallest difference
/// of two samples; 0 if all are equal. Almost 0 if the values have no step.
double tick_of(std::span<const double> ascending);

/// Counts the `samples` outside `fences`. Outliers are shown but never removed: removing them
/// raised the false alarms of a t test from 5% to as much as 12%.
std::size_t count_outside(std::span<const double> samples, const Fences& fences);

/// A summary of one series, in the unit of its samples.
struct Summary {
  std::size_t count = 0;
  double mean = 0.0;
  double median = 0.0;
  double min = 0.0;
  double max = 0.0;
  double q1 = 0.0;                 ///< lower quartile (Hyndman & Fan type 7)
  double q3 = 0.0;                 ///< upper quartile (Hyndman & Fan type 7)
  std::optional<double> stddev{};  ///< standard deviation with n - 1; nullopt for one sample
  std::size_t outliers =
      0;  ///< number of samples more than 1.5 interquartile ranges beyond the quartiles
  std::size_t severe =
      0;              ///< number of samples more than 3 interquartile ranges beyond the quartiles
  double tick = 0.0;  ///< smallest difference between two samples (tick_of); 0: all are equal
};

/// Summarizes `samples` (at least one, all finite, any order).
Summary summarize(std::span<const double> samples);

/// Returns half the width of the mean's interval at `confidence` (a fraction): t(alpha/2, m-1) * s
/// / sqrt(m). m is the number of independent samples (Resemblance), usually all; `samples` are in
/// the order measured. nullopt for one sample. The interval is about this session only.
std::optional<double> mean_half_width(std::span<const double> samples, double confidence);

// Checks if mean and deviation describe a series well. Each function takes values in the order run
// and returns the numbers for a warning and whether to warn, or nullopt if there are too few
// runs; severe_outliers needs only one. docs/measuring.md says how often each function errs
// (scripts/bench warnings).

/// The fewest runs for which the interval of a delta is useful.
inline constexpr std::size_t kMinRunsForDelta = 5;
/// The fewest rounds for which a gate can decide about small changes.
inline constexpr std::size_t kMinRoundsForGate = 10;

/// A comparison of the first run with all others.
struct FirstRun {
  double first = 0.0;           ///< value of the first run
  double median_of_rest = 0.0;  ///< median of the other runs
  /// True if the first run is the slowest, severely outside the others, and over 5% above their
  /// median. The first of n runs is the slowest at random in one of n series; heavy tails leave
  /// most of these.
  bool slow = false;
};

/// Compares the first run of a series of at least 5 runs; nullopt if there are fewer.
std::optional<FirstRun> first_run(std::span<const double> series);

/// The runs that are over 1% from the median and more than 3 + 15 / n interquartile ranges (or
/// ticks, if larger) beyond the quartiles. The term 15 / n allows for the uncertainty of quartiles
/// of few runs.
struct SevereOutliers {
  std::size_t count = 0;
  double share = 0.0;  ///< fraction of runs that are severe outliers
  bool many = false;   ///< true if `share` is at least 5%
};

/// Finds the severe outliers of a series of at least one run.
SevereOutliers severe_outliers(std::span<const double> series);

/// The resemblance of neighbouring runs.
struct SlowNoise {
  double autocorrelation = 0.0;  ///< autocorrelation at lag 1, -1..1; 0 if all samples are equal
  bool slow = false;  ///< true if the autocorrelations of values and of ranks are above 0.3 and
                      ///< above three standard errors, and the quartiles differ
};

/// Measures slow noise in a series of at least 20 runs; nullopt if there are fewer.
std::optional<SlowNoise> slow_noise(std::span<const double> series);

/// A trend from the first run to the last.
struct Drift {
  double rank_correlation =
      0.0;  ///< Spearman's correlation of value and position, -1..1; 0 if all samples are equal
  double change = 0.0;  ///< relative change from the first third's median to the last third's; 0 if
                        ///< the first is 0
  /// True if the size of `change` exceeds 2%, and the size of `rank_correlation` exceeds 3.29
  /// standard errors, which are larger if neighbours resemble each other around a steady trend.
  bool drifting = false;
};

/// Measures the drift of a series of at least 20 runs; nullopt if there are fewer.
std::optional<Drift> drift(std::span<const double> series);

/// The best split of the sorted samples into two groups: the one with the smallest sum of squares
/// within groups.
struct TwoModes {
  double low_mean = 0.0;
  double high_mean = 0.0;
  double separation =
      0.0;  ///< distance of the means in pooled standard deviations; may be infinite
  double smaller_share = 0.0;  ///< fraction of runs in the smaller group
  /// True if `separation` exceeds 4.5, wherever in its tick each value is, and each group has at
  /// least 20% of the runs.
  bool two = false;
};

/// Splits a series of at least 30 runs; nullopt if there are fewer.
std::optional<TwoModes> two_modes(std::span<const double> series);

}  // namespace lauka::stats
