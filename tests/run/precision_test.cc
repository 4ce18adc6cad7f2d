#include "run/precision.h"

#include "run/bench.h"

#include <algorithm>
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
  plan.metrics = metrics_of({}, MetricSelection::Default, false);
  plan.stop = {{}, 1, {}, 1min};
  plan.precision = precision;
  return plan;
}

constexpr os::ProgramId kNone = 99;

/// How many runs there are when the program of number `varying` takes 0.9 and 1.1 s in turns and
/// any other 1 s.
std::size_t runs_of(const Plan& plan, Bench& bench, os::ProgramId varying) {
  std::size_t count = 0;
  bench.launcher.adjust = [&count, varying](os::ProgramId program, os::Ended& ended) {
    ended.whole = 30ms;
    ended.usage.wall_ns = 1'000'000'000;
    if (program == varying) ended.usage.wall_ns = count++ % 2 == 0 ? 900'000'000 : 1'100'000'000;
    ended.usage.user_ns = ended.usage.wall_ns;
  };
  const auto session = bench.carry_out(plan);
  REQUIRE(session.has_value());
  return session->runs.size();
}

}  // namespace

TEST_CASE("one command runs until the interval of its mean is narrow enough") {
  Bench bench;
  CHECK(runs_of(precise_plan({"one"}, 0.05), bench, 0) == 19);
  const Precision found = bench.findings.precision.value();
  CHECK(found.end == PrecisionEnd::Reached);
  CHECK(*found.half_width == doctest::Approx(0.04971).epsilon(1e-3));
  CHECK(found.runs == 19);
}

TEST_CASE("several commands run until the interval of every delta is narrow enough") {
  Bench bench;
  // Against a constant reference of 1 s the half width is that of the candidate's mean in seconds.
  CHECK(runs_of(precise_plan({"a", "b", "c"}, 0.05), bench, 2) == 3 * 19);
  CHECK(*bench.findings.precision.value().half_width == doctest::Approx(0.04945).epsilon(1e-3));
}

TEST_CASE("a precision is trusted from ten rounds on, and from the least number asked for") {
  Plan plan = precise_plan({"one"}, 0.05);
  Bench bench;
  CHECK(runs_of(plan, bench, kNone) == 10);
  plan.stop.min_runs = 25;
  Bench longer;
  CHECK(runs_of(plan, longer, kNone) == 25);
}

TEST_CASE("the greatest number of runs and the time end what is not precise enough yet") {
  Plan plan = precise_plan({"one"}, 0.01);
  plan.stop.max_runs = 15;
  Bench few;
  CHECK(runs_of(plan, few, 0) == 15);
  CHECK(few.findings.precision.value().end == PrecisionEnd::MaxRuns);
  plan.stop.max_runs.reset();
  plan.stop.budget_per_command = 480ms;
  Bench brief;
  CHECK(runs_of(plan, brief, 0) == 16);
  CHECK(brief.findings.precision.value().end == PrecisionEnd::Duration);
  CHECK(brief.findings.precision.value().wanted == 0.01);
}

TEST_CASE("in sequential order the reference stops at its share, the candidates at their deltas") {
  Plan plan = precise_plan({"old", "new"}, 0.05);
  plan.order = Order::Sequential;
  Bench steady_reference;
  CHECK(runs_of(plan, steady_reference, 1) == 10 + 19);
  // The mean's half width has to be 0.05 / sqrt 2 = 0.03536: t(.025, n - 1) * 0.1 / sqrt(n - 1) for
  // an even n is 0.03581 at 33 degrees (2.0345), so 34 is not enough; at n = 35, 34 degrees
  // (2.0322), it is 0.1014057 * 2.0322 / sqrt(35) = 0.03483, over the mean 0.03493.
  Bench steady_candidate;
  CHECK(runs_of(plan, steady_candidate, 0) == 35 + 10);
}

TEST_CASE("in sequential order what the reference lacks is run after the candidates") {
  // It takes 0.9 and 1.1 s in turns, the candidates three times a second: for a delta of 5% the
  // reference has to be known to 1.7%.
  Plan plan = precise_plan({"old", "new", "other"}, 0.05);
  plan.order = Order::Sequential;
  const auto run_it = [&plan](Bench& bench) {
    std::size_t count = 0;
    bench.launcher.adjust = [&count](os::ProgramId program, os::Ended& ended) {
      ended.whole = 30ms;
      ended.usage.wall_ns = 3'000'000'000;
      if (program == 0) ended.usage.wall_ns = count++ % 2 == 0 ? 900'000'000 : 1'100'000'000;
    };
    const auto session = bench.carry_out(plan);
    REQUIRE(session.has_value());
    return *session;
  };
  const auto runs_of_reference = [](const Session& session) {
    const auto runs = std::count_if(session.runs.begin(), session.runs.end(),
                                    [](const RunRecord& run) { return run.step.command == 0; });
    CHECK(session.runs.size() == static_cast<std::size_t>(runs) + 10 + 10);
    return runs;
  };
  Bench bench;
  const Session session = run_it(bench);
  CHECK(bench.findings.precision.value().end == PrecisionEnd::Reached);
  CHECK(*bench.findings.precision.value().half_width <= 0.05);
  // 3 * 1.976 * 0.1 / sqrt(n) = 0.05 at n = 141, beside constant candidates.
  CHECK(runs_of_reference(session) >= 138);
  CHECK(runs_of_reference(session) <= 144);

  plan.stop.max_runs = 100;
  Bench few;
  run_it(few);
  CHECK(few.findings.precision.value().end == PrecisionEnd::MaxRuns);
  plan.stop.max_runs.reset();

  plan.commands[1].hooks.cleanup = "clean";
  Bench cleaned;
  CHECK(runs_of_reference(run_it(cleaned)) == 35);
  CHECK(cleaned.findings.precision.value().end == PrecisionEnd::ReferenceGone);
}

TEST_CASE("in sequential order a command that a limit ended is not forgotten with the next one") {
  Plan plan = precise_plan({"old", "noisy", "new"}, 0.05);
  plan.order = Order::Sequential;
  plan.stop.max_runs = 15;
  Bench bench;
  CHECK(runs_of(plan, bench, 1) == 10 + 15 + 10);
  CHECK(bench.findings.precision.value().end == PrecisionEnd::MaxRuns);
}

TEST_CASE("a precision that the rounds of a gate undo is not called reached") {
  Plan plan = precise_plan({"old", "new"}, 0.05);
  plan.gates = {{"cpu_time", 0}};
  Bench bench;
  std::size_t count = 0;
  bench.launcher.adjust = [&count](os::ProgramId program, os::Ended& ended) {
    ended.whole = 30ms;
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
  CHECK(found.end == PrecisionEnd::Gates);
  CHECK(*found.half_width > 0.05);
}

TEST_CASE("gates look first when the precision is reached, and go on from there") {
  Plan plan = precise_plan({"old", "new"}, 0.05);
  plan.gates = {{"cpu_time", 0}};
  Bench bench;
  // 1.1 is nearer to 1 in ratio than 0.9 is: the rounds above have ranks 1 to 9 of 19 (a sum of 45,
  // two deviations below its mean), and 1 to 13 of 27 at the next look (91, 2.3 deviations).
  CHECK(runs_of(plan, bench, 1) == 2 * 27);
  CHECK(bench.findings.verdicts.at(0).look == 2);
  CHECK(bench.findings.precision.value().end == PrecisionEnd::Reached);
}

TEST_CASE("the interval of a gated metric is as wide for a precision as it is shown") {
  Plan plan = precise_plan({"old", "new"}, 0.05);
  plan.gates = {{"wall_time", 900}};  // passes at the first look
  Bench bench;
  // t(.0081, 26) = 2.5714 and 27 runs give 0.05039, t(.0081, 27) = 2.5648 and 28 give 0.04936.
  CHECK(runs_of(plan, bench, 1) == 2 * 28);
  CHECK(bench.findings.verdicts.at(0).look == 1);
  CHECK(*bench.findings.precision.value().half_width == doctest::Approx(0.04936).epsilon(2e-3));
}

TEST_CASE("a session cut short says so, and one without a precision says nothing") {
  Plan plan = precise_plan({"one"}, 0.01);
  Bench bench;
  bench.launcher.scripts = {{1ms, {Exited{0}, Exited{0}, Exited{3}}}};
  CHECK(runs_of(plan, bench, 0) == 2);
  CHECK(bench.findings.precision.value().end == PrecisionEnd::Unfinished);
  plan.precision.reset();
  plan.stop.exact_runs = 3;
  Bench plain;
  CHECK(runs_of(plan, plain, 0) == 3);
  CHECK_FALSE(plain.findings.precision.has_value());
}

}  // namespace lauka
