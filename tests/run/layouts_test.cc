#include "run/bench.h"
#include "run/builds.h"
#include "scratch.h"

#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

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
  CHECK(session->runs[4].step.layout == 2);
  CHECK(session->runs[8].step.layout == 0);
}

TEST_CASE("every layout is warmed up") {
  Bench bench;
  Plan plan = layouts_of({"a{layout}"}, 4, 4);
  plan.setting.warmup = 2;
  CHECK(bench.carry_out(plan)->runs.size() == 4);
  CHECK(bench.launcher.log() == "a1 a2 a3 a4 a1 a2 a3 a4 a1 a2 a3 a4");
}

TEST_CASE("a budget ends after a whole sweep") {
  Bench bench;
  Plan plan = layouts_of({"a{layout}"}, 5, 5);
  plan.setting.stop = {{}, 1, {}, std::chrono::milliseconds(12)};
  CHECK(bench.carry_out(plan)->runs.size() == 15);  // at 1 ms a run
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
  const auto failed = run_builds(builds, 1, {}, [&](std::string_view what) { begun += what; });
  REQUIRE(failed);
  CHECK(begun == "firstsecond");
  CHECK(failed->build.of == "second");
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
  CHECK_FALSE(run_builds(builds, 1, {}, [](std::string_view) {}));
}

}  // namespace lauka
