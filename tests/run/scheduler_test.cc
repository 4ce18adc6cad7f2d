#include "run/scheduler.h"

#include "fakes/gates.h"
#include "plan/rounds.h"
#include "plan/rows.h"
#include "run/bench.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

// The scheduler alone: plans drawn at random, whose runs are numbers.

namespace lauka {
namespace {

using namespace std::chrono_literals;

#ifdef __OPTIMIZE__
constexpr int kPlans = 10'000;
#else
constexpr int kPlans = 1'000;  // ten times as slow
#endif
constexpr int kMaxActions = 20'000;

std::uint64_t draw(std::mt19937_64& random, std::uint64_t limit) {
  return draw_below(limit, random);
}
bool draw_one_in(std::mt19937_64& random, std::uint64_t limit) {
  return draw(random, limit) == 0;
}

StopRule draw_stop_rule(std::mt19937_64& random) {
  StopRule rule;
  rule.budget_per_command = std::chrono::milliseconds(draw(random, 120));
  rule.min_runs = 1 + draw(random, 12);
  if (draw_one_in(random, 3)) rule.exact_runs = 1 + draw(random, 40);
  if (draw_one_in(random, 4)) rule.max_runs = rule.min_runs + draw(random, 30);
  return rule;
}

/// Passes that count in the timed runs, in runs of their own, or by simulation.
EventSet draw_events(std::mt19937_64& random) {
  EventSet events;
  events.passes = {Pass{}};
  const std::uint64_t counting = draw(random, 3);
  for (std::uint64_t i = 0; i < counting; ++i) {
    events.passes.push_back({{events.events.size()}, RoundKind::Counting});
    events.events.push_back({"counted" + std::to_string(i), ""});
  }
  if (draw_one_in(random, 4)) {
    events.passes.push_back({{events.events.size()}, RoundKind::Simulated});
    events.events.push_back({"instructions", "", false, true});
  }
  if (events.events.empty()) events.passes.clear();
  return events;
}

void draw_gates(std::mt19937_64& random, Plan& plan) {
  std::vector<Condition> gates;
  const std::uint64_t count = draw(random, 3);
  for (std::uint64_t i = 0; i < count; ++i)
    gates.push_back({"wall_time", GateLimit::of_change(static_cast<double>(draw(random, 12)))});
  for (const Event& event : plan.setting.events.events)
    if (draw_one_in(random, 3))
      gates.push_back({event.name, GateLimit::of_change(static_cast<double>(draw(random, 3)))});
  plan.gates = fakes::gates_of(plan, gates);
  if (draw_one_in(random, 4) && !plan.setting.stop.exact_runs)
    plan.precision = PrecisionGoal{0.002 * static_cast<double>(1 + draw(random, 10)), 0};
}

struct Drawn {
  Plan plan;
  Scheduler::Conditions conditions;
};

Drawn draw_plan(std::mt19937_64& random) {
  std::vector<std::string> names = {"a", "b", "c", "d"};
  names.resize(1 + draw(random, names.size()));
  Drawn drawn{plan_of(names), {}};
  Plan& plan = drawn.plan;
  constexpr Order orders[] = {Order::Random, Order::Interleaved, Order::Sequential};
  plan.setting.order = orders[draw(random, 3)];
  plan.setting.seed = random();
  plan.setting.warmup_runs = draw(random, 4);
  plan.setting.stop = draw_stop_rule(random);
  plan.setting.events = draw_events(random);
  plan.events_were_asked_for = draw_one_in(random, 2);
  plan.metrics =
      make_metrics(plan.setting.events, MetricSelection::Default, plan.events_were_asked_for);
  if (names.size() > 1 && draw_one_in(random, 6))
    draw_gates(random, plan);  // their statistics are slow
  if (draw_one_in(random, 3)) {
    for (Command& command : plan.commands) command.hooks[HookKind::Setup] = "setup";
    plan.setting.order = Order::Sequential;
  }
  if (draw_one_in(random, 3)) {
    Setting& setting = plan.setting;
    setting.layouts = static_cast<std::uint32_t>(4 + draw(random, 3));
    if (setting.stop.exact_runs) *setting.stop.exact_runs *= setting.layouts;
    if (setting.stop.max_runs) *setting.stop.max_runs *= setting.layouts;
  }
  drawn.conditions.takes_turns = plan.setting.order != Order::Sequential && draw_one_in(random, 3);
  drawn.conditions.needs_short_batches = draw_one_in(random, 2);
  drawn.conditions.compares_tuning = draw_one_in(random, 4);
  drawn.conditions.hashes_programs = draw_one_in(random, 2);
  return drawn;
}

/// The world that carries out a scheduler's actions. The values of a run depend on its step alone.
class World {
 public:
  World(const Drawn& drawn, std::uint64_t seed)
      : plan_(drawn.plan),
        seed_(seed),
        paces_(drawn.plan.commands.size()),
        recorder_(plan_.metrics, plan_.setting.events, plan_.ignore_failure, 0),
        runs_(plan_.metrics) {}

  const Runs& runs() const { return runs_; }

  void store(const FinishedRounds& done) {
    for (const RunRecord& run : done.runs)
      if (run.step.kind != RoundKind::Untuned) recorder_.add(run, runs_);
  }

  /// Goes on with finished rounds as an earlier process would have left them.
  void go_on_with(const FinishedRounds& kept) {
    paces_ = kept.paces;
    store(kept);
    enter(kept);
  }

  /// Returns the result of the first `most` steps.
  FinishedRounds run(const RunSteps& action, std::size_t most) {
    const std::span<const Step> steps = action.steps;
    const std::vector<Pace> paces_before = paces_;
    FinishedRounds done{.first = steps.front(), .step_count = std::min(most, steps.size())};
    for (const Step& step : steps.first(done.step_count)) {
      const std::uint64_t ns = time_of(step);
      done.time += std::chrono::nanoseconds(ns);
      if (!step.gives_counts_only())
        paces_[step.command].run_seconds.add(static_cast<double>(ns) * 1e-9);
      if (step.is_thrown_away()) continue;
      RunRecord run{step, Exited{0}, {}, {}};
      run.usage.wall_ns = ns;
      if (step.gives_counts_only())
        run.counts.assign(plan_.setting.events.passes[step.pass].event_indices.size(), ns / 1000);
      done.runs.push_back(std::move(run));
    }
    if (!action.is_kept_for_resume) paces_ = paces_before;
    done.paces = paces_;
    return done;
  }

  void enter(const FinishedRounds& done) {
    for (const RunRecord& run : done.runs) {
      auto& rounds = rounds_[{run.step.kind, run.step.command}];
      CHECK(run.step.round == rounds++);
      log_ += static_cast<char>('0' + static_cast<int>(run.step.kind));
      log_ += static_cast<char>('a' + static_cast<int>(run.step.command));
      log_ += static_cast<char>('0' + static_cast<int>(run.step.pass));
      log_ += static_cast<char>('0' + static_cast<int>(run.step.layout));
    }
  }

  const std::string& log() const { return log_; }
  std::uint64_t rounds(RoundKind kind, std::uint32_t command) const {
    const auto found = rounds_.find({kind, command});
    return found == rounds_.end() ? 0 : found->second;
  }

 private:
  /// Around a millisecond for "a", and up to a fifth longer for each later command.
  std::uint64_t time_of(const Step& step) const {
    // Steele et al. 2014, SplitMix64.
    std::uint64_t bits = seed_ + step.round * 7919ULL + step.command * 104729ULL +
                         static_cast<std::uint64_t>(step.kind) * 1299709ULL;
    bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebULL;
    const double noise = static_cast<double>((bits ^ (bits >> 31U)) % 1000) / 1000.0 - 0.5;
    const double slower =
        static_cast<double>(step.command) * static_cast<double>(seed_ % 20) / 100.0;
    return static_cast<std::uint64_t>(1e6 * (1.0 + slower + 0.1 * noise));
  }

  const Plan& plan_;
  std::uint64_t seed_;
  std::vector<Pace> paces_;
  RunRecorder recorder_;
  Runs runs_;
  std::map<std::pair<RoundKind, std::uint32_t>, std::uint64_t> rounds_;
  std::string log_;
};

/// A session, and the results that it kept.
struct Told {
  std::string log;  // of each run that counts its kind, command, pass and layout
  std::vector<FinishedRounds> kept;
  bool has_ended = false;
  bool is_tuned = true;
  std::set<std::uint32_t> set_up;
  std::size_t live_runs = 0;
  gate::Findings findings;
};

struct Interruption {
  std::size_t after = ~std::size_t{0};  // requests
  std::size_t rounds = 0;               // of the last one that were finished
};

Told tell(const Drawn& drawn, std::uint64_t seed, std::vector<FinishedRounds> kept = {},
          const Interruption& interruption = {}) {
  Scheduler::Conditions conditions = drawn.conditions;
  conditions.is_resumed = !kept.empty();
  World world(drawn, seed);
  Scheduler scheduler(drawn.plan, conditions, world.runs());
  Told told;
  std::size_t next_kept = 0;
  std::size_t requests = 0;
  for (int actions = 0; actions < kMaxActions && !told.has_ended; ++actions) {
    const Action action = scheduler.next_action();
    if (const auto* runs = std::get_if<RunSteps>(&action)) {
      if (next_kept < kept.size()) {
        REQUIRE(scheduler.accepts(kept[next_kept]));
        world.go_on_with(kept[next_kept]);
        scheduler.take(kept[next_kept]);
        if (++next_kept == kept.size()) scheduler.end_replay();
        continue;
      }
      const Step first = runs->steps.front();
      if (first.kind == RoundKind::Untuned) CHECK_FALSE(told.is_tuned);
      if (first.kind == RoundKind::Timed) CHECK(told.is_tuned);
      CHECK(std::ranges::all_of(
          runs->steps, [&](const Step& step) { return told.set_up.contains(step.command); }));
      const auto width =
          static_cast<std::size_t>(std::ranges::count(runs->steps, first.round, &Step::round));
      const bool is_last = ++requests > interruption.after;
      const std::size_t most = is_last ? interruption.rounds * width : ~std::size_t{0};
      if (most == 0) {
        scheduler.end_early();
        continue;
      }
      const FinishedRounds done = world.run(*runs, most);
      CHECK(scheduler.accepts(done));
      world.store(done);
      scheduler.take(done);
      if (runs->is_kept_for_resume) world.enter(done);
      if (runs->is_kept_for_resume) told.kept.push_back(done);
      told.live_runs += done.step_count;
      if (is_last) scheduler.end_early();
    } else if (const auto* setup = std::get_if<SetUp>(&action)) {
      for (std::uint32_t i = 0; i < setup->commands.count; ++i)
        told.set_up.insert(setup->commands.first + i);
    } else if (const auto* tune = std::get_if<SwitchTuning>(&action)) {
      CHECK(tune->on != told.is_tuned);
      told.is_tuned = tune->on;
    } else {
      told.has_ended = std::holds_alternative<End>(action);
    }
  }
  told.log = world.log();
  told.findings = scheduler.close();
  return told;
}

std::string answers(const gate::Findings& findings) {
  std::string text;
  for (const gate::Verdict& verdict : findings.verdicts)
    text += std::to_string(static_cast<int>(verdict.answer)) + " " +
            std::to_string(verdict.p_value_of_fail) + "; ";
  return text;
}

std::vector<FinishedRounds> joined(std::vector<FinishedRounds> kept,
                                   const std::vector<FinishedRounds>& more) {
  kept.insert(kept.end(), more.begin(), more.end());
  return kept;
}

}  // namespace

TEST_CASE("every plan ends with whole rounds and sweeps, and its stop rule is kept") {
  std::mt19937_64 random(20261126);
  for (int i = 0; i < kPlans; ++i) {
    CAPTURE(i);
    const Drawn drawn = draw_plan(random);
    const std::uint64_t seed = random();
    const Told told = tell(drawn, seed);
    REQUIRE(told.has_ended);
    CHECK(told.is_tuned);
    const Plan& plan = drawn.plan;
    std::map<std::pair<RoundKind, std::uint32_t>, std::uint64_t> rounds;
    std::map<std::string, std::uint64_t> in_layout;  // by kind, command, pass and layout
    for (std::size_t at = 0; at < told.log.size(); at += 4) {
      ++rounds[{static_cast<RoundKind>(told.log[at] - '0'),
                static_cast<std::uint32_t>(told.log[at + 1] - 'a')}];
      ++in_layout[told.log.substr(at, 4)];
    }
    for (const auto& [of, count] : in_layout)
      for (char layout = '0'; layout < '0' + static_cast<char>(plan.setting.layouts); ++layout)
        CHECK(in_layout[of.substr(0, 3) + layout] == count);
    for (const auto& [of, count] : rounds) {
      if (plan.setting.order != Order::Sequential) CHECK(count == rounds[{of.first, 0}]);
      if (of.first != RoundKind::Timed) continue;
      if (plan.setting.stop.exact_runs) CHECK(count == *plan.setting.stop.exact_runs);
      if (plan.setting.stop.max_runs && !plan.setting.stop.exact_runs)
        CHECK(count <= *plan.setting.stop.max_runs);
      if (!plan.setting.stop.exact_runs) CHECK(count >= plan.setting.stop.min_runs);
    }
    CHECK(told.findings.verdicts.size() >= plan.gates.size());
  }
}

TEST_CASE("a session that is resumed, wherever it was interrupted, is the session it would be") {
  std::mt19937_64 random(20261127);
  for (int i = 0; i < kPlans; ++i) {
    CAPTURE(i);
    const Drawn drawn = draw_plan(random);
    const std::uint64_t seed = random();
    const Told whole = tell(drawn, seed);
    REQUIRE(whole.has_ended);
    std::vector<FinishedRounds> kept;
    for (int tries = 0; tries < 2; ++tries) {
      const Interruption interruption{draw(random, whole.kept.size() + 1), draw(random, 3)};
      const Told begun = tell(drawn, seed, kept, interruption);
      REQUIRE(begun.has_ended);
      kept = joined(kept, begun.kept);
    }
    const Told resumed = tell(drawn, seed, kept);
    REQUIRE(resumed.has_ended);
    CHECK(resumed.log == whole.log);
    CHECK(answers(resumed.findings) == answers(whole.findings));
  }
}

TEST_CASE("a session that goes on with rounds of another plan notices") {
  const Drawn drawn{plan_of({"a", "b"}), {}};
  const Runs none;
  Scheduler scheduler(drawn.plan, {.is_resumed = true}, none);
  while (!std::holds_alternative<RunSteps>(scheduler.next_action())) {
  }
  const FinishedRounds mine{
      .first = {0, 0, 0, RoundKind::Timed}, .step_count = 2, .paces = {2, Pace{}}};
  CHECK(scheduler.accepts(mine));
  FinishedRounds other = mine;
  other.step_count = 3;
  CHECK_FALSE(scheduler.accepts(other));
  other = mine;
  other.first.round = 1;
  CHECK_FALSE(scheduler.accepts(other));
  other = mine;
  other.first.kind = RoundKind::Warmup;
  CHECK_FALSE(scheduler.accepts(other));
  other = mine;
  other.paces.pop_back();
  CHECK_FALSE(scheduler.accepts(other));
}

}  // namespace lauka
