#pragma once

#include "stats/delta.h"
#include "stats/summary.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

// Several builds of a program (layouts) differ in the placement of their code, which changes their
// speed. Their runs are clusters: more runs of one layout say nothing about other layouts, so
// intervals rest on the layouts' means alone. Student's t on them holds for four layouts and more,
// where a bootstrap of clusters (86%) and pooled runs (45%) do not.

namespace lauka::stats {

/// Below so many layouts nothing is said about all of them.
inline constexpr std::size_t kMinLayouts = 4;

/// More layouts are not advised.
inline constexpr std::size_t kMaxLayouts = 1000;

/// Samples with the layout of each, in the order measured.
struct LayoutSamples {
  std::span<const double> values;
  std::span<const std::uint32_t> layouts;  ///< one for each value
};

/// The mean of one layout.
struct LayoutMean {
  std::uint32_t layout = 0;
  std::size_t runs = 0;
  double value = 0.0;  ///< mean of the samples, or of the logarithms of a comparison
};

/// The scatter that placement alone makes among the layouts of one command: a standard deviation,
/// as a fraction of the value.
struct Scatter {
  double deviation = 0.0;
  std::optional<ChangeBounds> bounds{};  ///< nullopt with a single run of each layout
  bool is_clear = false;                 ///< noise of the runs alone would not look like it (2.5%)
};

/// An estimate over layouts.
struct LayoutEstimate {
  double value = 0.0;  ///< mean over layouts: of samples, logarithms or their differences
  double squared_error =
      0.0;  ///< squared error of the value, with what neighbouring rounds have in common
  double degrees = 1.0;      ///< degrees of freedom
  std::size_t layouts = 0;   ///< layouts of the command with the fewest
  std::size_t sweeps = 0;    ///< the fewest runs of a layout
  bool is_constant = false;  ///< all layouts are equal up to rounding
  double of_layouts = 0.0;   ///< variance of placement between layouts, at least 0
  double of_runs = 0.0;      ///< variance of the runs of a layout
  double widening = 1.0;  ///< factor of the error because neighbouring rounds resemble each other
  std::optional<Scatter>
      scatter{};  ///< scatter of one side; nullopt if it cannot be told from the runs'
  std::vector<LayoutMean>
      each{};  ///< means of each layout: of paired sides their differences, else the candidate's

  /// Returns half the width of its interval.
  double reach(double tail) const;
  /// Returns the half width with so many layouts and sweeps; `sweeps` 0: with any number.
  double expected_reach(double tail, std::size_t layouts, std::size_t sweeps) const;
  /// Returns the number of layouts that would give that half width, kMaxLayouts + 1 if those
  /// would not; nullopt if more runs of the present layouts would, or before four sweeps.
  std::optional<std::size_t> layouts_instead_of_runs(double half_width, double tail) const;
};

/// Returns the mean of a command over its layouts; nullopt below kMinLayouts.
std::optional<LayoutEstimate> mean_over_layouts(const LayoutSamples& samples);

/// Returns the logarithm of candidate / reference over layouts. `paired`: the samples are of the
/// same rounds (equal sizes), and layouts of one number are compared; else layouts are independent
/// (Welch). `share`: of this quantile instead of the mean of logarithms. nullopt below
/// kMinLayouts on a side, or if a value is not above 0.
std::optional<LayoutEstimate> log_ratio_over_layouts(const LayoutSamples& reference,
                                                     const LayoutSamples& candidate, bool paired,
                                                     std::optional<double> share = std::nullopt);

/// Returns the same of paired layouts of whose log ratios only the moments are known: what
/// neighbouring rounds have in common is not in it.
std::optional<LayoutEstimate> log_ratio_of_means(
    std::span<const std::pair<std::uint32_t, Moments>> layouts);

/// Returns the change over layouts, with the basis Layouts; of values that are not above 0 the mean
/// of the layouts' means. Nothing but the basis below kMinLayouts.
Delta delta_over_layouts(const LayoutSamples& reference, const LayoutSamples& candidate,
                         bool paired, const IntervalTails& tails,
                         std::optional<double> share = std::nullopt);

/// Computes the test of whether the change over layouts is beyond `ratio` - 1; no difference and
/// tails of 1 below kMinLayouts.
MeanTest test_over_layouts(const LayoutSamples& reference, const LayoutSamples& candidate,
                           bool paired, double ratio, std::optional<double> share = std::nullopt);

/// Returns the samples of one layout.
std::vector<double> samples_of_layout(const LayoutSamples& samples, std::uint32_t layout);

}  // namespace lauka::stats
