#include "stats/delta.h"

#include "stats/quantiles.h"
#include "stats/summary.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace lauka::stats {

namespace {

Tails tails_without_noise(double difference, std::size_t count) {
  const double bound = std::ldexp(1.0, -2 * static_cast<int>(std::min<std::size_t>(count, 500)));
  return difference > 0.0 ? Tails{.above = bound, .below = 1.0}
                          : Tails{.above = 1.0, .below = bound};
}

MeanTest with_t(double difference, double standard_error, double degrees) {
  const double t = difference / standard_error;
  // The smaller tail is computed, the larger one is its complement and loses no digits.
  const double smaller = student_t_above(std::abs(t), degrees);
  return {.difference = difference,
          .t = t,
          .degrees = degrees,
          .tails = t > 0.0 ? Tails{.above = smaller, .below = 1.0 - smaller}
                           : Tails{.above = 1.0 - smaller, .below = smaller}};
}

/// Returns `difference`, or 0 if it is a rounding error of means that add up to `scale`.
double cleaned(double difference, double scale) {
  return is_rounding_error(difference, scale) ? 0.0 : difference;
}

// The interval of the ratio of means is Fieller's (1954), written without the cancellation of the
// textbook's r^2 * c^2: with the residuals e = c - (c/r) * r, their covariance with r takes its
// place.

/// The least difference of the mean's change from the typical round's that is worth a note.
constexpr double kLeastDifference = 0.01;
constexpr double kSureTail = 0.2;  // of the plain tail: 99% where that is 95%

/// The parts of Fieller's interval: squared standard errors, and the degrees of freedom.
struct Errors {
  double of_residuals = 0.0;  // V
  double of_reference = 0.0;  // v
  double shared = 0.0;        // h
  double degrees = 1.0;
  double degrees_of_reference = 1.0;  // decides if its mean is distinct from 0
};

double without_rounding_error(double value) {
  return std::abs(value) <= kSame ? 0.0 : value;
}

Change cleaned(Change change) {
  if (!change.change || !change.bounds) return change;
  double& delta = *change.change;
  auto& [low, high] = *change.bounds;
  delta = without_rounding_error(delta);
  low = without_rounding_error(low);
  high = without_rounding_error(high);
  const double scale = 1.0 + std::abs(delta);
  if (is_rounding_error(low - delta, scale) && is_rounding_error(high - delta, scale))
    low = high = delta;
  return change;
}

/// The change of the means before anything is known of its error.
class MeanChange {
 public:
  MeanChange(std::span<const double> reference, std::span<const double> candidate, bool paired)
      : reference_(moments(reference)), candidate_(moments(candidate)) {
    if (reference_.mean == 0.0 || std::min(reference.size(), candidate.size()) < 2) return;
    ratio_ = candidate_.mean / reference_.mean;
    paired ? within_rounds(reference, candidate) : of_independent(reference, candidate);
  }

  Change at(double tail) const {
    if (reference_.mean == 0.0)
      return {.change = candidate_.mean == 0.0 ? std::optional<double>(0.0) : std::nullopt};
    Change result{.change = (candidate_.mean - reference_.mean) / reference_.mean};
    if (!errors_ || !is_distinct_from_zero(tail, errors_->degrees_of_reference)) return result;
    const double delta = *result.change;
    if (is_constant_) {
      result.bounds = ChangeBounds{delta, delta};
      return cleaned(result);
    }
    if (!is_distinct_from_zero(tail, errors_->degrees)) return result;
    const double t = student_t_quantile_above(tail, errors_->degrees);
    const double a = reference_.mean * reference_.mean - t * t * errors_->of_reference;
    const double covariance = t * errors_->shared;
    const double shift = t * covariance;
    const double reach = t * std::sqrt(a * errors_->of_residuals + covariance * covariance);
    result.bounds =
        ChangeBounds{std::max(-1.0, delta - (shift + reach) / a), delta - (shift - reach) / a};
    return cleaned(result);
  }

 private:
  void within_rounds(std::span<const double> reference, std::span<const double> candidate) {
    std::vector<double> residuals(reference.size());
    std::ranges::transform(reference, candidate, residuals.begin(),
                           [this](double r, double c) { return c - ratio_ * r; });
    const Moments of_residuals = moments(residuals);
    is_constant_ = is_rounding_error(of_residuals.range(), reference_.mean + candidate_.mean);
    double products = 0.0;
    for (std::size_t round = 0; round < residuals.size(); ++round)
      products += (reference[round] - reference_.mean) * (residuals[round] - of_residuals.mean);
    const auto n = static_cast<double>(residuals.size());
    errors_ = Errors{.of_residuals = of_residuals.variance.value_or(0.0) / n,
                     .of_reference = reference_.variance.value_or(0.0) / n,
                     .shared = products / (n - 1.0) / n,
                     .degrees = n - 1.0,
                     .degrees_of_reference = n - 1.0};
  }

  void of_independent(std::span<const double> reference, std::span<const double> candidate) {
    const auto n_r = static_cast<double>(reference.size());
    const auto n_c = static_cast<double>(candidate.size());
    const double v = reference_.variance.value_or(0.0) / n_r;
    const double of_candidate = candidate_.variance.value_or(0.0) / n_c;
    const double of_threshold = ratio_ * ratio_ * v;
    const double scale = reference_.mean + candidate_.mean;
    is_constant_ = is_rounding_error(candidate_.range(), scale) &&
                   is_rounding_error(ratio_ * reference_.range(), scale);
    errors_ = Errors{
        .of_residuals = of_candidate + of_threshold,
        .of_reference = v,
        .shared = -ratio_ * v,
        .degrees = welch_degrees(of_candidate, candidate.size(), of_threshold, reference.size()),
        .degrees_of_reference = n_r - 1.0};
  }

  bool is_distinct_from_zero(double tail, double degrees) const {
    return student_t_quantile_above(tail, degrees) * std::sqrt(errors_->of_reference) <
           reference_.mean;
  }

  Moments reference_;
  Moments candidate_;
  double ratio_ = 1.0;
  bool is_constant_ = false;
  std::optional<Errors> errors_;  // nullopt: no interval
};

/// True if the mean contradicts the typical round.
bool is_clearly_outside(const Change& mean, const Change& sure, const Change& typical) {
  if (!mean.bounds || !sure.bounds || !typical.bounds) return false;
  const bool outside = mean.bounds->low > typical.bounds->high + kSame ||
                       mean.bounds->high < typical.bounds->low - kSame;
  const double delta = *typical.change;
  const bool surely = sure.bounds->low > delta + kSame || sure.bounds->high < delta - kSame;
  return outside && surely && std::abs(*mean.change - delta) >= kLeastDifference;
}

}  // namespace

double welch_degrees(double first, std::size_t first_count, double second,
                     std::size_t second_count) {
  const double first_degrees = static_cast<double>(first_count) - 1.0;
  const double second_degrees = static_cast<double>(second_count) - 1.0;
  const double sum = first + second;
  if (sum <= 0.0) return first_degrees + second_degrees;
  // Shares instead of the squares of the textbook, which underflow for nanoseconds in seconds.
  const double share = first / sum;
  const double rest = second / sum;
  return 1.0 / (share * share / first_degrees + rest * rest / second_degrees);
}

MeanTest paired_mean_test(std::span<const double> reference, std::span<const double> candidate,
                          double ratio) {
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
  const double difference = cleaned(about.mean, scale);
  if (reference.size() < 2) return {.difference = difference};
  if (is_rounding_error(about.range(), scale))
    return {.difference = difference, .tails = tails_without_noise(difference, reference.size())};
  return with_t(difference, about.deviation() / std::sqrt(rounds), rounds - 1.0);
}

MeanTest welch_mean_test(std::span<const double> reference, std::span<const double> candidate,
                         double ratio) {
  const Moments of_reference = moments(reference);
  const Moments of_candidate = moments(candidate);
  const double at_threshold = ratio * of_reference.mean;
  const double scale = of_candidate.mean + at_threshold;
  const double difference = cleaned(of_candidate.mean - at_threshold, scale);
  const std::size_t fewer = std::min(reference.size(), candidate.size());
  if (fewer < 2) return {.difference = difference};
  if (is_rounding_error(of_candidate.range(), scale) &&
      is_rounding_error(ratio * of_reference.range(), scale))
    return {.difference = difference, .tails = tails_without_noise(difference, fewer)};
  const double error_of_candidate =
      of_candidate.variance.value_or(0.0) / static_cast<double>(candidate.size());
  const double error_of_reference =
      ratio * ratio * of_reference.variance.value_or(0.0) / static_cast<double>(reference.size());
  return with_t(
      difference, std::sqrt(error_of_candidate + error_of_reference),
      welch_degrees(error_of_candidate, candidate.size(), error_of_reference, reference.size()));
}

std::optional<double> Change::half_width() const {
  if (!change || !bounds) return std::nullopt;
  return std::max(bounds->high - *change, *change - bounds->low);
}

IntervalTails tails_of(double confidence) {
  const double tail = (1.0 - confidence) / 2.0;
  return {tail, tail};
}

Delta delta_of(std::span<const double> reference, std::span<const double> candidate, bool paired,
               const IntervalTails& tails, std::optional<double> share) {
  if (share) {
    Delta delta;
    delta.basis = Basis::Quantile;
    static_cast<Change&>(delta) =
        cleaned(quantile_change(reference, candidate, paired, *share, tails.tail));
    return delta;
  }
  const MeanChange mean(reference, candidate, paired);
  Delta delta;
  const auto typical = typical_change(reference, candidate, paired, tails.tail);
  if (!typical) {
    delta.mean = mean.at(tails.tail);
    static_cast<Change&>(delta) = delta.mean;
    return delta;
  }
  delta.basis = Basis::Typical;
  static_cast<Change&>(delta) = cleaned({typical->change, typical->bounds});
  delta.mean = mean.at(tails.of_mean);
  delta.mean_differs = is_clearly_outside(delta.mean, mean.at(kSureTail * tails.of_mean), delta);
  return delta;
}

std::optional<RelativeSpeed> relative_speed(const Change& delta) {
  if (!delta.change || *delta.change <= -1.0) return std::nullopt;
  const bool faster = *delta.change < 0.0;
  const auto ratio_of = [faster](double change) {
    return faster ? 1.0 / (1.0 + change) : 1.0 + change;
  };
  RelativeSpeed speed{.ratio = ratio_of(*delta.change), .faster = faster};
  if (delta.bounds && delta.bounds->low > -1.0) {
    const auto& [low, high] = *delta.bounds;
    speed.bounds = faster ? ChangeBounds{ratio_of(high), ratio_of(low)}
                          : ChangeBounds{ratio_of(low), ratio_of(high)};
  }
  return speed;
}

Change geometric_mean(std::span<const Change> changes) {
  const bool is_defined = !changes.empty() && std::ranges::all_of(changes, [](const Change& one) {
    return one.change && *one.change > -1.0;
  });
  if (!is_defined) return {};
  double sum = 0.0;
  double below = 0.0;
  double above = 0.0;
  bool has_bounds = true;
  for (const Change& one : changes) {
    const double log = std::log1p(*one.change);
    sum += log;
    has_bounds = has_bounds && one.bounds && one.bounds->low > -1.0;
    if (!has_bounds) continue;
    const double down = log - std::log1p(one.bounds->low);
    const double up = std::log1p(one.bounds->high) - log;
    below += down * down;
    above += up * up;
  }
  const auto count = static_cast<double>(changes.size());
  Change mean{.change = std::expm1(sum / count)};
  if (has_bounds)
    mean.bounds = ChangeBounds{std::expm1((sum - std::sqrt(below)) / count),
                               std::expm1((sum + std::sqrt(above)) / count)};
  return mean;
}

}  // namespace lauka::stats
