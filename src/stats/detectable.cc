#include "stats/detectable.h"

#include "stats/distributions.h"
#include "stats/latest_answer.h"
#include "stats/resemblance.h"
#include "stats/summary.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace lauka::stats {

namespace {

/// With a single degree of freedom, a difference would have to be too large to be worth telling.
constexpr double kFewestDegrees = 2.0;

// In units of the true standard error, let s be one session's estimate of it, s' another session's,
// and z the other session's error. The other session finds a difference of so many errors if z +
// errors s > needed_t s'. The squares of s and s' are independent chi squared variables, divided by
// their degrees of freedom n. In polar coordinates, s = r cos a and s' = r sin a, the radius is
// independent of the angle, so z sqrt(2) / r is Student's t with 2n degrees of freedom. The density
// of the angle is proportional to sin(2a)^(n - 1).

/// Returns a number that is proportional to the density of the angle.
double density_of_angle(double angle, double degrees) {
  return std::pow(std::max(std::sin(2.0 * angle), 0.0), degrees - 1.0);
}

/// Returns the probability that a difference is found at this angle.
double probability_at_angle(double angle, double errors, double needed_t, double degrees) {
  const double excess =
      std::numbers::sqrt2 * (errors * std::cos(angle) - needed_t * std::sin(angle));
  return student_t_above(-excess, 2.0 * degrees);
}

/// Returns the weight of value `i` of the values 0 to `steps` in Simpson's rule: 1, 4, 2, 4,
/// ..., 1.
double simpson_weight(int i, int steps) {
  const bool is_end = i == 0 || i == steps;
  if (is_end) return 1.0;
  const bool is_odd = i % 2 == 1;
  return is_odd ? 4.0 : 2.0;
}

/// Returns the probability that another session like this one finds a difference of `errors`
/// standard errors, as this session estimates them. `needed_t`: quantile of Student's t from which
/// on a difference is found. `degrees`: degrees of freedom of either session's standard error.
double probability_to_find(double errors, double needed_t, double degrees) {
  // The ratio of both sessions' standard errors is random. It is the tangent of an angle between 0
  // and pi / 2, whose density is largest in the middle. At the distance `reach` from there, the
  // density is below e^-18 of the largest one, so the rest is left out.
  const double middle = std::numbers::pi / 4.0;
  const double reach = std::min(middle, 3.0 / std::sqrt(std::max(degrees - 1.0, 1.0)));

  // With few degrees of freedom, the probability changes steeply, which needs more steps. Compared
  // with 9,600 steps, the answers are right to five digits, or to three for two degrees and a tail
  // of 0.005.
  constexpr double few_degrees = 10.0;
  const int steps = degrees < few_degrees ? 48 : 24;

  // The result is the mean of the probability over all angles, weighted by their density. It is
  // integrated by Simpson's rule.
  double weighted_sum = 0.0;
  double sum_of_weights = 0.0;
  for (int i = 0; i <= steps; ++i) {
    const double angle = middle + reach * (2.0 * i / steps - 1.0);
    const double simpson = simpson_weight(i, steps);
    const double density = density_of_angle(angle, degrees);
    weighted_sum += simpson * density * probability_at_angle(angle, errors, needed_t, degrees);
    sum_of_weights += simpson * density;
  }
  return weighted_sum / sum_of_weights;
}

/// The standard error of a delta, compared with what its interval was computed from.
struct NoiseOfRounds {
  double factor = 1.0;   ///< factor of the interval's width
  double degrees = 1.0;  ///< degrees of freedom of the widened standard error
};

/// Returns the factor by which resemblance of neighbours raises the standard error. An interval is
/// widened only if chance hardly explains the resemblance (NeighbourResemblance::widening). Weaker
/// resemblance may be real as well, and other sessions with the same noise may then widen their
/// intervals. So it counts here from one standard error on.
double likely_error_factor(std::span<const double> series) {
  const NeighbourResemblance resemblance = neighbour_resemblance(series);
  return resemblance.correlation * std::sqrt(to_double(resemblance.count)) > 1.0
             ? resemblance.error_factor()
             : 1.0;
}

Widening likely_widening(const ComparedSamples& samples) {
  if (samples.are_paired)
    return {.paired_factor =
                likely_error_factor(relative_differences(samples.reference, samples.candidate))};
  return {.factor_of_reference = likely_error_factor(samples.reference),
          .factor_of_candidate = likely_error_factor(samples.candidate)};
}

double degrees_without_resemblance(const ComparedSamples& samples) {
  const std::size_t reference = samples.reference.size();
  const std::size_t candidate = samples.candidate.size();
  if (samples.are_paired || reference < 2 || candidate < 2)
    return std::max(to_double(std::min(reference, candidate)) - 1.0, kFewestDegrees);
  return std::max(
      welch_degrees(1.0 / to_double(reference), reference, 1.0 / to_double(candidate), candidate),
      kFewestDegrees);
}

/// Returns the share that is missing from the variance of values that resemble each other. They
/// scatter about their own mean, which is less certain then. `squared_factor`: by which resemblance
/// raises the squared error.
double missing_share_of_variance(double rounds, double squared_factor) {
  constexpr double max_missing_share = 0.6;  // keeps the correction finite for few rounds
  return std::min((squared_factor - 1.0) / rounds, max_missing_share);
}

/// Returns the degrees of freedom of the squared error of values that resemble each other.
double degrees_with_resemblance(double rounds, double squared_factor) {
  // The estimate of a correlation c has the variance (1 - c^2) / n (Bartlett 1946). It makes the
  // squared error much more uncertain than the scatter of independent values would be. The divisor
  // is fitted by simulation (scripts/bench detectable), because it depends on the rank correlation,
  // and on how often other sessions notice the resemblance.
  constexpr double divisor = 7.0;
  const double correlation = (squared_factor - 1.0) / (squared_factor + 1.0);
  return rounds * (1.0 - correlation * correlation) / divisor;
}

/// Estimates the noise that sessions like this one have. Neighbouring rounds may resemble each
/// other, as in a first-order autoregression with the correlation c, which raises the standard
/// error by the factor sqrt((1 + c) / (1 - c)). `widening_of_interval`: the factor that the delta's
/// interval already has because of that.
NoiseOfRounds estimate_noise(const ComparedSamples& samples, double widening_of_interval) {
  const double factor =
      likely_widening(samples).rank_test_factor(samples.reference.size(), samples.candidate.size());
  NoiseOfRounds noise{.factor = factor / widening_of_interval,
                      .degrees = degrees_without_resemblance(samples)};
  if (factor <= 1.0) return noise;

  const double rounds = noise.degrees + 1.0;
  const double squared_factor = factor * factor;
  noise.factor /= std::sqrt(1.0 - missing_share_of_variance(rounds, squared_factor));
  noise.degrees =
      std::clamp(degrees_with_resemblance(rounds, squared_factor), kFewestDegrees, noise.degrees);
  return noise;
}

/// Half the width of a change's interval, in logarithms or as a fraction.
std::optional<double> half_width_if_noisy(const Change& change, bool in_logarithms) {
  if (!change.change || !change.bounds || change.is_exact) return std::nullopt;
  const auto& [low, high] = *change.bounds;
  if (low <= -1.0 || !std::isfinite(high) || high <= low) return std::nullopt;
  return in_logarithms ? (std::log1p(high) - std::log1p(low)) / 2.0 : (high - low) / 2.0;
}

double half_width_found(double half_width, double tail, const NoiseOfRounds& noise) {
  return half_width * noise.factor * detectable_errors(tail, noise.degrees) /
         student_t_quantile_above(tail, noise.degrees);
}

/// Returns what probability_to_find() does, as a normal deviate.
double deviate_that_finds(double errors, double needed_t, double degrees) {
  // The normal quantile of 0 or 1 would be infinite.
  const double probability_to_miss = 1.0 - probability_to_find(errors, needed_t, degrees);
  const double finite_probability = std::clamp(probability_to_miss, 1e-12, 1.0 - 1e-12);
  return normal_quantile_above(finite_probability);
}

/// Returns where `distance` is 0, by the secant method from two values of its argument.
template <typename Distance>
double find_zero(const Distance& distance, double previous, double current) {
  constexpr int max_steps = 12;
  constexpr double precision = 1e-5;
  double distance_of_previous = distance(previous);
  for (int i = 0; i < max_steps && std::abs(current - previous) > precision * current; ++i) {
    const double distance_of_current = distance(current);
    if (distance_of_current == distance_of_previous) break;
    const double next = current - distance_of_current * (current - previous) /
                                      (distance_of_current - distance_of_previous);
    previous = current;
    distance_of_previous = distance_of_current;
    current = next;
  }
  return current;
}

/// Computes the difference, in standard errors, that the share kShareThatFinds of sessions finds.
/// `tail`, `degrees`: of the intervals, by Student's t, with which sessions find differences.
double compute_detectable_errors(double tail, double degrees) {
  const double needed_t = student_t_quantile_above(tail, degrees);
  const double wanted_deviate = normal_quantile_above(1.0 - kShareThatFinds);

  // As a function of the difference, the share (written as a normal deviate) is almost a straight
  // line, so the secant method finds in few steps where it is the wanted one.
  const auto distance_from_wanted = [&](double errors) {
    return deviate_that_finds(errors, needed_t, degrees) - wanted_deviate;
  };
  const double found_by_half = needed_t;
  const double rough_estimate = needed_t + student_t_quantile_above(1.0 - kShareThatFinds, degrees);
  return find_zero(distance_from_wanted, found_by_half, rough_estimate);
}

}  // namespace

double detectable_errors(double tail, double degrees) {
  // One answer takes several hundred values of Student's t.
  thread_local LatestAnswer latest;
  return latest.find(tail, degrees, compute_detectable_errors);
}

std::optional<double> detectable_change(const Delta& delta, double tail,
                                        const ComparedSamples& samples) {
  const bool in_logarithms = delta.basis != Basis::Mean;
  const auto half_width = half_width_if_noisy(delta, in_logarithms);
  if (!half_width || delta.basis == Basis::Quantile) return std::nullopt;

  const double found = half_width_found(*half_width, tail, estimate_noise(samples, delta.widening));
  return in_logarithms ? std::expm1(found) : found;
}

std::optional<double> detectable_change_by_t(const Change& change, double tail, double degrees) {
  const auto half_width = half_width_if_noisy(change, true);
  if (!half_width || degrees < kFewestDegrees) return std::nullopt;
  return std::expm1(half_width_found(*half_width, tail, {.degrees = degrees}));
}

}  // namespace lauka::stats
