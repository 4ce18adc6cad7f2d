#pragma once

#include "stats/delta.h"
#include "stats/distributions.h"
#include "stats/sample_pair.h"

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
/// & Donner 2008); if the samples are paired, it allows for the correlation within rounds.
Change quantile_change(const SamplePair& samples, double share, double tail);

/// The side of a limit to which an interval belongs that ends exactly at the limit.
enum class EqualToLimit : unsigned char { IsBelow, IsAbove };

/// Returns the smallest tails at which quantile_change's whole interval is above or below the limit
/// (`ratio` - 1). Each tail is at least 1e-9, and 1 if no tail up to 0.5 suffices. `equal`: an
/// interval that ends at the limit is below (IsBelow), or one that begins at it is above (IsAbove).
TailProbabilities quantile_tails(const SamplePair& samples, double share, double ratio,
                                 EqualToLimit equal = EqualToLimit::IsBelow);

}  // namespace lauka::stats
