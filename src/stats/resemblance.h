#pragma once

#include "stats/distributions.h"

#include <cstddef>
#include <span>
#include <vector>

// Noise that lasts longer than a run: a cache that fills and empties, a neighbour that works for a
// while. If the noise affects both commands of a round, their ratio does not show it. If it affects
// one command, each round repeats a part of the previous one, and n rounds say less than n
// independent rounds would.

namespace lauka::stats {

/// Returns the mid-rank, from 1, of each value of a series; values that are equal up to rounding
/// are ties.
std::vector<double> ranks_in_order(std::span<const double> series);

/// The resemblance of neighbouring values of a series, measured on ranks so that outliers neither
/// cause nor hide it.
struct Resemblance {
  double correlation = 0.0;  ///< correlation of ranks at lag 1, -1..1; 0 if all values are equal
  std::size_t count = 0;     ///< number of values in the series

  /// Returns the factor, at least 1, by which a standard error exceeds the standard error of
  /// independent values. Assumes a first-order autoregression; its correlation is corrected for
  /// bias in short series (Marriott & Pope 1954) and limited to 0.9.
  double error_factor() const;

  /// Returns the factor by which an interval must be widened: error_factor() if the correlation is
  /// more than 1.96 standard errors above what independent values show, else 1. With 15 values or
  /// fewer, only correlations above 0.5 reach that.
  double widening() const;

  /// Returns the number of independent values that would say as much: at least 2, or `count` if
  /// that is less.
  double independent_values() const;

  /// True if less than a fraction `error` of independent series resemble themselves as much. Always
  /// false below 20 values, where the correlation's distribution is too coarse.
  bool is_clear(double error) const;
};

/// Returns the resemblance of neighbours in `series`, which is in the order measured.
Resemblance resemblance(std::span<const double> series);

/// Returns each round's difference relative to its sum (equal sizes). The results have the same
/// order as the ratios, and are 0 where both are 0. If any value is negative, returns plain
/// differences.
std::vector<double> relative_differences(std::span<const double> reference,
                                         std::span<const double> candidate);

/// The factors, at least 1, by which resembling neighbours widen a comparison's intervals.
struct Widening {
  double of_rounds = 1.0;     ///< paired samples: factor of the rounds' differences
  double of_reference = 1.0;  ///< unpaired samples: factor of the reference
  double of_candidate = 1.0;  ///< unpaired samples: factor of the candidate

  /// Returns the factor of a rank test, given the numbers of samples.
  double of_ranks(std::size_t reference, std::size_t candidate) const;
};

/// Returns the factors of two series, which are in the order measured. `paired`: the samples are of
/// the same rounds (equal sizes).
Widening widening_of(std::span<const double> reference, std::span<const double> candidate,
                     bool paired);

/// Returns the tails after dividing their normal deviate by `factor`, which is as if the boundary
/// were multiplied by `factor`.
Tails widened(const Tails& tails, double factor);

}  // namespace lauka::stats
