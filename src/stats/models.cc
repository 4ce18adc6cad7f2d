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
  double w = 0.0;   ///< sum of the weights
  double w2 = 0.0;  ///< of their squares
  double w3 = 0.0;  ///< of their cubes
  double mean = 0.0;
  double squares = 0.0;  ///< weighted sum of the squared distances from the mean
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

/// A single machine keeps its own value and interval, because it says nothing about the variance
/// between machines.
EffectOverMachines take_single(const Effect& effect, double tail) {
  const double standard_error = std::sqrt(effect.variance);

  // Infinite degrees of freedom make Student's t the normal distribution.
  const double deviates = std::isfinite(effect.degrees)
                              ? student_t_quantile_above(tail, std::max(1.0, effect.degrees))
                              : normal_quantile_above(tail);
  const double half_width = deviates * standard_error;
  return {.value = effect.value,
          .standard_error = standard_error,
          .bounds = {effect.value - half_width, effect.value + half_width}};
}

/// Returns the mean of the effects, with the interval that has the probability `tail` beyond each
/// end. `sums`: weighted by the variance between machines, too.
EffectOverMachines take_weighted_mean(const WeightedSums& sums, double degrees, double tail) {
  // The variance of the weighted mean is 1 / (sum of the weights), times Hartung and Knapp's
  // factor, which corrects for the estimated variance between machines. At least 1: Jackson and
  // others 2017.
  const double factor = std::max(1.0, sums.squares / degrees);
  const double standard_error = std::sqrt(factor / sums.w);
  const double half_width = student_t_quantile_above(tail, degrees) * standard_error;
  return {.value = sums.mean,
          .standard_error = standard_error,
          .bounds = {sums.mean - half_width, sums.mean + half_width}};
}

/// Returns I^2 (Higgins & Thompson 2002): the share of the variance that is not the error of a
/// typical machine. `sums`: weighted without the variance between machines.
double share_between_machines(const WeightedSums& sums, double degrees, double variance_between) {
  const double typical_variance = degrees * sums.w / (sums.w * sums.w - sums.w2);
  return variance_between / (variance_between + typical_variance);
}

/// True if one power law fits these points better than all others.
bool has_best_fit(std::span<const double> x, std::span<const double> y) {
  if (x.size() < kMinPoints) return false;
  if (!are_positive(x) || !are_positive(y)) return false;

  // If all points have the same x, lines of any slope fit them equally well.
  const auto is_first_x = [&](double value) { return value == x.front(); };
  return !std::ranges::all_of(x, is_first_x);
}

/// The means of x and y, and the sums of the products of their distances from the means.
struct LineSums {
  double mean_x = 0.0;
  double mean_y = 0.0;
  double squares_of_x = 0.0;
  double products = 0.0;
  double squares_of_y = 0.0;
};

LineSums compute_line_sums(const std::vector<double>& x, const std::vector<double>& y) {
  LineSums sums{.mean_x = mean_of(x), .mean_y = mean_of(y)};
  for (std::size_t i = 0; i < x.size(); ++i) {
    sums.squares_of_x += (x[i] - sums.mean_x) * (x[i] - sums.mean_x);
    sums.products += (x[i] - sums.mean_x) * (y[i] - sums.mean_y);
    sums.squares_of_y += (y[i] - sums.mean_y) * (y[i] - sums.mean_y);
  }
  return sums;
}

/// Returns the half width of the interval of a regression's slope, by Student's t.
double half_width_of_slope(const LineSums& sums, double unexplained_squares, double points,
                           double confidence) {
  const double degrees = points - 2.0;  // the line's two parameters have spent two
  return student_t_quantile_above((1.0 - confidence) / 2.0, degrees) *
         std::sqrt(unexplained_squares / degrees / sums.squares_of_x);
}

}  // namespace

// Combines the effects that machines measured (a random-effects meta-analysis). Each machine may
// have another true effect. So the weight of an effect is 1 / (its own variance + the variance
// between machines). Returns nullopt if an effect is not usable, or if there are none.
std::optional<EffectOverMachines> combine(std::span<const Effect> effects, double confidence) {
  const auto is_usable = [](const Effect& effect) {
    return std::isfinite(effect.value) && std::isfinite(effect.variance) && effect.variance > 0.0;
  };
  if (effects.empty() || !std::ranges::all_of(effects, is_usable)) return std::nullopt;

  const double tail = (1.0 - confidence) / 2.0;
  if (effects.size() == 1) return take_single(effects.front(), tail);

  const double degrees = static_cast<double>(effects.size()) - 1.0;
  const double variance_between = find_variance_between(effects);
  const WeightedSums sums(effects, variance_between);

  EffectOverMachines combined = take_weighted_mean(sums, degrees, tail);
  combined.deviation_between_machines = std::sqrt(variance_between);

  // Cochran's test of the hypothesis that all machines have the same effect, so that the variance
  // between them is 0.
  constexpr double no_variance_between = 0.0;
  const WeightedSums sums_if_same(effects, no_variance_between);
  combined.p_same = chi_squared_above(sums_if_same.squares, degrees);
  combined.heterogeneity = share_between_machines(sums_if_same, degrees, variance_between);
  return combined;
}

// Fits the curve y = factor * x^exponent to points. Returns nullopt if has_best_fit() is false.
std::optional<PowerLaw> fit_power_law(std::span<const double> x, std::span<const double> y,
                                      double confidence) {
  if (!has_best_fit(x, y)) return std::nullopt;

  // The logarithms of a power law y = factor * x^exponent are a straight line, log y = log factor +
  // exponent * log x. The line is fitted by least squares.
  const LineSums sums = compute_line_sums(logarithms(x), logarithms(y));
  PowerLaw law;
  law.exponent = sums.products / sums.squares_of_x;
  law.factor = std::exp(sums.mean_y - law.exponent * sums.mean_x);

  // R^2 is the share of the squares of log y that the line explains. If all y are equal, it
  // explains everything. Rounding must not make the unexplained rest negative.
  const bool does_y_vary = sums.squares_of_y > 0.0;
  const double unexplained_squares =
      std::max(sums.squares_of_y - law.exponent * sums.products, 0.0);
  law.r_squared = does_y_vary ? 1.0 - unexplained_squares / sums.squares_of_y : 1.0;

  const double half_width =
      half_width_of_slope(sums, unexplained_squares, static_cast<double>(x.size()), confidence);
  law.exponent_low = law.exponent - half_width;
  law.exponent_high = law.exponent + half_width;

  return law;
}

}  // namespace lauka::stats
