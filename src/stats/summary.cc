#include "stats/summary.h"

#include "stats/distributions.h"

#include <algorithm>
#include <cmath>

namespace lauka::stats {

double harmonic_mean(std::span<const double> samples) {
  double inverse = 0.0;
  for (const double sample : samples) inverse += 1.0 / sample;
  return static_cast<double>(samples.size()) / inverse;
}

std::vector<double> sorted(std::span<const double> samples) {
  std::vector<double> ascending(samples.begin(), samples.end());
  std::ranges::sort(ascending);
  return ascending;
}

double quantile(std::span<const double> ascending, double p) {
  const double place = static_cast<double>(ascending.size() - 1) * p;
  const auto below = static_cast<std::size_t>(std::floor(place));
  if (below + 1 >= ascending.size()) return ascending.back();
  const double part = place - static_cast<double>(below);
  return ascending[below] + part * (ascending[below + 1] - ascending[below]);
}

double median(std::span<const double> ascending) {
  return quantile(ascending, 0.5);
}

double median_deviation(std::span<const double> samples) {
  const double middle = median(sorted(samples));
  std::vector<double> deviations;
  deviations.reserve(samples.size());
  for (const double sample : samples) deviations.push_back(std::fabs(sample - middle));
  return median(sorted(deviations));
}

Fences tukey_fences(double q1, double q3, double reach) {
  const double range = q3 - q1;
  return {.low = q1 - reach * range, .high = q3 + reach * range};
}

std::size_t count_outside(std::span<const double> samples, const Fences& fences) {
  return static_cast<std::size_t>(
      std::ranges::count_if(samples, [&](double sample) { return fences.leave_out(sample); }));
}

Summary summarize(std::span<const double> samples) {
  const Moments about = moments(samples);
  const std::vector<double> ascending = sorted(samples);
  Summary summary{.count = about.count,
                  .mean = about.mean,
                  .median = median(ascending),
                  .min = about.min,
                  .max = about.max,
                  .q1 = quantile(ascending, 0.25),
                  .q3 = quantile(ascending, 0.75)};
  if (about.variance) summary.stddev = about.deviation();
  summary.outliers = count_outside(samples, tukey_fences(summary.q1, summary.q3, kOutlierReach));
  summary.severe = count_outside(samples, tukey_fences(summary.q1, summary.q3, kSevereReach));
  return summary;
}

std::optional<double> mean_half_width(std::span<const double> samples, double confidence) {
  const Moments about = moments(samples);
  if (!about.variance) return std::nullopt;
  const auto count = static_cast<double>(about.count);
  return student_t_quantile_above((1.0 - confidence) / 2.0, count - 1.0) * about.deviation() /
         std::sqrt(count);
}

}  // namespace lauka::stats
