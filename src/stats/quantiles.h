#pragma once

#include "stats/delta.h"
#include "stats/distributions.h"

#include <cstddef>
#include <optional>
#include <span>

namespace lauka::stats {

/// A quantile of a series, with an interval that holds for every continuous distribution.
struct QuantileEstimate {
  double value = 0.0;  ///< Hyndman & Fan type 7
  double low = 0.0;    ///< two of the samples
  double high = 0.0;
};

/// Places in an ascending series, from 1; a fractional one is between two samples.
struct QuantilePlaces {
  double low = 0.0;
  double high = 0.0;
};

/// Returns the ends of the interval of quantile `share` (0..1, exclusive): the sample in place s
/// is below the quantile with probability I_share(s, count + 1 - s), the regularized incomplete
/// beta function, which is P(Binomial(count, share) >= s) at whole s; it is 1 - tail at `low` and
/// `tail` at `high` (Hutson 1999). nullopt if an end is beyond the samples.
std::optional<QuantilePlaces> quantile_places(std::size_t count, double share, double tail);

/// Estimates a quantile of `ascending`, between the samples at the whole places just outside of
/// quantile_places, as SciPy's quantile_test does. nullopt if there are too few.
std::optional<QuantileEstimate> quantile_estimate(std::span<const double> ascending, double share,
                                                  double tail);

/// Returns the change of quantile `share` of `candidate` (at least one sample) from the
/// reference's. The distances of each quantile's logarithm from the ends of its own interval are
/// put together as the sides of a triangle (Zou & Donner 2008), less what both have in common
/// within rounds, if `paired`: the correlation of being in the tail. One series that never varies,
/// as a limit does not, leaves the other's exact interval. No bounds if there are too few samples.
Change quantile_change(std::span<const double> reference, std::span<const double> candidate,
                       bool paired, double share, double tail);

/// Returns the smallest tails at which the interval of quantile_change is above, or below, `ratio`
/// - 1: how probable such a change is if the true ratio is `ratio`. 1 if no tail is small enough.
/// `equal_is_below`: the side of a bound exactly at `ratio` - 1.
Tails quantile_tails(std::span<const double> reference, std::span<const double> candidate,
                     bool paired, double share, double ratio, bool equal_is_below = true);

}  // namespace lauka::stats
