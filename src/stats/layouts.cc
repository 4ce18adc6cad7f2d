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
constexpr std::size_t kMinRunsOfLayoutForAdvice = 4;

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
std::size_t find_fewest_layouts_above(std::size_t too_few, Test are_enough) {
  std::size_t enough = kMaxLayouts + 1;
  while (enough - too_few > 1) {
    const std::size_t middle = (too_few + enough) / 2;
    (are_enough(middle) ? enough : too_few) = middle;
  }
  return enough;
}

/// The runs of one command (or their ratios) by layout.
struct LayoutClusters {
  std::vector<LayoutMean> layout_means{};
  double variance_of_means = 0.0;
  double variance_of_runs = 0.0;     ///< within a layout
  double run_degrees = 0.0;          ///< degrees of freedom of `variance_of_runs`
  double mean_runs_of_layout = 0.0;  ///< harmonic mean of the layouts' numbers of runs

  /// Squared error of the mean from noise that lasts longer than a run, by the resemblance of
  /// neighbouring rounds.
  double squared_error_of_lasting_noise = 0.0;
  double mean = 0.0;   ///< of the layouts' means
  double range = 0.0;  ///< of the layouts' means

  /// Degrees of freedom of `variance_of_means`.
  double degrees() const { return to_double(layout_means.size()) - 1.0; }
  double squared_error() const {
    return variance_of_means / to_double(layout_means.size()) + squared_error_of_lasting_noise;
  }
  /// Returns the part of `variance_of_means` that the noise of runs explains.
  double variance_by_noise() const { return variance_of_runs / mean_runs_of_layout; }
  double variance_of_layouts() const {
    return std::max(variance_of_means - variance_by_noise(), 0.0);
  }
};

/// Describes runs that were made with several layouts (placements of the program in memory): how
/// much the layouts' means differ, and how much the runs of one layout differ. `layouts`: for each
/// layout, its number and the moments of its runs.
LayoutClusters make_clusters(std::span<const std::pair<std::uint32_t, Moments>> layouts) {
  LayoutClusters clusters;
  std::vector<double> means;
  double squares_within_layouts = 0.0;
  double sum_of_inverse_counts = 0.0;

  for (const auto& [layout, runs] : layouts) {
    means.push_back(runs.mean);
    clusters.layout_means.push_back({.layout = layout, .runs = runs.count, .value = runs.mean});
    const double degrees = to_double(runs.count) - 1.0;
    squares_within_layouts += runs.variance.value_or(0.0) * degrees;
    clusters.run_degrees += degrees;
    sum_of_inverse_counts += 1.0 / to_double(runs.count);
  }

  const Moments about_means = moments(means);
  clusters.mean = about_means.mean;
  clusters.range = about_means.range();
  clusters.variance_of_means = about_means.variance.value_or(0.0);

  // The variance of a layout's mean is proportional to 1 / number of its runs. So the mean number
  // of runs has to be the harmonic mean.
  clusters.mean_runs_of_layout = to_double(means.size()) / sum_of_inverse_counts;

  // The variance of runs is pooled over all layouts. It is unknown if each layout has a single run.
  if (clusters.run_degrees > 0.0)
    clusters.variance_of_runs = squares_within_layouts / clusters.run_degrees;

  return clusters;
}

/// Returns the samples without the means of their layouts.
std::vector<double> subtract_means(const LayoutSamples& samples,
                                   const std::map<std::uint32_t, double>& mean_of_layout) {
  std::vector<double> residuals(samples.values.size());
  for (std::size_t i = 0; i < residuals.size(); ++i)
    residuals[i] = samples.values[i] - mean_of_layout.at(samples.layouts[i]);
  return residuals;
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

  const std::vector<double> residuals = subtract_means(samples, mean_of_layout);
  const double factor = neighbour_resemblance(residuals).widening();
  all.squared_error_of_lasting_noise =
      (factor * factor - 1.0) * all.variance_of_runs / to_double(residuals.size());
  return all;
}

/// True if an F test finds that placement has an effect.
bool is_scatter_clear(const LayoutClusters& clusters) {
  const double variance_by_noise = clusters.variance_by_noise();
  const double f = variance_by_noise > 0.0 ? clusters.variance_of_means / variance_by_noise
                                           : std::numeric_limits<double>::infinity();
  return clusters.variance_of_means > 0.0 &&
         f_above(f, clusters.degrees(), clusters.run_degrees) <= kScatterTail;
}

/// Returns the interval of the variance between layouts, if it is clear.
IntervalEnds bounds_of_clear_variance(const LayoutClusters& clusters) {
  const double variance_of_means = clusters.variance_of_means;
  const double variance_by_noise = clusters.variance_by_noise();
  const double variance = variance_of_means - variance_by_noise;

  // Satterthwaite's degrees of freedom of a difference of two variances make the interval that of a
  // single variance, by chi squared.
  const double degrees_of_variance = variance * variance /
                                     (variance_of_means * variance_of_means / clusters.degrees() +
                                      variance_by_noise * variance_by_noise / clusters.run_degrees);
  return {.low = degrees_of_variance * variance /
                 chi_squared_quantile_above(kScatterTail, degrees_of_variance),
          .high = degrees_of_variance * variance /
                  chi_squared_quantile_above(1.0 - kScatterTail, degrees_of_variance)};
}

/// Returns the interval of the variance between layouts, if it may be 0.
IntervalEnds bounds_of_unclear_variance(const LayoutClusters& clusters) {
  // If the variance is close to zero, Satterthwaite's degrees of freedom are meaningless. So the
  // upper bound is for the variance of the layouts' means, from which the noise of runs is not
  // subtracted.
  const double degrees = clusters.degrees();
  return {.low = 0.0,
          .high = degrees * clusters.variance_of_means /
                  chi_squared_quantile_above(1.0 - kScatterTail, degrees)};
}

/// Estimates how much the placement in memory alone makes a command's times differ, as a standard
/// deviation with a 95% interval. Returns nullopt if each layout has a single run, or `scale` is
/// not positive. `sides`: number of commands whose scatter adds up in `clusters`. `scale`: value of
/// which the scatter is a fraction; 1 for logarithms.
std::optional<Scatter> estimate_scatter(const LayoutClusters& clusters, double sides,
                                        double scale) {
  const bool is_scale_positive = scale > 0.0;  // false for NaN, too
  if (clusters.run_degrees <= 0.0 || !is_scale_positive) return std::nullopt;

  const auto to_deviation = [&](double variance_of_all_sides) {
    return std::sqrt(std::max(variance_of_all_sides, 0.0) / sides) / scale;
  };
  const bool is_clear = is_scatter_clear(clusters);
  const auto [low, high] =
      is_clear ? bounds_of_clear_variance(clusters) : bounds_of_unclear_variance(clusters);

  // The noise of runs scatters the layouts' means, too, even if their placement has no effect. So
  // its share is subtracted (analysis of variance).
  const double variance = clusters.variance_of_means - clusters.variance_by_noise();
  return Scatter{.deviation = to_deviation(variance),
                 .bounds = IntervalEnds{to_deviation(low), to_deviation(high)},
                 .is_clear = is_clear};
}

std::size_t find_fewest_runs(const LayoutClusters& all) {
  return std::ranges::min_element(all.layout_means, {}, &LayoutMean::runs)->runs;
}

constexpr double kScaleOfLogarithms = 1.0;  // their scatter is a fraction already

/// `sides` and `scale` are those of estimate_scatter.
LayoutEstimate make_estimate(const LayoutClusters& all, double sides, double scale) {
  LayoutEstimate estimate;
  estimate.value = all.mean;
  estimate.squared_standard_error = all.squared_error();
  estimate.degrees = all.degrees();
  estimate.layout_count = all.layout_means.size();
  estimate.fewest_runs_of_layout = find_fewest_runs(all);
  estimate.variance_within_layouts = all.variance_of_runs;
  estimate.variance_of_layouts = all.variance_of_layouts();
  if (all.variance_of_means > 0.0)
    estimate.widening =
        std::sqrt(all.squared_error() / (all.squared_error() - all.squared_error_of_lasting_noise));
  estimate.scatter = estimate_scatter(all, sides, scale);
  estimate.layout_means = all.layout_means;
  return estimate;
}

LayoutEstimate make_difference(const LayoutClusters& reference, const LayoutClusters& candidate) {
  LayoutEstimate estimate = make_estimate(candidate, 1.0, kScaleOfLogarithms);
  for (LayoutMean& of_layout : estimate.layout_means) of_layout.value -= reference.mean;
  estimate.value = candidate.mean - reference.mean;
  estimate.squared_standard_error = candidate.squared_error() + reference.squared_error();
  estimate.degrees = welch_degrees(candidate.squared_error(), candidate.layout_means.size(),
                                   reference.squared_error(), reference.layout_means.size());
  estimate.layout_count = std::min(candidate.layout_means.size(), reference.layout_means.size());
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

/// The values of two commands, one for each layout.
struct LayoutValuePair {
  LayoutValues reference{};
  LayoutValues candidate{};
  bool paired = false;

  bool has_enough_layouts() const {
    return std::min(reference.values.size(), candidate.values.size()) >= kMinLayouts;
  }
  SamplePair samples() const {
    return {.reference = reference.values, .candidate = candidate.values, .paired = paired};
  }
};

LayoutValuePair reduce_to_layouts(const LayoutSamplePair& samples, std::optional<double> share) {
  return {.reference = reduce_to_layouts(samples.reference, share),
          .candidate = reduce_to_layouts(samples.candidate, share),
          .paired = samples.paired};
}

/// A new session, in which one that was measured is repeated with other numbers of runs.
struct NewSession {
  std::size_t layouts = 0;
  double squared_standard_error = 0.0;
  /// Squared standard error of the difference between its value and the measured one.
  double squared_error_of_difference = 0.0;
};

/// Returns the squared standard error of the mean of so many layouts. The noise of runs gives each
/// layout's own mean the variance `noise_variance`.
double squared_error_with(const LayoutEstimate& now, std::size_t layouts, double noise_variance) {
  return (now.variance_of_layouts + noise_variance) / to_double(layouts);
}

/// Returns a session with unlimited runs of the present layouts. They remove the noise of runs, but
/// leave the effect of placement as it is.
NewSession repeat_with_more_runs(const LayoutEstimate& now) {
  const double squared_error = squared_error_with(now, now.layout_count, 0.0);

  // With the same layouts, the new value differs from the present one only by the noise of the
  // present runs.
  const double squared_error_by_noise = std::max(now.squared_standard_error - squared_error, 0.0);
  return {.layouts = now.layout_count,
          .squared_standard_error = squared_error,
          .squared_error_of_difference = squared_error_by_noise};
}

/// Returns a session with other layouts, and with as many runs of each layout. It differs from the
/// present one by the errors of both.
NewSession repeat_with_layouts(const LayoutEstimate& now, std::size_t layouts) {
  const double noise_variance = now.variance_within_layouts / to_double(now.fewest_runs_of_layout);
  const double squared_error = squared_error_with(now, layouts, noise_variance);
  return {.layouts = layouts,
          .squared_standard_error = squared_error,
          .squared_error_of_difference = now.squared_standard_error + squared_error};
}

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

/// Compares logarithms of values round by round. Runs of the same round share noise, which their
/// ratio does not have.
std::optional<LayoutEstimate> compare_rounds(const LayoutSamplePair& logs) {
  std::vector<double> log_ratios(logs.candidate.values.size());
  for (std::size_t i = 0; i < log_ratios.size(); ++i)
    log_ratios[i] = logs.candidate.values[i] - logs.reference.values[i];

  const auto clusters = make_clusters({log_ratios, logs.candidate.layouts});
  if (!clusters) return std::nullopt;
  constexpr double sides = 2.0;  // a ratio scatters because both commands do
  LayoutEstimate estimate = make_estimate(*clusters, sides, kScaleOfLogarithms);
  estimate.are_means_equal = is_rounding_error(clusters->range, kScaleOfLogarithms);
  return estimate;
}

/// Compares logarithms of values that were not measured in the same rounds.
std::optional<LayoutEstimate> compare_independent(const LayoutSamplePair& logs) {
  const auto reference = make_clusters(logs.reference);
  const auto candidate = make_clusters(logs.candidate);
  if (!reference || !candidate) return std::nullopt;
  LayoutEstimate estimate = make_difference(*reference, *candidate);
  estimate.are_means_equal =
      is_rounding_error(std::max(reference->range, candidate->range), kScaleOfLogarithms);
  return estimate;
}

/// Compares a quantile of each layout. Quantiles are compared like layouts with a single run each.
std::optional<LayoutEstimate> compare_quantiles(const LayoutSamplePair& samples, double share) {
  const LayoutValuePair quantiles = reduce_to_layouts(samples, share);
  return log_ratio_over_layouts({.reference = quantiles.reference.samples(),
                                 .candidate = quantiles.candidate.samples(),
                                 .paired = samples.paired});
}

/// True if neither command varies from run to run.
bool are_exact(const LayoutSamplePair& samples) {
  return moments(samples.reference.values).is_exact() &&
         moments(samples.candidate.values).is_exact();
}

/// Returns the change of the mean over layouts. `layout_values`: one for each layout.
Change estimate_change_of_mean(const SamplePair& layout_values, double tail) {
  const IntervalTails both{.tail_of_delta = tail, .tail_of_mean_change = tail};
  return estimate_delta(layout_values, both).change_of_mean;
}

/// Returns the change that an estimate of log(candidate / reference) stands for, with its interval.
Change make_change(const LayoutEstimate& estimate, double tail) {
  Change change{.change = std::expm1(without_rounding_error(estimate.value, 1.0))};

  // If all layouts have the same mean, there is no noise from which an interval could be computed.
  // With enough layouts, an interval without width is still justified.
  if (estimate.are_means_equal) {
    constexpr double any_difference = 1.0;  // only its sign matters
    const double chance = tails_without_noise(any_difference, estimate.layout_count).above;
    if (chance <= tail) change.bounds = IntervalEnds{*change.change, *change.change};
    return change;
  }

  const double reach = estimate.interval_half_width(tail);
  change.bounds =
      IntervalEnds{std::expm1(estimate.value - reach), std::expm1(estimate.value + reach)};
  return change;
}

}  // namespace

double LayoutEstimate::interval_half_width(double tail) const {
  return student_t_quantile_above(tail, degrees) * std::sqrt(squared_standard_error);
}

double LayoutEstimate::expected_half_width(double tail, std::size_t layouts_then,
                                           std::size_t sweeps_then) const {
  const double noise = sweeps_then == 0 ? 0.0 : variance_within_layouts / to_double(sweeps_then);
  return student_t_quantile_above(tail, to_double(layouts_then) - 1.0) *
         std::sqrt(squared_error_with(*this, layouts_then, noise));
}

std::optional<std::size_t> LayoutEstimate::layouts_instead_of_runs(double half_width,
                                                                   double tail) const {
  if (fewest_runs_of_layout < kMinRunsOfLayoutForAdvice ||
      expected_half_width(tail, layout_count, 0) <= half_width)
    return std::nullopt;
  return find_fewest_layouts_above(layout_count, [&](std::size_t layouts) {
    // A new session's variance between layouts may be larger than this one's.
    const double growth =
        f_quantile_above(1.0 - kChanceOfAdvice, to_double(layouts) - 1.0, degrees);
    return std::sqrt(growth) * expected_half_width(tail, layouts, fewest_runs_of_layout) <=
           half_width;
  });
}

// Advice for users whose session could not decide if a value is above or below a limit: how many
// layouts (placements of the program in memory) a new session needs to decide. There is no advice
// if the session is too small for it, or if more runs of the present layouts would do.
std::optional<std::size_t> LayoutEstimate::layouts_to_decide(double limit,
                                                             const AllowedErrors& allowed) const {
  // With fewer runs or layouts, the two variances are too uncertain for advice.
  if (fewest_runs_of_layout < kMinRunsOfLayoutForAdvice || layout_count < kLayoutsForAdvice)
    return std::nullopt;

  const auto is_likely_to_decide = [&](const NewSession& then) {
    return chance_to_decide(*this, then, limit, allowed) >= kChanceOfAdvice;
  };
  if (is_likely_to_decide(repeat_with_more_runs(*this))) return std::nullopt;
  return find_fewest_layouts_above(layout_count, [&](std::size_t layouts) {
    return is_likely_to_decide(repeat_with_layouts(*this, layouts));
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

// Estimates the mean of log(candidate / reference) over layouts, which are placements of the
// program in memory. Runs of one layout are not independent of each other, so layouts are what is
// counted.
std::optional<LayoutEstimate> log_ratio_over_layouts(const LayoutSamplePair& samples,
                                                     std::optional<double> share) {
  const auto& [reference, candidate, paired] = samples;
  if (!are_positive(reference.values) || !are_positive(candidate.values)) return std::nullopt;
  if (share) return compare_quantiles(samples, *share);

  const std::vector<double> reference_logs = logarithms(reference.values);
  const std::vector<double> candidate_logs = logarithms(candidate.values);
  const LayoutSamplePair logs{.reference = {reference_logs, reference.layouts},
                              .candidate = {candidate_logs, candidate.layouts},
                              .paired = paired};
  return paired ? compare_rounds(logs) : compare_independent(logs);
}

// Estimates the change between two commands that were measured with several layouts (placements of
// the program in memory). Runs of one layout are not independent, so each layout counts as one
// value: its mean or, with `share`, its quantile at `share`.
Delta delta_over_layouts(const LayoutSamplePair& samples, const IntervalTails& tails,
                         std::optional<double> share) {
  Delta delta;
  delta.basis = Basis::Layouts;

  // Without a change, the delta says that there are too few layouts.
  const LayoutValuePair values = reduce_to_layouts(samples, share);
  if (!values.has_enough_layouts()) return delta;

  // A percentile has no change of the mean.
  if (!share)
    delta.change_of_mean = estimate_change_of_mean(values.samples(), tails.tail_of_mean_change);

  // The change that users see first is the base class of Delta. It is estimated from logarithms, or
  // from the mean if a value of 0 has no logarithm.
  auto& first_change = static_cast<Change&>(delta);
  if (const auto log_ratio = log_ratio_over_layouts(samples, share)) {
    first_change = make_change(*log_ratio, tails.tail_of_delta);
    delta.widening = log_ratio->widening;
  } else {
    first_change = estimate_change_of_mean(values.samples(), tails.tail_of_delta);
  }

  // Layouts may have equal means although their runs differ. Only equal runs make a change exact.
  delta.is_exact = are_exact(samples);
  return delta;
}

MeanTest test_over_layouts(const LayoutSamplePair& samples, double ratio,
                           std::optional<double> share) {
  const LayoutValuePair values = reduce_to_layouts(samples, share);
  if (!values.has_enough_layouts()) return {};
  const auto estimate = ratio > 0.0 ? log_ratio_over_layouts(samples, share) : std::nullopt;
  if (!estimate)
    return samples.paired
               ? paired_mean_test(values.reference.values, values.candidate.values, ratio)
               : welch_mean_test(values.reference.values, values.candidate.values, ratio);
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
