#include "plan/rows.h"
#include "run/bench.h"
#include "run/builds.h"
#include "run/scheduler.h"
#include "scratch.h"

#include <map>
#include <string>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

using namespace std::chrono_literals;

Plan layouts_of(const std::vector<std::string>& names, std::uint32_t layouts, std::uint64_t runs) {
  Plan plan = plan_of(names, runs);
  plan.setting.layouts = layouts;
  return plan;
}

}  // namespace

TEST_CASE("each sweep runs every layout of every command once, the layouts' sides together") {
  Bench bench;
  const auto session = bench.carry_out(layouts_of({"a{layout}", "b{layout}"}, 4, 8));
  CHECK(bench.launcher.log() == "a1 b1 a2 b2 a3 b3 a4 b4 a1 b1 a2 b2 a3 b3 a4 b4");
  CHECK(session->runs.row(4).layout == 2);
  CHECK(session->runs.row(8).layout == 0);
}

TEST_CASE("every layout is warmed up") {
  Bench bench;
  Plan plan = layouts_of({"a{layout}"}, 4, 4);
  plan.setting.warmup_runs = 2;
  CHECK(bench.carry_out(plan)->runs.size() == 4);
  CHECK(bench.launcher.log() == "a1 a2 a3 a4 a1 a2 a3 a4 a1 a2 a3 a4");
}

TEST_CASE("a budget ends after a whole sweep") {
  Bench bench;
  Plan plan = layouts_of({"a{layout}"}, 5, 5);
  plan.setting.stop = {{}, 1, {}, std::chrono::milliseconds(12)};
  CHECK(bench.carry_out(plan)->runs.size() == 15);  // at 1 ms a run
}

TEST_CASE("simulated rounds run every layout once in each pass") {
  Bench bench;
  Plan plan = layouts_of({"a{layout}"}, 4, 4);
  plan.setting.events.passes = {Pass{}, {{}, RoundKind::Simulated}, {{}, RoundKind::Simulated}};
  const Runs runs_so_far;
  Scheduler scheduler(plan, {}, runs_so_far);
  std::string log;
  for (Action action = scheduler.next_action(); !std::holds_alternative<End>(action);
       action = scheduler.next_action()) {
    const auto* runs = std::get_if<RunSteps>(&action);
    if (runs == nullptr) continue;
    if (runs->steps.front().kind == RoundKind::Simulated)
      for (const Step& step : runs->steps)
        log += " " + std::to_string(step.pass) + ":" + std::to_string(step.layout);
    scheduler.take(
        {.first = runs->steps.front(), .step_count = runs->steps.size(), .paces = {Pace{}}});
  }
  CHECK(log == " 1:0 1:1 1:2 1:3 2:0 2:1 2:2 2:3");
}

TEST_CASE("where placement keeps an interval wide, the layouts are named that would narrow it") {
  Bench bench;
  Plan plan = layouts_of({"a{layout}", "b{layout}"}, 4, 24);
  plan.metrics = make_metrics({}, MetricSelection::Default, false);
  plan.setting.stop = {{}, 1, 24, 1min};
  plan.precision = PrecisionGoal{0.01};
  bench.listener.wants = true;
  std::uint64_t turn = 0;
  bench.launcher.adjust = [&](os::ProgramId program, os::Ended& ended) {
    ended.time_with_preparation = 30ms;
    ended.usage.wall_ns = 1'000'000 + 1000 * (program % 3 * 40 + ++turn * 7 % 48);
  };
  REQUIRE(bench.carry_out(plan));
  REQUIRE(bench.findings.precision);
  CHECK(bench.findings.precision->end == PrecisionEnd::MaxRuns);
  CHECK(bench.findings.precision->layouts_to_reach);
  const auto& seen = bench.listener.seen;
  CHECK(seen.back().difference->layouts_to_answer);
  CHECK_FALSE(seen[24].difference->layouts_to_answer);  // three sweeps
  CHECK_FALSE(seen[4].difference);
}

TEST_CASE("sequential commands finish their sweeps before the next begins") {
  Bench bench;
  Plan plan = layouts_of({"a{layout}", "b{layout}"}, 4, 4);
  plan.setting.order = Order::Sequential;
  CHECK(bench.carry_out(plan)->runs.size() == 8);
  CHECK(bench.launcher.log() == "a1 a2 a3 a4 b1 b2 b3 b4");
}

TEST_CASE("a setup that names the layout is run for each, another once") {
  Bench bench;
  Plan plan = layouts_of({"a{layout}"}, 4, 4);
  plan.setting.order = Order::Sequential;
  plan.commands[0].hooks[HookKind::Setup] = "s{layout}";
  plan.commands[0].hooks[HookKind::Cleanup] = "c";
  CHECK(bench.carry_out(plan));
  CHECK(bench.launcher.log() == "s1 s2 s3 s4 a1 a2 a3 a4 c!");
}

TEST_CASE("a prepare is run as its run's layout") {
  Bench bench;
  Plan plan = layouts_of({"a{layout}"}, 4, 4);
  plan.commands[0].hooks[HookKind::Prepare] = "p{layout}";
  CHECK(bench.carry_out(plan));
  CHECK(bench.launcher.log() == "p1(0) a1 p2(1) a2 p3(2) a3 p4(3) a4");
}

TEST_CASE("a build is run once for each layout, and once if two commands share it") {
  Plan plan = layouts_of({"a{layout}", "b{layout}", "c{layout}"}, 4, 4);
  plan.commands[0].build = "make {layout}";
  plan.commands[1].build = "make {layout}";
  plan.commands[2].build = "make c";
  const Plan* const plans[] = {&plan};
  std::string lines;
  for (const Build& build : list_builds(plans)) lines += build.line + ";";
  CHECK(lines == "make 1;make c;make 2;make 3;make 4;");
}

TEST_CASE("the first build that fails ends those that have not begun, and shows its last lines") {
  std::vector<Build> builds = {
      {"first", "true"}, {"second", "echo out; echo err >&2; exit 3"}, {"third", "true"}};
  std::string begun;
  std::string_view latest;
  const auto note = [&](const BuildProgress& progress) {
    CHECK(progress.count == 3);
    CHECK(progress.begun == progress.ended + 1);
    CHECK(progress.remaining.has_value() == (progress.ended > 0));
    if (progress.latest != latest) begun += progress.latest;
    latest = progress.latest;
  };
  const auto failed = run_builds(builds, {.clock = os::MonotonicClock(), .show_progress = note});
  REQUIRE(failed);
  CHECK(begun == "firstsecond");
  CHECK(failed->build.name_in_messages == "second");
  CHECK(std::get<Exited>(failed->outcome).status == 3);
  CHECK(failed->output_end.find("out") != std::string::npos);
  CHECK(failed->output_end.find("err") != std::string::npos);
}

TEST_CASE("a build that leaves a process with its output behind has ended") {
  const Scratch folder;
  const std::string pid = folder.file("pid");
  // The second finds the process alive.
  std::vector<Build> builds = {{"one", "sleep 1000 & echo $! >" + pid},
                               {"two", "kill $(cat " + pid + ")"}};
  CHECK_FALSE(run_builds(builds, {.clock = os::MonotonicClock()}));
}

}  // namespace lauka
