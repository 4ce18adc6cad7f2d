#include "stats/models.h"

#include "stats/distributions.h"
#include "stats/summary.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace lauka::stats {

namespace {

constexpr int kMaxSteps = 1'000;
constexpr double kConverged = 1e-13;

/// Weighted sums over machines; the weights are 1 / (variance + between).
struct WeightedSums {
  double w = 0.0;
  double w2 = 0.0;
  double w3 = 0.0;
  double mean = 0.0;
  double squares = 0.0;
  double squares2 = 0.0;

  WeightedSums(std::span<const Effect> effects, double between) {
    double wy = 0.0;
    for (const Effect& effect : effects) {
      const double weight = 1.0 / (effect.variance + between);
      w += weight;
      w2 += weight * weight;
      w3 += weight * weight * weight;
      wy += weight * effect.value;
    }
    mean = wy / w;
    for (const Effect& effect : effects) {
      const double weight = 1.0 / (effect.variance + between);
      const double square = (effect.value - mean) * (effect.value - mean);
      squares += weight * square;
      squares2 += weight * weight * square;
    }
  }

  double step() const {
    const double trace = w - w2 / w;
    const double trace_of_square = w2 - 2.0 * w3 / w + w2 * w2 / (w * w);
    return (squares2 - trace) / trace_of_square;
  }
};

/// Returns the variance between machines by the unweighted method of Hedges & Olkin (1985).
double unweighted_between(std::span<const Effect> effects) {
  const auto count = static_cast<double>(effects.size());
  double mean = 0.0;
  double within = 0.0;
  for (const Effect& effect : effects) {
    mean += effect.value / count;
    within += effect.variance / count;
  }
  double squares = 0.0;
  for (const Effect& effect : effects) squares += (effect.value - mean) * (effect.value - mean);
  return std::max(0.0, squares / (count - 1.0) - within);
}

double log_likelihood(std::span<const Effect> effects, double between) {
  const WeightedSums sums(effects, between);
  double logarithms = std::log(sums.w);
  for (const Effect& effect : effects) logarithms += std::log(effect.variance + between);
  return -(logarithms + sums.squares) / 2.0;
}

double scored(std::span<const Effect> effects, double between) {
  double scale = between;
  for (const Effect& effect : effects) scale = std::max(scale, effect.variance);
  for (int i = 0; i < kMaxSteps; ++i) {
    const double next = std::max(0.0, between + WeightedSums(effects, between).step());
    const bool is_there = std::abs(next - between) <= kConverged * scale;
    between = next;
    if (is_there) break;
  }
  return between;
}

/// Returns the most likely variance between machines. Fisher scoring starts from several values,
/// because a single start may lead to a local maximum.
double find_variance_between(std::span<const Effect> effects) {
  const double usual = unweighted_between(effects);
  double third = usual;
  if (effects.size() > 2) {
    std::vector<Effect> steadier(effects.begin(), effects.end());
    steadier.erase(std::ranges::max_element(steadier, {}, &Effect::variance));
    third = std::max(usual, unweighted_between(steadier));
  }
  double best = scored(effects, usual);
  for (const double start : {0.0, third}) {
    const double end = scored(effects, start);
    if (log_likelihood(effects, end) > log_likelihood(effects, best) + kRoundingError) best = end;
  }
  return best;
}

constexpr std::size_t kMinPoints = 3;

double mean_of(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

std::optional<EffectOverMachines> combine(std::span<const Effect> effects, double confidence) {
  const auto is_usable = [](const Effect& effect) {
    return std::isfinite(effect.value) && std::isfinite(effect.variance) && effect.variance > 0.0;
  };
  if (effects.empty() || !std::ranges::all_of(effects, is_usable)) return std::nullopt;

  const double tail = (1.0 - confidence) / 2.0;
  EffectOverMachines all;

  // A single machine says nothing about the variance between machines.
  if (effects.size() == 1) {
    all.value = effects.front().value;
    all.standard_error = std::sqrt(effects.front().variance);

    // Infinite degrees of freedom make Student's t the normal distribution.
    const double degrees = effects.front().degrees;
    const double deviates = std::isfinite(degrees)
                                ? student_t_quantile_above(tail, std::max(1.0, degrees))
                                : normal_quantile_above(tail);
    const double half_width = deviates * all.standard_error;
    all.bounds = {all.value - half_width, all.value + half_width};
    return all;
  }

  const double degrees = static_cast<double>(effects.size()) - 1.0;
  const double between = find_variance_between(effects);
  const WeightedSums sums(effects, between);

  // Hartung and Knapp's factor, but at least 1 (Jackson and others 2017).
  const double factor = std::max(1.0, sums.squares / degrees);
  all.value = sums.mean;
  all.standard_error = std::sqrt(factor / sums.w);
  const double half_width = student_t_quantile_above(tail, degrees) * all.standard_error;
  all.bounds = {all.value - half_width, all.value + half_width};
  all.deviation_between_machines = std::sqrt(between);

  // The sums of a model in which all machines have the same effect.
  const WeightedSums fixed(effects, 0.0);

  // The variance of a typical machine's error (Higgins & Thompson 2002).
  const double typical = degrees * fixed.w / (fixed.w * fixed.w - fixed.w2);
  all.heterogeneity = between / (between + typical);
  all.p_same = chi_squared_above(fixed.squares, degrees);

  return all;
}

std::optional<PowerLaw> fit_power_law(std::span<const double> x, std::span<const double> y,
                                      double confidence) {
  if (x.size() < kMinPoints) return std::nullopt;
  if (!are_positive(x) || !are_positive(y)) return std::nullopt;

  // Through points above a single x, any line fits as well as any other.
  const auto is_first_x = [&](double value) { return value == x.front(); };
  if (std::ranges::all_of(x, is_first_x)) return std::nullopt;

  // A power law is a straight line through the logarithms.
  const std::vector<double> u = logarithms(x);
  const std::vector<double> v = logarithms(y);
  const double mean_u = mean_of(u);
  const double mean_v = mean_of(v);

  double uu = 0.0;
  double uv = 0.0;
  double vv = 0.0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    uu += (u[i] - mean_u) * (u[i] - mean_u);
    uv += (u[i] - mean_u) * (v[i] - mean_v);
    vv += (v[i] - mean_v) * (v[i] - mean_v);
  }

  PowerLaw law;
  law.exponent = uv / uu;
  law.factor = std::exp(mean_v - law.exponent * mean_u);
  const double residual = std::max(vv - law.exponent * uv, 0.0);
  law.r_squared = vv > 0.0 ? 1.0 - residual / vv : 1.0;

  const double degrees = static_cast<double>(u.size()) - 2.0;
  const double half_width = student_t_quantile_above((1.0 - confidence) / 2.0, degrees) *
                            std::sqrt(residual / degrees / uu);
  law.exponent_low = law.exponent - half_width;
  law.exponent_high = law.exponent + half_width;

  return law;
}

}  // namespace lauka::stats
