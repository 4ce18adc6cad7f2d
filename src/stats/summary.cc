#include "stats/summary.h"

#include "stats/moments.h"
#include "stats/outliers.h"
#include "stats/quantiles.h"
#include "stats/student_t.h"

#include <cmath>
#include <vector>

namespace lauka::stats {

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
  if (about.variance) {
    summary.stddev = about.deviation();
  }
  summary.outliers = count_outside(samples, tukey_fences(summary.q1, summary.q3, kOutlierReach));
  summary.severe = count_outside(samples, tukey_fences(summary.q1, summary.q3, kSevereReach));
  return summary;
}

std::optional<double> mean_half_width(std::span<const double> samples, double confidence) {
  const Moments about = moments(samples);
  if (!about.variance) {
    return std::nullopt;
  }
  const auto count = static_cast<double>(about.count);
  return student_t_quantile_above((1.0 - confidence) / 2.0, count - 1.0) * about.deviation() /
         std::sqrt(count);
}

}  // namespace lauka::stats
