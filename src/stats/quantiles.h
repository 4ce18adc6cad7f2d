#pragma once

#include <span>
#include <vector>

namespace lauka::stats {

/// `samples` in ascending order; the series itself keeps the order run.
std::vector<double> sorted(std::span<const double> samples);

/// Quantile `p` (0..1) of `ascending` (at least one sample, any unit; the result is in the same).
/// Linear between order statistics: Hyndman & Fan 1996, type 7, as R and NumPy do by default.
double quantile(std::span<const double> ascending, double p);

/// The middle one of `ascending`, or the mean of the two in the middle.
double median(std::span<const double> ascending);

/// Median distance from the median of `ascending`. 1.4826 times as much estimates the standard
/// deviation of normal noise, and a few wild samples do not move it.
double median_absolute_deviation(std::span<const double> ascending);

}  // namespace lauka::stats
