#include "fakes/gates.h"
#include "plan/rows.h"
#include "run/bench.h"
#include "run/programs.h"

#include <csignal>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

using namespace std::chrono_literals;

/// A plan whose every command has all hooks: s1 p1 c1 e1, s2 ...
Plan hooked(const std::vector<std::string>& names, Order order) {
  Plan plan = plan_of(names);
  plan.setting.order = order;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string n = std::to_string(i + 1);
    plan.commands[i].hooks = {{"s" + n, "p" + n, "c" + n, "e" + n}};
  }
  return plan;
}

/// The programs are registered in this order: the commands, then the hooks of each.
std::size_t program_of_hook(std::size_t commands, std::size_t command, HookKind kind) {
  return commands + 4 * command + static_cast<std::size_t>(kind);
}

void fail(Bench& bench, std::size_t program, std::deque<Outcome> outcomes) {
  bench.launcher.scripts.resize(program + 1);
  bench.launcher.scripts[program].outcomes = std::move(outcomes);
}

}  // namespace

TEST_CASE("prepare and conclude surround every run, warm-up runs included, and know which") {
  Bench bench;
  Plan plan = hooked({"old"}, Order::Interleaved);
  plan.setting.warmup_runs = 1;
  REQUIRE(bench.carry_out(plan).has_value());
  CHECK(bench.launcher.log() ==
        "s1 p1(warmup-0) old c1(warmup-0)! p1(0) old c1(0)! p1(1) old c1(1)! e1!");
}

TEST_CASE("in sequential order a command is set up, run and cleaned up before the next") {
  Bench bench;
  Plan plan = hooked({"old", "new"}, Order::Sequential);
  for (Command& command : plan.commands) {
    command.hooks[HookKind::Prepare].reset();
    command.hooks[HookKind::Conclude].reset();
  }
  REQUIRE(bench.carry_out(plan).has_value());
  CHECK(bench.launcher.log() == "s1 old old e1! s2 new new e2!");
}

TEST_CASE("in turns, all setups come first and all cleanups last, in the order of the commands") {
  Bench bench;
  Plan plan = hooked({"old", "new"}, Order::Interleaved);
  plan.setting.stop.exact_runs = 1;
  REQUIRE(bench.carry_out(plan).has_value());
  CHECK(bench.launcher.log() == "s1 s2 p1(0) old c1(0)! p2(0) new c2(0)! e1! e2!");
}

TEST_CASE("runs with hooks between them are launched one by one") {
  Bench bench;
  Plan plan = plan_of({"tiny"}, 30);
  plan.commands[0].hooks[HookKind::Prepare] = "p";
  const auto session = bench.carry_out(plan);
  CHECK(session->runs.size() == 30);
  CHECK(bench.launcher.requests() == 60);
}

TEST_CASE("hooks are in no measurement, and count no events") {
  Bench bench;
  Plan plan = hooked({"old"}, Order::Interleaved);
  plan.setting.events = {{{"a", "a"}}, {Pass{{0}}}, {}};
  bench.launcher.scripts.resize(program_of_hook(1, 0, HookKind::Cleanup) + 1, {50ms, {}});
  bench.launcher.scripts[0].time = 1ms;
  const auto session = bench.carry_out(plan);
  CHECK(bench.launcher.log() == "s1 p1(0) old/0 c1(0)! p1(1) old/0 c1(1)! e1!");
  REQUIRE(session->runs.size() == 2);
  for (const std::size_t run : {0U, 1U}) CHECK(session->runs.wall_seconds(run) == 0.001);
}

TEST_CASE("the time between runs counts towards the budget, setup and cleanup do not") {
  Bench bench;
  Plan plan = hooked({"old"}, Order::Interleaved);
  plan.setting.stop = {{}, 1, {}, 100ms};
  bench.launcher.scripts = {{4ms, {}}, {10s, {}}, {5ms, {}}, {1ms, {}}, {10s, {}}};
  CHECK(bench.carry_out(plan)->runs.size() == 10);  // 10 x (5 + 4 + 1)
}

TEST_CASE("a failing setup ends the session before any run, and what was begun is cleaned up") {
  Bench bench;
  fail(bench, program_of_hook(2, 0, HookKind::Setup), {Exited{2}});
  const auto session = bench.carry_out(hooked({"old", "new"}, Order::Sequential));
  CHECK(bench.launcher.log() == "s1 e1!");
  const auto& failed = std::get<HookFailed>(*session->cut_short);
  CHECK(failed.kind == HookKind::Setup);
  CHECK(failed.command == 0);
  CHECK_FALSE(failed.step.has_value());
  CHECK(std::get<Exited>(failed.outcome).status == 2);
  CHECK(failed.output_end == "it said why");
}

TEST_CASE("a failing prepare ends the session: its run and its conclude do not take place") {
  Bench bench;
  fail(bench, program_of_hook(1, 0, HookKind::Prepare), {Exited{0}, Exited{1}});
  Plan plan = hooked({"old"}, Order::Interleaved);
  plan.ignore_failure = IgnoreFailure{true, {}};  // speaks of the commands
  const auto session = bench.carry_out(plan);
  CHECK(bench.launcher.log() == "s1 p1(0) old c1(0)! p1(1) e1!");
  CHECK(session->runs.size() == 1);
  CHECK(std::get<HookFailed>(*session->cut_short).step->round == 1);
}

TEST_CASE("after a run that failed, conclude and cleanup are run") {
  Bench bench;
  fail(bench, 0, {Exited{7}});
  const auto session = bench.carry_out(hooked({"old"}, Order::Interleaved));
  CHECK(bench.launcher.log() == "s1 p1(0) old c1(0)! e1!");
  CHECK(std::holds_alternative<RunFailed>(*session->cut_short));
}

TEST_CASE("after an interrupt, conclude and cleanup are run, and an interrupt does not stop them") {
  Bench bench;
  fail(bench, 0, {Cancelled{}});
  bench.launcher.before_run = [&](std::size_t runs) {
    if (runs == 2) bench.interrupted_by = SIGINT;
  };
  const auto session = bench.carry_out(hooked({"old"}, Order::Interleaved));
  CHECK(bench.launcher.log() == "s1 p1(0) old c1(0)! e1!");
  CHECK(std::get<Interrupted>(*session->cut_short).signal == SIGINT);
}

TEST_CASE("a setup that is interrupted is an interrupt, not a failure") {
  Bench bench;
  fail(bench, program_of_hook(1, 0, HookKind::Setup), {Cancelled{}});
  bench.launcher.before_run = [&](std::size_t) { bench.interrupted_by = SIGTERM; };
  bench.interrupted_by = 0;
  const auto session = bench.carry_out(hooked({"old"}, Order::Interleaved));
  CHECK(std::get<Interrupted>(*session->cut_short).signal == SIGTERM);
  CHECK(bench.launcher.log() == "s1 e1!");
}

TEST_CASE("a cleanup that fails is reported, and so is one after another failure") {
  Bench bench;
  fail(bench, program_of_hook(1, 0, HookKind::Cleanup), {Exited{1}});
  const auto whole = bench.carry_out(hooked({"old"}, Order::Interleaved));
  CHECK(whole->runs.size() == 2);
  CHECK(std::get<HookFailed>(*whole->cut_short).kind == HookKind::Cleanup);

  Bench twice;
  fail(twice, program_of_hook(1, 0, HookKind::Cleanup), {Exited{1}});
  twice.launcher.scripts[0].outcomes = {Exited{7}};
  const auto session = twice.carry_out(hooked({"old"}, Order::Interleaved));
  CHECK(std::holds_alternative<RunFailed>(*session->cut_short));
  REQUIRE(session->later_failed_hooks.size() == 1);
  CHECK(session->later_failed_hooks[0].kind == HookKind::Cleanup);
}

TEST_CASE("under sequential order with a cleanup, a gate looks once: no command comes back") {
  Bench bench;
  Plan plan = hooked({"old", "new"}, Order::Sequential);
  plan.metrics = make_metrics({}, MetricSelection::Time, false);
  plan.gates = fakes::gates_of(plan, {{"wall_time", GateLimit::of_change(1.0)}});
  plan.setting.stop = {{}, 5, 5, 1ms};
  plan.setting.stop.max_runs.reset();
  REQUIRE(bench.carry_out(plan).has_value());
  REQUIRE(bench.findings.verdicts.size() == 1);
  const std::string log = bench.launcher.log();
  CHECK(log.find("s1") < log.find("e1!"));
  CHECK(log.find("old", log.find("e1!")) == std::string::npos);
}

TEST_CASE("a program may be made by its setup; where it is not there then, the session ends") {
  Bench bench;
  bench.launcher.found_after = 1;  // the setup
  Plan plan = plan_of({"nosuch"});
  plan.commands[0].hooks[HookKind::Setup] = "make";
  plan.commands[0].hooks[HookKind::Cleanup] = "clean";
  CHECK(bench.carry_out(plan)->runs.size() == 2);
  CHECK(bench.launcher.log() == "make nosuch nosuch clean!");

  Bench never;
  const auto session = never.carry_out(plan).value();
  CHECK(std::get<Error>(*session.cut_short).what.starts_with("nosuch: "));
  CHECK(never.launcher.log() == "make clean!");
}

TEST_CASE("hooks get the variables of their command and its user, through sh -c") {
  Bench bench;
  bench.user = User{12, 34, {34}, "ann", "/home/ann"};
  Plan plan = plan_of({"old"});
  plan.commands[0].environment = {"A=1"};
  plan.commands[0].hooks[HookKind::Setup] = "make it";
  REQUIRE(bench.carry_out(plan).has_value());
  const auto& programs = bench.launcher.programs();
  REQUIRE(programs.size() == 2);
  CHECK(programs[0].environment_changes == std::vector<std::string>{"A=1"});
  CHECK(programs[0].user->name == "ann");
  CHECK(programs[1].words == std::vector<std::string>{"/bin/sh", "-c", "make it"});
  CHECK(programs[1].environment_changes == std::vector<std::string>{"A=1"});
  CHECK(programs[1].user->name == "ann");
  CHECK(programs[1].output.sink == OutputKind::Capture);
}

TEST_CASE("where there is no shell, the option that needs one is named, with a remedy") {
  CHECK(check_shell("--prepare"));
  const auto missing = check_shell("--prepare", "/nosuch/sh");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().line() ==
        "--prepare needs a shell: /nosuch/sh: No such file or directory; leave out --prepare, or "
        "use lauka where there is a shell, such as in another container image (docs/ci.md)");
}

TEST_CASE("if the command's output is shown, so is its hooks'") {
  Bench bench;
  Plan plan = plan_of({"old"});
  plan.commands[0].output.kind = OutputKind::Inherit;
  plan.commands[0].hooks[HookKind::Setup] = "make it";
  REQUIRE(bench.carry_out(plan).has_value());
  CHECK(bench.launcher.programs()[1].output.sink == OutputKind::Inherit);
}

}  // namespace lauka
