#pragma once

#include <vector>

namespace lauka::report {

/// A scale of values drawn from one edge of a picture to the other.
struct Axis {
  double low = 0.0;
  double high = 1.0;          ///< above `low`
  std::vector<double> ticks;  ///< ascending, within the ends

  /// Where `value` lies, in percent of the way; 0 to 100.
  double percent(double value) const;
};

/// An axis that holds both values with some room beside them, and at most `most_ticks` (2 or more)
/// round numbers on it: multiples of 1, 2 or 5 times a power of ten.
Axis axis_over(double low, double high, int most_ticks);

}  // namespace lauka::report
