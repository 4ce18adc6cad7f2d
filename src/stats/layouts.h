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
// layout are a cluster: more of them say nothing about other layouts, so intervals use the layouts'
// means only. With four or more layouts, Student's t on the means covers the truth as often as it
// says; a bootstrap of clusters (86%) and pooled runs (45%) do not.

namespace lauka::stats {

/// The fewest layouts from which layouts in general are estimated.
inline constexpr std::size_t kMinLayouts = 4;

/// The largest number of layouts that lauka recommends.
inline constexpr std::size_t kMaxLayouts = 1000;

/// Samples and the layout of each sample, in the order measured.
struct LayoutSamples {
  std::span<const double> values;
  std::span<const std::uint32_t> layouts;  ///< layout of each value
};

/// The mean of one layout's samples.
struct LayoutMean {
  std::uint32_t layout = 0;
  std::size_t runs = 0;
  double value =
      0.0;  ///< mean of the samples, or in a comparison of their logarithms or log ratios
};

/// The scatter among a command's layouts that placement alone causes: a standard deviation, as a
/// fraction of the value.
struct Scatter {
  double deviation = 0.0;
  std::optional<ChangeBounds> bounds{};  ///< confidence interval, which always has a value here;
                                         ///< begins at 0 unless is_clear
  bool is_clear = false;  ///< true if noise of the runs alone would rarely look like this (2.5%)
};

/// An estimate from layouts, as mean over layouts.
struct LayoutEstimate {
  double value = 0.0;  ///< mean over layouts of samples, of logarithms, or of log ratios
  double squared_error =
      0.0;  ///< squared standard error of `value`, including resemblance of neighbouring rounds
  double degrees = 1.0;      ///< degrees of freedom of squared_error
  std::size_t layouts = 0;   ///< number of layouts; of two commands, the smaller number
  std::size_t sweeps = 0;    ///< number of runs of the layout with the fewest runs
  bool is_constant = false;  ///< true if all layouts are equal up to rounding
  double of_layouts = 0.0;   ///< variance between layouts that placement causes, at least 0; the
                             ///< sum of two unpaired commands
  double of_runs =
      0.0;  ///< variance between runs of one layout, likewise; 0 if each layout has a single run
  double widening = 1.0;  ///< factor by which resemblance of neighbouring rounds raises the
                          ///< standard error; of two unpaired commands, the candidate's
  std::optional<Scatter> scatter{};  ///< scatter of one command, the candidate if unpaired; nullopt
                                     ///< if each layout has a single run, or the mean is 0
  std::vector<LayoutMean>
      each{};  ///< mean of each layout; of two unpaired commands, the candidate's

  /// Returns half the width of the interval with `tail` beyond either end.
  double reach(double tail) const;
  /// Returns the expected half width with other numbers of layouts and sweeps; `sweeps` 0 means
  /// arbitrarily many.
  double expected_reach(double tail, std::size_t layouts, std::size_t sweeps) const;
  /// Returns the number of layouts that would reach `half_width`; kMaxLayouts + 1 if even that many
  /// would not. nullopt if more runs of the present layouts would reach it, or before four sweeps.
  std::optional<std::size_t> layouts_instead_of_runs(double half_width, double tail) const;
};

/// Returns a command's mean over its layouts; nullopt if there are fewer than kMinLayouts.
std::optional<LayoutEstimate> mean_over_layouts(const LayoutSamples& samples);

/// Returns the mean over layouts of log(candidate / reference). If `paired`, samples are of the
/// same rounds (equal sizes) and layouts with the same number are compared; else layouts are
/// independent (Welch). If `share` has a value, compares this quantile instead of the mean
/// logarithm. nullopt if a side has fewer than kMinLayouts, or a value is not positive.
std::optional<LayoutEstimate> log_ratio_over_layouts(const LayoutSamples& reference,
                                                     const LayoutSamples& candidate, bool paired,
                                                     std::optional<double> share = std::nullopt);

/// Returns the mean over paired layouts, given only the moments of each layout's log ratios. The
/// error ignores resemblance of neighbouring rounds. nullopt if there are fewer than kMinLayouts.
std::optional<LayoutEstimate> log_ratio_of_means(
    std::span<const std::pair<std::uint32_t, Moments>> layouts);

/// Returns the change over layouts, with basis Layouts. If a value is not positive, compares the
/// means of the layouts' means (or of their quantiles `share`). Has no change and no bounds if a
/// side has fewer than kMinLayouts.
Delta delta_over_layouts(const LayoutSamples& reference, const LayoutSamples& candidate,
                         bool paired, const IntervalTails& tails,
                         std::optional<double> share = std::nullopt);

/// Tests if the change over layouts is beyond `ratio` - 1. The difference is 0 and both tails are 1
/// if a side has fewer than kMinLayouts.
MeanTest test_over_layouts(const LayoutSamples& reference, const LayoutSamples& candidate,
                           bool paired, double ratio, std::optional<double> share = std::nullopt);

std::vector<double> samples_of_layout(const LayoutSamples& samples, std::uint32_t layout);

}  // namespace lauka::stats
