#include "stats/quantiles.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace lauka::stats {

std::vector<double> sorted(std::span<const double> samples) {
  std::vector<double> ascending(samples.begin(), samples.end());
  std::sort(ascending.begin(), ascending.end());
  return ascending;
}

double quantile(std::span<const double> ascending, double p) {
  const double place = static_cast<double>(ascending.size() - 1) * p;
  const auto below = static_cast<std::size_t>(std::floor(place));
  if (below + 1 >= ascending.size()) {
    return ascending.back();
  }
  const double part = place - static_cast<double>(below);
  return ascending[below] + part * (ascending[below + 1] - ascending[below]);
}

double median(std::span<const double> ascending) {
  return quantile(ascending, 0.5);
}

double median_absolute_deviation(std::span<const double> ascending) {
  const double middle = median(ascending);
  std::vector<double> distances(ascending.begin(), ascending.end());
  for (double& value : distances) {
    value = std::abs(value - middle);
  }
  std::sort(distances.begin(), distances.end());
  return median(distances);
}

}  // namespace lauka::stats
