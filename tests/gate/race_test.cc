#include "gate/race.h"

#include "gate/schedule.h"
#include "stats/distributions.h"
#include "stats/noise.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::gate {
namespace {

/// Values of each command, one for each round.
using Values = std::vector<std::vector<double>>;

SamplesOfPair samples_of(const Values& values) {
  return [&values](std::size_t reference, std::size_t candidate) {
    return Comparison{values[reference], values[candidate]};
  };
}

std::vector<std::size_t> in_order(const Values& values) {
  std::vector<std::size_t> all(values.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

RaceDecision decide_among(const Values& values, const RaceRule& rule, double error = 0.001) {
  const RaceLook look{.rounds = values.front().size(), .error = error, .may_find_equals = true};
  return decide_race(in_order(values), samples_of(values), rule, look);
}

/// `count` values around `level`, each another percent of it away, in an order of their own.
std::vector<double> around(double level, std::size_t count, std::size_t step) {
  std::vector<double> values;
  values.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(level * (1.0 + 0.001 * static_cast<double>(i * step % count)));
  return values;
}

/// Returns the probability that a standard normal process, whose looks come after numbers of rounds
/// that grow by 2^(1/8), is beyond its boundary at any of `looks` looks: the recursion of Armitage,
/// McPherson and Rowe 1969, by the midpoint rule.
double chance_of_any_crossing(double error, std::size_t looks) {
  constexpr double low = -6.0;
  constexpr double step = 0.05;
  const double resemblance = std::exp2(-0.0625);
  const double innovation = std::sqrt(1.0 - resemblance * resemblance);
  const auto density = [](double z) {
    constexpr double root_of_two_pi = 2.5066282746310002;
    return std::exp(-z * z / 2.0) / root_of_two_pi;
  };

  double crossed = 0.0;
  std::vector<double> before;
  double width_before = 0.0;
  for (std::size_t look = 1; look <= looks; ++look) {
    const double boundary = stats::normal_quantile_above(level_of_race_look(error, look));
    const auto cells = static_cast<std::size_t>((boundary - low) / step);
    const double width = (boundary - low) / static_cast<double>(cells);
    std::vector<double> now(cells);
    for (std::size_t i = 0; look == 1 && i < cells; ++i)
      now[i] = density(low + (static_cast<double>(i) + 0.5) * width) * width;
    if (look == 1) crossed += level_of_race_look(error, look);

    for (std::size_t i = 0; i < before.size(); ++i) {
      const double mean = resemblance * (low + (static_cast<double>(i) + 0.5) * width_before);
      crossed += before[i] * stats::normal_above((boundary - mean) / innovation);
      for (std::size_t k = 0; k < cells; ++k)
        now[k] += before[i] * width / innovation *
                  density((low + (static_cast<double>(k) + 0.5) * width - mean) / innovation);
    }
    before = std::move(now);
    width_before = width;
  }
  return crossed;
}

TEST_CASE("a command that is slower in every round leaves, and names the one that beat it") {
  const Values values = {around(1.0, 20, 7), around(1.1, 20, 3), around(1.0, 20, 11)};
  const RaceDecision decision = decide_among(values, {.limit = 0.0});
  REQUIRE(decision.exits.size() == 1);
  CHECK(decision.exits[0] == RaceExit{1, 20, 0});
  CHECK_FALSE(decision.are_rest_equal);
}

TEST_CASE("if more is better, the command with the lower values leaves") {
  const Values values = {around(1.1, 20, 7), around(1.0, 20, 3)};
  const RaceDecision decision = decide_among(values, {.limit = 0.0, .better = Better::More});
  REQUIRE(decision.exits.size() == 1);
  CHECK(decision.exits[0].command == 1);
}

TEST_CASE("commands that differ by less than the limit are equal, and none leaves") {
  const Values values = {around(1.0, 60, 7), around(1.0, 60, 13), around(1.0, 60, 17)};
  const RaceDecision decision = decide_among(values, {.limit = 0.05});
  CHECK(decision.exits.empty());
  CHECK(decision.are_rest_equal);
  CHECK_FALSE(decide_among(values, {.limit = 0.0001}).are_rest_equal);
}

TEST_CASE("commands are equal only if every two of them are") {
  const Values values = {around(1.0, 60, 7), around(1.0, 60, 13), around(1.02, 60, 7)};
  // Ranks show that the last one is slower; an error of 0 lets nobody leave.
  CHECK_FALSE(decide_among(values, {.limit = 0.01}, 1e-12).are_rest_equal);
  CHECK(decide_among(values, {.limit = 0.06}, 1e-12).are_rest_equal);
}

TEST_CASE("the order of two commands that are equal in all rounds does not matter: both stay") {
  const Values values = {std::vector<double>(30, 5.0), std::vector<double>(30, 5.0)};
  CHECK(decide_among(values, {.limit = 0.01}).exits.empty());
  CHECK(decide_among(values, {.limit = 0.01}).are_rest_equal);
}

TEST_CASE("a command stays though no other does") {
  const Values values = {around(1.0, 20, 7), around(1.1, 20, 3), around(1.2, 20, 3),
                         around(1.3, 20, 3)};
  const RaceDecision decision = decide_among(values, {.limit = 0.01});
  CHECK(decision.exits.size() == 3);
  // The slowest leaves first.
  CHECK(decision.exits[0].command == 3);
  CHECK_FALSE(decision.are_rest_equal);
}

TEST_CASE("a look at a thousand commands compares each with a few leaders only") {
  const std::size_t count = 1000;
  Values values;
  for (std::size_t c = 0; c < count; ++c) values.push_back(around(1.0, 20, 2 * (c % 9) + 1));
  std::size_t comparisons = 0;
  const auto counted = [&](std::size_t reference, std::size_t candidate) {
    ++comparisons;
    return Comparison{values[reference], values[candidate]};
  };
  const RaceLook look{.rounds = 20, .error = 1e-6, .may_find_equals = true};
  CHECK(decide_race(in_order(values), counted, {.limit = 1e-6}, look).exits.empty());
  CHECK(comparisons <= 8 * count + 1);
}

TEST_CASE("the looks of a race spend at most the error of a comparison, and most of it") {
  for (const double error : {1e-6, 1e-4, 0.004, 0.025, 0.1}) {
    CAPTURE(error);
    const double spent = chance_of_any_crossing(error, 160);
    CHECK(spent <= 1.02 * error);
    CHECK(spent >= 0.96 * error);
  }
}

TEST_CASE("looks begin when the rank test can decide, and their rounds double after eight more") {
  RaceSchedule schedule(0.025 / 3.0, 1);
  std::vector<std::size_t> rounds;
  for (int look = 0; look < 9; ++look) {
    rounds.push_back(schedule.rounds_at_next_look());
    static_cast<void>(schedule.take_look(rounds.back(), false));
  }
  CHECK(rank_test_can_decide(rounds[0], level_of_race_look(0.025 / 3.0, 1)));
  CHECK_FALSE(rank_test_can_decide(rounds[0] - 1, level_of_race_look(0.025 / 3.0, 1)));
  CHECK(rounds[8] == 2 * rounds[0]);
  CHECK(RaceSchedule(0.025, 40).rounds_at_next_look() == 40);
  CHECK(RaceSchedule(0.25, 1).rounds_at_next_look() == 10);
}

TEST_CASE("a look that was passed over spends nothing, and an only look may spend everything") {
  RaceSchedule late(0.01, 10);
  const std::size_t first = late.rounds_at_next_look();
  CHECK(late.take_look(100 * first, false) == doctest::Approx(level_of_race_look(0.01, 54)));
  CHECK(late.rounds_at_next_look() > 100 * first);

  RaceSchedule only(0.01, 10);
  CHECK(only.take_look(5, true) == 0.01);
}

TEST_CASE("the order of a race's result has the last to leave before the first") {
  const RaceResult result{.rounds = 40,
                          .left = {4, 2},
                          .exits = {{0, 10, 2}, {3, 10, 2}, {1, 20, 4}},
                          .end = RaceEnd::Equal};
  CHECK(result.order() == std::vector<std::size_t>{4, 2, 1, 3, 0});
  CHECK(result.count_runs() == 2 * 40 + 10 + 10 + 20);
  CHECK(result.count_runs_without_exits() == 200);
  REQUIRE(result.find_exit(1) != nullptr);
  CHECK(result.find_exit(1)->rounds == 20);
  CHECK(result.find_exit(4) == nullptr);
}

TEST_CASE("the best commands come first by the median, and those without values last") {
  const Values values = {{3.0, 3.0, 3.0}, {}, {1.0, 1.0, 100.0}, {2.0, 2.0, 2.0}};
  const std::vector<std::size_t> all = in_order(values);
  const auto values_of = [&](std::size_t command) { return values[command]; };
  CHECK(sort_best_first(all, values_of, {}) == std::vector<std::size_t>{2, 3, 0, 1});
  CHECK(sort_best_first(all, values_of, {.better = Better::More}) ==
        std::vector<std::size_t>{0, 3, 2, 1});
  CHECK(sort_best_first(all, values_of, {.quantile = 1.0}) == std::vector<std::size_t>{3, 0, 2, 1});
}

/// Runs a race of normal noise, and returns if the best command, which is the first, is left.
bool keeps_best(noise::Source& source, std::size_t commands) {
  Values values(commands);
  std::vector<std::size_t> left = in_order(values);
  RaceSchedule schedule(RaceError().of_comparison(commands), 10);
  while (left.size() > 1 && values.front().size() < 150) {
    const std::size_t rounds = schedule.rounds_at_next_look();
    for (const std::size_t c : left)
      while (values[c].size() < rounds) values[c].push_back(1.0 + 0.05 * source.normal());
    const RaceLook look{.rounds = rounds, .error = schedule.take_look(rounds, false)};
    for (const RaceExit& exit : decide_race(left, samples_of(values), {}, look).exits)
      std::erase(left, exit.command);
    if (std::ranges::find(left, std::size_t{0}) == left.end()) return false;
  }
  return true;
}

TEST_CASE("a race of equal commands loses any one of them in at most 5% of races") {
  noise::Source source(57);
  constexpr int races = 250;
  int lost = 0;
  for (int race = 0; race < races; ++race) lost += keeps_best(source, 4) ? 0 : 1;
  CHECK(lost <= 12 + 10);
  CHECK(lost >= 1);
}

}  // namespace
}  // namespace lauka::gate
