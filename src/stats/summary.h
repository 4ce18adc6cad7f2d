#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace lauka::stats {

/// Description of one series, in the unit of its samples.
struct Summary {
  std::size_t count = 0;
  double mean = 0.0;
  double median = 0.0;
  double min = 0.0;
  double max = 0.0;
  double q1 = 0.0;  ///< Hyndman & Fan type 7
  double q3 = 0.0;
  std::optional<double> stddev{};  ///< divides by n - 1; none for one sample
  std::size_t outliers = 0;        ///< outside Tukey's fences, 1.5 IQR beyond the quartiles
  std::size_t severe = 0;          ///< 3 IQR beyond them
};

/// Describes `samples` (at least one, all finite, any order).
Summary summarize(std::span<const double> samples);

/// Half the width of the interval of the mean at `confidence` (a fraction): t(alpha/2, n-1) * s /
/// sqrt(n). None for one sample. It speaks of this session only.
std::optional<double> mean_half_width(std::span<const double> samples, double confidence);

}  // namespace lauka::stats
