#include "core/metric.h"
#include "notes.h"
#include "plan/rows.h"
#include "run/bench.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include <doctest/doctest.h>

// Counting runs, apart from the timed ones.

namespace lauka {
namespace {

using namespace std::chrono_literals;

/// The fake engine counts its only event in each pass: here in counting ones, after a timed one.
Plan counting_plan(const std::vector<std::string>& names, std::size_t passes = 1) {
  Plan plan = plan_of(names);
  plan.setting.stop = {{}, 1, {}, 100ms};
  for (std::size_t i = 0; i < passes; ++i) plan.setting.events.events.push_back({"event", ""});
  plan.setting.events.passes = {Pass{}};
  for (std::size_t i = 0; i < passes; ++i)
    plan.setting.events.passes.push_back({{i}, RoundKind::Counting});
  plan.metrics = make_metrics(plan.setting.events, MetricSelection::Default, false);
  return plan;
}

/// Like Bench, but the timed pass has no counters.
struct CountingBench : Bench {
  CountingBench() { engine.first_counting_pass = 1; }

  Session run(const Plan& plan) {
    auto session = carry_out(plan);
    REQUIRE(session.has_value());
    return *std::move(session);
  }
};

std::size_t runs_of(const Session& session, RoundKind kind) {
  std::size_t count = 0;
  for (std::size_t run = 0; run < session.runs.size(); ++run)
    count += session.runs.facts(run).kind == kind ? 1U : 0U;
  return count;
}

}  // namespace

TEST_CASE("a timed run has no counter open, a counting run has, and two runs follow it") {
  CountingBench bench;
  Plan plan = counting_plan({"old"});
  plan.setting.stop = {4, 10, {}, 5s};
  plan.events_were_asked_for = true;
  bench.run(plan);
  CHECK(bench.launcher.log() == "old old/0 old old old old/0 old old old old/0 old old old old/0");
}

TEST_CASE("counting runs take a fifth of the time and lie in blocks over the whole session") {
  CountingBench bench;
  const Session session = bench.run(counting_plan({"old"}));
  // 80 ms of timed and settling runs, 20 ms of counting ones.
  CHECK(runs_of(session, RoundKind::Counting) == 20);
  CHECK(runs_of(session, RoundKind::Timed) == 80 - 3 * 2);
  std::vector<std::size_t> timed_before;  // each counting run
  std::size_t timed = 0;
  for (std::size_t run = 0; run < session.runs.size(); ++run) {
    const RoundKind kind = session.runs.facts(run).kind;
    if (kind == RoundKind::Timed) ++timed;
    if (kind == RoundKind::Counting) timed_before.push_back(timed);
  }
  timed_before.erase(std::unique(timed_before.begin(), timed_before.end()), timed_before.end());
  CHECK(timed_before.size() == 4);
}

TEST_CASE("each pass is counted in five rounds at least, however long a counting run takes") {
  CountingBench bench;
  bench.launcher.adjust = [](os::ProgramId, os::Ended& ended) { ended.time_with_preparation = 1s; };
  Plan plan = counting_plan({"old", "new"}, 3);
  plan.setting.stop = {{}, 1, {}, 10ms};
  CHECK(runs_of(bench.run(plan), RoundKind::Counting) == 2 * 3 * 5);
}

TEST_CASE("times come from timed runs, counts from counting runs") {
  CountingBench bench;
  const Plan plan = counting_plan({"old"});
  const Session session = bench.run(plan);
  for (std::size_t place = 0; place < plan.metrics.size(); ++place) {
    const Metric& metric = plan.metrics[place];
    if (metric.role == Role::PeakRss) continue;  // a bound: the launcher of the fakes has no size
    CAPTURE(metric.name);
    const bool is_counted = metric.name == "event";
    for (std::size_t run = 0; run < session.runs.size(); ++run)
      CHECK(session.runs.value(run, place).has_value() ==
            ((session.runs.facts(run).kind == RoundKind::Counting) == is_counted));
  }
}

TEST_CASE("in sequential order each command has its own counting runs") {
  CountingBench bench;
  Plan plan = counting_plan({"old", "new"});
  plan.setting.order = Order::Sequential;
  plan.setting.stop = {1, 10, {}, 5s};
  plan.events_were_asked_for = true;
  bench.run(plan);
  CHECK(bench.launcher.log() == "old old/0 new new/0");
}

TEST_CASE("a prepare learns what the run is for") {
  CountingBench bench;
  Plan plan = counting_plan({"old"});
  plan.setting.stop = {2, 10, {}, 5s};
  plan.events_were_asked_for = true;
  plan.commands[0].hooks[HookKind::Prepare] = "p";
  bench.run(plan);
  CHECK(bench.launcher.log() ==
        "p(0) old p(counting-0) old/0 p(settling-0) old p(settling-1) old p(1) old p(counting-1) "
        "old/0");
}

TEST_CASE("a counting run that fails ends the session and keeps the runs before it") {
  CountingBench bench;
  Plan plan = counting_plan({"old"});
  bench.launcher.scripts.resize(1);
  bench.launcher.before_run = [&](std::size_t runs) {
    const std::string log = bench.launcher.log();
    if (log.ends_with("/0") && runs > 10) bench.launcher.scripts[0].outcomes.assign(1, Exited{7});
  };
  const Session session = bench.run(plan);
  REQUIRE(session.cut_short.has_value());
  CHECK(std::get_if<RunFailed>(&*session.cut_short) != nullptr);
  CHECK(runs_of(session, RoundKind::Timed) > 10);
  CHECK(runs_of(session, RoundKind::Counting) >= 1);
}

TEST_CASE("who holds counters is asked before counting, in each block and at the end") {
  CountingBench bench;
  bench.run(counting_plan({"old"}));
  CHECK(bench.engine.asked_for_holders == 4 + 1);
}

TEST_CASE("what ended as an orphan is in the events and not in cpu_time, and that is said once") {
  CountingBench bench;
  bench.launcher.adjust = [](os::ProgramId, os::Ended& ended) { ended.unawaited_processes = 2; };
  const Session session = bench.run(counting_plan({"old"}));
  CHECK(texts_of(session.notes) ==
        std::vector<std::string>{"'old' starts processes that it does not wait for, so events "
                                 "include them, but cpu_time and peak_rss do not"});
  CountingBench clean;
  CHECK(clean.run(counting_plan({"old"})).notes.empty());
}

}  // namespace lauka
