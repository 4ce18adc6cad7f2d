#include "run/bench.h"
#include "run/runner.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

struct SuiteBench {
  Bench bench;
  std::vector<Plan> plans;

  Result<std::vector<SessionResult>> carry_out(std::uint64_t seed = 1) {
    std::vector<BenchmarkRun> parts;
    for (const Plan& plan : plans)
      parts.push_back({plan.commands.front().name,
                       plan,
                       {bench.launcher, bench.engine, bench.clock, bench.listener,
                        [this] { return bench.interrupted_by; }}});
    return lauka::carry_out(parts, seed);
  }
};

}  // namespace

TEST_CASE("benchmarks of a suite take turns, a round each, and each keeps its own number of runs") {
  SuiteBench suite;
  suite.plans = {plan_of({"a0", "a1"}), plan_of({"b0", "b1"})};
  suite.plans[1].stop.exact_runs = 3;
  const auto measured = suite.carry_out();
  REQUIRE(measured);
  CHECK((*measured)[0].session.runs.size() == 4);
  CHECK((*measured)[1].session.runs.size() == 6);
  const std::string log = suite.bench.launcher.log();
  CAPTURE(log);
  // Whichever begins a lap, no benchmark has two rounds more than the other while both go on.
  const auto last_of = [&](const char* name) { return log.rfind(name); };
  const auto first_of = [&](const char* name) { return log.find(name); };
  CHECK(first_of("b0") < last_of("a0"));
  CHECK(first_of("a0") < last_of("b0"));
}

TEST_CASE("a benchmark in sequential order has one turn") {
  SuiteBench suite;
  suite.plans = {plan_of({"a0", "a1"}), plan_of({"b0", "b1"})};
  suite.plans[0].order = Order::Sequential;
  REQUIRE(suite.carry_out());
  const std::string log = suite.bench.launcher.log();
  CAPTURE(log);
  CHECK(log.rfind("a1") < log.find("b0"));
}

TEST_CASE("where a run of one benchmark fails, the others go on") {
  SuiteBench suite;
  suite.plans = {plan_of({"a0"}), plan_of({"b0"})};
  suite.bench.launcher.scripts = {{.outcomes = {Exited{1}}}};
  const auto measured = suite.carry_out();
  REQUIRE(measured);
  CHECK((*measured)[0].session.cut_short.has_value());
  CHECK_FALSE((*measured)[1].session.cut_short.has_value());
  CHECK((*measured)[1].session.runs.size() == 2);
}

TEST_CASE("an interruption ends every benchmark, and progress covers all as one") {
  SuiteBench suite;
  suite.plans = {plan_of({"a0"}), plan_of({"b0"})};
  suite.bench.interrupted_by = 2;
  const auto measured = suite.carry_out();
  REQUIRE(measured);
  for (const SessionResult& one : *measured)
    CHECK(std::holds_alternative<Interrupted>(*one.session.cut_short));
  CHECK(suite.bench.listener.is_finished);
}

}  // namespace lauka
