#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace lauka::stats {

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

/// Returns the median absolute deviation of `samples` (at least one) from their median.
double median_deviation(std::span<const double> samples);

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
};

/// Describes `samples` (at least one, all finite, any order).
Summary summarize(std::span<const double> samples);

/// Returns half the width of the interval of the mean at `confidence` (a fraction): t(alpha/2, n-1)
/// * s / sqrt(n). nullopt for one sample. It is about this session only.
std::optional<double> mean_half_width(std::span<const double> samples, double confidence);

}  // namespace lauka::stats
