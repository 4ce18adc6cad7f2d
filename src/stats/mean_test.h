#pragma once

#include "stats/distributions.h"

#include <cstddef>
#include <optional>
#include <span>

namespace lauka::stats {

/// Degrees of freedom of a difference of two independent means (Welch-Satterthwaite; not an
/// integer). `first` and `second` are the squared standard errors, of `first_count` and
/// `second_count` samples (at least two each); where both are 0, the counts alone decide.
double welch_degrees(double first, std::size_t first_count, double second,
                     std::size_t second_count);

/// A one-sided t test, both ways, of the mean difference from the threshold.
struct MeanTest {
  double difference = 0.0;    ///< mean of c - ratio * r, in the samples' unit; exactly 0 where
                              ///< rounding errors are all there is
  std::optional<double> t{};  ///< none: one sample, or no noise at all
  std::optional<double> degrees{};  ///< of freedom, where there is a t
  Tails tails{};
};

/// Student's t of c - ratio * r within rounds (equal sizes, at least one, no sample negative).
/// Where all rounds differ by the same, 4^-n bounds what noise of two values could have done.
MeanTest paired_mean_test(std::span<const double> reference, std::span<const double> candidate,
                          double ratio);

/// Welch's t of independent samples (at least one of each, none negative); without any noise,
/// 4^-(the smaller number).
MeanTest welch_mean_test(std::span<const double> reference, std::span<const double> candidate,
                         double ratio);

}  // namespace lauka::stats
