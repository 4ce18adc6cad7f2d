#pragma once

#include "stats/distributions.h"
#include "stats/sample_pair.h"

#include <cstddef>
#include <span>
#include <vector>

// Some noise lasts longer than a run, for example while another program works. If the noise affects
// both commands of a round alike, it does not change the ratio of their times. If the noise affects
// one command, each round repeats a part of the previous round, and n rounds say less than n
// independent rounds would.

namespace lauka::stats {

/// Returns the ranks (from 1) of the values, in the order of `series`. Values that are equal up to
/// rounding get their mean rank.
std::vector<double> ranks_in_order(std::span<const double> series);

/// The correlation of neighbouring values of a series. It is computed from ranks, so that outliers
/// hardly affect it.
struct NeighbourResemblance {
  double correlation = 0.0;  ///< correlation of a value's rank and the next value's rank, -1..1; 0
                             ///< if all values are equal
  std::size_t count = 0;

  /// Returns the factor, at least 1, by which the mean's standard error exceeds the standard error
  /// of independent values. Assumes a first-order autoregression, whose correlation is corrected
  /// for bias in short series (Marriott & Pope 1954) and limited to 0..0.9.
  double error_factor() const;

  /// Returns the factor by which an interval must be widened: error_factor() if the correlation is
  /// more than 1.96 standard errors above 0, else 1.
  double widening() const;

  /// Returns the number of independent values whose mean would have the same standard error: at
  /// least 2, but at most `count`.
  double effective_count() const;

  /// True if less than a fraction `error` of independent series have such a high correlation, by
  /// the normal approximation. Always false for fewer than 20 values.
  bool is_clear(double error) const;
};

/// Returns the resemblance of neighbours in `series`, which is in the order measured.
NeighbourResemblance neighbour_resemblance(std::span<const double> series);

/// Returns (c - r) / (c + r) for each round, with the candidate's value c and the reference's value
/// r (equal sizes); 0 if both values are 0. Returns c - r for all rounds if any value is negative.
std::vector<double> relative_differences(std::span<const double> reference,
                                         std::span<const double> candidate);

/// The factors, at least 1, by which resembling neighbours widen a comparison's intervals:
/// `paired_factor` if the samples are paired, `factor_of_reference` and `factor_of_candidate` if
/// they are not.
struct Widening {
  double paired_factor = 1.0;
  double factor_of_reference = 1.0;
  double factor_of_candidate = 1.0;

  /// Returns the factor for a rank test, given the numbers of samples.
  double rank_test_factor(std::size_t reference, std::size_t candidate) const;
};

/// Returns the factors for two series.
Widening widening_of(const SamplePair& samples);

/// Returns the tails with their normal deviates divided by `factor`; unchanged tails for a factor
/// up to 1.
TailProbabilities widen_tails(const TailProbabilities& tails, double factor);

}  // namespace lauka::stats
