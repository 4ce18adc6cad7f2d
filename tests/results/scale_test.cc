#include "results/results.h"

#include <cmath>
#include <cstdint>
#include <string>

#include <doctest/doctest.h>

namespace lauka {
namespace {

Plan small_plan(std::size_t commands) {
  Plan plan;
  for (std::size_t c = 0; c < commands; ++c) {
    const std::string name = "command " + std::to_string(c);
    plan.commands.push_back({name, name, {name}});
  }
  const BuiltInMetric& wall = kBuiltInMetrics.front();
  plan.metrics.push_back({std::string(wall.name), wall.unit, Better::Less, wall.shown, wall.read});
  return plan;
}

constexpr std::uint64_t kSecond = 1'000'000'000;

/// Differences below 2^20, from a simple generator: sums of a million squares of them are exact.
class Differences {
 public:
  std::uint64_t next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return state_ >> 44U;
  }

 private:
  std::uint64_t state_ = 1;
};

RunRecord small_run(std::uint32_t command, std::uint32_t round, std::uint64_t wall_ns) {
  RunRecord run;
  run.step = {command, round, 0};
  run.outcome = Exited{0};
  run.usage.wall_ns = wall_ns;
  return run;
}

}  // namespace

TEST_CASE("mean and deviation of a million runs agree with exact arithmetic") {
  constexpr std::uint32_t runs = 1'000'000;
  Session session;
  Differences differences;
  std::uint64_t sum = 0;
  std::uint64_t squares = 0;
  for (std::uint32_t i = 0; i < runs; ++i) {
    const std::uint64_t difference = differences.next();
    sum += difference;
    squares += difference * difference;
    session.runs.push_back(small_run(0, i, kSecond + difference));
  }
  const Results results = analyse(small_plan(1), session, {});
  const auto n = static_cast<long double>(runs);
  const auto exact_sum = static_cast<long double>(sum);
  const auto mean = static_cast<double>((kSecond + exact_sum / n) / 1e9L);
  const auto deviation = static_cast<double>(
      std::sqrt((n * static_cast<long double>(squares) - exact_sum * exact_sum) / n / (n - 1)) /
      1e9L);
  REQUIRE(results.commands[0].rows[0].summary);
  const stats::Summary& summary = *results.commands[0].rows[0].summary;
  CHECK(summary.count == runs);
  CHECK(std::fabs(summary.mean / mean - 1) < 1e-12);
  CHECK(std::fabs(summary.stddev.value() / deviation - 1) < 1e-12);
}

TEST_CASE("a thousand commands have each their own runs, in the order run") {
  constexpr std::uint32_t commands = 1000;
  constexpr std::uint32_t rounds = 10;
  Session session;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (std::uint32_t c = 0; c < commands; ++c) {
      const std::uint32_t command = (c * 7 + round) % commands;
      session.runs.push_back(small_run(command, round, 1'000'000 * (command + 1) + round));
    }
  }
  const Results results = analyse(small_plan(commands), session, {});
  for (std::uint32_t c = 0; c < commands; ++c) {
    const auto runs = results.runs->of_command(c);
    REQUIRE(runs.size() == rounds);
    for (std::uint32_t round = 0; round < rounds; ++round) {
      REQUIRE(results.runs->row(runs[round]).round == round);
      REQUIRE(results.runs->value(runs[round], 0) == (1'000'000.0 * (c + 1) + round) / 1e9);
    }
  }
}

}  // namespace lauka
