#pragma once

#include "stats/delta.h"
#include "stats/distributions.h"

#include <cstddef>
#include <optional>
#include <span>

namespace lauka::stats {

/// A quantile of a series, with a confidence interval that is valid for every continuous
/// distribution.
struct QuantileEstimate {
  double value = 0.0;  ///< estimate (Hyndman & Fan type 7)
  double low = 0.0;    ///< lower end of the interval, one of the samples
  double high = 0.0;   ///< upper end of the interval, one of the samples
};

/// Two positions in an ascending series, counted from 1; a fraction is a place between two samples.
struct QuantilePlaces {
  double low = 0.0;
  double high = 0.0;
};

/// Returns the positions of the ends of quantile `share`'s interval (`share`: 0..1, exclusive). The
/// sample at position s is below the quantile with probability I_share(s, count + 1 - s), the
/// regularized incomplete beta function, which for whole s is P(Binomial(count, share) >= s). This
/// probability is 1 - tail at `low` and `tail` at `high` (Hutson 1999). nullopt if an end is beyond
/// the samples.
std::optional<QuantilePlaces> quantile_places(std::size_t count, double share, double tail);

/// Estimates quantile `share` of `ascending`. The interval's ends are the samples at the whole
/// positions just outside quantile_places, as in SciPy's quantile_test. nullopt if there are too
/// few samples.
std::optional<QuantileEstimate> quantile_estimate(std::span<const double> ascending, double share,
                                                  double tail);

/// Returns the change of quantile `share` from `reference` to `candidate` (at least one sample
/// each). On each side, the distances of both quantiles' logarithms from their own interval's end
/// are combined as squares (Zou & Donner 2008). If `paired`, what both have in common within rounds
/// is subtracted: the correlation of being in the tail. If one series never varies, the other's
/// exact interval remains. Without bounds if there are too few samples or a quantile
/// is 0; without a change if only the reference's is.
Change quantile_change(std::span<const double> reference, std::span<const double> candidate,
                       bool paired, double share, double tail);

/// Returns the smallest tails at which quantile_change's interval excludes `ratio` - 1 from above
/// or below: the probability of such a change if the true ratio is `ratio`. At least 1e-9; 1 if no
/// tail up to 0.5 excludes it, or a quantile is 0. `equal_is_below`: an interval that ends exactly
/// at `ratio` - 1 counts as below it.
Tails quantile_tails(std::span<const double> reference, std::span<const double> candidate,
                     bool paired, double share, double ratio, bool equal_is_below = true);

}  // namespace lauka::stats
