#include "stats/change_points.h"

#include "stats/noise.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::stats {
namespace {

using Noise = std::function<double(std::size_t)>;

std::vector<SeriesPoint> series(std::size_t count, const Noise& noise, double variance = 0.0) {
  std::vector<SeriesPoint> points;
  for (std::size_t i = 0; i < count; ++i) points.push_back({noise(i), variance});
  return points;
}

/// Steps found in a thousand points, of eight thousand.
double false_steps(const Noise& noise, double variance = 0.0) {
  std::size_t found = 0;
  for (int i = 0; i < 8; ++i)
    found += find_steps(series(1'000, noise, variance), 0.95).steps.size();
  return static_cast<double>(found) / 8.0;
}

/// Student's t with five degrees of freedom and a variance of 1.
double heavy(noise::Source& source) {
  double squares = 0.0;
  for (int i = 0; i < 5; ++i) squares += std::pow(source.normal(), 2);
  return source.normal() / std::sqrt(squares / 5.0) * std::sqrt(3.0 / 5.0);
}

/// Student's t with four degrees and a variance of 1.
double heavier(noise::Source& source) {
  double squares = 0.0;
  for (int i = 0; i < 4; ++i) squares += std::pow(source.normal(), 2);
  return source.normal() / std::sqrt(squares / 4.0) * std::sqrt(2.0 / 4.0);
}

constexpr double kKnown = 0.25;  // of the variance in the simulations, which is 1

/// Prints the share of steps that are found, as docs/statistics.md has it, and checks what is
/// promised.
void simulate_steps(int trials, bool is_whole) {
  noise::Source source(11);
  const auto found = [&](std::size_t before, std::size_t after, double height) {
    int count = 0;
    for (int trial = 0; trial < trials; ++trial) {
      const auto steps =
          find_steps(
              series(
                  before + after,
                  [&](std::size_t i) { return source.normal() + (i >= before ? height : 0.0); },
                  kKnown),
              0.95)
              .steps;
      count += std::any_of(steps.begin(), steps.end(), [&](const LevelStep& step) {
        return step.change > 0.0 && step.first_point + 3 >= before &&
               step.first_point <= before + 3;
      });
    }
    return 100.0 * count / trials;
  };
  for (const auto& [before, after] :
       {std::pair(8U, 6U), std::pair(10U, 5U), std::pair(15U, 5U), std::pair(30U, 5U),
        std::pair(50U, 10U), std::pair(100U, 20U)}) {
    if (!is_whole && before != 8U) continue;
    for (const double height : {1.0, 2.0, 3.0, 4.0, 6.0}) {
      if (!is_whole && height < 3.0) continue;
      const double percent = found(before, after, height);
      MESSAGE(before, "+", after, " at ", height, " sigma: ", percent, " % found");
      if (before == 8U && height == 3.0) CHECK(percent >= 60.0);
      if (before == 8U && height == 4.0) CHECK(percent >= 90.0);
    }
  }
}

/// The same of those that are not there, in so many thousand commits of each noise.
void simulate_noise(double thousands, bool is_whole) {
  noise::Source source(12);
  double earlier = 0.0;
  const std::vector<std::pair<const char*, Noise>> noises = {
      {"normal", [&](std::size_t) { return source.normal(); }},
      {"t, 4 degrees", [&](std::size_t) { return heavier(source); }},
      {"5 % wild",
       [&](std::size_t) { return source.normal() * (source.uniform() < 0.05 ? 5.0 : 1.0); }},
      {"drift by 0.02",
       [&](std::size_t i) { return source.normal() + 0.02 * static_cast<double>(i); }},
      {"AR(1) 0.3", [&](std::size_t i) {
         const double fresh = source.normal();
         return earlier = i == 0 ? fresh : 0.3 * earlier + std::sqrt(1 - 0.09) * fresh;
       }}};
  for (std::size_t which = 0; which < (is_whole ? noises.size() : 3); ++which)
    for (const std::size_t count : {14U, 20U, 35U, 60U, 1'000U}) {
      if (!is_whole && (count == 20U || count == 1'000U)) continue;
      std::size_t steps = 0;
      const int repeats = static_cast<int>(1'000.0 * thousands) / static_cast<int>(count);
      for (int i = 0; i < repeats; ++i)
        steps += find_steps(series(count, noises[which].second, kKnown), 0.95).steps.size();
      const double rate =
          1'000.0 * static_cast<double>(steps) / (repeats * static_cast<double>(count));
      MESSAGE(std::string(noises[which].first), ", series of ", count, ": ", rate,
              " false steps in 1,000");
      if (which < 3) CHECK(rate <= (is_whole ? 1.0 : 2.5));
    }
}

}  // namespace

TEST_CASE("a thousand commits without a change have at most one step") {
  noise::Source source(1);
  CHECK(false_steps([&](std::size_t) { return source.normal(); }) <= 1.0);
  CHECK(false_steps([&](std::size_t) { return heavy(source); }) <= 1.5);
  // Half of the noise is known, all of it, and more.
  for (const double variance : {0.5, 1.0, 1.5})
    CHECK(false_steps([&](std::size_t) { return source.normal(); }, variance) <= 1.0);
}

TEST_CASE("what a person sees in fourteen commits is a step") {
  std::vector<SeriesPoint> points;
  for (const double value :
       {4.82, 4.85, 4.91, 5.06, 5.01, 4.99, 4.64, 4.81, 5.35, 5.18, 5.38, 5.48, 5.61, 5.61})
    points.push_back({std::log(value), 0.0});
  const auto steps = find_steps(points, 0.95).steps;
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].first_point == 8);
}

TEST_CASE("steps in short series: how many are found, and how many are not there") {
  simulate_steps(300, false);
  simulate_noise(3.0, false);
}

TEST_CASE("all of the simulation of steps: found (scripts/bench history --steps)" *
          doctest::skip()) {
  simulate_steps(4'000, true);
}

TEST_CASE("all of the simulation of steps: false (scripts/bench history --steps)" *
          doctest::skip()) {
  simulate_noise(200.0, true);
}

TEST_CASE("the interval of a step is its levels': it does not widen with the commits") {
  noise::Source source(8);
  auto points = series(8, [&](std::size_t) { return 0.01 * source.normal(); });
  double widest = 0.0;
  for (int after = 1; after <= 12; ++after) {
    points.push_back({0.25 + 0.01 * source.normal(), 0.0});
    const auto steps = find_steps(points, 0.95).steps;
    if (after < 3) continue;
    REQUIRE(steps.size() == 1);
    widest = std::max(widest, steps[0].bounds.high - steps[0].bounds.low);
  }
  CHECK(widest < 0.04);
}

TEST_CASE("drift alone makes no steps where it goes into the anchor, too, or is slow") {
  noise::Source source(2);
  // A machine that drifts by ten standard errors: the ratio to the anchor does not see it.
  double drift = 0.0;
  CHECK(false_steps([&](std::size_t) {
          drift += 0.3 * source.normal();
          const double candidate = drift + source.normal() * std::sqrt(0.5);
          const double anchor = drift + source.normal() * std::sqrt(0.5);
          return candidate - anchor;
        }) <= 1.0);
  CHECK(false_steps([&](std::size_t i) {
          return source.normal() + 0.005 * static_cast<double>(i);
        }) <= 1.5);
}

TEST_CASE("a step of three standard errors is found within five commits") {
  noise::Source source(3);
  for (const std::size_t before : {50U, 100U, 300U}) {
    CAPTURE(before);
    int found = 0;
    int exact = 0;
    int in_range = 0;
    int covered = 0;
    constexpr int kTrials = 200;
    for (int trial = 0; trial < kTrials; ++trial) {
      const auto steps =
          find_steps(
              series(before + 5,
                     [&](std::size_t i) { return source.normal() + (i >= before ? 3.0 : 0.0); }),
              0.95)
              .steps;
      if (steps.empty() || steps.back().first_point + 2 < before) continue;
      const LevelStep& step = steps.back();
      ++found;
      if (step.first_point == before) ++exact;
      if (step.earliest_first_point <= before && before <= step.latest_first_point) ++in_range;
      if (step.bounds.low <= 3.0 && 3.0 <= step.bounds.high) ++covered;
      CHECK(step.confirming_point > step.first_point);
    }
    CHECK(found >= 0.92 * kTrials);  // 95 %, less what 200 trials leave open
    CHECK(exact >= 0.75 * found);
    CHECK(in_range >= 0.93 * found);
    CHECK(covered >= 0.9 * found);
  }
}

TEST_CASE("what was confirmed stays, whatever comes after it") {
  noise::Source source(4);
  const auto all = series(200, [&](std::size_t i) {
    return source.normal() + (i >= 60 ? 4.0 : 0.0) - (i >= 120 ? 6.0 : 0.0);
  });
  std::size_t known = 0;
  for (std::size_t count = 1; count <= all.size(); ++count) {
    const auto steps = find_steps(std::span(all).first(count), 0.95).steps;
    CHECK(steps.size() >= known);
    known = steps.size();
  }
  const auto steps = find_steps(all, 0.95);
  REQUIRE(steps.steps.size() == 2);
  CHECK(steps.steps[0].earliest_first_point <= 60);
  CHECK(steps.steps[0].latest_first_point >= 60);
  CHECK(steps.steps[0].change == doctest::Approx(4.0).epsilon(0.2));
  CHECK(steps.steps[1].change == doctest::Approx(-6.0).epsilon(0.2));
  CHECK(steps.noise_deviation == doctest::Approx(1.0).epsilon(0.3));
}

TEST_CASE("one point alone is suspected, not confirmed, and no step once it is past") {
  noise::Source source(5);
  auto points = series(60, [&](std::size_t) { return source.normal(); });
  points.back().value = 20.0;
  const auto at_once = find_steps(points, 0.95);
  CHECK(at_once.steps.empty());
  CHECK(at_once.may_last_point_be_step);
  for (int i = 0; i < 20; ++i) points.push_back({source.normal(), 0.0});
  const auto later = find_steps(points, 0.95);
  CHECK(later.steps.empty());
  CHECK_FALSE(later.may_last_point_be_step);
}

TEST_CASE("short series and such as never vary have no steps") {
  CHECK(find_steps({}, 0.95).steps.empty());
  CHECK(find_steps(series(5, [](std::size_t i) { return i < 3 ? 0.0 : 9.0; }), 0.95).steps.empty());
  CHECK(find_steps(series(9, [](std::size_t i) { return i < 5 ? 0.0 : 9.0; }), 0.95).steps.empty());
  const auto flat = find_steps(series(50, [](std::size_t) { return 2.0; }), 0.95);
  CHECK(flat.steps.empty());
  CHECK(flat.noise_deviation == 0.0);
  CHECK_FALSE(flat.may_last_point_be_step);
  // Counts that vary only when the program changes: their sampling error is nothing, so only the
  // change itself shows.
  const auto exact = find_steps(series(50, [](std::size_t i) { return i < 30 ? 7.0 : 7.1; }), 0.95);
  REQUIRE(exact.steps.size() == 1);
  CHECK(exact.steps[0].first_point == 30);
  CHECK(exact.steps[0].change == doctest::Approx(0.1));
}

TEST_CASE("series without a step have one that waits for a commit in less than one look in 100") {
  noise::Source source(21);
  const std::vector<Noise> noises = {
      [&](std::size_t) { return source.normal(); }, [&](std::size_t) { return heavier(source); },
      [&](std::size_t) { return source.normal() * (source.uniform() < 0.05 ? 5.0 : 1.0); }};
  constexpr int looks = 600;
  for (const Noise& noise : noises)
    for (const std::size_t count : {8U, 14U, 35U, 60U}) {
      int pending = 0;
      for (int i = 0; i < looks; ++i)
        pending +=
            find_steps(series(count, noise, kKnown), 0.95).pending_first_point.has_value() ? 1 : 0;
      CHECK(pending < looks / 50);  // 0.6 % at most in 6,000; here three standard errors more
    }
}

TEST_CASE("a step of two points among many waits for one more, and a single point does not") {
  const auto points = [](std::size_t after) {
    return series(40 + after, [](std::size_t i) {
      return std::sin(7.0 * static_cast<double>(i)) + (i >= 40 ? 20.0 : 0.0);
    });
  };
  CHECK_FALSE(find_steps(points(0), 0.95).pending_first_point.has_value());
  CHECK_FALSE(find_steps(points(1), 0.95).pending_first_point.has_value());
  CHECK(find_steps(points(1), 0.95).may_last_point_be_step);
  CHECK(find_steps(points(2), 0.95).pending_first_point == 40U);
  CHECK(find_steps(points(2), 0.95).steps.empty());
  CHECK(find_steps(points(3), 0.95).steps.size() == 1);
  CHECK_FALSE(find_steps(points(3), 0.95).pending_first_point.has_value());
}

}  // namespace lauka::stats
