#include "stats/layouts.h"

#include "core/command.h"
#include "stats/distributions.h"
#include "stats/resemblance.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lauka::stats {

namespace {

constexpr double kScatterTail = 0.025;
/// Fewest layouts for layouts_to_decide(), whose advice held in 73% of simulated sessions of four.
constexpr std::size_t kLayoutsForAdvice = 6;
constexpr std::size_t kSweepsForAdvice = 4;  // fewest runs per layout for layouts_instead_of_runs()

/// Returns the value that F exceeds with `probability` (0..1, exclusive).
double f_quantile_above(double probability, double numerator_degrees, double denominator_degrees) {
  double low = 0.0;
  double high = 1.0;
  const auto is_exceeded_more_often = [&](double value) {
    return f_above(value, numerator_degrees, denominator_degrees) > probability;
  };
  while (is_exceeded_more_often(high)) high *= 2.0;
  constexpr int halvings = 40;
  for (int i = 0; i < halvings; ++i) {
    const double middle = (low + high) / 2.0;
    (is_exceeded_more_often(middle) ? low : high) = middle;
  }
  return high;
}

/// Returns the fewest layouts, more than `too_few`, for which `are_enough` is true; kMaxLayouts + 1
/// if it is false for kMaxLayouts.
template <typename Test>
std::size_t find_fewest_layouts(std::size_t too_few, Test are_enough) {
  std::size_t enough = kMaxLayouts + 1;
  while (enough - too_few > 1) {
    const std::size_t middle = (too_few + enough) / 2;
    (are_enough(middle) ? enough : too_few) = middle;
  }
  return enough;
}

/// The runs of one command (or their ratios) by layout.
struct LayoutClusters {
  std::vector<LayoutMean> each{};
  double variance_of_means = 0.0;
  double variance_of_runs = 0.0;  ///< within a layout
  double run_degrees = 0.0;       ///< degrees of freedom of `variance_of_runs`
  double runs_a_layout = 0.0;     ///< harmonic mean of the layouts' numbers of runs

  /// Squared error of the mean from noise that lasts longer than a run, by the resemblance of
  /// neighbouring rounds.
  double squared_error_of_lasting_noise = 0.0;
  double mean = 0.0;   ///< of the layouts' means
  double range = 0.0;  ///< of the layouts' means

  double squared_error() const {
    return variance_of_means / to_double(each.size()) + squared_error_of_lasting_noise;
  }
  double variance_of_layouts() const {
    return std::max(variance_of_means - variance_of_runs / runs_a_layout, 0.0);
  }
};

LayoutClusters make_clusters(std::span<const std::pair<std::uint32_t, Moments>> layouts) {
  LayoutClusters all;
  std::vector<double> means;
  double squares = 0.0;
  double inverse_runs = 0.0;

  for (const auto& [layout, runs] : layouts) {
    means.push_back(runs.mean);
    all.each.push_back({.layout = layout, .runs = runs.count, .value = runs.mean});
    const double degrees = to_double(runs.count) - 1.0;
    squares += runs.variance.value_or(0.0) * degrees;
    all.run_degrees += degrees;
    inverse_runs += 1.0 / to_double(runs.count);
  }

  const Moments layout_means = moments(means);
  all.mean = layout_means.mean;
  all.range = layout_means.range();
  all.variance_of_means = layout_means.variance.value_or(0.0);
  all.runs_a_layout = to_double(means.size()) / inverse_runs;
  if (all.run_degrees > 0.0) all.variance_of_runs = squares / all.run_degrees;

  return all;
}

std::optional<LayoutClusters> make_clusters(const LayoutSamples& samples) {
  const auto by_layout = values_by_layout(samples);
  if (by_layout.size() < kMinLayouts) return std::nullopt;
  std::vector<std::pair<std::uint32_t, Moments>> layouts;
  std::map<std::uint32_t, double> mean_of_layout;
  for (const auto& [layout, values] : by_layout) {
    layouts.emplace_back(layout, moments(values));
    mean_of_layout[layout] = layouts.back().second.mean;
  }
  LayoutClusters all = make_clusters(layouts);
  if (all.run_degrees <= 0.0) return all;
  std::vector<double> residuals(samples.values.size());
  for (std::size_t i = 0; i < residuals.size(); ++i)
    residuals[i] = samples.values[i] - mean_of_layout[samples.layouts[i]];
  const double factor = neighbour_resemblance(residuals).widening();
  all.squared_error_of_lasting_noise =
      (factor * factor - 1.0) * all.variance_of_runs / to_double(residuals.size());
  return all;
}

/// Returns the scatter of one command; nullopt if each layout has a single run, or `scale` is not
/// positive. `sides`: number of commands whose scatter adds up in `all`. `scale`: value of which
/// the scatter is a fraction; 1 for logarithms.
std::optional<Scatter> estimate_scatter(const LayoutClusters& all, double sides, double scale) {
  if (all.run_degrees <= 0.0 || !(scale > 0.0)) return std::nullopt;

  // The noise of runs scatters the layouts' means, too, even if their placement has no effect.
  const double of_noise = all.variance_of_runs / all.runs_a_layout;
  const double variance = all.variance_of_means - of_noise;
  const double degrees = to_double(all.each.size()) - 1.0;
  const auto deviation_of = [&](double variance_of_all) {
    return std::sqrt(std::max(variance_of_all, 0.0) / sides) / scale;
  };

  Scatter scatter{.deviation = deviation_of(variance)};
  const double quotient =
      of_noise > 0.0 ? all.variance_of_means / of_noise : std::numeric_limits<double>::infinity();
  scatter.is_clear =
      all.variance_of_means > 0.0 && f_above(quotient, degrees, all.run_degrees) <= kScatterTail;

  if (scatter.is_clear) {
    // Satterthwaite's degrees of freedom of a difference of two variances.
    const double nu = variance * variance /
                      (all.variance_of_means * all.variance_of_means / degrees +
                       of_noise * of_noise / all.run_degrees);
    const double smallest_variance = nu * variance / chi_squared_quantile_above(kScatterTail, nu);
    const double largest_variance =
        nu * variance / chi_squared_quantile_above(1.0 - kScatterTail, nu);
    scatter.bounds = IntervalEnds{deviation_of(smallest_variance), deviation_of(largest_variance)};
  } else {
    // If the variance is close to zero, Satterthwaite's degrees of freedom are meaningless. So the
    // upper bound is for the variance of the layouts' means, from which the noise of runs is not
    // subtracted.
    const double largest_variance =
        degrees * all.variance_of_means / chi_squared_quantile_above(1.0 - kScatterTail, degrees);
    scatter.bounds = IntervalEnds{0.0, deviation_of(largest_variance)};
  }

  return scatter;
}

std::size_t find_fewest_runs(const LayoutClusters& all) {
  return std::ranges::min_element(all.each, {}, &LayoutMean::runs)->runs;
}

constexpr double kScaleOfLogarithms = 1.0;  // their scatter is a fraction already

/// `sides` and `scale` are those of estimate_scatter.
LayoutEstimate make_estimate(const LayoutClusters& all, double sides, double scale) {
  LayoutEstimate estimate;
  estimate.value = all.mean;
  estimate.squared_standard_error = all.squared_error();
  estimate.degrees = to_double(all.each.size()) - 1.0;
  estimate.layout_count = all.each.size();
  estimate.fewest_runs_of_layout = find_fewest_runs(all);
  estimate.variance_within_layouts = all.variance_of_runs;
  estimate.variance_of_layouts = all.variance_of_layouts();
  if (all.variance_of_means > 0.0)
    estimate.widening =
        std::sqrt(all.squared_error() / (all.squared_error() - all.squared_error_of_lasting_noise));
  estimate.scatter = estimate_scatter(all, sides, scale);
  estimate.layout_means = all.each;
  return estimate;
}

LayoutEstimate make_difference(const LayoutClusters& reference, const LayoutClusters& candidate) {
  LayoutEstimate estimate = make_estimate(candidate, 1.0, kScaleOfLogarithms);
  for (LayoutMean& of_layout : estimate.layout_means) of_layout.value -= reference.mean;
  estimate.value = candidate.mean - reference.mean;
  estimate.squared_standard_error = candidate.squared_error() + reference.squared_error();
  estimate.degrees = welch_degrees(candidate.squared_error(), candidate.each.size(),
                                   reference.squared_error(), reference.each.size());
  estimate.layout_count = std::min(candidate.each.size(), reference.each.size());
  estimate.fewest_runs_of_layout =
      std::min(estimate.fewest_runs_of_layout, find_fewest_runs(reference));
  estimate.variance_within_layouts += reference.variance_of_runs;
  estimate.variance_of_layouts += reference.variance_of_layouts();
  return estimate;
}

/// One value for each layout.
struct LayoutValues {
  std::vector<double> values{};
  std::vector<std::uint32_t> layouts{};

  LayoutSamples samples() const { return {values, layouts}; }
};

/// Returns the quantile at `share` of each layout; without `share`, its mean.
LayoutValues reduce_to_layouts(const LayoutSamples& samples, std::optional<double> share) {
  LayoutValues all;
  for (const auto& [layout, values] : values_by_layout(samples)) {
    all.layouts.push_back(layout);
    all.values.push_back(share ? quantile(sorted(values), *share) : moments(values).mean);
  }
  return all;
}

bool have_enough_layouts(const LayoutValues& reference, const LayoutValues& candidate) {
  return std::min(reference.values.size(), candidate.values.size()) >= kMinLayouts;
}

/// A new session, in which one that was measured is repeated with other numbers of runs.
struct NewSession {
  std::size_t layouts = 0;
  double squared_standard_error = 0.0;
  /// Squared standard error of the difference between its value and the measured one.
  double squared_error_of_difference = 0.0;
};

/// Returns the probability that the new session decides if the value is above or below `limit`.
double chance_to_decide(const LayoutEstimate& now, const NewSession& then, double limit,
                        const AllowedErrors& allowed) {
  const double spread = std::sqrt(then.squared_error_of_difference);
  const auto chance = [&](std::optional<double> error, double distance) {
    if (!error) return 0.0;
    const double needed = student_t_quantile_above(*error, to_double(then.layouts) - 1.0) *
                          std::sqrt(then.squared_standard_error);
    if (spread <= 0.0) return distance >= needed ? 1.0 : 0.0;
    return student_t_above((needed - distance) / spread, now.degrees);
  };
  return chance(allowed.above, now.value - limit) + chance(allowed.below, limit - now.value);
}

}  // namespace

double LayoutEstimate::interval_half_width(double tail) const {
  return student_t_quantile_above(tail, degrees) * std::sqrt(squared_standard_error);
}

double LayoutEstimate::expected_half_width(double tail, std::size_t layouts_then,
                                           std::size_t sweeps_then) const {
  const double noise = sweeps_then == 0 ? 0.0 : variance_within_layouts / to_double(sweeps_then);
  return student_t_quantile_above(tail, to_double(layouts_then) - 1.0) *
         std::sqrt((variance_of_layouts + noise) / to_double(layouts_then));
}

std::optional<std::size_t> LayoutEstimate::layouts_instead_of_runs(double half_width,
                                                                   double tail) const {
  if (fewest_runs_of_layout < kSweepsForAdvice ||
      expected_half_width(tail, layout_count, 0) <= half_width)
    return std::nullopt;
  return find_fewest_layouts(layout_count, [&](std::size_t layouts) {
    // A new session's variance between layouts may be larger than this one's.
    const double growth =
        f_quantile_above(1.0 - kChanceOfAdvice, to_double(layouts) - 1.0, degrees);
    return std::sqrt(growth) * expected_half_width(tail, layouts, fewest_runs_of_layout) <=
           half_width;
  });
}

std::optional<std::size_t> LayoutEstimate::layouts_to_decide(double limit,
                                                             const AllowedErrors& allowed) const {
  if (fewest_runs_of_layout < kSweepsForAdvice || layout_count < kLayoutsForAdvice)
    return std::nullopt;
  const auto squared_error_with = [&](std::size_t layouts, double noise_of_layout) {
    return (variance_of_layouts + noise_of_layout) / to_double(layouts);
  };

  // Unlimited runs of the present layouts would leave the effect of their placement as it is. If
  // they are likely to decide, no layouts are needed.
  const double error_without_noise = squared_error_with(layout_count, 0.0);
  const double noise_now = std::max(squared_standard_error - error_without_noise, 0.0);
  const NewSession with_more_runs{.layouts = layout_count,
                                  .squared_standard_error = error_without_noise,
                                  .squared_error_of_difference = noise_now};
  if (chance_to_decide(*this, with_more_runs, limit, allowed) >= kChanceOfAdvice)
    return std::nullopt;

  const double noise_of_layout = variance_within_layouts / to_double(fewest_runs_of_layout);
  return find_fewest_layouts(layout_count, [&](std::size_t layouts) {
    const double error = squared_error_with(layouts, noise_of_layout);
    const NewSession with_more_layouts{
        .layouts = layouts,
        .squared_standard_error = error,
        .squared_error_of_difference = squared_standard_error + error};
    return chance_to_decide(*this, with_more_layouts, limit, allowed) >= kChanceOfAdvice;
  });
}

std::optional<LayoutEstimate> mean_of_log_ratios(
    std::span<const std::pair<std::uint32_t, Moments>> layouts) {
  if (layouts.size() < kMinLayouts) return std::nullopt;
  return make_estimate(make_clusters(layouts), 2.0, kScaleOfLogarithms);
}

std::optional<LayoutEstimate> mean_over_layouts(const LayoutSamples& samples) {
  const auto all = make_clusters(samples);
  if (!all) return std::nullopt;
  LayoutEstimate estimate = make_estimate(*all, 1.0, std::abs(all->mean));
  estimate.are_means_equal = is_rounding_error(all->range, std::abs(all->mean));
  return estimate;
}

std::optional<LayoutEstimate> log_ratio_over_layouts(const LayoutSamplePair& samples,
                                                     std::optional<double> share) {
  const auto& [reference, candidate, paired] = samples;
  if (!are_positive(reference.values) || !are_positive(candidate.values)) return std::nullopt;

  // Each layout's quantile is a single value, and these are compared like runs.
  if (share) {
    const LayoutValues quantiles_of_reference = reduce_to_layouts(reference, share);
    const LayoutValues quantiles_of_candidate = reduce_to_layouts(candidate, share);
    return log_ratio_over_layouts({.reference = quantiles_of_reference.samples(),
                                   .candidate = quantiles_of_candidate.samples(),
                                   .paired = paired});
  }

  const std::vector<double> reference_logs = logarithms(reference.values);
  const std::vector<double> candidate_logs = logarithms(candidate.values);

  LayoutEstimate estimate;
  double range = 0.0;
  if (paired) {
    std::vector<double> log_ratios(candidate_logs.size());
    for (std::size_t i = 0; i < log_ratios.size(); ++i)
      log_ratios[i] = candidate_logs[i] - reference_logs[i];

    const auto clusters = make_clusters({log_ratios, candidate.layouts});
    if (!clusters) return std::nullopt;
    constexpr double sides = 2.0;  // a ratio scatters because both commands do
    estimate = make_estimate(*clusters, sides, kScaleOfLogarithms);
    range = clusters->range;
  } else {
    const auto reference_clusters = make_clusters({reference_logs, reference.layouts});
    const auto candidate_clusters = make_clusters({candidate_logs, candidate.layouts});
    if (!reference_clusters || !candidate_clusters) return std::nullopt;
    estimate = make_difference(*reference_clusters, *candidate_clusters);
    range = std::max(reference_clusters->range, candidate_clusters->range);
  }

  estimate.are_means_equal = is_rounding_error(range, 1.0);
  return estimate;
}

Delta delta_over_layouts(const LayoutSamplePair& samples, const IntervalTails& tails,
                         std::optional<double> share) {
  Delta delta;
  delta.basis = Basis::Layouts;

  const LayoutValues of_reference = reduce_to_layouts(samples.reference, share);
  const LayoutValues of_candidate = reduce_to_layouts(samples.candidate, share);
  if (!have_enough_layouts(of_reference, of_candidate)) return delta;
  const SamplePair means{
      .reference = of_reference.values, .candidate = of_candidate.values, .paired = samples.paired};

  const auto change_of_mean_at = [&](double tail) {
    const IntervalTails both{.tail_of_delta = tail, .tail_of_mean_change = tail};
    return estimate_delta(means, both).change_of_mean;
  };

  const bool is_exact =
      moments(samples.reference.values).is_exact() && moments(samples.candidate.values).is_exact();
  delta.is_exact = is_exact;
  if (!share) delta.change_of_mean = change_of_mean_at(tails.tail_of_mean_change);

  // If a value is 0, and there are no logarithms, the mean's change is shown.
  const auto estimate = log_ratio_over_layouts(samples, share);
  if (!estimate) {
    static_cast<Change&>(delta) = change_of_mean_at(tails.tail_of_delta);
    delta.is_exact = is_exact;  // of the runs, not of the layouts' means
    return delta;
  }

  delta.change = std::expm1(without_rounding_error(estimate->value, 1.0));
  delta.widening = estimate->widening;

  // If all layouts have the same mean, the interval is this single value, provided that there are
  // enough layouts.
  if (estimate->are_means_equal) {
    constexpr double any_difference = 1.0;  // only its sign matters
    const auto of_equal_means = tails_without_noise(any_difference, estimate->layout_count);
    if (of_equal_means.above <= tails.tail_of_delta)
      delta.bounds = IntervalEnds{*delta.change, *delta.change};
    return delta;
  }

  const double reach = estimate->interval_half_width(tails.tail_of_delta);
  delta.bounds =
      IntervalEnds{std::expm1(estimate->value - reach), std::expm1(estimate->value + reach)};
  return delta;
}

MeanTest test_over_layouts(const LayoutSamplePair& samples, double ratio,
                           std::optional<double> share) {
  const LayoutValues of_reference = reduce_to_layouts(samples.reference, share);
  const LayoutValues of_candidate = reduce_to_layouts(samples.candidate, share);
  if (!have_enough_layouts(of_reference, of_candidate)) return {};
  const auto estimate = ratio > 0.0 ? log_ratio_over_layouts(samples, share) : std::nullopt;
  if (!estimate)
    return samples.paired ? paired_mean_test(of_reference.values, of_candidate.values, ratio)
                          : welch_mean_test(of_reference.values, of_candidate.values, ratio);
  const double difference = without_rounding_error(estimate->value - std::log(ratio), 1.0);
  if (estimate->are_means_equal)
    return {.difference = difference,
            .tails = tails_without_noise(difference, estimate->layout_count)};
  return mean_test(difference, std::sqrt(estimate->squared_standard_error), estimate->degrees);
}

std::map<std::uint32_t, std::vector<double>> values_by_layout(const LayoutSamples& samples) {
  std::map<std::uint32_t, std::vector<double>> by_layout;
  for (std::size_t i = 0; i < samples.values.size(); ++i)
    by_layout[samples.layouts[i]].push_back(samples.values[i]);
  return by_layout;
}

}  // namespace lauka::stats
