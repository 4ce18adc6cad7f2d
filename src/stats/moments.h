#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace lauka::stats {

/// What one pass for the mean and one for the deviations from it say about a series.
struct Moments {
  std::size_t count = 0;
  double mean = 0.0;
  std::optional<double> variance{};  ///< divides by n - 1, never negative; none for one sample
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

}  // namespace lauka::stats
