#include "stats/summary.h"

#include "stats/resemblance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <boost/accumulators/accumulators.hpp>
#include <boost/accumulators/statistics/mean.hpp>
#include <boost/accumulators/statistics/moment.hpp>
#include <boost/accumulators/statistics/stats.hpp>
#include <boost/accumulators/statistics/sum_kahan.hpp>

namespace lauka::stats {

namespace {

// Boost.Accumulators computes only means and sums here: its variances divide by n, and its lazy
// variance of 2.5e15 + {1, 2, 3} is 0.

namespace ba = boost::accumulators;

using RunningMean = ba::accumulator_set<double, ba::stats<ba::tag::immediate_mean>>;
using Deviations = ba::accumulator_set<double, ba::stats<ba::tag::sum_kahan, ba::tag::moment<2>>>;

constexpr std::size_t kMinForFirstRun = 5;
constexpr std::size_t kMinRunsInOrder = 20;
constexpr std::size_t kMinForModes = 30;

struct RankTrend {
  double correlation = 0.0;             // of ranks and positions
  std::vector<double> ranks_without{};  // ranks without their linear trend
};

RankTrend find_rank_trend(std::span<const double> series) {
  std::vector<double> ranks = ranks_in_order(series);
  const double middle = (to_double(ranks.size()) + 1.0) / 2.0;
  double products = 0.0;
  double squares_of_ranks = 0.0;
  double squares_of_places = 0.0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const double place = to_double(i) + 1.0 - middle;
    const double rank = ranks[i] - middle;
    products += place * rank;
    squares_of_ranks += rank * rank;
    squares_of_places += place * place;
  }
  for (std::size_t i = 0; i < ranks.size(); ++i)
    ranks[i] -= products / squares_of_places * (to_double(i) + 1.0 - middle);
  return {squares_of_ranks > 0.0 ? products / std::sqrt(squares_of_ranks * squares_of_places) : 0.0,
          std::move(ranks)};
}

/// Returns how many of the lowest samples make two groups with the largest variance between them.
std::size_t find_best_split(std::span<const double> ascending, double mean) {
  const auto count = to_double(ascending.size());
  double sum_of_lower = 0.0;  // of distances from the mean
  double largest_between = -1.0;
  std::size_t best = 1;
  for (std::size_t lower = 1; lower < ascending.size(); ++lower) {
    sum_of_lower += ascending[lower - 1] - mean;
    const auto in_lower = to_double(lower);
    const double between = sum_of_lower * sum_of_lower * count / (in_lower * (count - in_lower));
    if (between > largest_between) {
      largest_between = between;
      best = lower;
    }
  }
  return best;
}

double sum_of_squares(const Moments& about) {
  return about.variance.value_or(0.0) * (to_double(about.count) - 1.0);
}

/// Returns the standard deviation of samples from the means of their groups.
double pool_deviations(const Moments& low, const Moments& high) {
  const auto count = to_double(low.count + high.count);
  return std::sqrt((sum_of_squares(low) + sum_of_squares(high)) / (count - 2.0));
}

/// Returns the smallest difference of two samples that is not a rounding error; 0 if there is no
/// such difference.
double find_smallest_difference(std::span<const double> ascending) {
  double smallest = 0.0;
  for (std::size_t i = 1; i < ascending.size(); ++i) {
    const double step = ascending[i] - ascending[i - 1];
    const double scale = std::abs(ascending[i]) + std::abs(ascending[i - 1]);
    if (!is_rounding_error(step, scale) && (smallest == 0.0 || step < smallest)) smallest = step;
  }
  return smallest;
}

/// Returns the standard deviation that rounding to the ticks of a coarse clock may cause.
double deviation_by_rounding(std::span<const double> ascending) {
  // The error is distributed uniformly, so its variance is a twelfth of the squared tick.
  const double tick = find_smallest_difference(ascending);
  return tick / std::sqrt(12.0);
}

/// True if two groups, whose values have the standard `deviation`, are modes. Even a single mode is
/// split into two groups, but those are closer together than this. A few outliers make no mode.
bool are_modes(const TwoModes& groups, double deviation) {
  constexpr double min_distance_in_deviations = 4.5;
  constexpr double min_share = 0.2;
  return groups.high_mean - groups.low_mean > min_distance_in_deviations * deviation &&
         groups.smaller_share >= min_share;
}

}  // namespace

double harmonic_mean(std::span<const double> samples) {
  double inverse = 0.0;
  for (const double sample : samples) inverse += 1.0 / sample;
  return to_double(samples.size()) / inverse;
}

bool are_positive(std::span<const double> samples) {
  return !samples.empty() &&
         std::ranges::all_of(samples, [](double sample) { return sample > 0.0; });
}

std::vector<double> logarithms(std::span<const double> samples) {
  std::vector<double> logs(samples.size());
  std::ranges::transform(samples, logs.begin(), [](double sample) { return std::log(sample); });
  return logs;
}

std::vector<double> sorted(std::span<const double> samples) {
  std::vector<double> ascending(samples.begin(), samples.end());
  std::ranges::sort(ascending);
  return ascending;
}

double quantile(std::span<const double> ascending, double p) {
  const double place = to_double(ascending.size() - 1) * p;
  const auto below = static_cast<std::size_t>(std::floor(place));
  if (below + 1 >= ascending.size()) return ascending.back();
  const double part = place - to_double(below);
  return ascending[below] + part * (ascending[below + 1] - ascending[below]);
}

double median(std::span<const double> ascending) {
  return quantile(ascending, 0.5);
}

double median_deviation(std::span<const double> samples, double middle) {
  std::vector<double> deviations;
  deviations.reserve(samples.size());
  for (const double sample : samples) deviations.push_back(std::fabs(sample - middle));
  return median(sorted(deviations));
}

IntervalEnds tukey_fences(double q1, double q3, double reach) {
  const double range = q3 - q1;
  return {.low = q1 - reach * range, .high = q3 + reach * range};
}

Summary summarize(std::span<const double> samples) {
  const std::vector<double> ascending = sorted(samples);
  Summary summary{moments(samples), median(ascending), quantile(ascending, 0.25),
                  quantile(ascending, 0.75)};
  summary.smallest_step = find_smallest_difference(ascending);
  const auto count_beyond = [&](double reach) {
    const IntervalEnds fences = tukey_fences(summary.q1, summary.q3, reach);
    return static_cast<std::size_t>(
        std::ranges::count_if(samples, [&](double sample) { return fences.leave_out(sample); }));
  };
  summary.outliers = count_beyond(kOutlierReach);
  summary.severe_outliers = count_beyond(kSevereReach);
  return summary;
}

std::optional<double> mean_half_width(std::span<const double> samples, double confidence) {
  const Moments about = moments(samples);
  if (!about.variance) return std::nullopt;
  const double count = neighbour_resemblance(samples).effective_count();
  return student_t_quantile_above((1.0 - confidence) / 2.0, count - 1.0) * *about.stddev() /
         std::sqrt(count);
}

std::optional<double> Moments::stddev() const {
  return variance ? std::optional(std::sqrt(*variance)) : std::nullopt;
}

// The mean and the variance are computed in two passes, because sums of the samples and of their
// squares would lose most digits if samples are large and their differences small.
Moments moments(std::span<const double> samples) {
  // The first pass gives a rough mean. It averages the distances from the first sample (any sample
  // would do), so that it is exact for equal samples. An accumulator takes a value by a call.
  const double first_sample = samples.front();
  RunningMean distances;
  for (const double sample : samples) distances(sample - first_sample);
  const double rough_mean = first_sample + ba::mean(distances);

  // The second pass adds up the deviations from the rough mean. Because of rounding, their sum is
  // not exactly 0, so it corrects the mean.
  Deviations deviations;
  for (const double sample : samples) deviations(sample - rough_mean);
  const auto count = to_double(samples.size());
  const double sum_of_deviations = ba::sum_kahan(deviations);
  const double sum_of_squares = ba::moment<2>(deviations) * count;

  const auto [least, largest] = std::ranges::minmax_element(samples);
  Moments result{.count = samples.size(),
                 .mean = rough_mean + sum_of_deviations / count,
                 .min = *least,
                 .max = *largest};

  // The squares are about the rough mean, so they are corrected (Chan, Golub & LeVeque 1983).
  const double corrected_squares = sum_of_squares - sum_of_deviations * sum_of_deviations / count;
  if (samples.size() > 1) result.variance = std::max(0.0, corrected_squares / (count - 1.0));
  return result;
}

std::optional<FirstRun> first_run(std::span<const double> series) {
  if (series.size() < kMinForFirstRun) return std::nullopt;
  const std::vector<double> rest = sorted(series.subspan(1));
  const IntervalEnds fences =
      tukey_fences(quantile(rest, 0.25), quantile(rest, 0.75), kSevereReach);
  FirstRun result{.first = series.front(), .median_of_rest = median(rest)};
  result.slow = result.first > rest.back() && result.first > fences.high &&
                result.first > 1.05 * result.median_of_rest;
  return result;
}

SevereOutliers severe_outliers(std::span<const double> series) {
  const std::vector<double> ascending = sorted(series);
  const double middle = median(ascending);
  const double q1 = quantile(ascending, 0.25);
  const double q3 = quantile(ascending, 0.75);
  const double range = std::max(find_smallest_difference(ascending), q3 - q1);
  const double reach = (kSevereReach + 15.0 / to_double(series.size())) * range;
  const IntervalEnds fences{.low = q1 - reach, .high = q3 + reach};
  const auto count = std::ranges::count_if(series, [&](double sample) {
    return fences.leave_out(sample) && std::abs(sample - middle) > 0.01 * std::abs(middle);
  });
  SevereOutliers result{.count = static_cast<std::size_t>(count),
                        .share = static_cast<double>(count) / to_double(series.size())};
  result.many = result.share >= 0.05;
  return result;
}

std::optional<SlowNoise> slow_noise(std::span<const double> series) {
  if (series.size() < kMinRunsInOrder) return std::nullopt;
  const Moments about = moments(series);
  double with_next = 0.0;
  for (std::size_t i = 0; i + 1 < series.size(); ++i)
    with_next += (series[i] - about.mean) * (series[i + 1] - about.mean);
  const double squares = sum_of_squares(about);
  SlowNoise result{.autocorrelation = squares > 0.0 ? with_next / squares : 0.0};
  const double most_by_chance = std::max(0.3, 3.0 / std::sqrt(to_double(series.size())));
  // Requires high correlations of values and of ranks, and different quartiles: two neighbouring
  // long runs raise the correlation of values alone; if most values are equal, two unequal
  // neighbours raise the correlation of ranks.
  const std::vector<double> ascending = sorted(series);
  result.slow = result.autocorrelation > most_by_chance &&
                neighbour_resemblance(series).correlation > most_by_chance &&
                quantile(ascending, 0.25) < quantile(ascending, 0.75);
  return result;
}

std::optional<Drift> drift(std::span<const double> series) {
  if (series.size() < kMinRunsInOrder) return std::nullopt;
  const std::size_t third = series.size() / 3;
  const double before = median(sorted(series.first(third)));
  const double after = median(sorted(series.last(third)));
  const RankTrend trend = find_rank_trend(series);
  Drift result{.rank_correlation = trend.correlation,
               .change = before == 0.0 ? 0.0 : (after - before) / before};
  const double errors =
      std::abs(result.rank_correlation) * std::sqrt(to_double(series.size()) - 1.0);
  result.drifting = errors > 3.29 * neighbour_resemblance(trend.ranks_without).error_factor() &&
                    std::abs(result.change) > 0.02;
  return result;
}

// Splits the values into a group of low ones and a group of high ones, and says if these are two
// modes. Runs may be of two kinds, such as with and without a cache miss. Then the mean of all
// values describes neither kind. Returns nullopt for too few values.
std::optional<TwoModes> two_modes(std::span<const double> series) {
  if (series.size() < kMinForModes) return std::nullopt;

  const std::vector<double> ascending = sorted(series);
  const std::size_t count_of_low = find_best_split(ascending, moments(ascending).mean);
  const Moments low = moments(std::span(ascending).first(count_of_low));
  const Moments high = moments(std::span(ascending).subspan(count_of_low));

  const double pooled_deviation = pool_deviations(low, high);
  const double distance = high.mean - low.mean;
  TwoModes result{.low_mean = low.mean,
                  .high_mean = high.mean,
                  .smaller_share = static_cast<double>(std::min(low.count, high.count)) /
                                   to_double(series.size())};

  // If the values within each group are equal, the separation is infinite.
  const bool do_groups_vary = pooled_deviation > 0.0;
  if (distance > 0.0)
    result.separation =
        do_groups_vary ? distance / pooled_deviation : std::numeric_limits<double>::infinity();

  // A clock with a coarse tick makes groups of values, too, so its rounding counts as noise.
  const double deviation = std::hypot(pooled_deviation, deviation_by_rounding(ascending));
  result.is_bimodal = are_modes(result, deviation);
  return result;
}

}  // namespace lauka::stats
