#include "stats/steps.h"

#include "stats/distributions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace lauka::stats {
namespace {

constexpr std::size_t kWindow = 30;       // points before a step: drift is small within them
constexpr std::size_t kMostAfter = 12;    // and fewer after it, as both together see it twice
constexpr std::size_t kFewestAround = 2;  // on either side
constexpr std::size_t kNoiseFrom = 200;   // the latest points, for their noise
constexpr double kSure = 3.6;             // normal deviates; see tests/stats/steps_test.cc
constexpr std::size_t kNoiseEach = 5;     // points: it hardly changes with one
constexpr double kSuspect = 3.5;          // of the last point alone

// Neighbours are compared, and every third, which shows it where neighbours are alike.
constexpr std::array<std::size_t, 2> kLags = {1, 3};

// Squares of normal deviates, clipped at 2 deviations, have this mean, which a step hardly moves.
constexpr double kClip = 4.0;
constexpr double kClippedMean = 0.9205;

/// The mean of the squared differences at `lag`, each by its variance, were the points' noise
/// `noise` squared.
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

/// The variance between points beside that of their sampling, by differences at `lag`.
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

double noise_of(std::span<const SeriesPoint> points) {
  double noise = 0.0;
  for (const std::size_t lag : kLags) noise = std::max(noise, noise_at(points, lag));
  return noise;
}

/// Points from `begin` on, before `end`.
struct Window {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct Level {
  double mean = 0.0;
  double variance = 0.0;  ///< of the mean
};

/// A step between two windows, in standard errors.
struct Contrast {
  double change = 0.0;
  double error = 0.0;
  double deviates() const { return error > 0.0 ? std::abs(change) / error : 0.0; }
};

class Series {
 public:
  explicit Series(std::span<const SeriesPoint> points) : points_(points) {}

  void set_noise(double noise) { noise_ = noise; }

  /// Whether points differ at all, or could.
  bool varies(std::size_t point) const { return points_[point].variance + noise_ > 0.0; }

  Contrast contrast(Window before, Window after) const {
    const Level low = level(before, {});
    const Level high = level(after, {});
    return {high.mean - low.mean, std::sqrt(low.variance + high.variance)};
  }

  /// The deviates of the same, with the most telling point on either side no more than the second;
  /// 0 where they are not more than `least`.
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
  /// A bound that values are moved to, if they are beyond.
  struct Bound {
    double value = 0.0;
    double upwards = 0.0;  ///< 0: none
  };

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

  Level level(Window window, Bound bound) const {
    double weights = 0.0;
    double sum = 0.0;
    for (std::size_t i = window.begin; i < window.end; ++i) {
      double value = points_[i].value;
      if (bound.upwards != 0.0)
        value = bound.upwards * std::max(bound.upwards * value, bound.value);
      const double weight = 1.0 / (points_[i].variance + noise_);
      weights += weight;
      sum += weight * value;
    }
    return {sum / weights, 1.0 / weights};
  }

  std::span<const SeriesPoint> points_;
  double noise_ = 0.0;
};

std::size_t back(std::size_t from, std::size_t by, std::size_t to) {
  return from - to > by ? from - by : to;
}

/// Student's t that is as rare as `deviates` normal ones, with so many differences seen.
double rare_as(double deviates, std::size_t differences) {
  return student_t_quantile_above(normal_above(deviates), static_cast<double>(differences));
}

/// Where within `around` a step is most probable, and where it may be: each place by its
/// likelihood.
void locate(const Series& series, Window around, double confidence, Step& step) {
  std::vector<double> weights;
  const std::size_t first = std::max(around.begin + 1, back(step.at, kMostAfter, 0));
  double most = 0.0;
  for (std::size_t at = first; at < std::min(around.end, step.confirmed); ++at) {
    const double deviates = series.contrast({around.begin, at}, {at, around.end}).deviates();
    weights.push_back(deviates * deviates / 2.0);
    if (weights.back() > most) {
      most = weights.back();
      step.at = at;
    }
  }
  double all = 0.0;
  for (double& weight : weights) all += weight = std::exp(weight - most);
  step.earliest = step.latest = step.at;
  double within = weights[step.at - first];
  while (within < confidence * all) {
    const std::size_t below = step.earliest - first;
    const std::size_t above = step.latest - first + 1;
    const double left = below > 0 ? weights[below - 1] : -1.0;
    const double right = above < weights.size() ? weights[above] : -1.0;
    if (left < 0.0 && right < 0.0) break;
    within += std::max(left, right);
    if (left > right)
      --step.earliest;
    else
      ++step.latest;
  }
}

/// The step that the points up to `last` confirm, on the level that holds from `begin` on.
std::optional<Step> step_at(const Series& series, std::size_t begin, std::size_t last,
                            double sure) {
  std::optional<Step> step;
  double most = sure;
  for (std::size_t count = kFewestAround; count <= kMostAfter; ++count) {
    if (last + 1 < begin + count + kFewestAround) break;
    const std::size_t at = last + 1 - count;
    const double deviates = series.cautious({back(at, kWindow, begin), at}, {at, last + 1}, most);
    if (deviates <= 0.0) continue;
    most = deviates;
    step.emplace();
    step->at = at;
    step->confirmed = last;
  }
  return step;
}

/// Enters where the steps are and how large, with all that is known now.
void measure(const Series& series, std::size_t points, double confidence,
             std::vector<Step>& steps) {
  const double half =
      rare_as(normal_quantile_above((1.0 - confidence) / 2.0), std::min(points, kNoiseFrom) - 1);
  for (std::size_t s = 0; s < steps.size(); ++s) {
    Step& step = steps[s];
    const std::size_t low = s > 0 ? steps[s - 1].at : 0;
    const std::size_t high = s + 1 < steps.size() ? steps[s + 1].at : points;
    locate(series, {back(step.at, kWindow, low), std::min(high, step.at + kWindow)}, confidence,
           step);
    const Contrast change = series.contrast({back(step.at, kWindow, low), step.at},
                                            {step.at, std::min(high, step.at + kWindow)});
    step.change = change.change;
    step.bounds = {change.change - half * change.error, change.change + half * change.error};
  }
}

}  // namespace

SeriesSteps find_steps(std::span<const SeriesPoint> points, double confidence) {
  SeriesSteps found;
  if (points.size() < kFewestForSteps) return found;
  Series series(points);
  std::size_t begin = 0;  // of the level that holds
  double noise = 0.0;
  for (std::size_t last = kFewestForSteps - 1; last < points.size(); ++last) {
    const std::size_t from = back(last + 1, kNoiseFrom, 0);
    if (last < kWindow || last % kNoiseEach == 0)
      noise = noise_of(points.subspan(from, last + 1 - from));
    series.set_noise(noise);
    if (!series.varies(last)) continue;
    const double sure = rare_as(kSure, last - from);
    const auto step = step_at(series, begin, last, sure);
    if (!step) continue;
    begin = step->at;
    found.steps.push_back(*step);
  }
  measure(series, points.size(), confidence, found.steps);
  const std::size_t last = points.size() - 1;
  if (series.varies(last) && last >= begin + kFewestAround)
    found.is_last_suspected =
        (found.steps.empty() || found.steps.back().confirmed != last) &&
        series.contrast({back(last, kWindow, begin), last}, {last, last + 1}).deviates() >
            rare_as(kSuspect, std::min(points.size(), kNoiseFrom) - 1);
  found.noise = std::sqrt(noise);
  return found;
}

}  // namespace lauka::stats
