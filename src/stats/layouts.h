#pragma once

#include "stats/delta.h"
#include "stats/summary.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

// Builds of a program with different placement of code (layouts) differ in speed. The runs of one
// layout are a cluster: more of them say nothing about other layouts. So intervals use the layouts'
// means only. With four or more layouts, Student's t on the means covers the truth as often as
// promised; a bootstrap of clusters (86%) and pooled runs (45%) do not.

namespace lauka::stats {

/// The fewest layouts from which layouts in general are estimated.
inline constexpr std::size_t kMinLayouts = 4;

inline constexpr std::size_t kMaxLayouts = 1000;

struct LayoutSamples {
  std::span<const double> values;
  std::span<const std::uint32_t> layouts;
};

struct LayoutMean {
  std::uint32_t layout = 0;
  std::size_t runs = 0;
  double value =
      0.0;  ///< mean of the layout's samples; in a comparison, of their logarithms or log ratios
};

/// The standard deviation between a command's layouts that placement alone causes, as a fraction of
/// the value.
struct Scatter {
  double deviation = 0.0;
  std::optional<ChangeBounds>
      bounds{};           ///< 95% confidence interval; starts at 0 if is_clear is false
  bool is_clear = false;  ///< true if noise of the runs alone would cause this with a probability
                          ///< of at most 2.5%
};

/// An estimate from the means of layouts. Of two unpaired commands, `scatter` and `each` are the
/// candidate's.
struct LayoutEstimate {
  double value =
      0.0;  ///< mean over layouts of a command's values, or of log(candidate / reference)
  double squared_error = 0.0;
  double degrees = 1.0;
  std::size_t layouts = 0;
  std::size_t sweeps = 0;  ///< number of runs of the layout with the fewest runs; 1 for a quantile
  bool is_constant = false;
  double variance_of_layouts = 0.0;  ///< variance between layouts that `of_runs` does not explain;
                                     ///< summed over two unpaired commands
  double of_runs = 0.0;   ///< variance between runs of one layout, summed over two unpaired
                          ///< commands; 0 for a quantile, or if each layout has a single run
  double widening = 1.0;  ///< factor by which resemblance of neighbouring rounds raises the
                          ///< standard error; of two unpaired commands, the candidate's
  std::optional<Scatter> scatter{};
  std::vector<LayoutMean> each{};

  /// Returns half the width of the interval with `tail` beyond either end.
  double reach(double tail) const;
  /// Returns the expected half width with other numbers of layouts and sweeps. `sweeps` 0:
  /// arbitrarily many.
  double expected_reach(double tail, std::size_t layouts, std::size_t sweeps) const;
  /// Returns the number of layouts that would reach `half_width`; kMaxLayouts + 1 if even
  /// kMaxLayouts would not. nullopt if more runs of the present layouts would reach it, or before
  /// four sweeps.
  std::optional<std::size_t> layouts_instead_of_runs(double half_width, double tail) const;
};

/// Returns a command's mean over its layouts; nullopt if it has fewer than kMinLayouts.
std::optional<LayoutEstimate> mean_over_layouts(const LayoutSamples& samples);

/// Returns the mean over layouts of log(candidate / reference), or the log ratio of quantile
/// `share` if it has a value. If `paired`, samples are of the same rounds (equal sizes), and
/// layouts with the same number are compared; else layouts are independent (Welch). nullopt if a
/// side has fewer than kMinLayouts, or a value is not positive.
std::optional<LayoutEstimate> log_ratio_over_layouts(const LayoutSamples& reference,
                                                     const LayoutSamples& candidate, bool paired,
                                                     std::optional<double> share = std::nullopt);

/// Returns the mean over paired layouts, given the moments of each layout's log ratios; nullopt if
/// there are fewer than kMinLayouts. Ignores resemblance of neighbouring rounds, and leaves
/// `is_constant` false.
std::optional<LayoutEstimate> log_ratio_of_means(
    std::span<const std::pair<std::uint32_t, Moments>> layouts);

/// Returns the change over layouts. If a value is not positive, compares the means of the layouts'
/// means (or of their quantiles `share`). No change and no bounds if a side has fewer than
/// kMinLayouts.
Delta delta_over_layouts(const LayoutSamples& reference, const LayoutSamples& candidate,
                         bool paired, const IntervalTails& tails,
                         std::optional<double> share = std::nullopt);

/// Tests if the change over layouts is beyond `ratio` - 1. The difference is 0 and both tails are 1
/// if a side has fewer than kMinLayouts.
MeanTest test_over_layouts(const LayoutSamples& reference, const LayoutSamples& candidate,
                           bool paired, double ratio, std::optional<double> share = std::nullopt);

std::vector<double> samples_of_layout(const LayoutSamples& samples, std::uint32_t layout);

}  // namespace lauka::stats
