#include "fakes/gates.h"
#include "fakes/recorded.h"
#include "plan/rows.h"
#include "run/bench.h"
#include "run/stopping.h"
#include "session/baseline.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

// --precision, by hand. Values 0.9, 1.1, 0.9 ... have after n runs, n odd, the mean 1 - 0.1/n and
// the variance 0.01 (n - 1/n) / (n - 1). t(.025, 17) = 2.1098, t(.025, 18) = 2.1009 (tables).
//   n = 18: 2.1098 * 0.1 / sqrt(17)              = 0.05117
//   n = 19: 2.1009 * 0.102598 / sqrt(19)         = 0.04945, over the mean 0.99474: 0.04971

namespace lauka {
namespace {

using namespace std::chrono_literals;

/// Every run takes 30 ms of the budget: long enough that each round is a request of its own.
Plan precise_plan(const std::vector<std::string>& names, double precision) {
  Plan plan = plan_of(names);
  plan.metrics = make_metrics({}, MetricSelection::Default, false);
  plan.setting.stop = {{}, 1, {}, 1min};
  plan.precision = PrecisionGoal{precision};
  return plan;
}

constexpr os::ProgramId kNone = 99;

/// Returns the time of a run of even noise: a low-discrepancy series between 0.8 and 1.2 s.
std::uint64_t even_noise(std::size_t run) {
  const double place = std::fmod(0.5 + 0.6180339887498949 * static_cast<double>(run + 1), 1.0);
  return static_cast<std::uint64_t>(std::llround((0.8 + 0.4 * place) * 1e9));
}

/// 0.9 and 1.1 s in turns.
std::uint64_t two_values(std::size_t run) {
  return run % 2 == 0 ? 900'000'000 : 1'100'000'000;
}

/// Has the program of number `varying` take such times, and any other 1 s.
Session session_of(const Plan& plan, Bench& bench, os::ProgramId varying,
                   std::uint64_t (*time)(std::size_t) = even_noise) {
  std::size_t count = 0;
  bench.launcher.adjust = [&](os::ProgramId program, os::Ended& ended) {
    ended.time_with_preparation = 30ms;
    ended.usage.wall_ns = program == varying ? time(count++) : 1'000'000'000;
    ended.usage.user_ns = ended.usage.wall_ns;
  };
  auto session = bench.carry_out(plan);
  REQUIRE(session.has_value());
  return *std::move(session);
}

/// Returns how many runs of the first command come before any other's.
std::size_t runs_before_next(const Session& session) {
  std::size_t count = 0;
  while (count < session.runs.size() && session.runs.row(count).command == 0) ++count;
  return count;
}

/// Returns how many runs there are when the program of number `varying` takes 0.9 and 1.1 s in
/// turns and any other 1 s.
std::size_t runs_of(const Plan& plan, Bench& bench, os::ProgramId varying) {
  return session_of(plan, bench, varying, two_values).runs.size();
}

}  // namespace

TEST_CASE("a precision may be of another metric than wall time") {
  Bench bench;
  Plan plan = precise_plan({"one"}, 0.05);
  plan.setting.stop.max_runs = 40;
  plan.precision->metric = *find_metric(
      plan.metrics, Role::SystemTime);  // 0.9 and 1.1 s in turns, while the others are even
  std::size_t count = 0;
  bench.launcher.adjust = [&count](os::ProgramId, os::Ended& ended) {
    ended.time_with_preparation = 30ms;
    ended.usage.wall_ns = ended.usage.user_ns = 1'000'000'000;
    ended.usage.system_ns = two_values(count++);
  };
  const auto session = bench.carry_out(plan).value();
  CHECK(session.runs.size() == 19);
  CHECK(bench.findings.precision.value().metric == "system_time");
}

TEST_CASE("one command runs until the interval of its mean is narrow enough") {
  Bench bench;
  CHECK(runs_of(precise_plan({"one"}, 0.05), bench, 0) == 19);
  const Precision found = bench.findings.precision.value();
  CHECK(found.end == PrecisionEnd::Reached);
  CHECK(*found.half_width == doctest::Approx(0.04971).epsilon(1e-3));
  CHECK(found.fewest_values_of_command == 19);
}

TEST_CASE("several commands run until the interval of every delta is narrow enough") {
  Bench bench;
  // Against a constant reference, after 31 rounds it is 0.05067, after 32 0.04717 (Python).
  CHECK(session_of(precise_plan({"a", "b", "c"}, 0.05), bench, 2).runs.size() == 3 * 32);
  CHECK(*bench.findings.precision.value().half_width == doctest::Approx(0.0471737).epsilon(1e-5));
}

TEST_CASE("a precision is trusted from ten rounds on, and from the least number asked for") {
  Plan plan = precise_plan({"one"}, 0.05);
  Bench bench;
  CHECK(runs_of(plan, bench, kNone) == 10);
  plan.setting.stop.min_runs = 25;
  Bench longer;
  CHECK(runs_of(plan, longer, kNone) == 25);
}

TEST_CASE("the greatest number of runs and the time end what is not precise enough yet") {
  Plan plan = precise_plan({"one"}, 0.01);
  plan.setting.stop.max_runs = 15;
  Bench few;
  CHECK(runs_of(plan, few, 0) == 15);
  CHECK(few.findings.precision.value().end == PrecisionEnd::MaxRuns);
  plan.setting.stop.max_runs.reset();
  plan.setting.stop.budget_per_command = 480ms;
  Bench brief;
  CHECK(runs_of(plan, brief, 0) == 16);
  CHECK(brief.findings.precision.value().end == PrecisionEnd::Duration);
  CHECK(brief.findings.precision.value().wanted_half_width == 0.01);
}

TEST_CASE("in sequential order each stops at its share, and what is missing is run after them") {
  Plan plan = precise_plan({"old", "new"}, 0.05);
  plan.setting.order = Order::Sequential;
  // The mean's half width has to be 0.05 / sqrt 2 = 0.03536: after 45 runs it is 0.03515 (Python).
  for (const os::ProgramId noisy : {0U, 1U}) {
    INFO("noisy: ", noisy);
    Bench bench;
    const Session session = session_of(plan, bench, noisy);
    CHECK(runs_before_next(session) == (noisy == 0 ? 45 : 10));
    CHECK(bench.findings.precision.value().end == PrecisionEnd::Reached);
    CHECK(*bench.findings.precision.value().half_width <= 0.05);
  }
  plan.commands[1].hooks[HookKind::Cleanup] = "clean";
  Bench cleaned;
  CHECK(session_of(plan, cleaned, 0).runs.size() == 45 + 10);
  CHECK(cleaned.findings.precision.value().end == PrecisionEnd::HooksPreventedRuns);
}

TEST_CASE("in sequential order a command that a limit ended is not forgotten with the next one") {
  Plan plan = precise_plan({"old", "noisy", "new"}, 0.05);
  plan.setting.order = Order::Sequential;
  plan.setting.stop.max_runs = 15;
  Bench bench;
  CHECK(runs_of(plan, bench, 1) == 10 + 15 + 10);
  CHECK(bench.findings.precision.value().end == PrecisionEnd::MaxRuns);
}

TEST_CASE("in sequential order a command without a single value is never precise enough") {
  Plan plan = precise_plan({"old", "new"}, 0.01);
  plan.setting.order = Order::Sequential;
  plan.ignore_failure = IgnoreFailure{.ignores_all = true};
  plan.setting.stop.budget_per_command = 480ms;
  for (const os::ProgramId endless : {0U, 1U}) {
    Bench bench;
    bench.launcher.adjust = [endless](os::ProgramId program, os::Ended& ended) {
      ended.time_with_preparation = 30ms;
      ended.usage.wall_ns = 1'000'000'000;
      if (program == endless) ended.outcome = TimedOut{50ms};
    };
    REQUIRE(bench.carry_out(plan).has_value());
    CHECK_FALSE(bench.findings.precision.value().half_width.has_value());
    CHECK(bench.findings.precision.value().end == PrecisionEnd::Duration);
  }
}

TEST_CASE("a precision that the rounds of a gate undo is not called reached") {
  Plan plan = precise_plan({"old", "new"}, 0.05);
  plan.gates = fakes::gates_of(plan, {{"cpu_time", GateLimit::of_change(0)}});
  Bench bench;
  std::size_t count = 0;
  bench.launcher.adjust = [&count](os::ProgramId program, os::Ended& ended) {
    ended.time_with_preparation = 30ms;
    ended.usage.wall_ns = 1'000'000'000;
    ended.usage.user_ns = 1'000'000'000;
    if (program == 0) return;
    ++count;
    // Quiet for the ten rounds of the first look, then every second run takes twice as long.
    if (count > 10 && count % 2 == 0) ended.usage.wall_ns = 2'000'000'000;
    ended.usage.user_ns = count % 2 == 0 ? 900'000'000 : 1'100'000'000;
  };
  REQUIRE(bench.carry_out(plan).has_value());
  const Precision found = bench.findings.precision.value();
  CHECK(found.end == PrecisionEnd::LostInGateRounds);
  CHECK(*found.half_width > 0.05);
}

TEST_CASE("gates look first when the precision is reached, and go on from there") {
  Plan plan = precise_plan({"old", "new"}, 0.05);
  plan.gates = fakes::gates_of(plan, {{"cpu_time", GateLimit::of_change(0)}});
  Bench bench;
  // Noise around the limit decides nothing: four times the 32 rounds of the precision.
  CHECK(session_of(plan, bench, 1).runs.size() == 2 * 4 * 32);
  CHECK(bench.findings.verdicts.at(0).look == 9);  // after 10, 15, 20 and 29 rounds, then five
  CHECK(bench.findings.precision.value().end == PrecisionEnd::Reached);
}

TEST_CASE("the interval of a gated metric is as wide for a precision as it is shown") {
  Plan plan = precise_plan({"old", "new"}, 0.05);
  plan.gates = fakes::gates_of(plan, {{"wall_time", GateLimit::of_change(900)}});
  Bench bench;
  // At level_of_planned_look(.025, 4) on either side it is 0.04998 after 45 rounds, and wider
  // before (Python).
  CHECK(session_of(plan, bench, 1).runs.size() == 2 * 45);
  CHECK(*bench.findings.precision.value().half_width == doctest::Approx(0.0499789).epsilon(1e-5));
}

TEST_CASE("a precision counts no runs of a baseline") {
  Plan plan = precise_plan({"one"}, 0.05);
  REQUIRE(use_baseline(plan, "b.json", fakes::recorded({"old"}, {1.0, 1.0, 1.0})));
  Bench bench;
  const std::size_t runs = runs_of(plan, bench, kNone);
  CHECK(runs >= 10);
  CHECK(bench.findings.precision.value().fewest_values_of_command == runs);
}

TEST_CASE("a session cut short says so, and one without a precision says nothing") {
  Plan plan = precise_plan({"one"}, 0.01);
  Bench bench;
  bench.launcher.scripts = {{1ms, {Exited{0}, Exited{0}, Exited{3}}}};
  CHECK(runs_of(plan, bench, 0) == 2);
  CHECK(bench.findings.precision.value().end == PrecisionEnd::Unfinished);
  plan.precision.reset();
  plan.setting.stop.exact_runs = 3;
  Bench plain;
  CHECK(runs_of(plan, plain, 0) == 3);
  CHECK_FALSE(plain.findings.precision.has_value());
}

}  // namespace lauka
