#include "stats/power_law.h"

#include "stats/distributions.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace lauka::stats {

namespace {

constexpr std::size_t kFewestPoints = 3;  // two are always on a line

std::vector<double> logarithms(std::span<const double> values) {
  std::vector<double> logs(values.size());
  std::ranges::transform(values, logs.begin(), [](double v) { return std::log(v); });
  return logs;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

std::optional<PowerLaw> power_law_of(std::span<const double> x, std::span<const double> y,
                                     double confidence) {
  const auto is_positive = [](double value) { return value > 0.0; };
  if (x.size() < kFewestPoints || !std::ranges::all_of(x, is_positive) ||
      !std::ranges::all_of(y, is_positive))
    return std::nullopt;
  const std::vector<double> u = logarithms(x);
  const std::vector<double> v = logarithms(y);
  const double mean_u = mean_of(u);
  const double mean_v = mean_of(v);
  double uu = 0.0;
  double uv = 0.0;
  double vv = 0.0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    uu += (u[i] - mean_u) * (u[i] - mean_u);
    uv += (u[i] - mean_u) * (v[i] - mean_v);
    vv += (v[i] - mean_v) * (v[i] - mean_v);
  }
  if (uu <= 0.0) return std::nullopt;
  PowerLaw law;
  law.exponent = uv / uu;
  law.factor = std::exp(mean_v - law.exponent * mean_u);
  const double residual = std::max(vv - law.exponent * uv, 0.0);
  law.r_squared = vv > 0.0 ? 1.0 - residual / vv : 1.0;
  const double degrees = static_cast<double>(u.size()) - 2.0;
  const double half = student_t_quantile_above((1.0 - confidence) / 2.0, degrees) *
                      std::sqrt(residual / degrees / uu);
  law.low = law.exponent - half;
  law.high = law.exponent + half;
  return law;
}

}  // namespace lauka::stats
