#include "stats/geomean.h"

#include <algorithm>
#include <cmath>

namespace lauka::stats {

Change geometric_mean(std::span<const Change> changes) {
  const bool is_defined = !changes.empty() && std::ranges::all_of(changes, [](const Change& one) {
    return one.change && *one.change > -1.0;
  });
  if (!is_defined) return {};
  double sum = 0.0;
  double below = 0.0;
  double above = 0.0;
  bool has_bounds = true;
  for (const Change& one : changes) {
    const double log = std::log1p(*one.change);
    sum += log;
    has_bounds = has_bounds && one.bounds && one.bounds->low > -1.0;
    if (!has_bounds) continue;
    const double down = log - std::log1p(one.bounds->low);
    const double up = std::log1p(one.bounds->high) - log;
    below += down * down;
    above += up * up;
  }
  const auto count = static_cast<double>(changes.size());
  Change mean{.change = std::expm1(sum / count)};
  if (has_bounds)
    mean.bounds = ChangeBounds{std::expm1((sum - std::sqrt(below)) / count),
                               std::expm1((sum + std::sqrt(above)) / count)};
  return mean;
}

}  // namespace lauka::stats
