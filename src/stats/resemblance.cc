#include "stats/resemblance.h"

#include "stats/delta.h"
#include "stats/summary.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lauka::stats {
namespace {

constexpr double kChance =
    1.96;  // largest correlation that is ignored, in standard errors of about 1 / sqrt(n)
constexpr double kMaxCorrelation = 0.9;
constexpr std::size_t kMinForClear = 20;

}  // namespace

std::vector<double> ranks_in_order(std::span<const double> series) {
  std::vector<std::size_t> order(series.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order,
                    [series](std::size_t a, std::size_t b) { return series[a] < series[b]; });
  std::vector<double> ranks(series.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first + 1;
    while (end < order.size() &&
           is_rounding_error(series[order[end]] - series[order[end - 1]],
                             std::abs(series[order[end]]) + std::abs(series[order[end - 1]])))
      ++end;
    for (std::size_t i = first; i < end; ++i)
      ranks[order[i]] = static_cast<double>(first + 1 + end) / 2.0;
    first = end;
  }
  return ranks;
}

double NeighbourResemblance::error_factor() const {
  if (count == 0) return 1.0;
  const double corrected =
      std::clamp(correlation + (1.0 + 3.0 * correlation) / to_double(count), 0.0, kMaxCorrelation);
  return std::sqrt((1.0 + corrected) / (1.0 - corrected));
}

double NeighbourResemblance::widening() const {
  return correlation * std::sqrt(to_double(count)) > kChance ? error_factor() : 1.0;
}

double NeighbourResemblance::effective_count() const {
  const double factor = widening();
  const double n = to_double(count);
  return std::max(n / (factor * factor), std::min(n, 2.0));
}

bool NeighbourResemblance::is_clear(double error) const {
  return count >= kMinForClear &&
         correlation * std::sqrt(to_double(count)) > normal_quantile_above(error);
}

NeighbourResemblance neighbour_resemblance(std::span<const double> series) {
  const std::vector<double> ranks = ranks_in_order(series);
  const double middle = (to_double(ranks.size()) + 1.0) / 2.0;
  double with_next = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    squares += (ranks[i] - middle) * (ranks[i] - middle);
    if (i + 1 < ranks.size()) with_next += (ranks[i] - middle) * (ranks[i + 1] - middle);
  }
  return {squares > 0.0 ? with_next / squares : 0.0, ranks.size()};
}

std::vector<double> relative_differences(std::span<const double> reference,
                                         std::span<const double> candidate) {
  const bool are_plain = !allows_percentages(reference, candidate);
  std::vector<double> differences(reference.size());
  std::ranges::transform(reference, candidate, differences.begin(), [&](double r, double c) {
    const double sum = are_plain ? 1.0 : c + r;
    return sum > 0.0 ? (c - r) / sum : 0.0;
  });
  return differences;
}

double Widening::rank_test_factor(std::size_t reference, std::size_t candidate) const {
  if (factor_of_reference == factor_of_candidate) return paired_factor * factor_of_reference;
  const double r = 1.0 / to_double(reference);
  const double c = 1.0 / to_double(candidate);
  return paired_factor * std::sqrt((factor_of_reference * factor_of_reference * r +
                                    factor_of_candidate * factor_of_candidate * c) /
                                   (r + c));
}

Widening widening_of(const SamplePair& samples) {
  if (samples.paired) {
    const auto differences = relative_differences(samples.reference, samples.candidate);
    return {.paired_factor = neighbour_resemblance(differences).widening()};
  }
  return {.factor_of_reference = neighbour_resemblance(samples.reference).widening(),
          .factor_of_candidate = neighbour_resemblance(samples.candidate).widening()};
}

TailProbabilities widen_tails(const TailProbabilities& tails, double factor) {
  if (factor <= 1.0) return tails;
  const auto less_extreme = [factor](double probability) {
    if (probability <= 0.0 || probability >= 1.0) return probability;
    return normal_above(normal_quantile_above(probability) / factor);
  };
  return {.above = less_extreme(tails.above), .below = less_extreme(tails.below)};
}

}  // namespace lauka::stats
