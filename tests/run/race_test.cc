#include "gate/race.h"

#include "plan/rows.h"
#include "run/bench.h"

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

// A race, from the launcher's runs to its result.

namespace lauka {
namespace {

using namespace std::chrono_literals;

/// A race by wall time. Every run takes 1 ms of the budget, whatever its wall time.
Plan race_of(const std::vector<std::string>& names, std::chrono::milliseconds budget) {
  Plan plan = plan_of(names);
  plan.metrics = make_metrics({}, MetricSelection::Default, false);
  plan.setting.stop = {{}, 1, {}, budget};
  plan.race = RaceGoal{.limit = 0.01, .metric = *primary_metric(plan.metrics)};
  return plan;
}

/// Gives the runs of each command their wall time in ms. A command whose time is negative takes 1%
/// more in every second run, and one whose time is positive in the other runs.
gate::RaceResult result_of(const Plan& plan, const std::vector<double>& times, Bench& bench) {
  std::vector<std::size_t> runs(times.size());
  bench.launcher.adjust = [&](os::ProgramId program, os::Ended& ended) {
    const bool is_even = runs[program]++ % 2 == 0;
    const double time = times[program];
    const double more = is_even == (time < 0.0) ? 1.01 : 1.0;
    ended.usage.wall_ns = static_cast<std::uint64_t>(std::abs(time) * more * 1e6);
  };
  REQUIRE(bench.carry_out(plan).has_value());
  REQUIRE(bench.findings.race.has_value());
  return *bench.findings.race;
}

std::size_t count_runs(const Bench& bench, const std::string& name) {
  std::size_t count = 0;
  const std::string log = bench.launcher.log() + " ";
  for (std::size_t at = log.find(name + " "); at != std::string::npos;
       at = log.find(name + " ", at + 1))
    ++count;
  return count;
}

}  // namespace

TEST_CASE("a race ends at the first look if one command is better than all others") {
  Bench bench;
  const gate::RaceResult race = result_of(race_of({"a", "b", "c"}, 1h), {20.0, 10.0, 30.0}, bench);
  CHECK(race.end == gate::RaceEnd::OneLeft);
  CHECK(race.left == std::vector<std::size_t>{1});
  CHECK(race.rounds == 10);
  CHECK(race.order() == std::vector<std::size_t>{1, 0, 2});
}

TEST_CASE("commands that are left get the time that the others did not use") {
  Bench bench;
  Plan plan = race_of({"a", "b", "c"}, 100ms);
  plan.race->limit = 0.0;
  const gate::RaceResult race = result_of(plan, {10.0, -10.0, 30.0}, bench);
  CHECK(race.end == gate::RaceEnd::Duration);
  CHECK(race.left == std::vector<std::size_t>{0, 1});
  // Of 300 ms, ten rounds of three commands took 30.
  CHECK(count_runs(bench, "c") == 10);
  CHECK(count_runs(bench, "a") == 10 + 135);
  CHECK(count_runs(bench, "b") == 10 + 135);
  CHECK(race.count_runs() == 2 * 145 + 10);
}

TEST_CASE("a race ends when the rest are within its limit") {
  Bench bench;
  Plan plan = race_of({"a", "b", "c"}, 1h);
  plan.race->limit = 0.05;
  const gate::RaceResult race = result_of(plan, {10.0, -10.0, 30.0}, bench);
  CHECK(race.end == gate::RaceEnd::Equal);
  CHECK(race.rounds == 57);
  CHECK(race.exits == std::vector<gate::RaceExit>{{2, 10, 0}});
}

TEST_CASE("the greatest number of runs ends a race") {
  Bench bench;
  Plan plan = race_of({"a", "b"}, 1h);
  plan.setting.stop.max_runs = 30;
  plan.race->limit = 0.0;
  const gate::RaceResult race = result_of(plan, {10.0, -10.0}, bench);
  CHECK(race.end == gate::RaceEnd::MaxRuns);
  CHECK(race.rounds == 30);
  CHECK(race.left.size() == 2);
}

TEST_CASE("a race that was interrupted has no result yet") {
  Bench bench;
  bench.launcher.before_run = [&](std::size_t runs) { bench.interrupted_by = runs > 40 ? 2 : 0; };
  const gate::RaceResult race = result_of(race_of({"a", "b"}, 1h), {10.0, -10.0}, bench);
  CHECK(race.end == gate::RaceEnd::Unfinished);
  CHECK(race.left.size() == 2);
}

TEST_CASE("progress tells how many commands are left in a race") {
  Bench bench;
  bench.listener.wants = true;
  Plan plan = race_of({"a", "b", "c"}, 50ms);
  result_of(plan, {10.0, -10.0, 30.0}, bench);
  const auto& seen = bench.listener.seen;
  REQUIRE(seen.size() > 2);
  CHECK(seen.front().race->left == 3);
  CHECK(seen.front().race->all == 3);
  CHECK(seen.back().race->left == 2);
  CHECK(seen.back().may_end_earlier);
}

TEST_CASE("a race in which more is better keeps the command with the highest values") {
  Bench bench;
  Plan plan = race_of({"a", "b", "c"}, 1h);
  plan.metrics[plan.race->metric].better = Better::More;
  CHECK(result_of(plan, {20.0, 10.0, 30.0}, bench).left == std::vector<std::size_t>{2});
}

}  // namespace lauka
