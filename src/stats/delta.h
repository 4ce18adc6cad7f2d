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
/// least one, no sample negative). Delta method with the pairs' covariance; `confidence` is a
/// fraction. No interval where there is one round, where the reference's mean is 0, or where it
/// cannot be told from 0 at `confidence` (Fieller's condition).
Delta paired_delta(std::span<const double> reference, std::span<const double> candidate,
                   double confidence);

/// Compares independent samples (at least one of each, none negative): Welch's interval of the
/// ratio of means. No interval where paired_delta has none, nor with one sample on either side.
Delta unpaired_delta(std::span<const double> reference, std::span<const double> candidate,
                     double confidence);

/// How a delta reads in one line: "ran `ratio` +- `half_width` times faster", or slower.
struct RelativeSpeed {
  double ratio = 1.0;                  ///< at least 1
  std::optional<double> half_width{};  ///< of the ratio's interval, where the delta has one
  bool faster = false;                 ///< the candidate's mean is the smaller one
};

/// The other face of the same interval; none where the ratio of the means is not defined.
std::optional<RelativeSpeed> relative_speed(const Delta& delta);

}  // namespace lauka::stats
