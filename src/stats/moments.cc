// The only file that includes Boost.Accumulators. Its ready-made variances divide by n, and the
// lazy one of 2.5e15 + {1, 2, 3} is 0; so whatever is summed here is a deviation, never a sample,
// and the variance is put together from the sums. Their own sum is compensated (Kahan 1965), which
// makes the mean the double nearest to the true one.

#include "stats/summary.h"

#include <algorithm>
#include <cmath>

#include <boost/accumulators/accumulators.hpp>
#include <boost/accumulators/statistics/mean.hpp>
#include <boost/accumulators/statistics/moment.hpp>
#include <boost/accumulators/statistics/stats.hpp>
#include <boost/accumulators/statistics/sum_kahan.hpp>

namespace lauka::stats {
namespace {

namespace ba = boost::accumulators;

using RunningMean = ba::accumulator_set<double, ba::stats<ba::tag::immediate_mean>>;
using Deviations = ba::accumulator_set<double, ba::stats<ba::tag::sum_kahan, ba::tag::moment<2>>>;

}  // namespace

double Moments::deviation() const {
  return std::sqrt(variance.value_or(0.0));
}

Moments moments(std::span<const double> samples) {
  // The running mean (Welford's) is relative to the first sample: exact for equal samples.
  const double first = samples.front();
  RunningMean from_first;
  for (const double sample : samples) from_first(sample - first);
  const double rough_mean = first + ba::mean(from_first);

  Deviations deviations;
  for (const double sample : samples) deviations(sample - rough_mean);
  const auto count = static_cast<double>(samples.size());
  const double sum = ba::sum_kahan(deviations);
  const double sum_of_squares = ba::moment<2>(deviations) * count;

  const auto [least, largest] = std::ranges::minmax_element(samples);
  Moments result{
      .count = samples.size(), .mean = rough_mean + sum / count, .min = *least, .max = *largest};
  if (samples.size() > 1)
    result.variance = std::max(0.0, (sum_of_squares - sum * sum / count) / (count - 1.0));
  return result;
}

}  // namespace lauka::stats
