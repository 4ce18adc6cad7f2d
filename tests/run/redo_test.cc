#include "notes.h"
#include "run/bench.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

std::vector<double> counted_values(const Session& session) {
  std::vector<double> values;
  for (std::size_t run = 0; run < session.runs.size(); ++run)
    values.push_back(session.runs.value(run, 0).value());
  return values;
}

/// One command whose runs are counted, each by its own number from 1.
Plan counted_plan() {
  Plan plan = plan_of({"old"}, 3);
  plan.setting.events.events.push_back({"runs", "runs"});
  plan.setting.events.passes.push_back({{0}});
  add_count_metrics(plan);
  return plan;
}

TEST_CASE("a run that must not count is repeated, recorded apart and reported") {
  Bench bench;
  bench.engine.adjust = [](std::uint64_t run, engine::CountsOfRun& counted) {
    if (run == 2)
      counted.redo = engine::RepeatRequest{RedoReason::Counting, "the trace lost records", 3};
  };
  const auto session = bench.carry_out(counted_plan());
  CHECK(bench.launcher.runs() == 4);
  CHECK(counted_values(*session) == std::vector<double>{1, 3, 4});
  REQUIRE(session->discarded_runs.size() == 1);
  CHECK(session->discarded_runs.value(0, 0) == 2.0);
  CHECK(session->discarded_runs.row(0).round == 1);
  CHECK(session->discarded_runs.row(0).reason == RedoReason::Counting);
  CHECK(texts_of(session->notes) ==
        std::vector<std::string>{"1 run was repeated because the trace lost records"});
}

TEST_CASE("a run is run again no more often than was asked for, then it enters as it is") {
  Bench bench;
  bench.engine.max_batch_size = 1;
  bench.engine.adjust = [](std::uint64_t run, engine::CountsOfRun& counted) {
    counted.instruction_coverage = 0.9;
    if (run < 100)
      counted.redo = engine::RepeatRequest{RedoReason::Counting, "it was not seen whole", 2};
  };
  const auto session = bench.carry_out(counted_plan());
  CHECK(bench.launcher.runs() == 9);
  CHECK(session->runs.size() == 3);
  CHECK(session->discarded_runs.size() == 6);
  CHECK(session->runs.row(0).instruction_coverage == 0.9);
}

TEST_CASE("a run that was repeated in vain is left out if its engine asks for that, and counted") {
  Bench bench;
  bench.engine.max_batch_size = 1;
  bench.engine.adjust = [](std::uint64_t run, engine::CountsOfRun& counted) {
    counted.functions.emplace().push_back({"main", {run}});
    if (run < 4)
      counted.redo = engine::RepeatRequest{RedoReason::Counting, "a process was missed", 2,
                                           Error{"a process was missed each time", ""}};
  };
  const auto session = bench.carry_out(counted_plan());
  REQUIRE(session->runs.size() == 3);
  CHECK_FALSE(session->runs.value(0, 0));
  CHECK(session->runs.value(1, 0) == 4.0);
  CHECK(session->functions.at(0).metrics == std::vector<FunctionMetric>{{"runs", 2}});
  CHECK(texts_of(session->notes) ==
        std::vector<std::string>{
            "2 runs were repeated because a process was missed",
            "a process was missed each time; what lauka shows for runs leaves out 1 run"});
}

TEST_CASE("a run during which the processor was throttled is repeated at most three times") {
  Bench bench;
  bench.engine.max_batch_size = 1;
  int batch = 0;
  bench.machine.throttled = [&] { return ++batch == 2; };
  auto session = bench.carry_out(counted_plan());
  CHECK(counted_values(*session) == std::vector<double>{1, 3, 4});
  CHECK(kinds_of(session->notes) == std::vector<std::string>{"runs_repeated"});
  CHECK(session->discarded_runs.row(0).reason == RedoReason::Throttled);
  bench.machine.throttled = [] { return true; };
  session = bench.carry_out(counted_plan());
  CHECK(session->runs.size() == 3);
  CHECK(session->discarded_runs.size() == 9);
  CHECK(texts_of(session->notes) ==
        std::vector<std::string>{
            "the processor was throttled each time that runs were repeated; let it cool down",
            "9 runs were repeated because the processor was throttled"});
}

TEST_CASE("with several commands only the run in question is run again, in its own pass") {
  Bench bench;
  Plan plan = plan_of({"old", "new"}, 2);
  plan.setting.events.events = {{"a", "a"}, {"b", "b"}};
  plan.setting.events.passes = {{{0}}, {{1}}};
  bench.engine.max_batch_size = 1;
  bench.engine.adjust = [](std::uint64_t run, engine::CountsOfRun& counted) {
    if (run == 2)
      counted.redo = engine::RepeatRequest{RedoReason::Counting, "it was not seen whole", 1};
  };
  const auto session = bench.carry_out(plan);
  CHECK(bench.launcher.log() == "old/0 new/0 new/0 old/1 new/1");
  CHECK(session->runs.size() == 4);
}

TEST_CASE("a warm-up run is not run again") {
  Bench bench;
  bench.engine.adjust = [](std::uint64_t, engine::CountsOfRun& counted) {
    counted.redo = engine::RepeatRequest{RedoReason::Counting, "it was not seen whole", 1};
  };
  Plan plan = counted_plan();
  plan.setting.warmup_runs = 2;
  plan.setting.stop.exact_runs = 1;
  const auto session = bench.carry_out(plan);
  CHECK(bench.launcher.runs() == 4);
  CHECK(session->discarded_runs.size() == 1);
}

TEST_CASE("an engine that follows its runs learns of each before it starts") {
  class Follower final : public os::RunObserver {
   public:
    std::string log;
    void before_start() override { log += "before "; }
    void made(int pid) override { log += std::to_string(pid) + " "; }
    void running(int) override {}
    std::chrono::nanoseconds interval() const override { return std::chrono::milliseconds(10); }
  };
  Bench bench;
  Follower follower;
  bench.engine.watch = &follower;
  REQUIRE(bench.carry_out(counted_plan()).has_value());
  CHECK(follower.log == "before 1 before 2 before 3 ");
}

}  // namespace
}  // namespace lauka
