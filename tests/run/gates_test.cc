#include "fakes/gates.h"

#include "fakes/recorded.h"
#include "plan/rows.h"
#include "run/bench.h"
#include "session/baseline.h"
#include "stats/golden.h"
#include "stats/noise.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

// The gates of a session, from the launcher's runs to the verdicts.

namespace lauka {
namespace {

using namespace std::chrono_literals;
using golden::Json;
using Seconds = std::vector<double>;

std::uint64_t nanoseconds_of(double seconds) {
  return static_cast<std::uint64_t>(std::llround(seconds * 1e9));
}

/// Two commands or more with gates. Every run takes 1 ms of the budget, whatever its wall time, so
/// that counting would stop after `first_look` rounds, and four budgets are four times as many.
Plan gated_plan(std::size_t commands, const std::vector<Condition>& gates,
                std::uint64_t first_look) {
  std::vector<std::string> names = {"old", "new", "third"};
  names.resize(commands);
  Plan plan = plan_of(names);
  plan.metrics = make_metrics({}, MetricSelection::Default, false);
  plan.setting.stop = {{}, 1, {}, std::chrono::milliseconds(first_look)};
  plan.gates = fakes::gates_of(plan, gates);
  return plan;
}

const std::vector<Condition> kTenPercent = {{"wall_time", GateLimit::of_change(10)}};
const std::vector<Condition> kFivePercent = {{"wall_time", GateLimit::of_change(5)}};

/// A launcher that gives the runs of each command the wall times of its series, the last one's over
/// and over.
struct Fed {
  Bench bench;
  std::vector<Seconds> wall;
  std::vector<Seconds> cpu;  ///< where given
  std::vector<std::size_t> runs;

  explicit Fed(std::vector<Seconds> wall_times, std::vector<Seconds> cpu_times = {})
      : wall(std::move(wall_times)), cpu(std::move(cpu_times)), runs(wall.size()) {
    bench.launcher.adjust = [this](os::ProgramId program, os::Ended& ended) {
      const std::size_t run = runs[program]++;
      ended.usage.wall_ns = nanoseconds_of(at(wall[program], run));
      if (!cpu.empty()) ended.usage.user_ns = nanoseconds_of(at(cpu[program], run));
      ended.usage.peak_rss_bytes = 50'000'000;
    };
  }
  Fed(const Fed&) = delete;
  Fed& operator=(const Fed&) = delete;
  ~Fed() = default;

  static double at(const Seconds& series, std::size_t run) {
    return series[std::min(run, series.size() - 1)];
  }

  const gate::Verdict& only_verdict(const Plan& plan) {
    REQUIRE(bench.carry_out(plan).has_value());
    REQUIRE(bench.findings.verdicts.size() == 1);
    return bench.findings.verdicts.front();
  }
};

constexpr const char* kSlower = "clearly slower: fails at 10 rounds of 250";
constexpr const char* kNotSlower =
    "clearly not slower: passes at the first planned look, as no early pass is given before 57 "
    "rounds";
constexpr const char* kUndecided = "planned rounds of 10: no early look, five looks";  // at 5%

Json golden_gate(const std::string& name) {
  const Json cases = golden::section_2("gate");
  const auto found = std::find_if(cases.begin(), cases.end(),
                                  [&](const Json& one) { return one.at("name") == name; });
  REQUIRE(found != cases.end());
  return *found;
}

Seconds reference_of(const std::string& name) {
  return golden::series(golden_gate(name), "reference");
}
Seconds candidate_of(const std::string& name) {
  return golden::series(golden_gate(name), "candidate");
}

std::string name_of(gate::Answer answer) {
  if (answer == gate::Answer::Pass) return "pass";
  return answer == gate::Answer::Fail ? "fail" : "inconclusive";
}

double tail_of_wall_time(const Fed& fed) {
  return fed.bench.findings.tail_probabilities_of(0, {}).tail_of_delta;
}

}  // namespace

TEST_CASE("a session with a gate ends, and is answered, as the golden cases say") {
  for (const Json& c : golden::section_2("gate")) {
    INFO(c.at("name").get<std::string>());
    Fed fed({golden::series(c, "reference"), golden::series(c, "candidate")});
    // Twice the same gate would be reported once only; here it is as strict as two.
    const std::vector<Condition> gates(c.at("gates").get<std::size_t>(),
                                       {"wall_time", GateLimit::of_change(c.at("percent"))});
    Plan plan = gated_plan(2, gates, c.at("n1").get<std::uint64_t>());
    plan.confidence = c.at("confidence");
    plan.setting.stop.min_runs = c.at("min_runs").get<std::uint64_t>();
    if (!c.at("max_runs").is_null())
      plan.setting.stop.max_runs = c.at("max_runs").get<std::uint64_t>();
    const auto session = fed.bench.carry_out(plan).value();
    const Json& expected = c.at("expected");
    const auto rounds = expected.at("rounds").get<std::size_t>();
    CHECK(session.runs.size() == 2 * rounds);
    CHECK(tail_of_wall_time(fed) ==
          doctest::Approx(expected.at("tail").get<double>()).epsilon(1e-9));
    CHECK_FALSE(fed.bench.findings.verdicts.empty());
    for (const gate::Verdict& verdict : fed.bench.findings.verdicts) {
      CHECK(name_of(verdict.answer) == expected.at("verdict").get<std::string>());
      CHECK(verdict.look == expected.at("trace").size());
      CHECK(verdict.rounds == rounds);
    }
  }
}

TEST_CASE("a fixed number of runs has one look, as the golden cases say") {
  for (const Json& c : golden::section("gate")) {
    INFO(c.at("name").get<std::string>());
    Fed fed({golden::series(c, "reference"), golden::series(c, "candidate")});
    Plan plan = gated_plan(2, {{"wall_time", GateLimit::of_change(c.at("percent"))}}, 1);
    plan.setting.stop.exact_runs = fed.wall[0].size();
    const gate::Verdict& verdict = fed.only_verdict(plan);
    CHECK(name_of(verdict.answer) == c.at("expected").at("verdict").get<std::string>());
    CHECK(verdict.look == 1);
  }
}

TEST_CASE("a gate looks at the rounds of its schedule and never in between, in batches too") {
  // Every second round, `below` in all, is a little below the limit, the others above it, each 1.5
  // times more than the last. So the signed ranks sum to below * (below + 1) / 2 on one side, and
  // the growing spread keeps Student's t out of it. With 5 below, as small a sum have 137 of the
  // 2^15 sums of signs (partitions into distinct parts up to 15), .0042; at 14 rounds it is .0083,
  // which a gate that looked there would take, too: 0.8 * .0174 = .0139 is allowed.
  const std::vector<std::pair<std::size_t, std::size_t>> below_and_end = {
      {5, 15}, {7, 20}, {10, 29}, {16, 40}};
  for (const auto& one : below_and_end) {
    const std::size_t below = one.first;  // not a binding, which INFO could not capture
    const std::size_t end = one.second;
    INFO("rounds below the limit: ", below);
    Seconds candidate;
    for (std::size_t round = 0; round < 40; ++round) {
      const bool is_below = round % 2 == 0 && round < 2 * below;
      const auto number = static_cast<double>(round);
      candidate.push_back(0.11 + (is_below ? -1e-6 * (number + 1) : 1e-4 * std::pow(1.5, number)));
    }
    Fed fed({{0.1}, candidate});
    fed.bench.launcher.scripts = {{9us, {}}, {9us, {}}};  // many at a time
    Plan plan = gated_plan(2, kTenPercent, 10);
    plan.setting.stop.budget_per_command = 90us;
    const gate::Verdict& verdict = fed.only_verdict(plan);
    CHECK(verdict.answer == gate::Answer::Fail);
    CHECK(verdict.decided_by == gate::DecidedBy::Ranks);
    CHECK(verdict.rounds == end);
    CHECK(fed.bench.launcher.runs() == 2 * end);
    CHECK(fed.bench.launcher.requests() <= 7);
  }
}

TEST_CASE("four times the budget end the rounds, with the last look there") {
  Fed fed({reference_of(kUndecided), candidate_of(kUndecided)});
  const auto feed = fed.bench.launcher.adjust;
  fed.bench.launcher.adjust = [&](os::ProgramId program, os::Ended& ended) {
    ended.time_with_preparation = fed.runs[program] < 10 ? 30ms : 150ms;
    feed(program, ended);
  };
  Plan plan = gated_plan(2, kFivePercent, 10);
  plan.setting.stop.budget_per_command = 300ms;
  // 10 rounds of 30 ms, then 150 ms each: the 6th of these reaches 1.2 s.
  const gate::Verdict& verdict = fed.only_verdict(plan);
  CHECK(verdict.answer == gate::Answer::Inconclusive);
  CHECK(verdict.rounds == 16);
  CHECK(verdict.look == 3);
  CHECK(fed.bench.launcher.runs() == 32);
}

TEST_CASE("where nothing can be extended, one look has the whole error") {
  const auto level_of = [](StopRule rule) {
    Fed fed({reference_of(kUndecided), candidate_of(kUndecided)});
    Plan plan = gated_plan(2, kFivePercent, 10);
    plan.setting.stop = rule;
    const gate::Verdict& verdict = fed.only_verdict(plan);
    CHECK(verdict.look == 1);
    CHECK(verdict.rounds == 10);
    CHECK(tail_of_wall_time(fed) == doctest::Approx(0.025));
    return verdict.spendable_error;
  };
  CHECK(level_of({10, 10, {}, 1h}) == doctest::Approx(0.05));
  CHECK(level_of({{}, 1, 10, 1h}) == doctest::Approx(0.05));
  CHECK(level_of({{}, 10, {}, 2ms}) == doctest::Approx(0.05));  // 10 ms are more than 4 x 2 ms
}

TEST_CASE("at an adaptive stop the interval of the gated metric is wider") {
  Fed fed({reference_of(kNotSlower), candidate_of(kNotSlower)});
  const gate::Verdict& verdict = fed.only_verdict(gated_plan(2, kTenPercent, 10));
  CHECK(verdict.spendable_error == doctest::Approx(0.017409428319656906));
  // level_of_pocock_look(.025) = .00811 on either side, as the table of the method has it.
  CHECK(tail_of_wall_time(fed) == doctest::Approx(0.0081067).epsilon(1e-5));
}

TEST_CASE("where a precision is wanted too, the gates' answers do not end the rounds") {
  Fed fed({reference_of(kSlower), candidate_of(kSlower)});
  Plan plan = gated_plan(2, kTenPercent, 250);
  plan.precision = PrecisionGoal{1e-9};
  const gate::Verdict& verdict = fed.only_verdict(plan);
  CHECK(verdict.rounds == 10);
  CHECK(fed.bench.findings.precision.value().fewest_values_of_command > 50);
}

TEST_CASE("a bound is a gate on the command itself, with and without a reference") {
  const auto verdict_of = [](std::vector<Seconds> wall, Condition condition) {
    Fed fed(std::move(wall));
    return fed.only_verdict(gated_plan(fed.wall.size(), {std::move(condition)}, 250));
  };
  const auto at_most = [](double bound) {
    return Condition{"wall_time", GateLimit::of_value(bound, "b")};
  };
  const auto at_least = [](double bound) {
    return Condition{"wall_time", GateLimit::of_value(bound, "b"), true};
  };
  const Seconds times = candidate_of(kSlower);  // 127 to 135
  for (const bool alone : {true, false}) {
    INFO("alone: ", alone);
    const std::vector<Seconds> wall =
        alone ? std::vector<Seconds>{times} : std::vector<Seconds>{{1000.0, 1.0}, times};
    const gate::Verdict above = verdict_of(wall, at_most(100));
    CHECK(name_of(above.answer) == "fail");
    CHECK(above.rounds == 10);
    CHECK(above.candidate == (alone ? 0 : 1));
    CHECK(name_of(verdict_of(wall, at_most(140)).answer) == "pass");
    CHECK(name_of(verdict_of(wall, at_least(100)).answer) == "pass");
    CHECK(name_of(verdict_of(wall, at_least(140)).answer) == "fail");
  }
}

TEST_CASE("a value that is only known to be small is within a bound above it") {
  const auto verdict_at = [](double bound) {
    Fed fed({Seconds{1.0}});
    const auto feed = fed.bench.launcher.adjust;
    fed.bench.launcher.adjust = [&](os::ProgramId program, os::Ended& ended) {
      feed(program, ended);
      ended.usage.peak_rss_bytes = 4'000'000;
      ended.usage.peak_rss_floor_bytes = 5'000'000;
    };
    return fed.only_verdict(gated_plan(1, {{"peak_rss", GateLimit::of_value(bound, "b")}}, 100));
  };
  CHECK(verdict_at(64e6).answer == gate::Answer::Pass);
  CHECK(verdict_at(3e6).answer == gate::Answer::Inconclusive);
  CHECK(verdict_at(3e6).hindrance ==
        gate::Hindrance{gate::Obstacle::UpperBounds, gate::Side::Candidate});
}

TEST_CASE("the first answer of a gate is final, and rounds go on until every gate has one") {
  Seconds late = candidate_of(kNotSlower);
  late.resize(10);
  late.resize(40, 5000.0);
  Fed fed({reference_of(kNotSlower), late}, {reference_of(kUndecided), candidate_of(kUndecided)});
  Plan plan = gated_plan(
      2, {{"wall_time", GateLimit::of_change(10)}, {"cpu_time", GateLimit::of_change(5)}}, 10);
  REQUIRE(fed.bench.carry_out(plan).has_value());
  const auto& verdicts = fed.bench.findings.verdicts;
  REQUIRE(verdicts.size() == 2);
  CHECK(verdicts[0].answer == gate::Answer::Pass);
  CHECK(verdicts[0].rounds == 10);
  CHECK(verdicts[1].answer == gate::Answer::Inconclusive);
  CHECK(verdicts[1].rounds == 40);
  CHECK(fed.bench.launcher.runs() == 80);
}

TEST_CASE("every gate answers for every candidate, and they share the rate of false alarms") {
  const Seconds reference = reference_of(kSlower);
  Fed fed({reference, candidate_of(kSlower), reference});
  Plan plan = gated_plan(
      3, {{"wall_time", GateLimit::of_change(10)}, {"peak_rss", GateLimit::of_change(1)}}, 10);
  plan.setting.stop.exact_runs = reference.size();
  REQUIRE(fed.bench.carry_out(plan).has_value());
  std::string answers;
  for (const gate::Verdict& verdict : fed.bench.findings.verdicts) {
    answers += verdict.condition.metric + " " + std::to_string(verdict.candidate) + " " +
               name_of(verdict.answer) + "; ";
  }
  CHECK(answers == "wall_time 1 fail; wall_time 2 pass; peak_rss 1 pass; peak_rss 2 pass; ");
  CHECK(fed.bench.findings.verdicts[0].spendable_error == doctest::Approx(0.05 / 4));
}

TEST_CASE("in sequential order each look has the reference go on first, then the candidate") {
  Fed fed({reference_of(kUndecided), candidate_of(kUndecided)});
  for (std::size_t round = 3; round <= 8; ++round) fed.wall[1][round - 1] = 5000.0;
  Plan plan = gated_plan(2, kFivePercent, 2);
  plan.setting.order = Order::Sequential;
  plan.setting.warmup_runs = 1;
  const gate::Verdict& verdict = fed.only_verdict(plan);
  // Looks at 2, 3, 4, 6 and 8 runs of each, a warm-up run of 1 ms before.
  CHECK(fed.bench.launcher.log().starts_with(
      "old old old new new new old new old new old old new new"));
  CHECK(verdict.rounds <= 8);
}

TEST_CASE("with a baseline every command is a candidate, whose samples alone can grow") {
  Plan plan = gated_plan(1, kTenPercent, 10);
  REQUIRE(use_baseline(
      plan, "b.json",
      fakes::recorded({"old"}, {1.2, 1.0, 1.2, 1.0, 1.2, 1.0, 1.2, 1.0, 1.2, 1.0, 1.2, 1.0})));
  Fed fed({{1.2, 1.1, 1.3, 1.15, 1.25}});
  const gate::Verdict& verdict = fed.only_verdict(plan);
  CHECK(verdict.candidate == 0);
  CHECK(verdict.rounds == fed.runs[0]);
  CHECK(verdict.delta.change.value_or(0.0) > 0.05);
}

TEST_CASE("a gate whose sides have other settings gets no more rounds than a session without it") {
  const auto runs_of = [](std::size_t copies, const std::vector<Condition>& gates,
                          gate::Findings* findings) {
    Plan plan = gated_plan(1, gates, 10);
    auto earlier = fakes::recorded({"old"}, {1.2, 1.0, 1.2, 1.0, 1.2, 1.0, 1.2, 1.0, 1.2, 1.0});
    earlier->commands[0].settings[SettingKind::Jobs] = std::to_string(copies);
    REQUIRE(use_baseline(plan, "b.json", earlier));
    Fed fed({{1.2, 1.1, 1.3, 1.15, 1.25}});
    REQUIRE(fed.bench.carry_out(plan).has_value());
    if (findings != nullptr) *findings = std::move(fed.bench.findings);
    return fed.bench.launcher.runs();
  };

  gate::Findings findings;
  const std::size_t without_gate = runs_of(2, {}, nullptr);
  CHECK(runs_of(1, kTenPercent, nullptr) > without_gate);
  CHECK(runs_of(2, kTenPercent, &findings) == without_gate);
  REQUIRE(findings.verdicts.size() == 1);
  const gate::Verdict& verdict = findings.verdicts.front();
  CHECK(verdict.answer == gate::Answer::Inconclusive);
  CHECK(verdict.rounds == without_gate);
  CHECK(verdict.hindrance == gate::Hindrance{.obstacle = gate::Obstacle::OtherSettings,
                                             .differences = {{SettingKind::Jobs, "2", "1"}}});
}

TEST_CASE("a session knows if its gates ended it before the planned end") {
  const auto is_ended_by_gates = [](Plan plan) {
    Fed fed({reference_of(kSlower), candidate_of(kSlower)});
    const auto session = fed.bench.carry_out(plan);
    REQUIRE(session.has_value());
    CHECK(name_of(fed.bench.findings.verdicts.at(0).answer) == "fail");
    return session->ended_by_gates;
  };
  CHECK(is_ended_by_gates(gated_plan(2, kTenPercent, 250)));

  Plan with_fixed_runs = gated_plan(2, kTenPercent, 250);
  with_fixed_runs.setting.stop.exact_runs = 30;
  CHECK_FALSE(is_ended_by_gates(with_fixed_runs));
  CHECK_FALSE(is_ended_by_gates(gated_plan(2, kTenPercent, 10)));  // decided at the planned end
}

TEST_CASE("a session cut short leaves its open gates inconclusive, whatever the numbers say") {
  Fed fed({reference_of(kSlower), candidate_of(kSlower)});
  fed.bench.launcher.scripts = {{1ms, {9, Exited{0}}}, {1ms, {9, Exited{0}}}};
  fed.bench.launcher.scripts[1].outcomes.emplace_back(Exited{3});
  const gate::Verdict& verdict = fed.only_verdict(gated_plan(2, kTenPercent, 10));
  CHECK(verdict.answer == gate::Answer::Inconclusive);
  CHECK(verdict.decided_by == gate::DecidedBy::Nothing);
  CHECK(verdict.rounds == 9);
  CHECK(verdict.delta.change.has_value());
  CHECK(verdict.hindrance.obstacle == gate::Obstacle::CutShort);

  Fed none({reference_of(kSlower), candidate_of(kSlower)});
  none.bench.launcher.scripts = {{1ms, {Exited{3}}}};
  CHECK(none.only_verdict(gated_plan(2, kTenPercent, 10)).rounds == 0);
}

TEST_CASE("a command that fails in every run ends its gate at the first planned look") {
  Fed fed({Seconds{1.0}, Seconds{1.0}});
  constexpr std::size_t more_than_runs = 100;
  fed.bench.launcher.scripts = {{1ms, {}}, {1ms, std::deque<Outcome>(more_than_runs, Exited{3})}};
  Plan plan = gated_plan(2, kTenPercent, 20);
  plan.ignore_failure = IgnoreFailure{true};
  const gate::Verdict& verdict = fed.only_verdict(plan);
  CHECK(verdict.answer == gate::Answer::Inconclusive);
  CHECK(verdict.hindrance == gate::Hindrance{gate::Obstacle::NoSuccess, gate::Side::Candidate});
  CHECK(fed.bench.launcher.runs() == 40);  // more would change nothing
}

TEST_CASE("a gate on what is known as a bound only has nothing to be decided on") {
  Fed fed({Seconds{1.0}, Seconds{1.0}});
  const auto feed = fed.bench.launcher.adjust;
  fed.bench.launcher.adjust = [&](os::ProgramId program, os::Ended& ended) {
    feed(program, ended);
    ended.usage.peak_rss_floor_bytes = program == 1 ? 60'000'000 : 0;
  };
  const gate::Verdict& verdict =
      fed.only_verdict(gated_plan(2, {{"peak_rss", GateLimit::of_change(10)}}, 10));
  CHECK(verdict.answer == gate::Answer::Inconclusive);
  CHECK(verdict.rounds == 0);
  CHECK(verdict.hindrance == gate::Hindrance{gate::Obstacle::UpperBounds, gate::Side::Candidate});
  CHECK(fed.bench.launcher.runs() == 20);  // more would change nothing
}

TEST_CASE("a gate on an event looks after the session's rounds, at the values its pass has") {
  Fed fed({Seconds{1.0}, Seconds{1.0}});
  Plan plan = gated_plan(2, {}, 10);
  plan.setting.events.events = {{"a", "a"}, {"b", "b"}};
  plan.setting.events.passes = {Pass{{0}}, Pass{{1}}};
  plan.metrics = make_metrics(plan.setting.events, MetricSelection::Default, true);
  plan.gates = fakes::gates_of(plan, {{"b", GateLimit::of_change(300)}});
  const gate::Verdict& verdict = fed.only_verdict(plan);
  CHECK(verdict.answer == gate::Answer::Pass);
  CHECK(fed.bench.launcher.runs() == 20);
  CHECK(verdict.rounds == 5);  // every second one
}

TEST_CASE("without gates there is nothing to look at and the rounds end as they do") {
  Fed fed({Seconds{1.0}, Seconds{1.0}});
  REQUIRE(fed.bench.carry_out(gated_plan(2, {}, 10)).has_value());
  CHECK(fed.bench.findings.verdicts.empty());
  CHECK(fed.bench.launcher.runs() == 20);
}

TEST_CASE("a slow-down exactly at the limit fails in 5% of sessions at most") {
  struct Model {
    const char* name;
    double spikes;   // part of the runs that take up to three times as long
    double memory;   // of the last run's disturbance
    double scatter;  // of one run
  };
  constexpr int kSessions = 500;
  for (const Model& model : {Model{"quiet", 0.0, 0.0, 0.03}, Model{"spiky", 0.1, 0.0, 0.01},
                             Model{"wavering", 0.0, 0.9, 0.02}}) {
    noise::Source source(70);
    int failed = 0;
    for (int i = 0; i < kSessions; ++i) {
      Bench bench;
      double wave = 0.0;
      bench.launcher.adjust = [&](os::ProgramId program, os::Ended& ended) {
        wave = model.memory * wave + model.scatter * source.normal();
        double time = 0.1 * std::exp(wave) * (program == 0 ? 1.0 : 1.1);
        if (source.uniform() < model.spikes) time *= 1.0 + 2.0 * source.uniform();
        ended.usage.wall_ns = nanoseconds_of(time);
        ended.time_with_preparation = std::chrono::nanoseconds(ended.usage.wall_ns);
      };
      Plan plan = gated_plan(2, kTenPercent, 10);
      plan.setting.order = Order::Random;
      plan.setting.seed = static_cast<std::uint64_t>(i);
      plan.setting.stop = {{}, 10, {}, 1s};
      REQUIRE(bench.carry_out(plan).has_value());
      failed += bench.findings.verdicts.at(0).answer == gate::Answer::Fail ? 1 : 0;
    }
    INFO(model.name, ": ", failed, " of ", kSessions);
    const double allowed = 0.05 * kSessions;
    CHECK(failed <= allowed + 2.0 * std::sqrt(allowed * 0.95));  // and two standard errors
    CHECK(failed >= 0.01 * kSessions);                           // some gates do fail
  }
}

}  // namespace lauka
