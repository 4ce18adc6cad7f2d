#include "stats/delta.h"

#include "stats/equality.h"
#include "stats/moments.h"
#include "stats/student_t.h"
#include "stats/welch.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace lauka::stats {

namespace {

/// The delta without an interval, which is all there is where the reference's mean is 0.
Delta bare_delta(const Moments& reference, const Moments& candidate) {
  if (reference.mean == 0.0) {
    return {.change = candidate.mean == 0.0 ? std::optional<double>(0.0) : std::nullopt};
  }
  return {.change = (candidate.mean - reference.mean) / reference.mean};
}

/// Fieller's condition: the interval of the reference's own mean leaves out 0. Without it, no
/// interval of a ratio to that mean is bounded.
bool is_distinct_from_zero(const Moments& reference, double tail) {
  const auto count = static_cast<double>(reference.count);
  return student_t_quantile_above(tail, count - 1.0) * reference.deviation() / std::sqrt(count) <
         reference.mean;
}

Delta with_half_width(Delta delta, double half_width) {
  delta.half_width = half_width;
  delta.significant = std::abs(delta.change.value_or(0.0)) > half_width;
  return delta;
}

}  // namespace

Delta paired_delta(std::span<const double> reference, std::span<const double> candidate,
                   double confidence) {
  const Moments of_reference = moments(reference);
  const Moments of_candidate = moments(candidate);
  const Delta bare = bare_delta(of_reference, of_candidate);
  const double tail = (1.0 - confidence) / 2.0;
  if (of_reference.mean == 0.0 || reference.size() < 2 ||
      !is_distinct_from_zero(of_reference, tail)) {
    return bare;
  }

  const double ratio = of_candidate.mean / of_reference.mean;
  std::vector<double> residuals(reference.size());
  std::transform(reference.begin(), reference.end(), candidate.begin(), residuals.begin(),
                 [ratio](double r, double c) { return c - ratio * r; });
  const Moments of_residuals = moments(residuals);
  if (is_rounding_error(of_residuals.range(), of_reference.mean + of_candidate.mean)) {
    return with_half_width(bare, 0.0);
  }
  const auto rounds = static_cast<double>(reference.size());
  return with_half_width(bare, student_t_quantile_above(tail, rounds - 1.0) *
                                   of_residuals.deviation() /
                                   (std::sqrt(rounds) * of_reference.mean));
}

Delta unpaired_delta(std::span<const double> reference, std::span<const double> candidate,
                     double confidence) {
  const Moments of_reference = moments(reference);
  const Moments of_candidate = moments(candidate);
  const Delta bare = bare_delta(of_reference, of_candidate);
  const double tail = (1.0 - confidence) / 2.0;
  if (of_reference.mean == 0.0 || std::min(reference.size(), candidate.size()) < 2 ||
      !is_distinct_from_zero(of_reference, tail)) {
    return bare;
  }

  const double ratio = of_candidate.mean / of_reference.mean;
  const double scale = of_reference.mean + of_candidate.mean;
  if (is_rounding_error(of_candidate.range(), scale) &&
      is_rounding_error(ratio * of_reference.range(), scale)) {
    return with_half_width(bare, 0.0);
  }
  const double error_of_candidate =
      of_candidate.variance.value_or(0.0) / static_cast<double>(candidate.size());
  const double error_of_reference =
      ratio * ratio * of_reference.variance.value_or(0.0) / static_cast<double>(reference.size());
  const double degrees =
      welch_degrees(error_of_candidate, candidate.size(), error_of_reference, reference.size());
  return with_half_width(bare, student_t_quantile_above(tail, degrees) *
                                   std::sqrt(error_of_candidate + error_of_reference) /
                                   of_reference.mean);
}

std::optional<RelativeSpeed> relative_speed(const Delta& delta) {
  if (!delta.change || *delta.change <= -1.0) {
    return std::nullopt;
  }
  const double ratio = 1.0 + *delta.change;
  RelativeSpeed speed{
      .ratio = ratio, .half_width = delta.half_width, .faster = *delta.change < 0.0};
  if (speed.faster) {
    speed.ratio = 1.0 / ratio;
    if (speed.half_width) {
      *speed.half_width /= ratio * ratio;
    }
  }
  return speed;
}

}  // namespace lauka::stats
