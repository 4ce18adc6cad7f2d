#pragma once

#include "stats/delta.h"
#include "stats/distributions.h"

#include <cstddef>
#include <optional>
#include <span>

namespace lauka::stats {

/// A quantile of a series (Hyndman & Fan type 7), with a confidence interval that is valid for
/// every continuous distribution.
struct QuantileEstimate {
  double value = 0.0;
  double low = 0.0;
  double high = 0.0;
};

/// Returns the ends of the confidence interval of quantile `share` (0..1, exclusive) of `count`
/// samples, as positions in an ascending series, counted from 1. A position with a fraction is
/// between two samples. The quantile is beyond each end with probability `tail` (Hutson 1999).
/// nullopt if there are too few samples.
std::optional<IntervalEnds> quantile_places(std::size_t count, double share, double tail);

/// Estimates quantile `share` of `ascending`; nullopt if there are too few samples. The interval's
/// ends are the samples at the positions of quantile_places, rounded outwards as by SciPy's
/// quantile_test.
std::optional<QuantileEstimate> quantile_estimate(std::span<const double> ascending, double share,
                                                  double tail);

/// Returns the change of quantile `share` from `reference` to `candidate` (at least one sample
/// each, none negative). Its interval combines the intervals of the two quantiles' logarithms (Zou
/// & Donner 2008); if `paired` (equal sizes), it allows for the correlation within rounds.
Change quantile_change(std::span<const double> reference, std::span<const double> candidate,
                       bool paired, double share, double tail);

/// Returns the smallest tails at which quantile_change's whole interval is above or below the limit
/// (`ratio` - 1). Each tail is at least 1e-9, and 1 if no tail up to 0.5 suffices. If
/// `equal_is_below`, an interval that ends at the limit is below; else an interval that begins at
/// the limit is above.
TailProbabilities quantile_tails(std::span<const double> reference,
                                 std::span<const double> candidate, bool paired, double share,
                                 double ratio, bool equal_is_below = true);

}  // namespace lauka::stats
