#include "stats/change_points.h"

#include "stats/distributions.h"
#include "stats/rank_tests.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace lauka::stats {
namespace {

constexpr std::size_t kWindow = 30;  // largest number of compared points on one side of a step
constexpr std::size_t kMaxPointsAfter = 12;
constexpr std::size_t kMinPointsAround = 2;
constexpr std::size_t kNoiseFrom = 200;
constexpr double kSure = 3.6;  // threshold in normal deviates
constexpr std::size_t kNoiseEach = 5;
constexpr double kSuspect = 3.5;
constexpr std::size_t kMinForNoise =
    10;  // fewest points of a series whose last point can be suspected

constexpr std::size_t kShort =
    30;  // largest number of points of a short series, whose steps are found by Student's t
constexpr std::size_t kMinPointsBefore = 3;
constexpr double kTailOfShort = 2e-4;
constexpr double kTailOfRanks = 1e-3;  // largest p value of the rank-sum test for a step

// The lags of the differences from which noise is estimated. Lag 3 shows noise that neighbours
// share.
constexpr std::array<std::size_t, 2> kLags = {1, 3};

// The limit of squared normal deviates, so that a step hardly changes their mean.
constexpr double kClip = 4.0;
constexpr double kClippedMean = 0.9205;

double clipped_mean(std::span<const SeriesPoint> points, std::size_t lag, double noise) {
  double sum = 0.0;
  for (std::size_t i = lag; i < points.size(); ++i) {
    const double difference = points[i].value - points[i - lag].value;
    const double variance = points[i].variance + points[i - lag].variance + 2.0 * noise;
    const double square = difference * difference;
    sum += square >= kClip * variance ? kClip : square / variance;
  }
  return sum / static_cast<double>(points.size() - lag);
}

double noise_at(std::span<const SeriesPoint> points, std::size_t lag) {
  double high = 0.0;
  for (std::size_t i = lag; i < points.size(); ++i) {
    const double difference = points[i].value - points[i - lag].value;
    high = std::max(high, difference * difference);
  }
  if (high <= 0.0 || clipped_mean(points, lag, 0.0) <= kClippedMean) return 0.0;
  double low = 0.0;
  for (int i = 0; i < 60 && high - low > 1e-6 * high; ++i) {
    const double middle = (low + high) / 2.0;
    (clipped_mean(points, lag, middle) > kClippedMean ? low : high) = middle;
  }
  return high;
}

struct Window {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct Level {
  double mean = 0.0;
  double variance = 0.0;
};

struct Plain {
  double mean = 0.0;
  double squares = 0.0;
  double variances = 0.0;
  double count = 0.0;
};

/// A limit for values. If `upwards` is 1, smaller values are raised to the limit; if -1, larger
/// values are lowered to it; if 0, there is no limit. `value` is the limit times `upwards`.
struct Bound {
  double value = 0.0;
  double upwards = 0.0;
};

/// Returns the variance around the means of the points before and after a step.
double variance_about(const Plain& low, const Plain& high) {
  const double count = low.count + high.count;
  return std::max((low.squares + high.squares) / std::max(1.0, count - 2.0),
                  (low.variances + high.variances) / count);
}

struct Contrast {
  double change = 0.0;
  double error = 0.0;
  double deviates() const { return error > 0.0 ? std::abs(change) / error : 0.0; }
};

class Series {
 public:
  explicit Series(std::span<const SeriesPoint> points) : points_(points) {}

  double noise() const { return noise_; }
  void set_noise(double noise) { noise_ = noise; }

  void estimate_noise(Window window) {
    noise_ = estimate_noise_variance(points_.subspan(window.begin, window.end - window.begin));
  }

  void set_noise_about(Window before, Window after) {
    const Plain low = plain(before);
    const Plain high = plain(after);
    const double sampling = (low.variances + high.variances) / (low.count + high.count);
    const double least = kRoundingError * std::max(std::abs(low.mean), std::abs(high.mean));
    noise_ = std::max(variance_about(low, high) - sampling, least * least);
  }

  /// Returns Student's t of a step. So that no single point makes a step, the numerator replaces
  /// each side's most extreme value (in favour of the step) by its second most extreme value. If
  /// nothing varies around the two levels: infinite if has_rare_ranks(), else 0.
  double student(Window before, Window after) const {
    const Plain low = plain(before);
    const Plain high = plain(after);
    const double change = high.mean - low.mean;
    if (is_rounding_error(change, std::abs(low.mean) + std::abs(high.mean))) return 0.0;
    const double variance = variance_about(low, high);
    if (is_rounding_error(std::sqrt(variance), std::abs(low.mean) + std::abs(high.mean)))
      return has_rare_ranks(before, after) ? HUGE_VAL : 0.0;
    const double upwards = change > 0.0 ? 1.0 : -1.0;
    const double cautious = plain(after, second_lowest(after, -upwards)).mean -
                            plain(before, second_lowest(before, upwards)).mean;
    return upwards * cautious / std::sqrt(variance * (1.0 / low.count + 1.0 / high.count));
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

  bool varies(std::size_t point) const { return points_[point].variance + noise_ > 0.0; }

  Contrast contrast(Window before, Window after) const {
    const Level low = level(before);
    const Level high = level(after);
    return {high.mean - low.mean, std::sqrt(low.variance + high.variance)};
  }

  double cautious(Window before, Window after, double least) const {
    const Contrast plain = contrast(before, after);
    if (plain.deviates() <= least) return 0.0;
    const double upwards = plain.change > 0.0 ? 1.0 : -1.0;
    const Level low = level(before, second_lowest(before, upwards));
    const Level high = level(after, second_lowest(after, -upwards));
    const double deviates = (high.mean - low.mean) * upwards / plain.error;
    return deviates > least ? deviates : 0.0;
  }

 private:
  Bound second_lowest(Window window, double upwards) const {
    double lowest = HUGE_VAL;
    double second = HUGE_VAL;
    for (std::size_t i = window.begin; i < window.end; ++i) {
      const double value = upwards * points_[i].value;
      second = std::min(second, std::max(lowest, value));
      lowest = std::min(lowest, value);
    }
    return {second, upwards};
  }

  double bounded(std::size_t point, Bound bound) const {
    const double value = points_[point].value;
    return bound.upwards == 0.0 ? value
                                : bound.upwards * std::max(bound.upwards * value, bound.value);
  }

  Plain plain(Window window, Bound bound = {}) const {
    Plain found{.count = static_cast<double>(window.end - window.begin)};
    for (std::size_t i = window.begin; i < window.end; ++i) {
      found.mean += bounded(i, bound) / found.count;
      found.variances += points_[i].variance;
    }
    for (std::size_t i = window.begin; i < window.end; ++i)
      found.squares += std::pow(bounded(i, bound) - found.mean, 2);
    return found;
  }

  Level level(Window window, Bound bound = {}) const {
    double weights = 0.0;
    double sum = 0.0;
    for (std::size_t i = window.begin; i < window.end; ++i) {
      const double value = bounded(i, bound);
      const double weight = 1.0 / (points_[i].variance + noise_);
      weights += weight;
      sum += weight * value;
    }
    return {sum / weights, 1.0 / weights};
  }

  std::span<const SeriesPoint> points_;
  double noise_ = 0.0;
};

/// Returns the point that is `count` points before `point`, but not before `earliest`.
std::size_t point_before(std::size_t point, std::size_t count, std::size_t earliest) {
  return point - earliest > count ? point - count : earliest;
}

/// Returns the value of Student's t with `differences` degrees of freedom that is as rare as
/// `deviates` normal deviates.
double rare_as(double deviates, std::size_t differences) {
  return student_t_quantile_above(normal_above(deviates), static_cast<double>(differences));
}

/// Sets the most likely first point of a step, and the range in which it is with `confidence`.
void locate(const Series& series, Window around, double confidence, LevelStep& step) {
  const std::size_t first =
      std::max(around.begin + 1, point_before(step.first_point, kMaxPointsAfter, 0));

  std::vector<double> log_likelihoods;  // of the points from `first` on
  double largest = 0.0;
  for (std::size_t at = first; at < std::min(around.end, step.confirming_point); ++at) {
    const double deviates = series.contrast({around.begin, at}, {at, around.end}).deviates();
    log_likelihoods.push_back(deviates * deviates / 2.0);
    if (log_likelihoods.back() > largest) {
      largest = log_likelihoods.back();
      step.first_point = at;
    }
  }

  // Relative to the largest likelihood, exp() cannot overflow.
  std::vector<double> weights;
  double sum_of_weights = 0.0;
  for (const double log_likelihood : log_likelihoods) {
    weights.push_back(std::exp(log_likelihood - largest));
    sum_of_weights += weights.back();
  }

  // The range grows on the likelier side, until it has enough of the weight.
  step.earliest_first_point = step.first_point;
  step.latest_first_point = step.first_point;
  double weight_in_range = weights[step.first_point - first];
  while (weight_in_range < confidence * sum_of_weights) {
    const std::size_t begin = step.earliest_first_point - first;
    const std::size_t end = step.latest_first_point - first + 1;
    if (begin == 0 && end == weights.size()) break;

    constexpr double no_point = -1.0;
    const double left = begin > 0 ? weights[begin - 1] : no_point;
    const double right = end < weights.size() ? weights[end] : no_point;
    weight_in_range += std::max(left, right);

    if (left > right)
      --step.earliest_first_point;
    else
      ++step.latest_first_point;
  }
}

/// Where a step is searched for.
struct StepSearch {
  std::size_t begin = 0;          ///< the step is after this point
  std::size_t last = 0;           ///< the point that confirms the step
  std::size_t fewest_before = 0;  ///< points from `begin` on before the step
  double least_certainty = 0.0;   ///< the step must be more certain than that
};

/// Returns the most certain step; nullopt if no step is certain enough. `certainty(at, best)` rates
/// a step at `at`; it may return 0 if the rating is not above `best`, the best rating so far.
template <typename Certainty>
std::optional<LevelStep> most_certain_step(const StepSearch& search, const Certainty& certainty) {
  std::optional<LevelStep> step;
  double most = search.least_certainty;
  for (std::size_t count = kMinPointsAround; count <= kMaxPointsAfter; ++count) {
    if (search.last + 1 - search.begin < count + search.fewest_before) break;
    const std::size_t at = search.last + 1 - count;
    const double found = certainty(at, most);
    if (found <= most) continue;
    most = found;
    step = LevelStep{.first_point = at, .confirming_point = search.last};
  }
  return step;
}

std::optional<LevelStep> step_at(const Series& series, std::size_t begin, std::size_t last,
                                 double sure) {
  const StepSearch search{begin, last, kMinPointsAround, sure};
  return most_certain_step(search, [&](std::size_t at, double most) {
    const Window before{point_before(at, kWindow, begin), at};
    const Window after{at, last + 1};
    const double deviates = series.cautious(before, after, most);
    return deviates > 0.0 && series.has_rare_ranks(before, after) ? deviates : 0.0;
  });
}

std::vector<double> bounds_of_short() {
  std::vector<double> bounds(kShort + 1, HUGE_VAL);
  for (std::size_t points = kMinForSteps; points <= kShort; ++points)
    bounds[points] = student_t_quantile_above(kTailOfShort, static_cast<double>(points - 2));
  return bounds;
}

/// Finds a step as step_at() does, but by Student's t.
std::optional<LevelStep> step_in_short(const Series& series, std::size_t begin, std::size_t last) {
  static const std::vector<double> kBounds = bounds_of_short();
  const std::size_t around = last + 1 - begin;
  if (around < kMinForSteps) return std::nullopt;
  const StepSearch search{begin, last, kMinPointsBefore, 1.0};
  return most_certain_step(search, [&](std::size_t at, double) {
    return series.student({begin, at}, {at, last + 1}) / kBounds[around];
  });
}

/// Returns the step after `begin` that point `last` confirms; nullopt if it confirms no step.
/// `whole`: `last` is the last point of the series.
std::optional<LevelStep> confirmed_step(Series& series, std::size_t begin, std::size_t last,
                                        bool whole) {
  const std::size_t from = point_before(last + 1, kNoiseFrom, 0);
  const bool is_short = last < kShort;
  if (last == kShort || whole || (!is_short && last % kNoiseEach == 0))
    series.estimate_noise({from, last + 1});
  if (is_short) return step_in_short(series, begin, last);
  if (!series.varies(last)) return std::nullopt;
  return step_at(series, begin, last, rare_as(kSure, last - from));
}

/// Returns the first point of a step after `begin` that a copy of the last point would confirm;
/// nullopt if there is no such step, or if it begins at the last point.
std::optional<std::size_t> pending_step(std::span<const SeriesPoint> points, std::size_t begin) {
  std::vector<SeriesPoint> longer(points.begin(), points.end());
  longer.push_back(points.back());
  Series series(longer);
  const auto step = confirmed_step(series, begin, points.size(), true);
  if (!step || step->first_point + kMinPointsAround > points.size()) return std::nullopt;
  return step->first_point;
}

void measure(Series& series, std::size_t points, double confidence, std::vector<LevelStep>& steps) {
  for (std::size_t s = 0; s < steps.size(); ++s) {
    LevelStep& step = steps[s];
    const std::size_t previous_step = s > 0 ? steps[s - 1].first_point : 0;
    const std::size_t next_step = s + 1 < steps.size() ? steps[s + 1].first_point : points;

    const auto window_before = [&] {
      return Window{point_before(step.first_point, kWindow, previous_step), step.first_point};
    };
    const auto window_after = [&] {
      return Window{step.first_point, std::min(next_step, step.first_point + kWindow)};
    };

    series.set_noise_about(window_before(), window_after());
    locate(series, {window_before().begin, window_after().end}, confidence, step);

    // locate() may have moved the step, and the windows with it.
    const Window before = window_before();
    const Window after = window_after();
    series.set_noise_about(before, after);
    const Contrast contrast = series.contrast(before, after);

    // Two degrees of freedom are spent on the means before and after the step.
    const auto degrees = static_cast<double>(after.end - before.begin) - 2.0;
    const double errors =
        student_t_quantile_above((1.0 - confidence) / 2.0, std::max(1.0, degrees));
    const double half_width = errors * contrast.error;

    step.change = contrast.change;
    step.bounds = {contrast.change - half_width, contrast.change + half_width};
  }
}

}  // namespace

double estimate_noise_variance(std::span<const SeriesPoint> points) {
  double noise = 0.0;
  for (const std::size_t lag : kLags)
    if (points.size() > lag) noise = std::max(noise, noise_at(points, lag));
  return noise;
}

SeriesSteps find_steps(std::span<const SeriesPoint> points, double confidence) {
  SeriesSteps found;
  if (points.size() < kMinForSteps) return found;

  Series series(points);
  const std::size_t last = points.size() - 1;
  std::size_t begin_of_level = 0;
  for (std::size_t point = kMinForSteps - 1; point <= last; ++point) {
    const auto step = confirmed_step(series, begin_of_level, point, point == last);
    if (!step) continue;
    begin_of_level = step->first_point;
    found.steps.push_back(*step);
  }

  const double noise = series.noise();
  found.noise_deviation = std::sqrt(noise);
  found.pending_first_point = pending_step(points, begin_of_level);
  measure(series, points.size(), confidence, found.steps);

  // measure() may have replaced the noise of the latest points by that around a step.
  series.set_noise(noise);
  const bool can_be_suspected = points.size() >= kMinForNoise && series.varies(last) &&
                                last >= begin_of_level + kMinPointsAround;
  const bool has_confirmed_step =
      !found.steps.empty() && found.steps.back().confirming_point == last;
  if (can_be_suspected && !has_confirmed_step) {
    const Window level{point_before(last, kWindow, begin_of_level), last};
    const double deviates = series.contrast(level, {last, last + 1}).deviates();
    const std::size_t differences = std::min(points.size(), kNoiseFrom) - 1;
    found.may_last_point_be_step = deviates > rare_as(kSuspect, differences);
  }

  return found;
}

}  // namespace lauka::stats
