#include "simulation/rules.h"

#include "stats/distributions.h"
#include "stats/summary.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace lauka::simulation {
namespace {

/// Upper 5% point of Student's t, by degrees of freedom: a table, as it is asked for in every
/// round.
double t_05(std::size_t degrees) {
  static const std::vector<double> kTable = [] {
    std::vector<double> table{0.0};
    for (int d = 1; d <= 400; ++d) table.push_back(stats::student_t_quantile_above(0.05, d));
    return table;
  }();
  return kTable[std::min(degrees, kTable.size() - 1)];
}

}  // namespace

bool fails_poop(std::span<const double> reference, std::span<const double> candidate,
                double limit) {
  const auto r = stats::moments(reference);
  const auto c = stats::moments(candidate);
  const auto n = static_cast<double>(reference.size());
  const auto m = static_cast<double>(candidate.size());
  const double pooled = std::sqrt(
      ((n - 1) * r.variance.value_or(0) + (m - 1) * c.variance.value_or(0)) / (n + m - 2));
  const double half =
      stats::student_t_quantile_above(0.025, n + m - 2) * pooled * std::sqrt(1 / n + 1 / m);
  return (c.mean - r.mean - half) / r.mean > std::max(limit - 1.0, 0.01);
}

bool fails_mean_sigma(std::span<const double> reference, std::span<const double> candidate,
                      double limit) {
  const auto r = stats::moments(reference);
  const auto c = stats::moments(candidate);
  const double ratio = c.mean / r.mean;
  const double error = ratio * std::sqrt(c.variance.value_or(0) / (c.mean * c.mean) +
                                         r.variance.value_or(0) / (r.mean * r.mean));
  return ratio - error > limit;
}

bool fails_t_at_any_round(std::span<const double> reference, std::span<const double> candidate,
                          double limit) {
  double mean = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double difference = candidate[i] - limit * reference[i];
    const auto n = static_cast<double>(i + 1);
    const double step = difference - mean;  // Welford
    mean += step / n;
    squares += step * (difference - mean);
    if (i < 2 || squares <= 0.0) continue;
    if (mean / std::sqrt(squares / (n - 1) / n) > t_05(i)) return true;
  }
  return false;
}

}  // namespace lauka::simulation
