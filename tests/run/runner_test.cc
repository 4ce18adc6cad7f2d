#include "run/runner.h"

#include "core/metric.h"
#include "fakes/gates.h"
#include "notes.h"
#include "os/control_groups.h"
#include "plan/rows.h"
#include "run/bench.h"
#include "run/stopping.h"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace lauka {
namespace {

using namespace std::chrono_literals;

TEST_CASE("interleaved order runs each command once per round") {
  Bench bench;
  const auto session = bench.carry_out(plan_of({"old", "new"}));
  CHECK(bench.launcher.log() == "old new old new");
  CHECK(session->runs.size() == 4);
  CHECK(session->runs.row(3).round == 1);
  CHECK(bench.listener.is_finished);
}

TEST_CASE("programs and their processes are looked at only if something reads their settings") {
  for (const bool reads : {true, false}) {
    Bench bench;
    const Plan plan = plan_of({"/bin/true"});
    const auto measured = carry_out(
        {.name = "", .plan = plan, .engine = bench.engine, .reads_program_settings = reads},
        bench.context());
    REQUIRE(measured);
    const SettingValues& settings = measured->session.program_settings.at(0);
    CHECK(settings[SettingKind::VariableNames].has_value() == reads);
    CHECK(settings[SettingKind::Nice].has_value() == reads);
  }
}

TEST_CASE("sequential order finishes a command, warm-up runs included, before the next begins") {
  Bench bench;
  Plan plan = plan_of({"old", "new"});
  plan.setting.order = Order::Sequential;
  plan.setting.warmup_runs = 1;
  CHECK(bench.carry_out(plan)->runs.size() == 4);
  CHECK(bench.launcher.log() == "old old old new new new");
}

TEST_CASE("warm-up runs come first and are not counted") {
  Bench bench;
  Plan plan = plan_of({"old", "new"}, 1);
  plan.setting.warmup_runs = 2;
  const auto session = bench.carry_out(plan);
  CHECK(bench.launcher.log() == "old new old new old new");
  CHECK(session->runs.size() == 2);
}

TEST_CASE("counting goes on until the least number of runs and the shared budget are reached") {
  Plan plan = plan_of({"old", "new"});
  const auto counted_runs = [&plan](StopRule rule) {
    Bench bench;
    bench.launcher.scripts = {{10ms, {}}, {30ms, {}}};
    plan.setting.stop = rule;
    return bench.carry_out(plan)->runs.size();
  };
  CHECK(counted_runs({{}, 3, {}, 100ms}) == 10);  // 2 x 100 ms at 40 ms a round: 5 rounds
  CHECK(counted_runs({{}, 8, {}, 100ms}) == 16);
  CHECK(counted_runs({{}, 3, 4, 100ms}) == 8);
}

TEST_CASE("short runs are launched many at a time, long ones one by one") {
  Bench bench;
  bench.launcher.scripts = {{100us, {}}};
  Plan plan = plan_of({"tiny"}, 640);
  REQUIRE(bench.carry_out(plan).has_value());
  CHECK(bench.launcher.runs() == 640);
  CHECK(bench.launcher.requests() <= 12);

  Bench slow;
  slow.launcher.scripts = {{1s, {}}};
  plan.setting.stop.exact_runs = 5;
  REQUIRE(slow.carry_out(plan).has_value());
  CHECK(slow.launcher.requests() == 5);
}

TEST_CASE("a round of more commands than one request holds is run whole") {
  Bench bench;
  std::vector<std::string> names;
  names.reserve(150);
  for (int i = 0; i < 150; ++i) names.push_back("c" + std::to_string(i));
  CHECK(bench.carry_out(plan_of(names))->runs.size() == 300);
}

TEST_CASE("a failing run ends the session and loses no finished run") {
  Bench bench;
  bench.launcher.scripts = {{}, {1ms, {Exited{0}, Exited{3}}}};
  Plan plan = plan_of({"old", "new"}, 5);
  const auto session = bench.carry_out(plan);
  CHECK(bench.launcher.log() == "old new old new");
  CHECK(session->runs.size() == 3);
  const auto& failed = std::get<RunFailed>(*session->cut_short);
  CHECK(failed.step.command == 1);
  CHECK(failed.step.round == 1);
  CHECK(std::get<Exited>(failed.outcome).status == 3);
  CHECK(failed.error_output_end == "it said why");
}

TEST_CASE("an ignored failure is counted as any other run") {
  Bench bench;
  bench.launcher.scripts = {{1ms, {Exited{3}, Signalled{SIGSEGV, false}}}};
  Plan plan = plan_of({"old"}, 3);
  plan.ignore_failure = IgnoreFailure{true, {}};
  const auto session = bench.carry_out(plan);
  CHECK_FALSE(session->cut_short.has_value());
  CHECK(session->runs.size() == 3);
}

TEST_CASE("only the statuses named are ignored") {
  Bench bench;
  bench.launcher.scripts = {{1ms, {Exited{3}, Exited{4}}}};
  Plan plan = plan_of({"old"}, 9);
  plan.ignore_failure = IgnoreFailure{false, {3}};
  const auto session = bench.carry_out(plan);
  CHECK(session->runs.size() == 1);
  CHECK(std::get<Exited>(std::get<RunFailed>(*session->cut_short).outcome).status == 4);
}

TEST_CASE("a command that cannot be started is refused before anything is run") {
  Bench bench;
  const auto session = bench.carry_out(plan_of({"old", "nosuch"}));
  REQUIRE_FALSE(session.has_value());
  CHECK(session.error().what.starts_with("nosuch: "));
  CHECK(bench.launcher.runs() == 0);
}

TEST_CASE("a run that cannot be started ends the session even where failures are ignored") {
  Bench bench;
  bench.launcher.scripts = {{1ms, {NotStarted{LaunchStep::Execute, 8}}}};
  Plan plan = plan_of({"old"});
  plan.ignore_failure = IgnoreFailure{true, {}};
  CHECK(std::holds_alternative<RunFailed>(*bench.carry_out(plan)->cut_short));
}

TEST_CASE("an interrupt drops the run that was cut off and keeps those before it") {
  Bench bench;
  bench.launcher.scripts = {{1ms, {Exited{0}, Exited{0}, Cancelled{}}}};
  bench.launcher.before_run = [&](std::size_t runs) {
    bench.interrupted_by = runs == 2 ? SIGINT : 0;
  };
  Plan plan = plan_of({"old"}, 100);
  const auto session = bench.carry_out(plan);
  CHECK(session->runs.size() == 2);
  CHECK(std::get<Interrupted>(*session->cut_short).signal == SIGINT);
}

TEST_CASE("passes take turns, the same for all commands of a round") {
  Bench bench;
  Plan plan = plan_of({"old", "new"}, 3);
  plan.setting.events.events = {{"a", "a"}, {"b", "b"}};
  plan.setting.events.passes = {Pass{{0}}, Pass{{1}}};
  add_count_metrics(plan);
  const auto session = bench.carry_out(plan);
  CHECK(bench.launcher.log() == "old/0 new/0 old/1 new/1 old/0 new/0");
  CHECK(session->runs.row(2).pass == 1);
  CHECK(session->runs.value(2, 1) == 3.0);
}

TEST_CASE("an engine that reads its counters between runs gets them one by one") {
  Bench bench;
  bench.engine.max_batch_size = 1;
  bench.launcher.scripts = {{100us, {}}};
  Plan plan = plan_of({"old"}, 20);
  plan.setting.events = {{{"a", "a"}}, {Pass{{0}}}, {}};
  REQUIRE(bench.carry_out(plan).has_value());
  CHECK(bench.launcher.requests() == 20);
}

TEST_CASE("counts that were lost are left out, with one note that names their events") {
  Bench bench;
  bench.engine.is_lost = true;
  Plan plan = plan_of({"old"});
  plan.setting.events = {{{"a", "a"}}, {Pass{{0}}}, {}};
  add_count_metrics(plan);
  const auto session = bench.carry_out(plan);
  CHECK(session->runs.size() == 2);
  CHECK_FALSE(session->runs.value(0, 0));
  CHECK(texts_of(session->notes) ==
        std::vector<std::string>{
            "the counts were lost; what lauka shows for a leaves out 2 runs; run it as root"});
}

TEST_CASE("a command without counts is reported once, before the first run of all") {
  Bench bench;
  bench.engine.uncounted = CounterLossFile{CounterLoss::SetGroup, "/x"};
  std::string reported;
  bench.listener.lost = [&](const Command& command, const CounterLossFile& file) {
    reported +=
        fmt::format("{} {} after {} runs; ", command.name, file.file, bench.launcher.runs());
  };
  Plan plan = plan_of({"old", "new"}, 3);
  plan.setting.warmup_runs = 1;
  const auto session = bench.carry_out(plan);
  CHECK(reported == "old /x after 0 runs; new /x after 0 runs; ");
  CHECK(session->counter_loss_files[1] == bench.engine.uncounted);
  CHECK(session->notes.empty());
}

TEST_CASE("a command that a setup or prepare may make is looked up after it, before its run") {
  for (const HookKind kind : {HookKind::Setup, HookKind::Prepare}) {
    Bench bench;
    bench.engine.uncounted = CounterLossFile{CounterLoss::SetUser, "/x"};
    std::string log_then;
    int times = 0;
    bench.listener.lost = [&](const Command&, const CounterLossFile&) {
      log_then = bench.launcher.log();
      ++times;
    };
    Plan plan = plan_of({"old"}, 3);
    plan.commands[0].hooks[kind] = "make";
    REQUIRE(bench.carry_out(plan).has_value());
    CHECK(times == 1);
    CHECK(log_then.starts_with("make"));
    CHECK(log_then.find("old") == std::string::npos);
  }
}

TEST_CASE("a counter that cannot be opened ends the session and keeps the runs before it") {
  Bench bench;
  bench.launcher.counter_error = 24;
  bench.launcher.counters_fail_at = 1;
  Plan plan = plan_of({"old"});
  plan.setting.events = {{{"a", "a"}}, {Pass{{0}}}, {}};
  const auto session = bench.carry_out(plan);
  CHECK(session->runs.size() == 1);
  CHECK(std::get<Error>(*session->cut_short).line() == "out of counters; use fewer");
}

TEST_CASE("progress shows the command, and how much is left") {
  Bench bench;
  bench.listener.wants = true;
  bench.launcher.scripts = {{1s, {}}};
  Plan plan = plan_of({"old"}, 4);
  REQUIRE(bench.carry_out(plan).has_value());
  REQUIRE(bench.listener.seen.size() >= 4);
  CHECK(bench.listener.names[0] == "old");
  CHECK_FALSE(bench.listener.seen[0].remaining.has_value());
  CHECK(bench.listener.seen.back().remaining == 1s);
  CHECK(bench.listener.seen.back().mean_wall_seconds == doctest::Approx(1.0));
}

TEST_CASE("progress shows how much the candidate differs from the reference, from five rounds on") {
  Bench bench;
  bench.listener.wants = true;
  bench.launcher.scripts = {{400ms, {}}, {100ms, {}}};
  std::uint64_t turn = 0;  // of the candidate: 97, 100 and 103 ms in turn
  bench.launcher.adjust = [&](os::ProgramId program, os::Ended& ended) {
    if (program == 1) ended.usage.wall_ns += (turn++ % 3) * 3'000'000 - 3'000'000;
  };
  Plan plan = plan_of({"old", "new"}, 7);
  REQUIRE(bench.carry_out(plan).has_value());
  CHECK_FALSE(bench.listener.seen[4].difference.has_value());
  const auto last = bench.listener.seen.back().difference;
  REQUIRE(last.has_value());
  CHECK(last->candidate == "new");
  // By Python, of the first six rounds: exp(mean(d) -+ 2.570581836 * stdev(d) / sqrt(6)) - 1
  CHECK(last->change == doctest::Approx(-0.75007503).epsilon(1e-7));
  CHECK(last->low == doctest::Approx(-0.7570168837).epsilon(1e-8));
  CHECK(last->high == doctest::Approx(-0.7429348371).epsilon(1e-8));
}

TEST_CASE("what is left includes the warm-up runs") {
  Bench bench;
  bench.listener.wants = true;
  bench.launcher.scripts = {{1s, {}}};
  Plan plan = plan_of({"old"}, 4);
  plan.setting.warmup_runs = 100;
  REQUIRE(bench.carry_out(plan).has_value());
  std::vector<std::chrono::nanoseconds> left;
  for (const Progress& seen : bench.listener.seen)
    if (seen.remaining) left.push_back(*seen.remaining);
  REQUIRE_FALSE(left.empty());
  CHECK(left.front() > 90s);
}

TEST_CASE("what is left shrinks during a run that takes long") {
  class MovingClock final : public os::Clock {
   public:
    std::chrono::nanoseconds time{};
    std::chrono::nanoseconds now() const override { return time; }
  };
  MovingClock clock;
  Bench bench;
  bench.listener.wants = true;
  bench.launcher.scripts = {{10s, {}}};
  bench.launcher.before_run = [&](std::size_t) { clock.time += 5s; };  // before it is reported
  bench.launcher.adjust = [&](os::ProgramId, os::Ended&) { clock.time += 5s; };
  Plan plan = plan_of({"old"}, 3);
  const RunContext context{bench.launcher, clock, bench.listener, [] { return 0; }, bench.user};
  REQUIRE(lauka::carry_out({"", plan, bench.engine}, context).has_value());
  std::vector<std::chrono::nanoseconds> left;
  for (const Progress& seen : bench.listener.seen)
    if (seen.remaining) left.push_back(*seen.remaining);
  CHECK(left == std::vector<std::chrono::nanoseconds>{20s, 15s, 10s, 5s});
}

TEST_CASE("while a gate is undecided, what is left does not grow, and is called a limit") {
  class MovingClock final : public os::Clock {
   public:
    std::chrono::nanoseconds time{};
    std::chrono::nanoseconds now() const override { return time; }
  };
  MovingClock clock;
  Bench bench;
  bench.listener.wants = true;
  bench.launcher.scripts = {{100ms, {}}, {105ms, {}}};
  // 87.5 and 126 ms in turn: their geometric mean is at the limit, so that no look decides.
  std::uint64_t turn = 0;
  bench.launcher.adjust = [&](os::ProgramId program, os::Ended& ended) {
    if (program == 1) ended.usage.wall_ns += turn++ % 2 * 38'500'000 - 17'500'000;
    clock.time += std::chrono::nanoseconds(ended.usage.wall_ns);
  };
  Plan plan = plan_of({"old", "new"});
  plan.metrics = make_metrics({}, MetricSelection::Default, false);
  plan.setting.stop = {{}, 10, {}, 1s};
  plan.gates = fakes::gates_of(plan, {{"wall_time", GateLimit::of_change(5.0)}});
  const RunContext context{bench.launcher, clock, bench.listener, [] { return 0; }, bench.user};
  const auto measured = lauka::carry_out({"", plan, bench.engine}, context);
  REQUIRE(measured.has_value());
  REQUIRE(measured->findings.verdicts.at(0).answer == gate::Answer::Inconclusive);

  double furthest = 0.0;
  std::size_t shown = 0;
  for (const Progress& seen : bench.listener.seen) {
    if (!seen.remaining) continue;
    ++shown;
    CHECK(seen.may_end_earlier);
    CHECK(seen.elapsed_share >= furthest - 0.05);  // the candidate's time is not known at first
    furthest = std::max(furthest, seen.elapsed_share);
  }
  CHECK(shown > 10);
  CHECK(furthest > 0.9);
}

TEST_CASE("progress is not reported if it is not wanted") {
  Bench bench;
  REQUIRE(bench.carry_out(plan_of({"old"})).has_value());
  CHECK(bench.listener.seen.empty());
}

}  // namespace
TEST_CASE("a run whose process could not be killed ends the session, -i or not") {
  Bench bench;
  bench.launcher.scripts = {{1ms, {Exited{0}, TimedOut{1ms}, TimedOut{1ms, true, 4711}}}};
  Plan plan = plan_of({"old"}, 9);
  plan.ignore_failure = IgnoreFailure{true, {}};
  const auto session = bench.carry_out(plan);
  CHECK(session->runs.size() == 2);
  REQUIRE(session->cut_short.has_value());
  CHECK(std::get<TimedOut>(std::get<RunFailed>(*session->cut_short).outcome).survivor == 4711);
}

TEST_CASE("a command that leaves its input file unread is reported where its output is dropped") {
  const auto notes = [](os::InputRead input, OutputKind output) {
    Bench bench;
    bench.launcher.adjust = [input](os::ProgramId, os::Ended& ended) { ended.input = input; };
    Plan plan = plan_of({"old"});
    plan.commands[0].output.kind = output;
    return texts_of(bench.carry_out(plan)->notes);
  };
  CHECK(notes(os::InputRead::Nothing, OutputKind::Null) ==
        std::vector<std::string>{"'old' seems not to have read its input file; check that it reads "
                                 "standard input"});
  CHECK(notes(os::InputRead::Part, OutputKind::Null) ==
        std::vector<std::string>{"'old' did not read its input file to the end; if it stops early "
                                 "because its output is /dev/null, use --output pipe"});
  CHECK(notes(os::InputRead::Part, OutputKind::Pipe).empty());
  CHECK(notes(os::InputRead::All, OutputKind::Null).empty());
  CHECK(notes(os::InputRead::Unknown, OutputKind::Null).empty());
}

TEST_CASE("untuned rounds come in blocks, after two that are thrown away, and stay apart") {
  using Switches = std::vector<std::pair<std::size_t, bool>>;
  Bench bench;
  Switches switches;  // runs before it, and whether it tunes
  bench.machine.switched = [&](bool on) { switches.emplace_back(bench.launcher.runs(), on); };
  Plan plan = plan_of({"old", "new"}, 12);
  auto session = bench.carry_out(plan);
  // 2 timed rounds, 2 settling and 1 untuned, 2 settling and 3 timed, ...
  CHECK(switches == Switches{{4, false},
                             {10, true},
                             {20, false},
                             {26, true},
                             {36, false},
                             {42, true},
                             {52, false},
                             {58, true}});
  CHECK(bench.launcher.runs() == 64);
  CHECK(session->runs.size() == 24);
  REQUIRE(session->runs_without_tuning.size() == 8);
  CHECK(session->runs_without_tuning.row(7).round == 3);
  CHECK(session->runs_without_tuning.row(7).kind == RoundKind::Untuned);

  switches.clear();
  bench.launcher.before_run = [&](std::size_t runs) { bench.interrupted_by = runs >= 69 ? 2 : 0; };
  session = bench.carry_out(plan);
  CHECK(session->cut_short.has_value());
  CHECK(switches.size() == 2);
  CHECK(switches.back().second);
}

namespace {

struct SuiteBench {
  Bench bench;
  std::vector<Plan> plans;

  Result<std::vector<SessionResult>> carry_out(std::uint64_t seed = 1) {
    std::vector<BenchmarkToRun> parts;
    for (const Plan& plan : plans)
      parts.push_back({plan.commands.front().name, plan, bench.engine});
    return lauka::run_benchmarks(parts, bench.context(), seed);
  }
};

}  // namespace

TEST_CASE("benchmarks of a suite take turns, a round each, and each keeps its own number of runs") {
  SuiteBench suite;
  suite.plans = {plan_of({"a0", "a1"}), plan_of({"b0", "b1"})};
  suite.plans[1].setting.stop.exact_runs = 3;
  const auto measured = suite.carry_out().value();
  CHECK(measured[0].session.runs.size() == 4);
  CHECK(measured[1].session.runs.size() == 6);
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
  suite.plans[0].setting.order = Order::Sequential;
  REQUIRE(suite.carry_out());
  const std::string log = suite.bench.launcher.log();
  CAPTURE(log);
  CHECK(log.rfind("a1") < log.find("b0"));
}

TEST_CASE("turns of many benchmarks share a batch, until its time is over") {
  SuiteBench suite;
  for (int i = 0; i < 100; ++i) suite.plans.push_back(plan_of({"a" + std::to_string(i)}, 3));
  const auto measured = suite.carry_out().value();
  for (const SessionResult& one : measured) {
    REQUIRE(one.session.runs.size() == 3);
    CHECK(one.session.runs.row(2).round == 2);
  }
  std::set<std::uint32_t> numbers;
  for (const SessionResult& one : measured)
    for (std::size_t run = 0; run < one.session.runs.size(); ++run)
      numbers.insert(one.session.runs.row(run).details.number_in_suite);
  CHECK(numbers.size() == 300);
  CHECK(*numbers.rbegin() == 300);
  // 26 runs of 1 ms begin within kBatchTime; a request for each turn would make 200.
  CHECK(suite.bench.launcher.requests() < 25);
  CHECK(suite.bench.launcher.runs() == 300);
}

TEST_CASE("launches are hardly made for turns that a shared batch has no time for") {
  SuiteBench suite;
  for (int i = 0; i < 100; ++i) suite.plans.push_back(plan_of({"a" + std::to_string(i)}, 3));
  suite.bench.launcher.scripts.assign(100, {.time = std::chrono::milliseconds(30)});
  REQUIRE(suite.carry_out());
  CHECK(suite.bench.launcher.runs() == 300);
  // Before the first batch, a run is taken to be as short as a turn may be.
  CHECK(suite.bench.launcher.launches() <= 300 + kBatchTime / kTurnTime);
}

TEST_CASE("counted benchmarks, and long runs under a progress line, do not share a batch") {
  const auto requests_of = [](bool counts, bool wants_progress) {
    SuiteBench suite;
    for (const char* const name : {"a", "b", "c", "d"}) suite.plans.push_back(plan_of({name}, 1));
    for (Plan& plan : suite.plans)
      if (counts) plan.setting.events.passes = {Pass{}};
    suite.bench.listener.wants = wants_progress;
    REQUIRE(suite.carry_out());
    return suite.bench.launcher.requests();
  };
  CHECK(requests_of(false, false) == 1);
  CHECK(requests_of(true, false) == 4);
  CHECK(requests_of(false, true) == 4);
}

TEST_CASE("a shared batch gives each benchmark its own runs and its own end") {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    SuiteBench suite;
    suite.plans = {plan_of({"a"}, 1), plan_of({"b"}, 1), plan_of({"c"}, 1), plan_of({"d"}, 1)};
    suite.bench.launcher.scripts = {{.time = std::chrono::milliseconds(1)},
                                    {.time = std::chrono::milliseconds(2), .outcomes = {Exited{1}}},
                                    {.time = std::chrono::milliseconds(3)},
                                    {.time = std::chrono::milliseconds(4)}};
    const auto measured = suite.carry_out(seed).value();
    CHECK(suite.bench.launcher.requests() <= 2);
    CHECK(suite.bench.launcher.runs() == 4);
    for (const std::size_t part : {0U, 2U, 3U}) {
      REQUIRE(measured[part].session.runs.size() == 1);
      CHECK(measured[part].session.runs.wall_seconds(0) == static_cast<double>(part + 1) / 1000.0);
    }
    REQUIRE(measured[1].session.cut_short);
    CHECK(std::get<RunFailed>(*measured[1].session.cut_short).error_output_end == "it said why");
    CHECK(measured[1].session.runs.empty());
  }
}

TEST_CASE("where a run of one benchmark fails, the others go on") {
  SuiteBench suite;
  suite.plans = {plan_of({"a0"}), plan_of({"b0"})};
  suite.bench.launcher.scripts = {{.outcomes = {Exited{1}}}};
  const auto measured = suite.carry_out().value();
  CHECK(measured[0].session.cut_short.has_value());
  CHECK_FALSE(measured[1].session.cut_short.has_value());
  CHECK(measured[1].session.runs.size() == 2);
}

TEST_CASE("an interruption ends every benchmark, and progress covers all as one") {
  SuiteBench suite;
  suite.plans = {plan_of({"a0"}), plan_of({"b0"})};
  suite.bench.interrupted_by = 2;
  const auto measured = suite.carry_out().value();
  for (const SessionResult& one : measured)
    CHECK(std::holds_alternative<Interrupted>(*one.session.cut_short));
  CHECK(suite.bench.listener.is_finished);
}

namespace {

class FakeGroups final : public os::MemoryGroups {
 public:
  int made = 0;
  std::optional<std::uint64_t> peak{4096};
  Result<std::string> begin() override { return "/group/" + std::to_string(made++); }
  std::optional<std::uint64_t> end() override { return peak; }
};

}  // namespace

TEST_CASE("each run has a control group of its own, whose peak is its value, or it has none") {
  Bench bench;
  FakeGroups groups;
  bench.groups = &groups;
  Plan plan = plan_of({"a", "b"});
  plan.metrics = make_metrics({}, MetricSelection::Default, false, true);
  const auto session = bench.carry_out(plan).value();
  REQUIRE(session.runs.size() == 4);
  CHECK(groups.made == 4);
  CHECK(bench.launcher.requests() == 4);
  const auto place = find_metric(plan.metrics, kTreePeakMemory).value();
  CHECK(session.runs.value(0, place) == 4096.0);
  CHECK(session.runs.value(3, place) == 4096.0);
  groups.peak.reset();
  const auto without = bench.carry_out(plan).value();
  CHECK_FALSE(without.runs.value(0, place));
}

}  // namespace lauka
