#pragma once

#include <cstdint>
#include <span>

namespace lauka::stats {

/// The samples of two commands, in the order measured.
struct SamplePair {
  std::span<const double> reference{};
  std::span<const double> candidate{};
  /// True: reference[i] and candidate[i] are of the same round, so both have the same size.
  bool paired = false;
};

/// Samples of several layouts: the layout of values[i] is layouts[i].
struct LayoutSamples {
  std::span<const double> values;
  std::span<const std::uint32_t> layouts;
};

/// The samples of two commands with layouts, in the order measured.
struct LayoutSamplePair {
  LayoutSamples reference{};
  LayoutSamples candidate{};
  /// True: samples of the same index are of the same round, and layouts with the same number are
  /// compared. False: the layouts of the two commands are independent.
  bool paired = false;
};

}  // namespace lauka::stats
