#include "stats/outliers.h"

#include <algorithm>

namespace lauka::stats {

Fences tukey_fences(double q1, double q3, double reach) {
  const double range = q3 - q1;
  return {.low = q1 - reach * range, .high = q3 + reach * range};
}

std::size_t count_outside(std::span<const double> samples, const Fences& fences) {
  return static_cast<std::size_t>(std::count_if(
      samples.begin(), samples.end(), [&](double sample) { return fences.leave_out(sample); }));
}

}  // namespace lauka::stats
