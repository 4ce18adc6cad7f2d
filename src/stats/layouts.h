#pragma once

#include "stats/delta.h"
#include "stats/sample_pair.h"
#include "stats/summary.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

// Builds of a program with different placement of code (layouts) differ in speed. More runs of one
// layout say nothing about other layouts. So intervals are computed from the layouts' means, by
// Student's t.

namespace lauka::stats {

/// The predicted share of sessions in which advice about the number of rounds or layouts holds. In
/// simulations, where the assumptions of the prediction do not quite hold, it is at least 80%.
inline constexpr double kChanceOfAdvice = 0.85;

/// The errors allowed for the answers that a value is above or below a limit; nullopt: the answer
/// cannot be given.
struct AllowedErrors {
  std::optional<double> above{};
  std::optional<double> below{};
};

struct LayoutMean {
  std::uint32_t layout = 0;
  std::size_t runs = 0;
  /// From mean_over_layouts, the mean of the layout's samples. From log_ratio_over_layouts, the
  /// mean of the log ratios of the candidate's layout to the same layout of the reference if
  /// paired, else to the reference's mean over its layouts; for a quantile, of the quantiles.
  double value = 0.0;
};

/// How much a command's layouts differ because of the placement of code alone: their standard
/// deviation as a fraction of the command's value.
struct Scatter {
  double deviation = 0.0;
  /// 95% confidence interval; begins at 0 if is_clear is false.
  std::optional<IntervalEnds> bounds{};
  /// True if the noise of runs alone would cause such a scatter with a probability of at most 2.5%.
  bool is_clear = false;
};

/// An estimate from the means of layouts. For two unpaired commands, `scatter`, `widening` and
/// `layout_means` are the candidate's.
struct LayoutEstimate {
  /// Mean over layouts of a command's values, or of log(candidate / reference).
  double value = 0.0;
  double squared_standard_error = 0.0;
  double degrees = 1.0;
  std::size_t layout_count = 0;
  /// Number of runs of the layout with the fewest runs; 1 for a quantile.
  std::size_t fewest_runs_of_layout = 0;
  bool are_means_equal = false;
  /// Variance between layouts that `variance_within_layouts` does not explain; the sum for two
  /// unpaired commands.
  double variance_of_layouts = 0.0;
  /// Variance between runs of one layout; the sum for two unpaired commands. 0 for a quantile, or
  /// if each layout has a single run.
  double variance_within_layouts = 0.0;
  /// Factor by which resemblance of neighbouring rounds raises the standard error.
  double widening = 1.0;
  std::optional<Scatter> scatter{};
  std::vector<LayoutMean> layout_means{};

  /// Returns half the width of the interval, with probability `tail` beyond each end.
  double interval_half_width(double tail) const;
  /// Returns the expected half width with other numbers of layouts and of runs per layout
  /// (`sweeps`; 0: unlimited).
  double expected_half_width(double tail, std::size_t layouts, std::size_t sweeps) const;
  /// Returns the number of layouts that reach `half_width` in four of five cases; kMaxLayouts + 1
  /// if kMaxLayouts do not. nullopt if more runs of the present layouts would probably reach it, or
  /// if `fewest_runs_of_layout` is below 4.
  std::optional<std::size_t> layouts_instead_of_runs(double half_width, double tail) const;
  /// Returns the number of layouts with which a new session in four of five cases decides if the
  /// value is above or below `limit`, whatever its answer; otherwise like
  /// layouts_instead_of_runs(). nullopt also for fewer than six layouts.
  std::optional<std::size_t> layouts_to_decide(double limit, const AllowedErrors& allowed) const;
};

/// Returns a command's mean over its layouts; nullopt if there are fewer than kMinLayouts layouts.
std::optional<LayoutEstimate> mean_over_layouts(const LayoutSamples& samples);

/// Returns the mean over layouts of log(candidate / reference); if `share` has a value, of the log
/// ratio of this quantile. nullopt if a side has fewer than kMinLayouts layouts, or a value is not
/// positive.
std::optional<LayoutEstimate> log_ratio_over_layouts(const LayoutSamplePair& samples,
                                                     std::optional<double> share = std::nullopt);

/// Returns the mean over paired layouts, given each layout's number and the moments of its log
/// ratios; nullopt if there are fewer than kMinLayouts. Ignores resemblance of neighbouring rounds,
/// and leaves `are_means_equal` false.
std::optional<LayoutEstimate> mean_of_log_ratios(
    std::span<const std::pair<std::uint32_t, Moments>> layouts);

/// Returns the change that log_ratio_over_layouts() estimates. If a value is not positive, reduces
/// each layout to its mean (to its quantile `share`, if given), and returns the change of the mean
/// of these numbers. The result has no change if a side has fewer than kMinLayouts layouts.
Delta delta_over_layouts(const LayoutSamplePair& samples, const IntervalTails& tails,
                         std::optional<double> share = std::nullopt);

/// Tests if the change over layouts is beyond `ratio` - 1. The difference is 0 and both tails are 1
/// if a side has fewer than kMinLayouts layouts.
MeanTest test_over_layouts(const LayoutSamplePair& samples, double ratio,
                           std::optional<double> share = std::nullopt);

/// Returns the samples of each layout, in their order.
std::map<std::uint32_t, std::vector<double>> values_by_layout(const LayoutSamples& samples);

}  // namespace lauka::stats
