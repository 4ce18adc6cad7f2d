#include "fakes/gates.h"
#include "plan/rows.h"
#include "run/bench.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

// Runs of a simulated pass, alongside the timed ones.

namespace lauka {
namespace {

using namespace std::chrono_literals;

/// Simulates one event: each command's counts are what the test says, the last one over and over.
class SimulatingEngine final : public engine::CounterEngine {
 public:
  std::vector<std::vector<std::uint64_t>> counts;  // by order of asking
  bool moves_between_functions = false;
  std::uint64_t runs = 0;

  std::string_view name() const override { return "simulating"; }
  Catalog catalog() const override { return {}; }
  Result<EventSet> select(const EventRequest&) override { return EventSet{}; }
  Result<std::unique_ptr<engine::ArmedPass>> arm(std::size_t pass) override {
    return std::unique_ptr<engine::ArmedPass>(std::make_unique<OnePass>(*this, pass >= 1));
  }

 private:
  class OnePass final : public engine::ArmedPass {
   public:
    OnePass(SimulatingEngine& engine, bool simulates) : engine_(engine), simulates_(simulates) {}
    std::size_t max_batch_size() const override { return simulates_ ? 1 : 64; }
    std::vector<std::string> launched_as(const std::vector<std::string>& words) const override {
      return {"sim-" + words.front()};
    }
    engine::CountsOfRun finish(const os::Ended& ended, std::size_t /*command*/) override {
      if (!simulates_) return {};
      // The time of the run shows which command it was.
      const std::size_t command = ended.usage.wall_ns == 1'000'000 ? 0 : 1;
      auto& left = engine_.counts.at(command);
      const std::uint64_t count = left.front();
      if (left.size() > 1) left.erase(left.begin());
      engine::CountsOfRun counted{{count}, {}, {}};
      counted.functions = {{{"main", {count}}}};
      const std::uint64_t moved = engine_.runs++;
      if (engine_.moves_between_functions)
        counted.functions =
            std::vector<FunctionCounts>{{"main", {count - moved}}, {"read", {moved}}};
      return counted;
    }

   private:
    SimulatingEngine& engine_;
    bool simulates_;
  };
};

Plan simulating_plan(const std::vector<std::string>& names) {
  Plan plan = plan_of(names);
  plan.setting.events.events = {{"instructions", "", false, true}};
  plan.setting.events.passes = {Pass{}, Pass{{0}, RoundKind::Simulated}};
  plan.metrics = make_metrics(plan.setting.events, MetricSelection::Default, true);
  return plan;
}

struct Simulation {
  Bench bench;
  SimulatingEngine engine;

  explicit Simulation(std::vector<std::vector<std::uint64_t>> counts) {
    engine.counts = std::move(counts);
    bench.launcher.scripts.resize(4);
    bench.launcher.scripts[0].time = bench.launcher.scripts[2].time = 1ms;
    bench.launcher.scripts[1].time = bench.launcher.scripts[3].time = 2ms;
  }

  SessionResult carry_out(const Plan& plan) {
    auto measured = lauka::carry_out({"", plan, engine}, bench.context());
    REQUIRE(measured.has_value());
    return *std::move(measured);
  }

  std::size_t simulated_runs() const {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = bench.launcher.log().find("sim-", at)) != std::string::npos;
         ++at)
      ++count;
    return count;
  }
};

}  // namespace

TEST_CASE("each command is simulated three times, before its warm-up and its timed runs") {
  Simulation simulation({{100}, {200}});
  Plan plan = simulating_plan({"old", "new"});
  plan.setting.warmup_runs = 1;
  simulation.carry_out(plan);
  CHECK(simulation.bench.launcher.log() ==
        "sim-old sim-new sim-old sim-new sim-old sim-new old new old new old new");
}

TEST_CASE(
    "where counts vary each command is simulated six times, as functions are compared by them") {
  Simulation simulation({{100, 101, 100}, {200}});
  Plan plan = simulating_plan({"old", "new"});
  plan.setting.stop = {{}, 2, {}, 1ms};
  simulation.carry_out(plan);
  CHECK(simulation.simulated_runs() == 12);
}

TEST_CASE("equal counts need no more than three simulated runs for functions, either") {
  Simulation simulation({{100}, {200}});
  Plan plan = simulating_plan({"old", "new"});
  plan.presentation.functions = FunctionChoice{};
  plan.setting.stop = {{}, 2, {}, 1ms};
  simulation.carry_out(plan);
  CHECK(simulation.simulated_runs() == 6);
}

TEST_CASE("counts that move between functions are simulated six times, though the total repeats") {
  Simulation simulation({{100}, {200}});
  simulation.engine.moves_between_functions = true;
  Plan plan = simulating_plan({"old", "new"});
  plan.setting.stop = {{}, 2, {}, 1ms};
  simulation.carry_out(plan);
  CHECK(simulation.simulated_runs() == 12);
}

TEST_CASE("progress numbers the simulated runs of all commands, and estimates the time left") {
  Simulation simulation({{100}, {200}});
  simulation.bench.listener.wants = true;
  Plan plan = simulating_plan({"old", "new"});
  for (Metric& metric : plan.metrics)
    if (metric.name != "instructions") metric.shown = Shown::Verbose;
  plan.setting.stop = {{}, 2, {}, 1ms};
  simulation.carry_out(plan);
  std::vector<std::uint64_t> numbers;
  for (const Progress& seen : simulation.bench.listener.seen) {
    REQUIRE(seen.run.has_value());
    CHECK(seen.kind == RoundKind::Simulated);
    CHECK(seen.run->count == 6U);
    if (numbers.empty() || numbers.back() != seen.run->number) numbers.push_back(seen.run->number);
    // Nothing is known during the first run.
    CHECK(seen.remaining.has_value() == (seen.run->number > 1));
  }
  CHECK(numbers == std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("two simulated passes take turns, and each has three rounds of its own") {
  Simulation simulation({{100}, {200}});
  simulation.bench.launcher.scripts.resize(6);
  for (const std::size_t old : {0U, 2U, 4U}) {
    simulation.bench.launcher.scripts[old].time = 1ms;
    simulation.bench.launcher.scripts[old + 1].time = 2ms;
  }
  Plan plan = simulating_plan({"old", "new"});
  plan.setting.events.events.push_back({"allocations", "", false, true});
  plan.setting.events.passes.push_back(Pass{{1}, RoundKind::Simulated});
  const Session session = simulation.carry_out(plan).session;
  CHECK(simulation.simulated_runs() == 12);
  std::vector<std::size_t> of_pass(3);
  for (std::size_t run = 0; run < session.runs.size(); ++run)
    ++of_pass.at(session.runs.facts(run).pass);
  CHECK(of_pass == std::vector<std::size_t>{4, 6, 6});
  REQUIRE(session.functions.size() == 2);
  CHECK(session.functions[1].metrics ==
        std::vector<FunctionMetric>{{"instructions", 3}, {"allocations", 3}});
}

TEST_CASE("functions of simulated runs are in the session, also if an earlier process ran them") {
  const Plan plan = simulating_plan({"old", "new"});
  std::vector<FinishedRounds> kept;
  RoundKeeper keeper{{}, [&](const FinishedRounds& rounds) { kept.push_back(rounds); }};
  const auto session_of = [&](RoundKeeper& with) {
    Simulation simulation({{100, 101, 102}, {200}});
    auto measured = lauka::carry_out({"", plan, simulation.engine, nullptr, false, &with},
                                     simulation.bench.context());
    REQUIRE(measured.has_value());
    return measured->session.functions;
  };
  const std::vector<FunctionTable> whole = session_of(keeper);
  REQUIRE(whole.size() == 2);
  CHECK(whole[0].functions.at("main") == std::vector<RoundValues>{{100, 101, 102}});
  CHECK(whole[1].functions.at("main") == std::vector<RoundValues>{{200}});
  RoundKeeper resumed{{kept.begin(), kept.begin() + 2}};
  for (FinishedRounds& rounds : resumed.rounds_to_replay)
    rounds = parse_rounds(to_line(0, rounds))->second;
  Simulation rest({{102}, {200}});
  const auto session =
      lauka::carry_out({"", plan, rest.engine, nullptr, false, &resumed}, rest.bench.context());
  REQUIRE(session.has_value());
  CHECK(session->session.functions[0].functions == whole[0].functions);
  CHECK(session->session.functions[1].functions == whole[1].functions);
}

TEST_CASE("in sequential order each command is simulated when its turn comes") {
  Simulation simulation({{100}, {200}});
  Plan plan = simulating_plan({"old", "new"});
  plan.setting.order = Order::Sequential;
  simulation.carry_out(plan);
  CHECK(simulation.bench.launcher.log() ==
        "sim-old sim-old sim-old old old sim-new sim-new sim-new new new");
}

TEST_CASE("simulated runs use nothing of the time allowed") {
  Simulation simulation({{100}, {200}});
  simulation.bench.launcher.scripts[2].time = 1h;
  Plan plan = simulating_plan({"old"});
  plan.setting.stop = {{}, 1, {}, 10ms};
  simulation.bench.launcher.scripts[1].time = 1h;  // of sim-old
  simulation.carry_out(plan);
  CHECK(simulation.bench.launcher.runs() == 13);
}

TEST_CASE("a failure under simulation is reported as one") {
  Simulation simulation({{100}, {200}});
  simulation.bench.launcher.scripts[2].outcomes = {Exited{0}, Exited{9}};
  const SessionResult measured = simulation.carry_out(simulating_plan({"old", "new"}));
  REQUIRE(measured.session.cut_short.has_value());
  const auto* failed = std::get_if<RunFailed>(&*measured.session.cut_short);
  REQUIRE(failed != nullptr);
  CHECK(failed->step.kind == RoundKind::Simulated);
  CHECK(failed->step.command == 0);
  CHECK(failed->step.round == 1);
}

TEST_CASE("the time limit of a command is a hundred times as long under simulation") {
  Simulation simulation({{100}, {200}});
  Plan plan = simulating_plan({"old"});
  plan.timeout = 2s;
  simulation.carry_out(plan);
  REQUIRE(simulation.bench.launcher.programs().size() == 2);
  CHECK(simulation.bench.launcher.programs()[0].timeout == 2s);
  CHECK(simulation.bench.launcher.programs()[1].timeout == 200s);
  plan.timeout = std::chrono::nanoseconds::max();
  Simulation endless({{100}, {200}});
  endless.carry_out(plan);
  CHECK(endless.bench.launcher.programs()[1].timeout > std::chrono::hours(24 * 365));
}

TEST_CASE("a gate on counts that never vary is decided by the first simulated runs") {
  for (const auto& [count, answer] :
       {std::pair{std::uint64_t{1004}, gate::Answer::Pass}, {1006, gate::Answer::Fail}}) {
    Simulation simulation({{1000}, {count}});
    Plan plan = simulating_plan({"old", "new"});
    plan.gates = fakes::gates_of(plan, {{"instructions", GateLimit::of_change(0.5)}});
    plan.setting.stop = {{}, 2, {}, 1ms};
    const SessionResult measured = simulation.carry_out(plan);
    REQUIRE(measured.findings.verdicts.size() == 1);
    CHECK(measured.findings.verdicts[0].answer == answer);
    CHECK(measured.findings.verdicts[0].look == 1);
    CHECK(simulation.simulated_runs() == 6);
  }
}

TEST_CASE("with several gates there are as many simulated runs as decide each of them") {
  // Each of ten may be wrong with 0.14% at the first of five looks: 4^-5 is 0.10%, 4^-4 is 0.39%.
  Simulation simulation({{1000}, {1006}});
  Plan plan = simulating_plan({"old", "new"});
  plan.setting.stop = {{}, 2, {}, 1ms};
  for (int gate = 0; gate < 10; ++gate)
    plan.gates.push_back(
        fakes::gates_of(plan, {{"instructions", GateLimit::of_change(0.01 * gate)}}).front());
  const SessionResult measured = simulation.carry_out(plan);
  CHECK(measured.findings.verdicts.size() == 10);
  for (const gate::Verdict& verdict : measured.findings.verdicts) {
    CHECK(verdict.answer == gate::Answer::Fail);
    CHECK(verdict.look == 1);
  }
  CHECK(simulation.simulated_runs() == 2 * 5);
}

TEST_CASE("an open gate on counts that vary asks for simulated runs and not for timed ones") {
  // The difference is on the limit: 10, 20 and 30 above and below it, so that no look decides.
  Simulation simulation(
      {{10000},
       {10110, 10090, 10120, 10080, 10130, 10070, 10110, 10090, 10120, 10080, 10130, 10070}});
  Plan plan = simulating_plan({"old", "new"});
  plan.gates = fakes::gates_of(plan, {{"instructions", GateLimit::of_change(1.0)}});
  plan.setting.stop = {{}, 2, {}, 1ms};
  const SessionResult measured = simulation.carry_out(plan);
  REQUIRE(measured.findings.verdicts.size() == 1);
  CHECK(measured.findings.verdicts[0].answer == gate::Answer::Inconclusive);
  CHECK(measured.findings.verdicts[0].rounds == 12);
  CHECK(measured.findings.verdicts[0].look == 5);
  CHECK(simulation.bench.launcher.runs() - simulation.simulated_runs() == 2 * 2);
}

TEST_CASE("gates on simulated counts are decided before the timed runs, then the fewest") {
  Simulation simulation({{1000}, {1006}});
  Plan plan = simulating_plan({"old", "new"});
  plan.gates = fakes::gates_of(plan, {{"instructions", GateLimit::of_change(0.5)}});
  plan.setting.stop = {{}, 2, {}, 1h};
  const SessionResult measured = simulation.carry_out(plan);
  REQUIRE(measured.findings.verdicts.size() == 1);
  CHECK(measured.findings.verdicts[0].answer == gate::Answer::Fail);
  CHECK(simulation.bench.launcher.runs() - simulation.simulated_runs() < 2 * 12);  // one batch
}

TEST_CASE("a plan of simulated values alone has neither warm-up nor timed runs") {
  Simulation simulation({{100}, {200}});
  Plan plan = simulating_plan({"old", "new"});
  plan.setting.warmup_runs = 1;
  plan.setting.stop = {{}, 2, {}, 1ms};
  for (Metric& metric : plan.metrics)
    if (metric.name != "instructions") metric.shown = Shown::Verbose;
  simulation.carry_out(plan);
  CHECK(simulation.bench.launcher.log() == "sim-old sim-new sim-old sim-new sim-old sim-new");
}

TEST_CASE("a gate on time asks for timed runs and not for simulated ones") {
  Simulation simulation({{1000}, {1000}});
  Plan plan = simulating_plan({"old", "new"});
  plan.gates = fakes::gates_of(
      plan, {{"wall_time", GateLimit::of_change(100.0)}});  // new takes twice as long, exactly
  plan.setting.stop = {{}, 1, {}, 1ms};
  simulation.carry_out(plan);
  CHECK(simulation.simulated_runs() == 6);
}

TEST_CASE("an exact number of runs leaves the simulated ones as they are") {
  Simulation simulation({{10000}, {10110, 10090, 10100}});
  Plan plan = simulating_plan({"old", "new"});
  plan.gates = fakes::gates_of(plan, {{"instructions", GateLimit::of_change(1.0)}});
  const SessionResult measured = simulation.carry_out(plan);
  CHECK(measured.findings.verdicts.at(0).answer == gate::Answer::Inconclusive);
  CHECK(simulation.simulated_runs() == 6);
}

TEST_CASE("hooks surround simulated runs too, and can distinguish them from timed ones") {
  Simulation simulation({{5}, {5}});
  Plan plan = simulating_plan({"old"});
  plan.setting.stop.exact_runs = 1;
  plan.commands[0].hooks = {"s", "p", {}, "e"};
  simulation.carry_out(plan);
  CHECK(simulation.bench.launcher.log() ==
        "s p(simulated-0) sim-old p(simulated-1) sim-old p(simulated-2) sim-old p(0) old e!");
}

}  // namespace lauka
