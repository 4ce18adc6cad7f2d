#pragma once

#include <optional>
#include <span>

namespace lauka::stats {

/// A difference of means as a fraction of the reference's mean, with its interval.
struct Delta {
  std::optional<double> change{};  ///< (mean_c - mean_r) / mean_r; none where the reference's mean
                                   ///< is 0 and the other's is not
  std::optional<double> half_width{};  ///< of the interval; none where it is not defined
  bool significant = false;            ///< the interval leaves out zero
};

/// Compares rounds: reference[i] and candidate[i] were measured in the same round (equal sizes, at
/// least one). Delta method with the pairs' covariance; `confidence` is a fraction.
Delta paired_delta(std::span<const double> reference, std::span<const double> candidate,
                   double confidence);

/// Compares independent samples (at least one of each): Welch's interval of the ratio of means.
Delta unpaired_delta(std::span<const double> reference, std::span<const double> candidate,
                     double confidence);

}  // namespace lauka::stats
