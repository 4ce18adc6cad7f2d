#pragma once

#include "stats/distributions.h"

#include <cstddef>
#include <span>
#include <vector>

// Noise that lasts longer than a run: a cache that fills and empties, a neighbour that works for a
// while. If it belongs to both commands of a round, their ratio does not have it. If it belongs to
// one, each round repeats a part of the last one, and n rounds say less than n independent ones.

namespace lauka::stats {

/// Returns mid-ranks, from 1, of a series in its own order; values equal up to rounding are tied.
std::vector<double> ranks_in_order(std::span<const double> series);

/// The likeness of neighbouring values of a series. Ranks, so that outliers neither make nor hide
/// it.
struct Resemblance {
  double correlation = 0.0;  ///< correlation of the ranks at lag 1, -1..1; 0 for equal values
  std::size_t count = 0;     ///< values of the series

  /// Returns how many times as large a standard error is as that of independent values, at least 1.
  /// That is a first-order autoregression's, whose correlation is corrected for its bias in short
  /// series (Marriott & Pope 1954) and at most 0.9.
  double error_factor() const;

  /// Returns the factor by which an interval must be wider: error_factor() if the correlation
  /// exceeds its chance value (1.96 standard errors), else 1: white noise is left alone. Below 20
  /// values only correlations far above 0.5 do.
  double widening() const;

  /// Returns how many independent values say as much, at least 2 (1 of a single value).
  double independent_values() const;

  /// True if less than `error` of independent series resemble themselves so much. Never below 20
  /// values, where the distribution of the correlation is too rough.
  bool is_clear(double error) const;
};

/// `series` is in the order measured.
Resemblance resemblance(std::span<const double> series);

/// Returns the differences of the rounds (equal sizes) relative to their sum: as ordered as the
/// ratios, but defined at 0. If a value is negative they are plain differences.
std::vector<double> relative_differences(std::span<const double> reference,
                                         std::span<const double> candidate);

/// The factors, 1 or more, by which resembling neighbours widen a comparison.
struct Widening {
  double of_rounds = 1.0;     ///< paired samples: of their differences
  double of_reference = 1.0;  ///< unpaired samples: of each series
  double of_candidate = 1.0;

  /// Returns the factor of a test by ranks of so many samples.
  double of_ranks(std::size_t reference, std::size_t candidate) const;
};

/// `paired`: the samples are of the same rounds (equal sizes). Both are in the order measured.
Widening widening_of(std::span<const double> reference, std::span<const double> candidate,
                     bool paired);

/// Returns the tails of a normal deviate that is divided by `factor`: a boundary of that deviate is
/// multiplied by it.
Tails widened(const Tails& tails, double factor);

}  // namespace lauka::stats
