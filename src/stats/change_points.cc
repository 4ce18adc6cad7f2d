#include "stats/change_points.h"

#include "stats/distributions.h"
#include "stats/rank_tests.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace lauka::stats {
namespace {

constexpr std::size_t kMaxWindow = 30;             // compared points on one side of a step
constexpr std::size_t kMaxPointsAfter = 12;        // a step is confirmed by so many points or fewer
constexpr std::size_t kMinPointsAround = 2;        // on each side of a step
constexpr std::size_t kNoiseWindow = 200;          // latest points from which noise is estimated
constexpr std::size_t kNoiseEstimateInterval = 5;  // points between two estimates of the noise
constexpr double kSureDeviates = 3.6;              // normal deviates of a step
constexpr double kSuspectDeviates = 3.5;      // normal deviates of a last point that may be a step
constexpr std::size_t kMinForSuspicion = 10;  // points of a series whose last one can be suspected

// The steps of a series of up to kMaxShortSeries points are found by Student's t.
constexpr std::size_t kMaxShortSeries = 30;
constexpr std::size_t kMinPointsBefore = 3;
constexpr double kTailOfShort = 2e-4;
constexpr double kTailOfRanks = 1e-3;  // largest p value of the rank-sum test for a step

// The lags of the differences from which noise is estimated. Lag 3 shows noise that neighbours
// share.
constexpr std::array<std::size_t, 2> kLags = {1, 3};

// Squared normal deviates are clipped to kMaxSquare, so that a step hardly changes their mean.
// kExpectedMeanSquare is the mean of min(z * z, 4) for a standard normal z.
constexpr double kMaxSquare = 4.0;
constexpr double kExpectedMeanSquare = 0.9205;

/// Returns the mean of the clipped squares of differences, each divided by the variance that it has
/// if the series has the variance `noise` besides that of its points.
double mean_clipped_square(std::span<const SeriesPoint> points, std::size_t lag, double noise) {
  double sum = 0.0;
  for (std::size_t i = lag; i < points.size(); ++i) {
    const double difference = points[i].value - points[i - lag].value;
    const double variance = points[i].variance + points[i - lag].variance + 2.0 * noise;
    const double square = difference * difference;
    sum += square >= kMaxSquare * variance ? kMaxSquare : square / variance;
  }
  return sum / static_cast<double>(points.size() - lag);
}

/// Returns the noise with which the mean of the clipped squares is the expected one, found by
/// bisection; 0 if the points' own variances explain the differences.
double estimate_noise_at_lag(std::span<const SeriesPoint> points, std::size_t lag) {
  double high = 0.0;
  for (std::size_t i = lag; i < points.size(); ++i) {
    const double difference = points[i].value - points[i - lag].value;
    high = std::max(high, difference * difference);
  }
  if (high <= 0.0 || mean_clipped_square(points, lag, 0.0) <= kExpectedMeanSquare) return 0.0;
  double low = 0.0;
  for (int i = 0; i < 60 && high - low > 1e-6 * high; ++i) {
    const double middle = (low + high) / 2.0;
    (mean_clipped_square(points, lag, middle) > kExpectedMeanSquare ? low : high) = middle;
  }
  return high;
}

struct Window {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// The mean of a window, weighted by the variances of its points and the noise.
struct Level {
  double mean = 0.0;
  double variance = 0.0;  ///< of the mean
};

/// The points of a window without weights.
struct PlainStatistics {
  double mean = 0.0;
  double squares = 0.0;    ///< sum of the squared distances from the mean
  double variances = 0.0;  ///< sum of the points' own variances
  double count = 0.0;
};

/// A limit for values. If `upwards` is 1, smaller values are raised to the limit; if -1, larger
/// values are lowered to it; if 0, there is no limit.
struct ValueLimit {
  double signed_value = 0.0;  ///< the limit times `upwards`
  double upwards = 0.0;
};

/// Returns the variance around the means of the points before and after a step.
double variance_about(const PlainStatistics& low, const PlainStatistics& high) {
  const double count = low.count + high.count;
  return std::max((low.squares + high.squares) / std::max(1.0, count - 2.0),
                  (low.variances + high.variances) / count);
}

/// The change from one level to another.
struct Contrast {
  double change = 0.0;
  double error = 0.0;  ///< standard error of `change`

  /// Returns the size of the change in standard errors; 0 without an error.
  double deviates() const { return error > 0.0 ? std::abs(change) / error : 0.0; }
};

class Series {
 public:
  explicit Series(std::span<const SeriesPoint> points) : points_(points) {}

  double noise_variance() const { return noise_variance_; }

  void estimate_noise(Window window) {
    noise_variance_ =
        estimate_noise_variance(points_.subspan(window.begin, window.end - window.begin));
  }

  void set_noise_about(Window before, Window after) {
    const PlainStatistics low = compute_statistics(before);
    const PlainStatistics high = compute_statistics(after);
    const double sampling = (low.variances + high.variances) / (low.count + high.count);
    const double least = kRoundingError * std::max(std::abs(low.mean), std::abs(high.mean));
    noise_variance_ = std::max(variance_about(low, high) - sampling, least * least);
  }

  /// Returns Student's t of a step. So that no single point makes a step, the numerator replaces
  /// each side's most extreme value (in favour of the step) by its second most extreme value. If
  /// nothing varies around the two levels: infinite if has_rare_ranks(), else 0.
  double cautious_t(Window before, Window after) const {
    const PlainStatistics low = compute_statistics(before);
    const PlainStatistics high = compute_statistics(after);
    const double change = high.mean - low.mean;
    if (is_rounding_error(change, std::abs(low.mean) + std::abs(high.mean))) return 0.0;
    const double variance = variance_about(low, high);
    if (is_rounding_error(std::sqrt(variance), std::abs(low.mean) + std::abs(high.mean)))
      return has_rare_ranks(before, after) ? HUGE_VAL : 0.0;
    const double upwards = change > 0.0 ? 1.0 : -1.0;
    const double cautious_change =
        compute_statistics(after, limit_most_extreme(after, -upwards)).mean -
        compute_statistics(before, limit_most_extreme(before, upwards)).mean;
    return upwards * cautious_change / std::sqrt(variance * (1.0 / low.count + 1.0 / high.count));
  }

  bool has_rare_ranks(Window before, Window after) const {
    const auto values = [&](Window window) {
      std::vector<double> all;
      for (std::size_t i = window.begin; i < window.end; ++i) all.push_back(points_[i].value);
      return all;
    };
    const TailProbabilities tails = rank_sum_tails(values(before), values(after));
    return std::min(tails.above, tails.below) <= kTailOfRanks;
  }

  bool varies(std::size_t point) const { return points_[point].variance + noise_variance_ > 0.0; }

  Contrast estimate_contrast(Window before, Window after) const {
    const Level low = estimate_level(before);
    const Level high = estimate_level(after);
    return {high.mean - low.mean, std::sqrt(low.variance + high.variance)};
  }

  /// Returns the deviates of a step without each side's most extreme value, as in cautious_t.
  /// Returns 0 if they are not above `min_deviates`.
  double cautious_deviates(Window before, Window after, double min_deviates) const {
    const Contrast contrast = estimate_contrast(before, after);
    if (contrast.deviates() <= min_deviates) return 0.0;
    const double upwards = contrast.change > 0.0 ? 1.0 : -1.0;
    const Level low = estimate_level(before, limit_most_extreme(before, upwards));
    const Level high = estimate_level(after, limit_most_extreme(after, -upwards));
    const double deviates = (high.mean - low.mean) * upwards / contrast.error;
    return deviates > min_deviates ? deviates : 0.0;
  }

 private:
  /// Returns a limit that replaces the lowest value of a window (the highest, if `upwards` is -1)
  /// by the second one.
  ValueLimit limit_most_extreme(Window window, double upwards) const {
    double lowest = HUGE_VAL;
    double second = HUGE_VAL;
    for (std::size_t i = window.begin; i < window.end; ++i) {
      const double value = upwards * points_[i].value;
      second = std::min(second, std::max(lowest, value));
      lowest = std::min(lowest, value);
    }
    return {.signed_value = second, .upwards = upwards};
  }

  double limit_value(std::size_t point, ValueLimit limit) const {
    const double value = points_[point].value;
    return limit.upwards == 0.0
               ? value
               : limit.upwards * std::max(limit.upwards * value, limit.signed_value);
  }

  PlainStatistics compute_statistics(Window window, ValueLimit limit = {}) const {
    PlainStatistics found{.count = static_cast<double>(window.end - window.begin)};
    for (std::size_t i = window.begin; i < window.end; ++i) {
      found.mean += limit_value(i, limit) / found.count;
      found.variances += points_[i].variance;
    }
    for (std::size_t i = window.begin; i < window.end; ++i)
      found.squares += std::pow(limit_value(i, limit) - found.mean, 2);
    return found;
  }

  Level estimate_level(Window window, ValueLimit limit = {}) const {
    double weights = 0.0;
    double sum = 0.0;
    for (std::size_t i = window.begin; i < window.end; ++i) {
      const double value = limit_value(i, limit);
      const double weight = 1.0 / (points_[i].variance + noise_variance_);
      weights += weight;
      sum += weight * value;
    }
    return {sum / weights, 1.0 / weights};
  }

  std::span<const SeriesPoint> points_;
  double noise_variance_ = 0.0;
};

/// Returns the point that is `count` points before `point`, but not before `earliest`.
std::size_t point_before(std::size_t point, std::size_t count, std::size_t earliest) {
  return point - earliest > count ? point - count : earliest;
}

/// Returns the value of Student's t with `differences` degrees of freedom that is as rare as
/// `deviates` normal deviates.
double t_as_rare_as(double deviates, std::size_t differences) {
  return student_t_quantile_above(normal_above(deviates), static_cast<double>(differences));
}

/// Returns the points that may be the first one of a step. `around`: the points on both sides of
/// it.
Window find_candidates(Window around, const LevelStep& step) {
  // Candidates are at most kMaxPointsAfter points before the step that was found, and before the
  // point that confirmed it, which is not the first one at the new level. The point where the step
  // was found is itself a candidate, so there is at least one.
  constexpr std::size_t begin_of_series = 0;
  return {.begin = std::max(around.begin + 1,
                            point_before(step.first_point, kMaxPointsAfter, begin_of_series)),
          .end = std::min(around.end, step.confirming_point)};
}

/// Returns the logarithm of each candidate's likelihood, relative to that of no step.
std::vector<double> list_log_likelihoods(const Series& series, Window around, Window candidates) {
  std::vector<double> log_likelihoods;
  for (std::size_t point = candidates.begin; point < candidates.end; ++point) {
    const double z =
        series.estimate_contrast({around.begin, point}, {point, around.end}).deviates();
    log_likelihoods.push_back(z * z / 2.0);  // for normal values
  }
  return log_likelihoods;
}

/// Returns a range of weights, which has at least the share `share` of their sum. The range begins
/// as the single weight at `start`. Then it grows, always by the larger of the two weights next to
/// it.
Window grow_range_to_share(double share, const std::vector<double>& weights, std::size_t start) {
  double sum_of_weights = 0.0;
  for (const double weight : weights) sum_of_weights += weight;

  Window range{.begin = start, .end = start + 1};
  double weight_in_range = weights[start];
  while (weight_in_range < share * sum_of_weights) {
    // Because of rounding errors, even all weights may seem to be too little.
    const bool has_all_weights = range.begin == 0 && range.end == weights.size();
    if (has_all_weights) break;

    // Weights are not negative, so a side without further weights never has the larger one.
    constexpr double no_weight = -1.0;
    const double left = range.begin > 0 ? weights[range.begin - 1] : no_weight;
    const double right = range.end < weights.size() ? weights[range.end] : no_weight;
    weight_in_range += std::max(left, right);

    if (left > right)
      --range.begin;
    else
      ++range.end;
  }
  return range;
}

/// Moves the step to its most likely first point, and sets the range that contains its first point
/// with the probability `confidence`. The step may have happened a few points earlier or later than
/// it seemed when it was found. `around`: the points on both sides of it.
void locate_step(const Series& series, Window around, double confidence, LevelStep& step) {
  const Window candidates = find_candidates(around, step);
  const std::vector<double> log_likelihoods = list_log_likelihoods(series, around, candidates);
  double largest = 0.0;
  for (std::size_t i = 0; i < log_likelihoods.size(); ++i) {
    if (log_likelihoods[i] > largest) {
      largest = log_likelihoods[i];
      step.first_point = candidates.begin + i;
    }
  }

  // Before the series is looked at, all candidates are equally probable. So their probabilities are
  // proportional to their likelihoods (Bayes). These are divided by the largest one, so that exp()
  // cannot overflow.
  std::vector<double> weights;
  weights.reserve(log_likelihoods.size());
  for (const double log_likelihood : log_likelihoods)
    weights.push_back(std::exp(log_likelihood - largest));

  const std::size_t most_likely = step.first_point - candidates.begin;
  const Window range = grow_range_to_share(confidence, weights, most_likely);
  step.earliest_first_point = candidates.begin + range.begin;
  step.latest_first_point = candidates.begin + range.end - 1;
}

/// Where a step is searched for.
struct StepSearch {
  std::size_t begin = 0;              ///< the step is after this point
  std::size_t last = 0;               ///< the point that confirms the step
  std::size_t min_points_before = 0;  ///< points from `begin` on before the step
  double min_certainty = 0.0;         ///< the step must be more certain than that
};

/// Returns the most certain step; nullopt if no step is certain enough. `certainty(at, best)` rates
/// a step at `at`; it may return 0 if the rating is not above `best`, the best rating so far.
template <typename Certainty>
std::optional<LevelStep> find_most_certain_step(const StepSearch& search,
                                                const Certainty& certainty) {
  std::optional<LevelStep> step;
  double best = search.min_certainty;
  for (std::size_t count = kMinPointsAround; count <= kMaxPointsAfter; ++count) {
    if (search.last + 1 - search.begin < count + search.min_points_before) break;
    const std::size_t at = search.last + 1 - count;
    const double found = certainty(at, best);
    if (found <= best) continue;
    best = found;
    step = LevelStep{.first_point = at, .confirming_point = search.last};
  }
  return step;
}

/// Returns the most certain step that `last` confirms, by the deviates between the levels around
/// it.
std::optional<LevelStep> find_step(const Series& series, std::size_t begin, std::size_t last,
                                   double min_deviates) {
  const StepSearch search{.begin = begin,
                          .last = last,
                          .min_points_before = kMinPointsAround,
                          .min_certainty = min_deviates};
  return find_most_certain_step(search, [&](std::size_t at, double best) {
    const Window before{point_before(at, kMaxWindow, begin), at};
    const Window after{at, last + 1};
    const double deviates = series.cautious_deviates(before, after, best);
    return deviates > 0.0 && series.has_rare_ranks(before, after) ? deviates : 0.0;
  });
}

/// Returns the smallest t of a step by the number of points around it.
std::vector<double> list_t_thresholds() {
  std::vector<double> thresholds(kMaxShortSeries + 1, HUGE_VAL);
  for (std::size_t points = kMinForSteps; points <= kMaxShortSeries; ++points)
    thresholds[points] = student_t_quantile_above(kTailOfShort, static_cast<double>(points - 2));
  return thresholds;
}

/// Finds a step as find_step() does, but by Student's t.
std::optional<LevelStep> find_step_in_short(const Series& series, std::size_t begin,
                                            std::size_t last) {
  static const std::vector<double> kThresholds = list_t_thresholds();
  const std::size_t points_around = last + 1 - begin;
  if (points_around < kMinForSteps) return std::nullopt;
  const StepSearch search{
      .begin = begin, .last = last, .min_points_before = kMinPointsBefore, .min_certainty = 1.0};
  return find_most_certain_step(search, [&](std::size_t at, double) {
    return series.cautious_t({begin, at}, {at, last + 1}) / kThresholds[points_around];
  });
}

/// Returns the step after `begin` that point `last` confirms; nullopt if it confirms no step.
/// `is_whole_series`: `last` is the last point of the series.
std::optional<LevelStep> find_confirmed_step(Series& series, std::size_t begin, std::size_t last,
                                             bool is_whole_series) {
  const std::size_t from = point_before(last + 1, kNoiseWindow, 0);
  const bool is_short = last < kMaxShortSeries;
  if (last == kMaxShortSeries || is_whole_series ||
      (!is_short && last % kNoiseEstimateInterval == 0))
    series.estimate_noise({from, last + 1});
  if (is_short) return find_step_in_short(series, begin, last);
  if (!series.varies(last)) return std::nullopt;
  return find_step(series, begin, last, t_as_rare_as(kSureDeviates, last - from));
}

/// Returns the first point of a step after `begin` that a copy of the last point would confirm;
/// nullopt if there is no such step, or if it begins at the last point.
std::optional<std::size_t> find_pending_first_point(std::span<const SeriesPoint> points,
                                                    std::size_t begin) {
  std::vector<SeriesPoint> longer(points.begin(), points.end());
  longer.push_back(points.back());
  Series series(longer);
  const auto step = find_confirmed_step(series, begin, points.size(), true);
  if (!step || step->first_point + kMinPointsAround > points.size()) return std::nullopt;
  return step->first_point;
}

/// Returns the points before a step that it is compared with. `limits`: the steps next to it, or
/// the ends of the series.
Window find_window_before(const LevelStep& step, Window limits) {
  return {.begin = point_before(step.first_point, kMaxWindow, limits.begin),
          .end = step.first_point};
}

/// Returns the points from a step on that are compared with those before it.
Window find_window_after(const LevelStep& step, Window limits) {
  return {.begin = step.first_point, .end = std::min(limits.end, step.first_point + kMaxWindow)};
}

/// Locates a step, and estimates its change with an interval. `limits`: the steps next to it, or
/// the ends of the series. Leaves the noise near the step in `series`.
void measure_step(Series& series, Window limits, double confidence, LevelStep& step) {
  // First, the windows are around the step as it was found.
  const Window seeming_before = find_window_before(step, limits);
  const Window seeming_after = find_window_after(step, limits);
  series.set_noise_about(seeming_before, seeming_after);
  const Window around{.begin = seeming_before.begin, .end = seeming_after.end};
  locate_step(series, around, confidence, step);

  // locate_step() may have moved the step, and the windows with it.
  const Window before = find_window_before(step, limits);
  const Window after = find_window_after(step, limits);
  series.set_noise_about(before, after);
  const Contrast contrast = series.estimate_contrast(before, after);

  // Two degrees of freedom are spent on the means before and after the step.
  const auto degrees = static_cast<double>(after.end - before.begin) - 2.0;
  const double t = student_t_quantile_above((1.0 - confidence) / 2.0, std::max(1.0, degrees));
  const double half_width = t * contrast.error;

  step.change = contrast.change;
  step.bounds = {contrast.change - half_width, contrast.change + half_width};
}

/// Locates each step, and estimates its change with an interval. This uses the noise near the step,
/// which may be other than elsewhere, so `series` is a copy. `points`: number of all points.
void measure_steps(Series series, std::size_t points, double confidence,
                   std::vector<LevelStep>& steps) {
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const Window limits{.begin = s > 0 ? steps[s - 1].first_point : 0,
                        .end = s + 1 < steps.size() ? steps[s + 1].first_point : points};
    measure_step(series, limits, confidence, steps[s]);
  }
}

bool confirms_step(const std::vector<LevelStep>& steps, std::size_t point) {
  return !steps.empty() && steps.back().confirming_point == point;
}

/// True if the last of a series' `points` is so far from the level before it that it may be the
/// first one of a step. `begin_of_level`: first point of that level.
bool is_last_point_suspect(const Series& series, std::size_t points, std::size_t begin_of_level) {
  const std::size_t last = points - 1;
  const bool is_level_known =
      points >= kMinForSuspicion && last >= begin_of_level + kMinPointsAround;
  if (!is_level_known || !series.varies(last)) return false;

  const Window level{point_before(last, kMaxWindow, begin_of_level), last};
  const Window last_point{last, last + 1};
  const double deviates = series.estimate_contrast(level, last_point).deviates();

  // The noise is estimated from the differences of neighbours, so there are as many degrees of
  // freedom as differences.
  const std::size_t differences = std::min(points, kNoiseWindow) - 1;
  return deviates > t_as_rare_as(kSuspectDeviates, differences);
}

/// Returns the steps of a series, whose changes are still unknown. Leaves the noise at the last of
/// its `points` in `series`.
std::vector<LevelStep> list_confirmed_steps(Series& series, std::size_t points) {
  // A step shows only some points later. So each point is treated as if it were the newest one:
  // does it confirm that a step happened shortly before?
  std::vector<LevelStep> steps;
  std::size_t begin_of_level = 0;  // first point after the latest step
  for (std::size_t point = kMinForSteps - 1; point < points; ++point) {
    const bool is_last = point + 1 == points;
    const auto step = find_confirmed_step(series, begin_of_level, point, is_last);
    if (!step) continue;
    begin_of_level = step->first_point;
    steps.push_back(*step);
  }
  return steps;
}

}  // namespace

double estimate_noise_variance(std::span<const SeriesPoint> points) {
  double noise = 0.0;
  for (const std::size_t lag : kLags)
    if (points.size() > lag) noise = std::max(noise, estimate_noise_at_lag(points, lag));
  return noise;
}

// A step is a lasting change of a series' level, such as that of a benchmark's times over many
// commits.
SeriesSteps find_steps(std::span<const SeriesPoint> points, double confidence) {
  SeriesSteps found;
  if (points.size() < kMinForSteps) return found;

  Series series(points);
  found.steps = list_confirmed_steps(series, points.size());
  const std::size_t begin_of_level = found.steps.empty() ? 0 : found.steps.back().first_point;
  found.noise_deviation = std::sqrt(series.noise_variance());
  measure_steps(series, points.size(), confidence, found.steps);

  // A step of several points is pending if one more point like the last one would confirm it. The
  // last point alone may be the beginning of a step if it is far from the level before it.
  found.pending_first_point = find_pending_first_point(points, begin_of_level);
  found.may_last_point_be_step = is_last_point_suspect(series, points.size(), begin_of_level) &&
                                 !confirms_step(found.steps, points.size() - 1);
  return found;
}

}  // namespace lauka::stats
