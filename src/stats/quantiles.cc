#include "stats/quantiles.h"

#include "core/metric.h"
#include "stats/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <boost/math/policies/policy.hpp>
#include <boost/math/special_functions/beta.hpp>

namespace lauka::stats {
namespace {

constexpr int kHalvings = 60;
constexpr double kMinTail = 1e-9;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

using BetaPolicy = boost::math::policies::policy<
    boost::math::policies::domain_error<boost::math::policies::ignore_error>,
    boost::math::policies::promote_double<false>>;

double chance_below_quantile(double place, std::size_t count, double share) {
  return boost::math::ibeta(place, static_cast<double>(count) + 1.0 - place, share, BetaPolicy{});
}

/// Returns the position at which chance_below_quantile() is `probability`; 1 or `count` if no
/// position has this probability.
double find_rank(double probability, std::size_t count, double share) {
  double low = 1.0;
  double high = static_cast<double>(count);
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2.0;
    if (middle <= low || middle >= high) break;
    (chance_below_quantile(middle, count, share) > probability ? low : high) = middle;
  }
  // A rounding error must not move a whole position to the next.
  const double whole = std::round(high);
  return std::abs(high - whole) < 1e-9 ? whole : high;
}

double interpolate_at_rank(std::span<const double> ascending, double place) {
  const auto below = static_cast<std::size_t>(std::floor(place));
  const double part = place - static_cast<double>(below);
  const double first = ascending[below - 1];
  return part <= 0.0 ? first : first + part * (ascending[below] - first);
}

/// Distances of an interval's ends from its value, as differences of logarithms. Infinite if
/// unknown.
struct LogDistances {
  double low = kInfinite;
  double high = kInfinite;
};

class SampleQuantile {
 public:
  SampleQuantile(std::span<const double> samples, double share)
      : ascending_(sorted(samples)), value_(quantile(ascending_, share)), share_(share) {}

  double value() const { return value_; }
  std::size_t count() const { return ascending_.size(); }
  bool varies() const { return ascending_.front() < ascending_.back(); }

  /// Returns the distances of the confidence interval's ends from the value, as differences of
  /// logarithms; infinite if unknown or if an end is 0. `tail`: probability beyond each end.
  /// `exactly`: each end is a sample; else it may be between two samples.
  LogDistances interval_distances(double tail, bool exactly) const {
    LogDistances distances;
    if (is_enough(1.0 - share_, tail)) {
      const double place = varies() ? find_rank(1.0 - tail, count(), share_) : 1.0;
      const double low = interpolate_at_rank(ascending_, exactly ? std::floor(place) : place);
      if (low > 0.0) distances.low = std::max(0.0, std::log(value_ / low));
    }
    if (is_enough(share_, tail)) {
      const double place = varies() ? find_rank(tail, count(), share_) : 1.0;
      const double high = interpolate_at_rank(ascending_, exactly ? std::ceil(place) : place);
      distances.high = std::max(0.0, std::log(high / value_));
    }
    return distances;
  }

 private:
  bool is_enough(double share, double tail) const {
    return std::pow(share, static_cast<double>(count())) <= tail * (1.0 + 1e-9);
  }

  std::vector<double> ascending_;
  double value_;
  double share_;
};

/// Returns the correlation of two conditions (the phi coefficient). `p`, `q`: shares of rounds in
/// which they hold. `share_of_both`: that in which both do. A negative correlation becomes 0.
double correlate_conditions(double p, double q, double share_of_both) {
  // The product of the standard deviations is 0 if a condition holds in all rounds or in none.
  const double covariance = share_of_both - p * q;
  const double scale = std::sqrt(p * (1.0 - p) * q * (1.0 - q));
  return scale > 0.0 ? std::clamp(covariance / scale, 0.0, 1.0) : 0.0;
}

/// Returns the correlation over rounds between two conditions: the reference is at most its
/// quantile, and the candidate is at most its quantile. A negative correlation becomes 0. If rounds
/// that are slow for one command are slow for the other, too, the change of the quantile is more
/// certain than the two quantiles.
double correlation_of_tails(std::span<const double> reference, double quantile_of_reference,
                            std::span<const double> candidate, double quantile_of_candidate) {
  double count_of_reference = 0.0;
  double count_of_candidate = 0.0;
  double count_of_both = 0.0;

  for (std::size_t round = 0; round < reference.size(); ++round) {
    const bool is_in_reference = reference[round] <= quantile_of_reference;
    const bool is_in_candidate = candidate[round] <= quantile_of_candidate;
    count_of_reference += is_in_reference ? 1.0 : 0.0;
    count_of_candidate += is_in_candidate ? 1.0 : 0.0;
    count_of_both += is_in_reference && is_in_candidate ? 1.0 : 0.0;
  }

  const auto rounds = static_cast<double>(reference.size());
  return correlate_conditions(count_of_reference / rounds, count_of_candidate / rounds,
                              count_of_both / rounds);
}

/// Returns the distance of a difference of two estimates, by the law of cosines: the more they are
/// correlated, the shorter it is.
double combine_distances(double a, double b, double cosine) {
  if (std::isinf(a) || std::isinf(b)) return kInfinite;
  return std::sqrt(std::max(0.0, a * a + b * b - 2.0 * cosine * a * b));
}

class QuantileChange {
 public:
  QuantileChange(const SamplePair& samples, double share)
      : reference_(samples.reference, share), candidate_(samples.candidate, share) {
    if (samples.paired)
      correlation_ = correlation_of_tails(samples.reference, reference_.value(), samples.candidate,
                                          candidate_.value());
  }

  Change at(double tail) const {
    if (reference_.value() <= 0.0)
      return {.change =
                  candidate_.value() == reference_.value() ? std::optional(0.0) : std::nullopt};
    Change result{.change = candidate_.value() / reference_.value() - 1.0};
    if (!has_ratio()) return result;
    const IntervalEnds bounds = bounds_at(tail);
    if (bounds.low > -kInfinite && bounds.high < kInfinite) result.bounds = bounds;
    return result;
  }

  IntervalEnds bounds_at(double tail) const {
    const bool is_one_side_constant = !reference_.varies() || !candidate_.varies();
    const LogDistances of_reference =
        reference_.varies() ? reference_.interval_distances(tail, is_one_side_constant)
                            : LogDistances{0.0, 0.0};
    const LogDistances of_candidate = candidate_.interval_distances(tail, is_one_side_constant);
    const double down = combine_distances(of_candidate.low, of_reference.high, correlation_);
    const double up = combine_distances(of_candidate.high, of_reference.low, correlation_);
    const double ratio = candidate_.value() / reference_.value();
    return {std::isinf(down) ? -kInfinite : ratio * std::exp(-down) - 1.0,
            std::isinf(up) ? kInfinite : ratio * std::exp(up) - 1.0};
  }

  bool has_ratio() const { return reference_.value() > 0.0 && candidate_.value() > 0.0; }

 private:
  SampleQuantile reference_;
  SampleQuantile candidate_;
  double correlation_ = 0.0;
};

/// Returns the smallest tail whose interval `leaves_out` accepts; 1 if there is none, and at least
/// kMinTail.
template <typename LeavesOut>
double find_smallest_tail(const QuantileChange& change, LeavesOut leaves_out) {
  const auto holds = [&](double tail) {
    return change.has_ratio() && leaves_out(change.bounds_at(tail));
  };
  double high = std::log(0.5);
  double low = std::log(kMinTail);
  if (!holds(std::exp(high))) return 1.0;
  if (holds(std::exp(low))) return kMinTail;
  constexpr int halvings = 25;
  for (int i = 0; i < halvings; ++i) {
    const double middle = (low + high) / 2.0;
    (holds(std::exp(middle)) ? high : low) = middle;
  }
  return std::exp(high);
}

}  // namespace

std::optional<IntervalEnds> quantile_places(std::size_t count, double share, double tail) {
  if (count < fewest_runs_for_quantile(share, tail)) return std::nullopt;
  return IntervalEnds{find_rank(1.0 - tail, count, share), find_rank(tail, count, share)};
}

std::optional<QuantileEstimate> quantile_estimate(std::span<const double> ascending, double share,
                                                  double tail) {
  const auto places = quantile_places(ascending.size(), share, tail);
  if (!places) return std::nullopt;
  return QuantileEstimate{quantile(ascending, share),
                          interpolate_at_rank(ascending, std::floor(places->low)),
                          interpolate_at_rank(ascending, std::ceil(places->high))};
}

Change quantile_change(const SamplePair& samples, double share, double tail) {
  return QuantileChange(samples, share).at(tail);
}

TailProbabilities quantile_tails(const SamplePair& samples, double share, double ratio,
                                 EqualToLimit equal) {
  const QuantileChange change(samples, share);
  const double limit = ratio - 1.0;
  const bool equal_is_below = equal == EqualToLimit::IsBelow;
  const auto is_above = [&](IntervalEnds at) {
    return equal_is_below ? at.low > limit : at.low >= limit;
  };
  const auto is_below = [&](IntervalEnds at) {
    return equal_is_below ? at.high <= limit : at.high < limit;
  };
  return {.above = find_smallest_tail(change, is_above),
          .below = find_smallest_tail(change, is_below)};
}

}  // namespace lauka::stats
