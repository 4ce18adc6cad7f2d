#pragma once

#include <cmath>

namespace lauka::stats {

/// Two results of the same arithmetic are equal up to this part of the values that went in: 1.1 *
/// 100 is not 110 in binary, and a fused multiply-add rounds once where two operations round twice.
inline constexpr double kSame = 1e-12;

/// Whether `difference` is rounding error of values that add up to `scale` (not negative).
inline bool is_rounding_error(double difference, double scale) {
  return std::abs(difference) <= kSame * scale;
}

}  // namespace lauka::stats
