#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace lauka::stats {

constexpr double to_double(std::size_t count) {
  return static_cast<double>(count);
}

/// Moments of a series, from one pass for the mean and one for the deviations from it.
struct Moments {
  std::size_t count = 0;
  double mean = 0.0;
  std::optional<double> variance{};  ///< divides by n - 1, never negative; nullopt for one sample
  double min = 0.0;
  double max = 0.0;

  double range() const { return max - min; }
  /// Square root of the variance; 0 for one sample, so ask `variance` first.
  double deviation() const;
};

/// Mean and variance of `samples` (at least one, all finite, any order). The mean is corrected once
/// by the mean of the deviations from it, the variance is of deviations: neither loses digits to a
/// large offset, and equal samples have variance 0 exactly.
Moments moments(std::span<const double> samples);

/// Harmonic mean of `samples` (at least one, all above 0): of rates, the rate over the whole time.
double harmonic_mean(std::span<const double> samples);

/// `samples` in ascending order; the series itself keeps the order run.
std::vector<double> sorted(std::span<const double> samples);

/// Quantile `p` (0..1) of `ascending` (at least one sample, any unit; the result is in the same).
/// Linear between order statistics: Hyndman & Fan 1996, type 7, as R and NumPy do by default.
double quantile(std::span<const double> ascending, double p);

/// The middle one of `ascending`, or the mean of the two in the middle.
double median(std::span<const double> ascending);

/// Returns the median absolute deviation of `samples` (at least one) from `middle`, their median.
double median_deviation(std::span<const double> samples, double middle);

/// Tukey's fences are so many interquartile ranges beyond the quartiles.
inline constexpr double kOutlierReach = 1.5;
inline constexpr double kSevereReach = 3.0;

struct Fences {
  double low = 0.0;
  double high = 0.0;

  /// True if strictly outside, even if the range is 0: then every different sample is.
  bool leave_out(double sample) const { return sample < low || sample > high; }
};

/// Fences `reach` interquartile ranges beyond the quartiles (Tukey 1977). The rule of the median
/// absolute deviation was rejected: of a program with two speeds it calls the rarer one outliers
/// (15% of the runs at 70:30), and it has no answer where more than half of the samples are equal.
Fences tukey_fences(double q1, double q3, double reach);

/// Returns the step in which values are measured, as far as they show it: the least difference of
/// two of `ascending`; 0 if all are equal. Of values without a step it is next to nothing.
double tick_of(std::span<const double> ascending);

/// Counts the `samples` outside. They are counted and shown, never removed: dropping them raised
/// the false alarms of a t test from 5% to as much as 12%.
std::size_t count_outside(std::span<const double> samples, const Fences& fences);

/// Description of one series, in the unit of its samples.
struct Summary {
  std::size_t count = 0;
  double mean = 0.0;
  double median = 0.0;
  double min = 0.0;
  double max = 0.0;
  double q1 = 0.0;  ///< Hyndman & Fan type 7
  double q3 = 0.0;
  std::optional<double> stddev{};  ///< divides by n - 1; nullopt for one sample
  std::size_t outliers = 0;        ///< outside Tukey's fences, 1.5 IQR beyond the quartiles
  std::size_t severe = 0;          ///< 3 IQR beyond them
  double tick = 0.0;               ///< the step in which they are measured, as tick_of()
};

/// Describes `samples` (at least one, all finite, any order).
Summary summarize(std::span<const double> samples);

/// Returns half the width of the interval of the mean at `confidence` (a fraction): t(alpha/2, m-1)
/// * s / sqrt(m), where m of `samples`, which are in the order measured, are independent
/// (Resemblance): all of them, as a rule. nullopt for one sample. It is about this session only.
std::optional<double> mean_half_width(std::span<const double> samples, double confidence);

// Checks if a series, in the order run, is well described by mean and deviation: each function
// returns the numbers of a warning and whether to warn, or nullopt if there are too few runs. How
// often each errs: docs/measuring.md, by scripts/bench warnings.

/// The fewest runs for a useful interval of a delta.
inline constexpr std::size_t kFewForDelta = 5;
/// The fewest rounds to decide about small changes.
inline constexpr std::size_t kFewForGate = 10;

/// The first run against the others.
struct FirstRun {
  double first = 0.0;
  double median_of_rest = 0.0;
  /// Slowest, severely outside the others, over 5% above their median. The slowest of n runs is the
  /// first one by chance in one of n series, and heavy tails leave most of these.
  bool slow = false;
};

/// Tests the first run of a series of at least 5; nullopt if there are fewer.
std::optional<FirstRun> first_run(std::span<const double> series);

/// Runs far outside, over 1% from the median and 3 + 15 / n interquartile ranges (or ticks, if they
/// are larger) beyond the quartiles: those of ten runs are themselves uncertain.
struct SevereOutliers {
  std::size_t count = 0;
  double share = 0.0;  ///< fraction of the runs
  bool many = false;   ///< true if at least 5% are outliers
};

/// Counts the severe outliers of a series of at least one run.
SevereOutliers severe_outliers(std::span<const double> series);

/// Likeness of neighbouring runs.
struct SlowNoise {
  double autocorrelation = 0.0;  ///< autocorrelation at lag 1, -1..1; 0 for equal samples
  bool slow = false;  ///< true if the autocorrelations of values and of ranks are above 0.3 and
                      ///< three times the chance value
};

/// Returns slow noise in a series of at least 20 runs; nullopt if there are fewer.
std::optional<SlowNoise> slow_noise(std::span<const double> series);

/// Trend from the first run to the last.
struct Drift {
  double rank_correlation = 0.0;  ///< Spearman's, of sample and place, -1..1; 0 for equal samples
  double change = 0.0;            ///< first third's median to last third's; 0 if the first is 0
  /// By more than 2%, and beyond 3.29 standard errors: those of values about a steady trend, which
  /// are larger if neighbours resemble each other.
  bool drifting = false;
};

/// Returns the drift of a series of at least 20 runs; nullopt if there are fewer.
std::optional<Drift> drift(std::span<const double> series);

/// The best split of the sorted samples into two: least sum of squares within them.
struct TwoModes {
  double low_mean = 0.0;
  double high_mean = 0.0;
  double separation = 0.0;     ///< between the means, in pooled standard deviations; or infinite
  double smaller_share = 0.0;  ///< fraction of the runs
  /// Over 4.5 apart, even if a value may be anywhere within its tick, and 20% of the runs or more
  /// in either.
  bool two = false;
};

/// Looks for two modes in a series of at least 30 runs; nullopt if there are fewer.
std::optional<TwoModes> two_modes(std::span<const double> series);

}  // namespace lauka::stats
