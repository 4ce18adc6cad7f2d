#include "stats/delta.h"

#include "stats/quantiles.h"
#include "stats/rank_tests.h"
#include "stats/summary.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

namespace lauka::stats {

namespace {

// The interval of the ratio of means is Fieller's (1954), with the residuals c - ratio * r in place
// of c, which loses fewer digits.

constexpr double kMinDifference = 0.01;    // of two changes that are said to differ
constexpr double kFactorOfSureTail = 0.2;  // factor of the tail: 0.2 turns 95% into 99% intervals

constexpr std::size_t kMinForInterval = 3;

/// Squared standard errors of the two means in Fieller's interval.
struct SquaredErrors {
  double of_residuals = 0.0;
  double of_reference = 0.0;
  double covariance = 0.0;  ///< of the two means
  double degrees = 1.0;     ///< degrees of freedom of `of_residuals`
  double degrees_of_reference = 1.0;
};

/// Returns the squared standard error of a mean.
double squared_error(const Moments& about, double widening) {
  return widening * widening * about.variance.value_or(0.0) / static_cast<double>(about.count);
}

/// True if neither the candidate's values nor `ratio` times the reference's differ by more than
/// rounding errors of `scale`.
bool are_constant(const Moments& reference, const Moments& candidate, double ratio, double scale) {
  return is_rounding_error(candidate.range(), scale) &&
         is_rounding_error(ratio * reference.range(), scale);
}

/// Returns the change with its interval. Differences that rounding errors explain become 0, so that
/// equal values show no change and no width.
Change without_rounding_errors(Change change) {
  if (!change.change || !change.bounds) return change;
  double& delta = *change.change;
  auto& [low, high] = *change.bounds;
  delta = without_rounding_error(delta, 1.0);
  low = without_rounding_error(low, 1.0);
  high = without_rounding_error(high, 1.0);
  const double scale = 1.0 + std::abs(delta);
  if (is_rounding_error(low - delta, scale) && is_rounding_error(high - delta, scale))
    low = high = delta;
  return change;
}

class MeanChange {
 public:
  MeanChange(const SamplePair& samples, const Widening& widening)
      : reference_(moments(samples.reference)),
        candidate_(moments(samples.candidate)),
        widening_(widening) {
    if (reference_.mean == 0.0 || smaller_count() < kMinForInterval) return;
    ratio_ = candidate_.mean / reference_.mean;
    samples.paired ? estimate_errors_within_rounds(samples.reference, samples.candidate)
                   : estimate_errors_of_independent(samples.reference, samples.candidate);
  }

  /// Returns the change of the mean as a fraction, with the interval that has the probability
  /// `tail` beyond each end.
  Change change_at(double tail) const {
    // A change from 0 is defined only if there is none.
    if (reference_.mean == 0.0) {
      if (candidate_.mean == 0.0) return {.change = 0.0};
      return {};
    }

    // With too few samples, the errors of the means are unknown, and so is the interval.
    const double delta = (candidate_.mean - reference_.mean) / reference_.mean;
    if (!errors_) return {.change = delta};
    return without_rounding_errors({.change = delta, .bounds = find_bounds(delta, tail)});
  }

 private:
  /// Returns the interval of the change `delta`; nullopt if it is unknown or unbounded.
  std::optional<IntervalEnds> find_bounds(double delta, double tail) const {
    // If the mean of the reference may be 0, the ratio has no bounded interval.
    const double t_of_reference = widened_t(tail, errors_->degrees_of_reference);
    if (!is_distinct_from_zero(t_of_reference)) return std::nullopt;

    // If the ratio never varies, there is no noise to estimate. With enough samples, an interval
    // without width is still justified.
    if (is_constant_) {
      constexpr double any_difference = 1.0;  // only its sign matters
      const double chance = tails_without_noise(any_difference, smaller_count()).above;
      if (chance > tail) return std::nullopt;
      return IntervalEnds{delta, delta};
    }

    const double t = widened_t(tail, errors_->degrees);
    if (!is_distinct_from_zero(t)) return std::nullopt;
    return compute_bounds(delta, t);
  }

  /// Returns Fieller's interval of the change `delta`, which reaches `t` standard errors.
  IntervalEnds compute_bounds(double delta, double t) const {
    // Fieller (1954): ratio - x is in the interval if the mean of candidate - (ratio - x) *
    // reference is within t standard errors of 0. This mean is x r, where r is the mean of the
    // reference. So (x r)^2 <= t^2 (of_residuals + 2 x covariance + x^2 of_reference). The
    // interval's ends are the roots x of this quadratic equation, whose leading coefficient is `a`.
    const double a = reference_.mean * reference_.mean - t * t * errors_->of_reference;
    const double t_covariance = t * errors_->covariance;
    const double shift = t * t_covariance;
    const double reach = t * std::sqrt(a * errors_->of_residuals + t_covariance * t_covariance);
    const double low = delta - (shift + reach) / a;
    const double high = delta - (shift - reach) / a;

    // No mean falls by more than 100%.
    return {.low = std::max(-1.0, low), .high = high};
  }

  void estimate_errors_within_rounds(std::span<const double> reference,
                                     std::span<const double> candidate) {
    std::vector<double> residuals(reference.size());
    std::ranges::transform(reference, candidate, residuals.begin(),
                           [this](double r, double c) { return c - ratio_ * r; });
    const Moments of_residuals = moments(residuals);
    is_constant_ = is_rounding_error(of_residuals.range(), reference_.mean + candidate_.mean);
    double products = 0.0;
    for (std::size_t round = 0; round < residuals.size(); ++round)
      products += (reference[round] - reference_.mean) * (residuals[round] - of_residuals.mean);
    const auto n = static_cast<double>(residuals.size());
    errors_ = SquaredErrors{.of_residuals = of_residuals.variance.value_or(0.0) / n,
                            .of_reference = reference_.variance.value_or(0.0) / n,
                            .covariance = products / (n - 1.0) / n,
                            .degrees = n - 1.0,
                            .degrees_of_reference = n - 1.0};
  }

  void estimate_errors_of_independent(std::span<const double> reference,
                                      std::span<const double> candidate) {
    const double error_of_reference = squared_error(reference_, widening_.factor_of_reference);
    const double error_of_candidate = squared_error(candidate_, widening_.factor_of_candidate);
    const double error_of_threshold = ratio_ * ratio_ * error_of_reference;
    is_constant_ = are_constant(reference_, candidate_, ratio_, reference_.mean + candidate_.mean);
    errors_ = SquaredErrors{.of_residuals = error_of_candidate + error_of_threshold,
                            .of_reference = error_of_reference,
                            .covariance = -ratio_ * error_of_reference,
                            .degrees = welch_degrees(error_of_candidate, candidate.size(),
                                                     error_of_threshold, reference.size()),
                            .degrees_of_reference = static_cast<double>(reference.size()) - 1.0};
  }

  double widened_t(double tail, double degrees) const {
    return widening_.paired_factor * student_t_quantile_above(tail, degrees);
  }

  std::size_t smaller_count() const { return std::min(reference_.count, candidate_.count); }

  bool is_distinct_from_zero(double t) const {
    return t * std::sqrt(errors_->of_reference) < reference_.mean;
  }

  Moments reference_;
  Moments candidate_;
  Widening widening_;
  double ratio_ = 1.0;
  bool is_constant_ = false;
  std::optional<SquaredErrors> errors_;
};

/// True if the change's interval is known and clearly above or below `other`.
bool is_outside(const Change& change, const IntervalEnds& other) {
  return change.bounds && (change.bounds->low > other.high + kRoundingError ||
                           change.bounds->high < other.low - kRoundingError);
}

// Hodges & Lehmann 1963. The k-th smallest of n(n+1)/2 Walsh averages, or of n*m differences, is
// found by bisection, without a list of them.

/// The number of values up to a limit, the largest of these values (`low`), and the smallest value
/// above the limit (`high`).
struct Split {
  std::uint64_t count = 0;
  double low = -HUGE_VAL;
  double high = HUGE_VAL;

  void add_low(double value) { low = std::max(low, value); }
  void add_high(double value) { high = std::min(high, value); }
};

/// Returns the logarithms in ascending order; empty if a value is not positive and finite.
std::vector<double> sort_logs(std::span<const double> samples) {
  std::vector<double> values(samples.begin(), samples.end());
  for (double& value : values) {
    if (!(value > 0.0) || std::isinf(value)) return {};
    value = std::log(value);
  }
  std::ranges::sort(values);
  return values;
}

/// Returns the logarithms of candidate / reference in ascending order; empty if a ratio is not
/// positive and finite. Divides first, because a difference of two logarithms would round twice.
std::vector<double> sort_log_ratios(std::span<const double> reference,
                                    std::span<const double> candidate) {
  std::vector<double> ratios(reference.size());
  // Two negative values would have a positive ratio; 0 makes sort_logs() refuse the samples.
  std::ranges::transform(candidate, reference, ratios.begin(),
                         [](double of, double to) { return to > 0.0 ? of / to : 0.0; });
  return sort_logs(ratios);
}

/// The means of all pairs of values, of which each value is also paired with itself. Their median
/// is the estimate of Hodges and Lehmann for paired samples.
struct WalshAverages {
  std::vector<double> ascending;

  std::uint64_t count() const {
    const std::uint64_t n = ascending.size();
    return n * (n + 1) / 2;
  }
  double smallest() const { return ascending.front(); }
  double largest() const { return ascending.back(); }

  Split split_at(double limit) const {
    Split split;
    std::size_t end = ascending.size();
    for (std::size_t low = 0; low < end; ++low) {
      while (end > low && average(low, end - 1) > limit) --end;
      split.count += end - low;
      if (end > low) split.add_low(average(low, end - 1));
      if (end < ascending.size()) split.add_high(average(low, end));
    }
    return split;
  }

  double average(std::size_t i, std::size_t j) const { return (ascending[i] + ascending[j]) / 2.0; }
};

/// The differences between each value of `candidate` and each value of `reference`, both ascending.
struct PairDifferences {
  std::vector<double> reference;
  std::vector<double> candidate;

  std::uint64_t count() const { return std::uint64_t{reference.size()} * candidate.size(); }
  double smallest() const { return candidate.front() - reference.back(); }
  double largest() const { return candidate.back() - reference.front(); }

  Split split_at(double limit) const {
    Split split;
    std::size_t end = 0;
    for (const double value : reference) {
      while (end < candidate.size() && candidate[end] - value <= limit) ++end;
      split.count += end;
      if (end > 0) split.add_low(candidate[end - 1] - value);
      if (end < candidate.size()) split.add_high(candidate[end] - value);
    }
    return split;
  }
};

/// Returns the value at `place`, from 1, in ascending order.
template <typename Values>
double find_value_at(const Values& values, std::uint64_t place) {
  double low = values.smallest();
  double high = values.largest();
  while (low < high) {
    const double middle = std::midpoint(low, high);
    const Split split = values.split_at(middle < high ? middle : low);
    if (split.count >= place)
      high = split.low;
    else
      low = split.high;
  }
  return without_rounding_error(high, 1.0);
}

/// Returns the median of the values as a change, with the values at `place` from both ends as its
/// interval. Returns nullopt for place 0: there are too few values for an interval.
template <typename Values>
std::optional<TypicalChange> change_between_places(const Values& values, std::uint64_t place) {
  if (place == 0) return std::nullopt;
  const std::uint64_t count = values.count();
  double middle = find_value_at(values, (count + 1) / 2);
  if (count % 2 == 0) middle = std::midpoint(middle, find_value_at(values, count / 2 + 1));
  return TypicalChange{.change = std::expm1(middle),
                       .bounds = {.low = std::expm1(find_value_at(values, place)),
                                  .high = std::expm1(find_value_at(values, count + 1 - place))}};
}

LogRatio estimate_log_ratio_of_few(const SamplePair& samples) {
  if (samples.paired) {
    const Moments ratios = moments(sort_log_ratios(samples.reference, samples.candidate));
    LogRatio ratio{.value = ratios.mean};
    if (ratios.variance) ratio.error = std::sqrt(squared_error(ratios, 1.0));
    return ratio;
  }
  const Moments to = moments(sort_logs(samples.reference));
  const Moments of = moments(sort_logs(samples.candidate));
  LogRatio ratio{.value = of.mean - to.mean};
  if (of.variance && to.variance)
    ratio.error = std::sqrt(squared_error(of, 1.0) + squared_error(to, 1.0));
  return ratio;
}

constexpr std::size_t kMaxGroups = 20;

using RoundIndices = std::vector<std::size_t>;
using LogStatistic = std::function<std::optional<double>(const RoundIndices&)>;

struct Estimate {
  double value = 0.0;
  double squared_error = 0.0;
  std::size_t groups = 0;
};

/// Returns the rounds without those of a group of neighbours, which is one of `groups`.
RoundIndices leave_out_group(std::size_t group, std::size_t groups, RoundIndices rounds) {
  const auto begin = static_cast<std::ptrdiff_t>(group * rounds.size() / groups);
  const auto end = static_cast<std::ptrdiff_t>((group + 1) * rounds.size() / groups);
  rounds.erase(rounds.begin() + begin, rounds.begin() + end);
  return rounds;
}

/// Estimates the logarithm of a statistic, and its error, by the jackknife (R. G. Miller,
/// "Jackknifing variances", Annals of Mathematical Statistics 39, 1968). `statistic` is computed
/// from all rounds, and again without each group of rounds. Up to kMaxGroups rounds are groups of
/// one. More rounds are divided into kMaxGroups groups of neighbours, as quantiles require (Shao &
/// Wu, Annals of Statistics 17, 1989). Returns nullopt for fewer than two rounds, or if the
/// statistic is ever undefined.
std::optional<Estimate> estimate_by_jackknife(std::size_t rounds, const LogStatistic& statistic) {
  const std::size_t groups = std::min(rounds, kMaxGroups);
  if (groups < 2) return std::nullopt;

  RoundIndices all_rounds(rounds);
  std::iota(all_rounds.begin(), all_rounds.end(), 0);
  const auto with_all_rounds = statistic(all_rounds);
  if (!with_all_rounds) return std::nullopt;

  // A pseudo-value tells what one group contributes. Pseudo-values scatter like independent
  // estimates, so their mean and its error are those of the statistic.
  const double count = to_double(groups);
  std::vector<double> pseudo_values;
  for (std::size_t group = 0; group < groups; ++group) {
    const auto without_group = statistic(leave_out_group(group, groups, all_rounds));
    if (!without_group) return std::nullopt;
    pseudo_values.push_back(count * *with_all_rounds - (count - 1.0) * *without_group);
  }

  const Moments about = moments(pseudo_values);
  return Estimate{
      .value = about.mean, .squared_error = about.variance.value_or(0.0) / count, .groups = groups};
}

Change change_between(const std::optional<Estimate>& reference,
                      const std::optional<Estimate>& candidate, double tail) {
  if (!reference || !candidate) return {};
  const double difference = candidate->value - reference->value;
  const double squared_error = reference->squared_error + candidate->squared_error;
  const double degrees = welch_degrees(reference->squared_error, reference->groups,
                                       candidate->squared_error, candidate->groups);
  const double reach = student_t_quantile_above(tail, degrees) * std::sqrt(squared_error);
  return {.change = std::expm1(difference),
          .bounds = IntervalEnds{std::expm1(difference - reach), std::expm1(difference + reach)}};
}

std::vector<double> pick_samples(std::span<const double> samples, const RoundIndices& places) {
  std::vector<double> chosen;
  chosen.reserve(places.size());
  for (const std::size_t place : places) chosen.push_back(samples[place]);
  return chosen;
}

/// Returns nullopt for 0 and below.
std::optional<double> log_of(double value) {
  return value > 0.0 ? std::optional(std::log(value)) : std::nullopt;
}

std::optional<Estimate> jackknife_log_deviation(std::span<const double> samples) {
  return estimate_by_jackknife(
      samples.size(), [&](const RoundIndices& places) -> std::optional<double> {
        const Moments about = moments(pick_samples(samples, places));
        if (!about.variance || is_rounding_error(about.range(), about.mean)) return std::nullopt;
        return log_of(*about.stddev());
      });
}

/// True if the mean's change and the typical change (that of `delta` itself) differ so clearly that
/// users should be warned. `tail`: of the interval of delta.change_of_mean, whose surer (wider)
/// interval must not contain the typical change either.
bool differ_clearly(const Delta& delta, const MeanChange& mean, double tail) {
  if (!is_outside(delta.change_of_mean, *delta.bounds)) return false;
  if (std::abs(*delta.change_of_mean.change - *delta.change) < kMinDifference) return false;
  const Change surer = mean.change_at(kFactorOfSureTail * tail);
  return is_outside(surer, {*delta.change, *delta.change});
}

/// Estimates the change that users see first, and the change of the mean. The first one is that of
/// a typical round, which outliers do not affect. If that is unknown, as with too few rounds or a
/// value of 0, it is the mean's, too.
/// `widening`: factors by which intervals are widened if neighbouring rounds resemble each other.
Delta estimate_delta_with_widening(const SamplePair& samples, const IntervalTails& tails,
                                   const Widening& widening) {
  const MeanChange mean(samples, widening);
  const auto typical = typical_change(samples, tails.tail_of_delta, widening);

  Delta delta;
  delta.widening = widening.rank_test_factor(samples.reference.size(), samples.candidate.size());

  // The change that users see first is the base class of Delta.
  auto& first_change = static_cast<Change&>(delta);
  if (!typical) {
    delta.change_of_mean = mean.change_at(tails.tail_of_delta);
    first_change = delta.change_of_mean;
    return delta;
  }

  delta.basis = Basis::Typical;
  first_change = without_rounding_errors({.change = typical->change, .bounds = typical->bounds});
  delta.change_of_mean = mean.change_at(tails.tail_of_mean_change);
  delta.mean_and_typical_differ = differ_clearly(delta, mean, tails.tail_of_mean_change);
  return delta;
}

/// Returns the logarithm of the width that a delta's interval has with some of the rounds; nullopt
/// if it has no width.
std::optional<double> find_log_width(const SamplePair& samples, const RoundIndices& rounds,
                                     const IntervalTails& tails) {
  const Widening no_widening{};  // treats rounds as independent
  const Delta delta =
      estimate_delta_with_widening({.reference = pick_samples(samples.reference, rounds),
                                    .candidate = pick_samples(samples.candidate, rounds),
                                    .paired = samples.paired},
                                   tails, no_widening);
  return delta.bounds ? log_of(delta.bounds->high - delta.bounds->low) : std::nullopt;
}

/// Returns every `parts`-th round, beginning with round `part`.
RoundIndices pick_part(const RoundIndices& rounds, std::size_t part, std::size_t parts) {
  RoundIndices rounds_of_part;
  for (std::size_t i = part; i < rounds.size(); i += parts) rounds_of_part.push_back(rounds[i]);
  return rounds_of_part;
}

/// Estimates the logarithm of the width that a delta's interval has with a `parts`-th of the
/// rounds, so that it can be compared with the interval of fewer rounds. The rounds are divided
/// into `parts` parts, and the mean over their intervals is taken.
std::optional<Estimate> jackknife_log_width(const SamplePair& samples, std::size_t parts,
                                            const IntervalTails& tails) {
  const auto mean_log_width = [&](const RoundIndices& rounds) -> std::optional<double> {
    double sum = 0.0;
    for (std::size_t part = 0; part < parts; ++part) {
      const RoundIndices rounds_of_part = pick_part(rounds, part, parts);
      if (rounds_of_part.empty()) return std::nullopt;
      const auto log_width = find_log_width(samples, rounds_of_part, tails);
      if (!log_width) return std::nullopt;
      sum += *log_width;
    }
    return sum / static_cast<double>(parts);
  };

  return estimate_by_jackknife(samples.reference.size(), mean_log_width);
}

/// Sums over changes, in logarithms. Independent errors add up by their squares. An interval need
/// not be symmetric, so this is done separately for the distances from each change down and up to
/// its bounds.
struct LogSums {
  double changes = 0.0;
  double squares_below = 0.0;
  double squares_above = 0.0;
  bool all_have_bounds = true;  ///< false: the squares mean nothing
};

LogSums sum_up_logs(std::span<const Change> changes) {
  LogSums sums;
  for (const Change& change : changes) {
    const double log = std::log1p(*change.change);
    sums.changes += log;
    sums.all_have_bounds = sums.all_have_bounds && change.bounds && change.bounds->low > -1.0;
    if (!sums.all_have_bounds) continue;

    const double below = log - std::log1p(change.bounds->low);
    const double above = std::log1p(change.bounds->high) - log;
    sums.squares_below += below * below;
    sums.squares_above += above * above;
  }
  return sums;
}

}  // namespace

TailProbabilities tails_without_noise(double difference, std::size_t count) {
  const double bound = std::ldexp(1.0, -2 * static_cast<int>(std::min<std::size_t>(count, 500)));
  return difference > 0.0 ? TailProbabilities{.above = bound, .below = 1.0}
                          : TailProbabilities{.above = 1.0, .below = bound};
}

MeanTest mean_test(double difference, double standard_error, double degrees) {
  const double t = difference / standard_error;
  const double smaller = student_t_above(std::abs(t), degrees);
  return {.difference = difference,
          .t = t,
          .degrees = degrees,
          .tails = t > 0.0 ? TailProbabilities{.above = smaller, .below = 1.0 - smaller}
                           : TailProbabilities{.above = 1.0 - smaller, .below = smaller}};
}

double welch_degrees(double first, std::size_t first_count, double second,
                     std::size_t second_count) {
  const double first_degrees = static_cast<double>(first_count) - 1.0;
  const double second_degrees = static_cast<double>(second_count) - 1.0;
  const double sum = first + second;
  if (sum <= 0.0) return first_degrees + second_degrees;
  const double share = first / sum;
  const double rest = second / sum;
  return 1.0 / (share * share / first_degrees + rest * rest / second_degrees);
}

MeanTest paired_mean_test(std::span<const double> reference, std::span<const double> candidate,
                          double ratio, const Widening& widening) {
  std::vector<double> differences(reference.size());
  double sum = 0.0;
  for (std::size_t round = 0; round < reference.size(); ++round) {
    const double at_threshold = ratio * reference[round];
    differences[round] = candidate[round] - at_threshold;
    sum += candidate[round] + at_threshold;
  }
  const auto rounds = static_cast<double>(reference.size());
  const double scale = sum / rounds;
  const Moments about = moments(differences);
  const double difference = without_rounding_error(about.mean, scale);
  if (reference.size() < 2) return {.difference = difference};
  if (is_rounding_error(about.range(), scale))
    return {.difference = difference, .tails = tails_without_noise(difference, reference.size())};
  return mean_test(difference, std::sqrt(squared_error(about, widening.paired_factor)),
                   rounds - 1.0);
}

MeanTest welch_mean_test(std::span<const double> reference, std::span<const double> candidate,
                         double ratio, const Widening& widening) {
  const Moments of_reference = moments(reference);
  const Moments of_candidate = moments(candidate);
  const double at_threshold = ratio * of_reference.mean;
  const double scale = of_candidate.mean + at_threshold;
  const double difference = without_rounding_error(of_candidate.mean - at_threshold, scale);
  const std::size_t smaller_count = std::min(reference.size(), candidate.size());
  if (smaller_count < 2) return {.difference = difference};
  if (are_constant(of_reference, of_candidate, ratio, scale))
    return {.difference = difference, .tails = tails_without_noise(difference, smaller_count)};

  const double error_of_candidate = squared_error(of_candidate, widening.factor_of_candidate);
  const double error_of_reference =
      ratio * ratio * squared_error(of_reference, widening.factor_of_reference);
  return mean_test(
      difference, std::sqrt(error_of_candidate + error_of_reference),
      welch_degrees(error_of_candidate, candidate.size(), error_of_reference, reference.size()));
}

std::optional<double> Change::half_width() const {
  if (!change || !bounds) return std::nullopt;
  return std::max(bounds->high - *change, *change - bounds->low);
}

IntervalTails tails_of(double confidence) {
  const double tail = (1.0 - confidence) / 2.0;
  return {.tail_of_delta = tail, .tail_of_mean_change = tail};
}

bool allows_percentages(std::span<const double> reference, std::span<const double> candidate) {
  const auto is_negative = [](double value) { return value < 0.0; };
  return std::ranges::none_of(reference, is_negative) &&
         std::ranges::none_of(candidate, is_negative);
}

Delta estimate_delta(const SamplePair& samples, const IntervalTails& tails,
                     std::optional<double> share) {
  Delta delta;
  if (share) {
    delta.basis = Basis::Quantile;
    static_cast<Change&>(delta) =
        without_rounding_errors(quantile_change(samples, *share, tails.tail_of_delta));
  } else {
    delta = estimate_delta_with_widening(samples, tails, widening_of(samples));
  }

  delta.is_exact = moments(samples.reference).is_exact() && moments(samples.candidate).is_exact();
  delta.change_of_mean.is_exact = delta.is_exact;
  return delta;
}

bool Change::is_relevant() const {
  constexpr double min_relevant = 0.001;
  return is_significant() && change && std::fabs(*change) >= min_relevant;
}

std::optional<RelativeSpeed> relative_speed(const Change& delta) {
  if (!delta.change || *delta.change <= -1.0) return std::nullopt;
  const bool faster = *delta.change < 0.0;
  const auto ratio_of = [faster](double change) {
    return faster ? 1.0 / (1.0 + change) : 1.0 + change;
  };
  RelativeSpeed speed{
      .speed_factor = ratio_of(*delta.change), .faster = faster, .is_exact = delta.is_exact};
  if (delta.bounds && delta.bounds->low > -1.0) {
    const auto& [low, high] = *delta.bounds;
    speed.bounds = faster ? IntervalEnds{ratio_of(high), ratio_of(low)}
                          : IntervalEnds{ratio_of(low), ratio_of(high)};
  }
  return speed;
}

// The geometric mean of ratios is the mean of their logarithms. A Change is a ratio minus 1, so
// log1p and expm1 convert it.
Change geometric_mean(std::span<const Change> changes) {
  const auto has_logarithm = [](const Change& change) {
    return change.change && *change.change > -1.0;
  };
  if (changes.empty() || !std::ranges::all_of(changes, has_logarithm)) return {};

  const LogSums sums = sum_up_logs(changes);
  const auto count = static_cast<double>(changes.size());
  Change mean{.change = std::expm1(sums.changes / count),
              .is_exact = std::ranges::all_of(changes, &Change::is_exact)};
  if (sums.all_have_bounds)
    mean.bounds = IntervalEnds{std::expm1((sums.changes - std::sqrt(sums.squares_below)) / count),
                               std::expm1((sums.changes + std::sqrt(sums.squares_above)) / count)};
  return mean;
}

std::optional<TypicalChange> typical_change(const SamplePair& samples, double tail,
                                            const Widening& widening) {
  const auto& [reference, candidate, paired] = samples;
  const double factor = widening.rank_test_factor(reference.size(), candidate.size());
  if (paired) {
    const WalshAverages averages{sort_log_ratios(reference, candidate)};
    if (averages.ascending.empty()) return std::nullopt;
    return change_between_places(averages, signed_rank_place(reference.size(), tail, factor));
  }
  const PairDifferences differences{.reference = sort_logs(reference),
                                    .candidate = sort_logs(candidate)};
  if (differences.reference.empty() || differences.candidate.empty()) return std::nullopt;
  return change_between_places(
      differences, mann_whitney_place(reference.size(), candidate.size(), tail, factor));
}

std::optional<LogRatio> log_ratio(const SamplePair& samples) {
  constexpr std::size_t fewest_for_ranks = 6;
  constexpr double tail_of_one_error =
      0.15865525393145705;  // probability of a normal deviate below -1
  if (!are_positive(samples.reference) || !are_positive(samples.candidate)) return std::nullopt;

  const bool has_ranks =
      std::min(samples.reference.size(), samples.candidate.size()) >= fewest_for_ranks;
  const auto typical =
      has_ranks ? typical_change(samples, tail_of_one_error, widening_of(samples)) : std::nullopt;
  if (!typical) return estimate_log_ratio_of_few(samples);
  if (typical->change <= -1.0) return std::nullopt;
  LogRatio ratio{.value = std::log1p(typical->change)};
  if (typical->bounds.low > -1.0 && std::isfinite(typical->bounds.high))
    ratio.error = (std::log1p(typical->bounds.high) - std::log1p(typical->bounds.low)) / 2.0;
  return ratio;
}

Change spread_change(std::span<const double> reference, std::span<const double> candidate,
                     double tail) {
  return change_between(jackknife_log_deviation(reference), jackknife_log_deviation(candidate),
                        tail);
}

Change width_change(const SamplePair& before, const SamplePair& after, const IntervalTails& tails) {
  const auto count_rounds = [](const SamplePair& all) {
    return std::max<std::size_t>(all.reference.size(), 1);
  };
  // A session with k times as many rounds has narrower intervals for that reason alone, so it is
  // divided into k parts with about as many rounds as the other one.
  const auto count_parts = [](std::size_t rounds_of_one, std::size_t rounds_of_other) {
    return std::max<std::size_t>((rounds_of_one + rounds_of_other / 2) / rounds_of_other, 1);
  };
  return change_between(
      jackknife_log_width(before, count_parts(count_rounds(before), count_rounds(after)), tails),
      jackknife_log_width(after, count_parts(count_rounds(after), count_rounds(before)), tails),
      tails.tail_of_delta);
}

}  // namespace lauka::stats
