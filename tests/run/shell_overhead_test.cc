#include "run/bench.h"
#include "run/programs.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

using namespace std::chrono_literals;

Plan in_shell(const std::vector<std::string>& names) {
  Plan plan = plan_of(names);
  plan.shell = Shell{{"sh"}};
  for (Command& command : plan.commands) command.words = {"sh", "-c", command.text};
  return plan;
}

Usage used(std::uint64_t wall, std::uint64_t user, std::uint64_t system) {
  Usage usage;
  usage.wall_ns = wall;
  usage.user_ns = user;
  usage.system_ns = system;
  return usage;
}

}  // namespace

TEST_CASE("what the shell takes is taken out of wall and CPU time, which keep their sum") {
  Usage usage = used(100, 50, 30);
  CHECK_FALSE(subtract({10, 5, 3}, usage));
  CHECK(usage.wall_ns == 90);
  CHECK(usage.user_ns == 45);
  CHECK(usage.system_ns == 27);

  // The kernel booked all of this run as user time: what the shell's system time was is in it.
  Usage all_user = used(100, 80, 0);
  CHECK_FALSE(subtract({10, 5, 3}, all_user));
  CHECK(all_user.user_ns + all_user.system_ns == 72);
}

TEST_CASE("no time gets below 0, and that it would have is reported") {
  Usage quick = used(9, 50, 30);
  CHECK(subtract({10, 5, 3}, quick));
  CHECK(quick.wall_ns == 0);
  CHECK(quick.user_ns + quick.system_ns == 72);
  Usage idle = used(100, 4, 3);
  CHECK(subtract({10, 5, 3}, idle));
  CHECK(idle.user_ns == 0);
  CHECK(idle.system_ns == 0);
}

TEST_CASE("the shell's start is the median of its wall times and the mean of its CPU times") {
  Bench bench;
  std::size_t run = 0;
  bench.launcher.adjust = [&](os::ProgramId, os::Ended& ended) {
    // A first run that loads it, then 1 ms, with one of ten held up.
    ++run;
    ended.usage.wall_ns = run == 1 ? 900'000'000 : run % 10 == 0 ? 50'000'000 : 1'000'000;
    ended.usage.user_ns = run == 1 ? 900'000'000 : 400'000;
    ended.usage.system_ns = run == 1 ? 900'000'000 : run % 2 == 0 ? 200'000 : 0;
    ended.time_with_preparation = 1ms;
  };
  const auto all = measure_shell(in_shell({"a"}), bench.launcher, {}, [] { return 0; });
  REQUIRE(all->size() == 1);
  CHECK(all->front().wall_ns == 1'000'000);
  CHECK(all->front().user_ns == 400'000);
  CHECK(all->front().system_ns == doctest::Approx(100'000).epsilon(0.02));
  CHECK(run >= 50);
  CHECK(bench.launcher.programs().front().words == std::vector<std::string>{"sh", "-c", ""});
}

TEST_CASE("a slow shell is run fewer times, but never fewer than ten") {
  Bench bench;
  bench.launcher.scripts = {{400ms, {}}};
  REQUIRE(measure_shell(in_shell({"a"}), bench.launcher, {}, [] { return 0; }).has_value());
  CHECK(bench.launcher.runs() == 11);
}

TEST_CASE("commands under the same conditions share one measurement, others have their own") {
  Bench bench;
  Plan plan = in_shell({"a", "b", "c"});
  plan.commands[2].output.kind = OutputKind::Pipe;
  REQUIRE(measure_shell(plan, bench.launcher, {}, [] { return 0; })->size() == 3);
  REQUIRE(bench.launcher.programs().size() == 2);
  CHECK(bench.launcher.programs()[1].output.sink == OutputKind::Pipe);
}

TEST_CASE("without a shell nothing is measured") {
  Bench bench;
  CHECK(measure_shell(plan_of({"a"}), bench.launcher, {}, [] { return 0; })->empty());
  CHECK(bench.launcher.runs() == 0);
}

TEST_CASE("the start of a process is the median of true, under the first command's conditions") {
  Bench bench;
  Plan plan = plan_of({"a"});
  plan.commands[0].output.kind = OutputKind::Pipe;
  plan.commands[0].environment = {"A=1"};
  std::size_t run = 0;
  bench.launcher.adjust = [&](os::ProgramId, os::Ended& ended) {
    ended.usage.wall_ns = ++run % 5 == 0 ? 50'000'000 : 450'000;
  };
  const auto start = measure_process_start(plan, bench.launcher, {}, [] { return 0; });
  CHECK(start.value_or(0.0) == doctest::Approx(450e-6));
  REQUIRE(bench.launcher.programs().size() == 1);
  CHECK(bench.launcher.programs()[0].words == std::vector<std::string>{"true"});
  CHECK(bench.launcher.programs()[0].environment_changes == plan.commands[0].environment);
  CHECK(bench.launcher.programs()[0].output.sink == OutputKind::Null);
  Bench without_true;
  without_true.launcher.scripts = {{1ms, {Exited{127}}}};
  CHECK_FALSE(measure_process_start(plan, without_true.launcher, {}, [] { return 0; }));
}

TEST_CASE("a shell that cannot run an empty command is refused before any run") {
  Bench bench;
  bench.launcher.scripts = {{}, {1ms, {Exited{2}}}};
  const auto session = bench.carry_out(in_shell({"a"}));
  REQUIRE_FALSE(session.has_value());
  CHECK(session.error().line() ==
        "the start of the shell cannot be measured: 'sh' failed with an empty command; check that "
        "it accepts -c, or use -N");
}

TEST_CASE("a shell that wants the terminal is refused with what does without one") {
  Bench bench;
  bench.launcher.scripts = {{}, {1ms, {Stopped{SIGTTOU, 0}}}};
  const auto session = bench.carry_out(in_shell({"a"}));
  REQUIRE_FALSE(session.has_value());
  CHECK(session.error().remedy.find("--shell 'setsid -w sh") != std::string::npos);
}

TEST_CASE("--timeout is in force while the start of the shell is measured") {
  Bench bench;
  Plan plan = in_shell({"a"});
  plan.timeout = 1s;
  bench.launcher.scripts = {{}, {1ms, {TimedOut{1s}}}};
  const auto session = bench.carry_out(plan);
  REQUIRE_FALSE(session.has_value());
  CHECK(session.error().what.find("'sh' took longer than --timeout") != std::string::npos);
  CHECK(bench.launcher.programs().back().timeout == 1s);
}

TEST_CASE("counted runs lose the shell's start, and say where it was more than they took") {
  Bench bench;
  Plan plan = in_shell({"a"});
  plan.setting.stop.exact_runs = 2;
  bench.launcher.adjust = [&](os::ProgramId program, os::Ended& ended) {
    ended.usage.wall_ns = program == 1                     ? 1'000'000
                          : bench.launcher.runs() % 2 == 0 ? 900'000
                                                           : 3'000'000;
  };
  const auto session = bench.carry_out(plan);
  REQUIRE(session->runs.size() == 2);
  REQUIRE(session->overheads.size() == 1);
  CHECK(session->overheads[0].wall_ns == 1'000'000);
  CHECK(session->runs.wall_seconds(0) + session->runs.wall_seconds(1) == 0.002);
  CHECK(session->runs.row(0).details.below_overhead != session->runs.row(1).details.below_overhead);
}

}  // namespace lauka
