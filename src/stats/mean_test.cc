#include "stats/mean_test.h"

#include "stats/distributions.h"
#include "stats/summary.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
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

/// `difference`, or 0 where it is rounding error of means that add up to `scale`.
double cleaned(double difference, double scale) {
  return is_rounding_error(difference, scale) ? 0.0 : difference;
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
  if (reference.size() < 2) {
    return {.difference = difference};
  }
  if (is_rounding_error(about.range(), scale)) {
    return {.difference = difference, .tails = tails_without_noise(difference, reference.size())};
  }
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
  if (fewer < 2) {
    return {.difference = difference};
  }
  if (is_rounding_error(of_candidate.range(), scale) &&
      is_rounding_error(ratio * of_reference.range(), scale)) {
    return {.difference = difference, .tails = tails_without_noise(difference, fewer)};
  }
  const double error_of_candidate =
      of_candidate.variance.value_or(0.0) / static_cast<double>(candidate.size());
  const double error_of_reference =
      ratio * ratio * of_reference.variance.value_or(0.0) / static_cast<double>(reference.size());
  return with_t(
      difference, std::sqrt(error_of_candidate + error_of_reference),
      welch_degrees(error_of_candidate, candidate.size(), error_of_reference, reference.size()));
}

}  // namespace lauka::stats
