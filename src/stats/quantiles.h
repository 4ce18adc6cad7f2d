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

/// Two positions in an ascending series, counted from 1. A fraction is a position between two
/// samples.
struct QuantilePlaces {
  double low = 0.0;
  double high = 0.0;
};

/// Returns the ends of the interval of quantile `share` (0..1, exclusive), with probability `tail`
/// beyond either end (Hutson 1999). nullopt if there are too few samples. The sample at position s
/// is below the quantile with probability I_share(s, count + 1 - s), the regularized incomplete
/// beta function. This probability is 1 - tail at `low` and `tail` at `high`.
std::optional<QuantilePlaces> quantile_places(std::size_t count, double share, double tail);

/// Estimates quantile `share` of `ascending`; nullopt if there are too few samples. The interval's
/// ends are the samples at the whole positions just outside quantile_places, as in SciPy's
/// quantile_test.
std::optional<QuantileEstimate> quantile_estimate(std::span<const double> ascending, double share,
                                                  double tail);

/// Returns the change of quantile `share` from `reference` to `candidate` (at least one sample
/// each, none negative). On each side, the distances of both quantiles' logarithms from an end of
/// their intervals are combined as squares (Zou & Donner 2008). If `paired`, the correlation within
/// rounds makes the interval narrower.
Change quantile_change(std::span<const double> reference, std::span<const double> candidate,
                       bool paired, double share, double tail);

/// Returns the smallest tails at which quantile_change's interval is above or below `ratio` - 1.
/// Each tail is at least 1e-9; it is 1 if no tail up to 0.5 suffices. If `equal_is_below`, an
/// interval whose upper end is `ratio` - 1 is below; else an interval whose lower end is `ratio` -
/// 1 is above.
Tails quantile_tails(std::span<const double> reference, std::span<const double> candidate,
                     bool paired, double share, double ratio, bool equal_is_below = true);

}  // namespace lauka::stats
