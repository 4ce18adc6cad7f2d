#include "results/analyse.h"

#include "fakes/analysed.h"
#include "fakes/change_runs.h"
#include "fakes/gates.h"
#include "results/results.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

using doctest::Approx;
using Seconds = std::vector<double>;

// Golden cases: made by an independent program.
const Seconds kFasterReference{0.578405354, 0.590085287, 0.591888309, 0.58126788, 0.596328484,
                               0.5862824,   0.585128053, 0.58816953,  0.599457577};
const Seconds kFasterCandidate{0.123304067, 0.130776508, 0.140807992, 0.146103362, 0.127477426,
                               0.127368123, 0.140721735, 0.125661594, 0.1258135};
const Seconds kPlainReference{0.502640412, 0.479405899, 0.499763873, 0.504228499, 0.498390797,
                              0.487422766, 0.505119101, 0.50930665,  0.486467885, 0.487065004};
const Seconds kPlainCandidate{0.55514735,  0.543112218, 0.549972647, 0.544069413, 0.548450379,
                              0.537224415, 0.550869648, 0.541561869, 0.555708572, 0.534202613};
const Seconds kFixedReference{0.098587753, 0.09818243,  0.104612604, 0.102491398,
                              0.101822494, 0.099988371, 0.093526647, 0.099503379,
                              0.103918198, 0.099916478, 0.10017982,  0.101836118};
const Seconds kFixedCandidate{0.116692123, 0.125410498, 0.121161615, 0.123842722,
                              0.11990053,  0.111577087, 0.11940857,  0.118807734,
                              0.119005796, 0.122444048, 0.119440105, 0.120811031};

/// A plan of commands a, b, c ... that measures the built-in metrics and `events`.
Plan plan_of(std::size_t commands, Order order = Order::Random) {
  Plan plan;
  for (std::size_t i = 0; i < commands; ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    plan.commands.push_back({name, "./" + name, {"./" + name}});
  }
  for (const BuiltInMetric& metric : kBuiltInMetrics) {
    plan.metrics.push_back(
        {std::string(metric.name), metric.unit, Better::Less, metric.shown, metric.read});
    plan.metrics.back().role = metric.role;
  }
  plan.setting.order = order;
  return plan;
}

RunRecord run_of(std::uint32_t command, std::uint32_t round, double wall_seconds,
                 Outcome outcome = Exited{0}) {
  RunRecord run;
  run.step = {command, round, 0, RoundKind::Timed};
  run.outcome = outcome;
  run.usage.wall_ns = static_cast<std::uint64_t>(std::llround(wall_seconds * 1e9));
  run.usage.peak_rss_bytes = 50'000'000;
  return run;
}

/// Both commands in each round, the candidate first in every second one.
MadeSession rounds_of(const Seconds& reference, const Seconds& candidate) {
  MadeSession session;
  for (std::uint32_t round = 0; round < reference.size(); ++round) {
    const auto r = run_of(0, round, reference[round]);
    const auto c = run_of(1, round, candidate[round]);
    session.runs.push_back(round % 2 == 0 ? r : c);
    session.runs.push_back(round % 2 == 0 ? c : r);
  }
  return session;
}

/// Warnings but those about rows that only --verbose shows.
std::vector<Warning> shown_warnings(const Results& results) {
  std::vector<Warning> shown;
  for (const Warning& warning : results.warnings) {
    if (warning.shown == Shown::Always) shown.push_back(warning);
  }
  return shown;
}

/// Of a session in which there was nothing to decide.
Results analyse(const Plan& plan, const MadeSession& session) {
  return lauka::analyse(plan, session, {});
}

std::vector<std::optional<double>> values_of(const Results& results, std::size_t run) {
  std::vector<std::optional<double>> values;
  for (std::size_t m = 0; m < results.session.metrics.size(); ++m)
    values.push_back(results.session.runs.value(run, m));
  return values;
}

const MetricResult& row_of(const Results& results, std::size_t command, std::string_view name) {
  for (const MetricResult& row : results.commands.at(command).rows) {
    if (results.session.metrics[row.metric_index].name == name) return row;
  }
  FAIL("no row " << std::string(name));
  return results.commands.front().rows.front();
}

/// Two commands whose wall times do not differ, and `own` metrics of the user, of which the last
/// one differs by `changes`, a round each.
Results with_own_metrics(std::size_t own, const std::vector<double>& changes,
                         std::vector<gate::Verdict> verdicts = {}, std::uint32_t layouts = 1) {
  Plan plan = plan_of(2);
  plan.setting.layouts = layouts;
  for (std::size_t place = 0; place < own; ++place) {
    plan.reported_metrics.push_back(
        {.name = "own" + std::to_string(place), .better = Better::More});
    plan.metrics.push_back(make_metric(plan.reported_metrics.back(), ReportedValue{place}));
  }
  MadeSession session;
  for (std::uint32_t round = 0; round < changes.size(); ++round) {
    for (const std::uint32_t command : {0U, 1U}) {
      RunRecord run = run_of(command, round, 1.0 + 0.01 * ((round + command) % 2));
      run.step.layout = round % layouts;
      run.reported.assign(own, 100.0 + round);
      if (command == 1) *run.reported.back() *= 1.0 + changes[round];
      session.runs.push_back(run);
    }
  }
  gate::Findings findings;
  findings.verdicts = std::move(verdicts);
  return lauka::analyse(plan, session, findings);
}

std::string ranked_metric(const Results& results) {
  REQUIRE(results.headline_comparisons.size() == 1);
  return results.session.metrics[results.headline_comparisons[0].metric].name;
}

}  // namespace

// Student's t of these four layouts is 3.6. The quantiles of 3 degrees are 3.18 for one metric, and
// 4.18 for each of two. Over runs, the change is certain.
TEST_CASE("the headline by one of several own metrics rests on layouts, not on their runs") {
  std::vector<double> changes;
  for (int sweep = 0; sweep < 8; ++sweep)
    for (const double place : {-1.1619, -0.3873, 0.3873, 1.1619})
      changes.push_back(std::expm1(0.05 + 0.02778 * place));
  CHECK(ranked_metric(with_own_metrics(1, changes, {}, 4)) == "own0");
  CHECK(ranked_metric(with_own_metrics(2, changes, {}, 4)) == "wall_time");
  CHECK(ranked_metric(with_own_metrics(2, changes)) == "own1");

  for (double& change : changes) change += 0.05;
  CHECK(ranked_metric(with_own_metrics(2, changes, {}, 4)) == "own1");
}

TEST_CASE("the interval of the utilisation rests on layouts, not on their runs") {
  const auto width_with = [](std::uint32_t layouts) {
    Plan plan = plan_of(2);
    plan.setting.layouts = layouts;
    MadeSession session;
    for (std::uint32_t round = 0; round < 32; ++round) {
      for (const std::uint32_t command : {0U, 1U}) {
        RunRecord run = run_of(command, round, 1.0 + 0.001 * (round * 7 % 5));
        run.step.layout = layouts > 1 ? round % 4 : 0;
        const double share = command == 0 ? 0.5 : 0.5 + 0.02 * (round % 4);
        run.usage.user_ns = static_cast<std::uint64_t>(1e9 * (share + 0.001 * (round * 3 % 7)));
        session.runs.push_back(run);
      }
    }
    const Results results = analyse(plan, session);
    REQUIRE(results.explanations.size() == 1);
    const WallFactor& last = results.explanations[0].factors.back();
    REQUIRE(last.factor_kind == WallFactorKind::Utilisation);
    REQUIRE(last.change.bounds);
    return last.change.bounds->high - last.change.bounds->low;
  };
  CHECK(width_with(4) > 2.0 * width_with(1));
}

TEST_CASE("layouts that placement makes slower are not unsteady runs") {
  const auto warned_with = [](std::uint32_t layouts) {
    Plan plan = plan_of(1);
    plan.setting.layouts = layouts;
    MadeSession session;
    for (std::uint32_t round = 0; round < 64; ++round) {
      const std::uint32_t layout = round * 5 % 8;
      const double noise = 0.02 * std::fmod(0.6180339887 * round, 1.0);
      RunRecord run = run_of(0, round, (layout == 2 ? 1.5 : 1.0) + noise);
      if (layouts > 1) run.step.layout = layout;
      session.runs.push_back(run);
    }
    return !shown_warnings(analyse(plan, session)).empty();
  };
  CHECK(warned_with(1));
  CHECK_FALSE(warned_with(8));
}

TEST_CASE("each command has a row for each metric, in the plan's order") {
  MadeSession session;
  for (std::uint32_t i = 0; i < 5; ++i) session.runs.push_back(run_of(0, i, i + 1.0));
  change(session.runs, 2, [](RunRecord& run) { run.usage.user_ns = 400; });
  change(session.runs, 2, [](RunRecord& run) { run.usage.system_ns = 100; });
  const Results results = analyse(plan_of(1), session);
  REQUIRE(results.commands.size() == 1);
  CHECK(results.session.commands[0].name == "a");
  CHECK(results.session.commands[0].text == "./a");
  CHECK(results.commands[0].runs == 5);
  REQUIRE(results.commands[0].rows.size() == std::size(kBuiltInMetrics));
  const MetricResult& wall = row_of(results, 0, "wall_time");
  CHECK(wall.runs == 5);
  REQUIRE(wall.summary);
  CHECK(wall.summary->mean == Approx(3.0).epsilon(1e-12));
  CHECK(*wall.summary->stddev() == Approx(1.5811388300841898).epsilon(1e-12));
  CHECK(wall.summary->q1 == Approx(2.0).epsilon(1e-12));
  CHECK_FALSE(wall.delta);
  CHECK(row_of(results, 0, "cpu_time").summary->max == Approx(500e-9).epsilon(1e-12));
  CHECK(results.headline_comparisons.empty());
  CHECK(shown_warnings(results).empty());
}

TEST_CASE("runs of random and interleaved orders are compared within rounds") {
  for (const Order order : {Order::Random, Order::Interleaved}) {
    const Results results = analyse(plan_of(2, order), rounds_of(kPlainReference, kPlainCandidate));
    CHECK(results.are_all_deltas_paired);
    const auto& delta = row_of(results, 1, "wall_time").delta;
    REQUIRE(delta);
    CHECK(*delta->change == Approx(0.10045371069685914).epsilon(1e-10));
    CHECK(delta->bounds->low == Approx(0.08370181312029944).epsilon(1e-10));
    CHECK(delta->bounds->high == Approx(0.11858382186304635).epsilon(1e-10));
    CHECK(delta->is_significant());
    CHECK_FALSE(row_of(results, 0, "wall_time").delta);
    CHECK(shown_warnings(results).empty());
  }
}

TEST_CASE("runs of a sequential order are compared as independent samples, with a warning") {
  MadeSession session;
  for (std::uint32_t command = 0; command < 2; ++command) {
    const Seconds& values = command == 0 ? kPlainReference : kPlainCandidate;
    for (std::uint32_t i = 0; i < values.size(); ++i) {
      session.runs.push_back(run_of(command, i, values[i]));
    }
  }
  const Results results = analyse(plan_of(2, Order::Sequential), session);
  CHECK_FALSE(results.are_all_deltas_paired);
  const auto& delta = row_of(results, 1, "wall_time").delta;
  REQUIRE(delta);
  CHECK(delta->bounds->low == Approx(0.07984580016773803).epsilon(1e-10));
  CHECK(delta->bounds->high == Approx(0.12060451513134154).epsilon(1e-10));
  const std::vector<Warning> warnings = shown_warnings(results);
  REQUIRE(warnings.size() == 1);
  CHECK(std::holds_alternative<NotInterleaved>(warnings.front().finding));
}

TEST_CASE("only rounds in which both have a value are compared") {
  MadeSession session = rounds_of(kPlainReference, kPlainCandidate);
  session.runs.push_back(run_of(0, 10, 100.0));  // a session cut short in its last round
  session.runs.push_back(run_of(1, 11, 100.0));  // and in another one
  const Results results = analyse(plan_of(2), session);
  CHECK(results.commands[0].runs == 11);
  CHECK(results.commands[1].runs == 11);
  const auto& delta = row_of(results, 1, "wall_time").delta;
  REQUIRE(delta);
  CHECK(*delta->change == Approx(0.10045371069685914).epsilon(1e-10));
  CHECK(delta->bounds->low == Approx(0.08370181312029944).epsilon(1e-10));
}

TEST_CASE("the ranking turns the delta of the first metric shown into times faster or slower") {
  const Results faster = analyse(plan_of(2), rounds_of(kFasterReference, kFasterCandidate));
  REQUIRE(faster.headline_comparisons.size() == 1);
  // 1 / 0.22466712..., and of the bounds likewise, worked out with Python.
  CHECK(faster.headline_comparisons[0].command == 1);
  CHECK(faster.headline_comparisons[0].is_significant);
  CHECK(faster.headline_comparisons[0].speed.faster);
  CHECK(faster.headline_comparisons[0].speed.speed_factor ==
        Approx(4.451029518496362).epsilon(1e-10));
  CHECK(faster.headline_comparisons[0].speed.bounds->low ==
        Approx(4.203513597438419).epsilon(1e-10));
  CHECK(faster.headline_comparisons[0].speed.bounds->high ==
        Approx(4.685731836647169).epsilon(1e-10));
  const Results slower = analyse(plan_of(2), rounds_of(kPlainReference, kPlainCandidate));
  REQUIRE(slower.headline_comparisons.size() == 1);
  CHECK_FALSE(slower.headline_comparisons[0].speed.faster);
  CHECK(slower.headline_comparisons[0].speed.speed_factor ==
        Approx(1.10045371069685914).epsilon(1e-10));

  Plan plan = plan_of(2);
  std::rotate(plan.metrics.begin(), plan.metrics.begin() + 1, plan.metrics.begin() + 2);
  plan.metrics[1].shown = Shown::Verbose;  // as --metrics cpu_time has it
  MadeSession session = rounds_of(kPlainReference, kPlainCandidate);
  change(session.runs, [&](RunRecord& run) { run.usage.user_ns = 100 + run.step.command * 100; });
  const Results by_cpu_time = analyse(plan, session);
  REQUIRE(by_cpu_time.headline_comparisons.size() == 1);
  CHECK(by_cpu_time.headline_comparisons[0].metric == 0);
  CHECK(by_cpu_time.headline_comparisons[0].speed.speed_factor == Approx(2.0));
}

TEST_CASE("a row says which difference would have been found, unless gates ended the session") {
  const auto detectable = [](bool ended_by_gates) {
    MadeSession session = rounds_of(kPlainReference, kPlainCandidate);
    session.ended_by_gates = ended_by_gates;
    const Results results = analyse(plan_of(2), session);
    CHECK_FALSE(row_of(results, 0, "wall_time").detectable);
    return row_of(results, 1, "wall_time").detectable;
  };
  const Results results = analyse(plan_of(2), rounds_of(kPlainReference, kPlainCandidate));
  const auto half_width = row_of(results, 1, "wall_time").delta.value().half_width();
  REQUIRE(detectable(false));
  CHECK(*detectable(false) > *half_width);
  CHECK(*detectable(false) < 2.0 * *half_width);
  CHECK_FALSE(detectable(true));
}

TEST_CASE("where wall time does not differ, the ranking is by an own metric that does") {
  const Results results = with_own_metrics(1, {-0.69, -0.69, -0.68, -0.69, -0.70, -0.69});
  CHECK(ranked_metric(results) == "own0");
  CHECK(results.headline_comparisons[0].is_significant);
  CHECK(results.headline_comparisons[0].speed.speed_factor == Approx(1 / 0.31).epsilon(0.01));
  CHECK(ranked_metric(with_own_metrics(1, {-0.1, 0.1, -0.1, 0.1, -0.1, 0.1})) == "wall_time");
  // Significant, but less than the 0.1% that a mark needs.
  CHECK(ranked_metric(with_own_metrics(1, std::vector(6, -0.0005))) == "wall_time");
}

TEST_CASE("own metrics share the headline's rate of false alarms") {
  // Six rounds of one sign have a chance of 1 / 32: enough for one metric, too much for two.
  const std::vector<double> changes = {0.01, 0.01, 0.01, 0.01, 0.01, 0.5};
  CHECK(ranked_metric(with_own_metrics(1, changes)) == "own0");
  CHECK(ranked_metric(with_own_metrics(2, changes)) == "wall_time");
}

TEST_CASE("where wall time does not differ, the ranking is by a gated metric that does") {
  gate::Verdict verdict;
  verdict.candidate = 1;
  verdict.metric = kBuiltInMetrics.size() + 1;
  const std::vector<double> changes = {0.01, 0.01, 0.01, 0.01, 0.01, 0.5};
  CHECK(ranked_metric(with_own_metrics(2, changes, {verdict})) == "own1");
}

TEST_CASE("if the mean contradicts the typical round, a warning says so") {
  MadeSession session;
  for (std::uint32_t round = 0; round < 80; ++round) {
    const double even = 1.0 + 0.001 * (round % 7);
    session.runs.push_back(run_of(0, round, even));
    session.runs.push_back(run_of(1, round, (round % 8 == 3 ? 3.0 : 1.0) * (2.006 - even)));
  }
  const Results results = analyse(plan_of(2), session);
  const auto reported = std::find_if(
      results.warnings.begin(), results.warnings.end(),
      [](const Warning& one) { return std::holds_alternative<MeanDiffers>(one.finding); });
  REQUIRE(reported != results.warnings.end());
  CHECK(reported->command == 1);
  CHECK(reported->shown == Shown::Always);
  const auto& found = std::get<MeanDiffers>(reported->finding);
  CHECK(found.metric == "wall_time");
  CHECK(*found.delta.change_of_mean.change == Approx(0.25).epsilon(0.05));
}

TEST_CASE("an event that counts nanoseconds is a time") {
  Plan plan = plan_of(1);
  plan.metrics.resize(1);
  plan.setting.events.events = {{"task-clock", "", true}};
  plan.setting.events.passes = {{{0}}};
  plan.metrics.push_back(
      {"task-clock", Unit::Seconds, Better::Less, Shown::Always, Formula(CountedEvent{0}) / 1e9});
  MadeSession session;
  session.runs = {run_of(0, 0, 1.0)};
  change(session.runs, 0, [](RunRecord& run) { run.counts = {1'500'000}; });
  const Results results = analyse(plan, session);
  CHECK(row_of(results, 0, "task-clock").summary->mean == Approx(0.0015));
}

TEST_CASE("a count is of the runs of its pass, and a ratio of runs that counted both") {
  Plan plan = plan_of(2);
  plan.metrics.resize(1);
  plan.setting.events.events = {{"cycles", ""}, {"instructions", ""}, {"branches", ""}};
  plan.setting.events.passes = {{{1, 0}}, {{2}}};
  plan.metrics.push_back({"branches", Unit::Count, Better::Less, Shown::Always, CountedEvent{2}});
  plan.metrics.push_back({"ipc", Unit::Ratio, Better::More, Shown::Always,
                          Formula(CountedEvent{1}) / CountedEvent{0}});
  plan.metrics.push_back({"mixed", Unit::Ratio, Better::Neither, Shown::Always,
                          Formula(CountedEvent{2}) / CountedEvent{0}});
  MadeSession session;
  for (std::uint32_t round = 0; round < 4; ++round) {
    for (std::uint32_t command = 0; command < 2; ++command) {
      RunRecord run = run_of(command, round, 1.0);
      run.step.pass = round % 2;
      if (run.step.pass == 0) {
        run.counts = {300, 100 + round};
      } else {
        run.counts = {700 + 100 * command};
      }
      session.runs.push_back(run);
    }
  }
  change(session.runs, 0, [](RunRecord& run) { run.counts = {300, 0}; });  // nothing to divide by
  change(session.runs, 3,
         [](RunRecord& run) { run.counts = {std::nullopt}; });  // not counted exactly
  const Results results = analyse(plan, session);
  CHECK(results.commands[0].runs == 4);
  CHECK(row_of(results, 0, "branches").runs == 2);
  CHECK(row_of(results, 1, "branches").runs == 1);
  CHECK(row_of(results, 1, "branches").summary->mean == 800);
  CHECK(row_of(results, 0, "ipc").runs == 1);
  CHECK(row_of(results, 0, "ipc").summary->mean == Approx(300.0 / 102.0));
  CHECK(row_of(results, 1, "ipc").runs == 2);
  CHECK(row_of(results, 0, "mixed").runs == 0);
  CHECK_FALSE(row_of(results, 0, "mixed").summary);
  // The one round of both: 700 against 800.
  CHECK(*row_of(results, 1, "branches").delta->change == Approx(1.0 / 7.0));
  REQUIRE(results.session.runs.size() == 8);
  CHECK(values_of(results, 1) ==
        std::vector<std::optional<double>>{1.0, std::nullopt, 3.0, std::nullopt});
  CHECK(values_of(results, 2) ==
        std::vector<std::optional<double>>{1.0, 700.0, std::nullopt, std::nullopt});
}

TEST_CASE("a peak that may be the launcher's own is a bound, and compares with nothing") {
  MadeSession session = rounds_of({1.0, 1.0, 1.0}, {2.0, 2.0, 2.0});
  change(session.runs, 1,
         [](RunRecord& run) { run.usage.peak_rss_bytes = 700'000; });  // candidate, round 0
  change(session.runs, 1, [](RunRecord& run) { run.usage.peak_rss_floor_bytes = 800'000; });
  const Results results = analyse(plan_of(2), session);
  const MetricResult& bound = row_of(results, 1, "peak_rss");
  CHECK_FALSE(bound.summary);
  CHECK_FALSE(bound.delta);
  CHECK(bound.largest_bound_of_runs == 50'000'000);
  CHECK(bound.runs == 3);
  const MetricResult& known = row_of(results, 0, "peak_rss");
  CHECK(known.summary->mean == 50'000'000);
  CHECK_FALSE(known.largest_bound_of_runs);
  CHECK(results.session.runs.value(1, 4) == std::nullopt);
  CHECK(results.session.runs.value(0, 4) == 50'000'000);
}

TEST_CASE("the bound is the largest reading, known or not") {
  MadeSession session;
  for (std::uint32_t i = 0; i < 3; ++i) session.runs.push_back(run_of(0, i, 1.0));
  change(session.runs, [&](RunRecord& run) { run.usage.peak_rss_floor_bytes = 800'000; });
  change(session.runs, 0, [](RunRecord& run) { run.usage.peak_rss_bytes = 600'000; });
  change(session.runs, 1, [](RunRecord& run) { run.usage.peak_rss_bytes = 800'000; });
  change(session.runs, 2, [](RunRecord& run) { run.usage.peak_rss_bytes = 500'000; });
  CHECK(row_of(analyse(plan_of(1), session), 0, "peak_rss").largest_bound_of_runs == 800'000);
  change(session.runs, 2, [](RunRecord& run) { run.usage.peak_rss_bytes = 900'000; });
  CHECK(row_of(analyse(plan_of(1), session), 0, "peak_rss").largest_bound_of_runs == 900'000);
}

TEST_CASE("failed runs count under --ignore-failure, and are reported") {
  MadeSession session;
  session.runs = {run_of(0, 0, 1.0), run_of(0, 1, 2.0, Exited{3}), run_of(0, 2, 3.0, Signalled{9}),
                  run_of(0, 3, 4.0, TimedOut{})};
  Plan plan = plan_of(1);
  plan.ignore_failure = IgnoreFailure{true};
  const Results results = analyse(plan, session);
  CHECK(results.commands[0].runs == 4);
  CHECK(results.commands[0].endings.runs_with_ending == 4);
  CHECK(results.commands[0].endings.failed_run_groups ==
        std::vector<FailureGroup>{
            {Ending::Failed, 3, 1}, {Ending::Signalled, 137, 1}, {Ending::TimedOut, 137, 1}});
  // It is unknown how long the one killed at its time limit would have taken.
  CHECK(row_of(results, 0, "wall_time").summary->mean == Approx(2.0));
  REQUIRE(results.session.runs.size() == 4);
  CHECK(results.session.runs.row(0).status == 0);
  CHECK(results.session.runs.row(1).status == 3);
  CHECK(results.session.runs.row(2).status == 137);
  CHECK(results.session.runs.row(3).status == 137);
}

TEST_CASE("the verdicts are the session's, not new ones") {
  Plan plan = plan_of(2);
  plan.gates = fakes::gates_of(plan, {{"wall_time", GateLimit::of_change(10)}});
  gate::Findings findings;
  findings.verdicts.resize(1);
  findings.verdicts[0].answer = gate::Answer::Pass;  // which these samples are far from
  findings.precision = Precision{0.01, 0.02, 12, PrecisionEnd::Duration};
  const Results results =
      lauka::analyse(plan, rounds_of(kFixedReference, kFixedCandidate), findings);
  REQUIRE(results.findings.verdicts.size() == 1);
  CHECK(results.findings.verdicts[0].answer == gate::Answer::Pass);
  CHECK(results.findings.precision.value().fewest_values_of_command == 12);
}

TEST_CASE("the delta of a gated metric has the interval of the moment that the gate chose") {
  Plan plan = plan_of(2);
  plan.gates = fakes::gates_of(plan, {{"wall_time", GateLimit::of_change(10)}});
  gate::Findings findings;
  findings.gated_metric_tails = {{0, {0.005, 0.025}}};
  MadeSession session = rounds_of(kPlainReference, kPlainCandidate);
  change(session.runs, [&](RunRecord& run) { run.usage.user_ns = run.usage.wall_ns; });
  const Results results = lauka::analyse(plan, session, findings);
  // Of ten rounds the 4th Walsh average from either end instead of the 9th (printed tables).
  const auto& wall = row_of(results, 1, "wall_time").delta->bounds;
  CHECK(wall->low == Approx(0.07901361005776875).epsilon(1e-10));
  CHECK(wall->high == Approx(0.12323827723085887).epsilon(1e-10));
  CHECK(row_of(results, 1, "cpu_time").delta->bounds->low ==
        Approx(0.08370181312029944).epsilon(1e-6));
}

TEST_CASE("a session without a counted run has commands without values") {
  const MadeSession none;
  const Results results = analyse(plan_of(2), none);
  REQUIRE(results.commands.size() == 2);
  CHECK(results.commands[1].runs == 0);
  REQUIRE(results.commands[1].rows.size() == std::size(kBuiltInMetrics));
  CHECK_FALSE(results.commands[1].rows[0].summary);
  CHECK_FALSE(results.commands[1].rows[0].delta);
  CHECK(results.headline_comparisons.empty());
  CHECK(results.session.runs.size() == 0);
  CHECK(results.findings.verdicts.empty());
}

TEST_CASE("the runs are listed in the order run, and by command") {
  const MadeSession session = rounds_of({1.0, 2.0}, {3.0, 4.0});
  const Results results = analyse(plan_of(2), session);
  std::string order;
  for (std::size_t i = 0; i < results.session.runs.size(); ++i) {
    const RunRow row = results.session.runs.row(i);
    order += std::to_string(row.command) + "/" + std::to_string(row.round) + " ";
  }
  CHECK(order == "0/0 1/0 1/1 0/1 ");
  const auto of = [&](std::size_t command) {
    const auto runs = results.session.runs.of_command(command);
    return std::vector<std::uint32_t>(runs.begin(), runs.end());
  };
  CHECK(of(0) == std::vector<std::uint32_t>{0, 3});
  CHECK(of(1) == std::vector<std::uint32_t>{1, 2});
  CHECK(results.session.runs.value(2, 0) == 4.0);
}

TEST_CASE("a gate that fails decides the exit status, and an open one where that was asked for") {
  const auto status = [](const std::vector<gate::Answer>& answers, std::optional<int> if_open) {
    std::vector<gate::Verdict> verdicts;
    for (const gate::Answer answer : answers) verdicts.emplace_back().answer = answer;
    return exit_status_of(verdicts, if_open);
  };
  using gate::Answer;
  CHECK(status({}, 4) == 0);
  CHECK(status({Answer::Pass, Answer::Inconclusive}, {}) == 0);
  CHECK(status({Answer::Pass, Answer::Inconclusive}, 125) == 125);
  CHECK(status({Answer::Inconclusive, Answer::Fail}, 125) == 3);
  CHECK(status({Answer::Pass, Answer::Fail}, {}) == 3);
}

TEST_CASE("a candidate that is not kept gives status 5, unless a gate decides the status") {
  using gate::Answer;
  const auto status = [](Answer gate, const std::vector<Answer>& conditions,
                         std::optional<int> if_open) {
    std::vector<gate::Verdict> verdicts(1);
    verdicts.front().answer = gate;
    for (const Answer answer : conditions) {
      verdicts.emplace_back().answer = answer;
      verdicts.back().condition.purpose = ConditionPurpose::Keep;
    }
    return exit_status_of(verdicts, if_open);
  };
  CHECK(status(Answer::Pass, {Answer::Pass}, 4) == 0);
  CHECK(status(Answer::Pass, {Answer::Fail}, 4) == 5);
  CHECK(status(Answer::Pass, {Answer::Inconclusive}, 4) == 5);
  CHECK(status(Answer::Pass, {Answer::Pass, Answer::Inconclusive}, {}) == 5);
  CHECK(status(Answer::Fail, {Answer::Pass}, {}) == 3);
  CHECK(status(Answer::Fail, {Answer::Fail}, {}) == 3);
  CHECK(status(Answer::Inconclusive, {Answer::Fail}, 4) == 4);
  CHECK(status(Answer::Inconclusive, {Answer::Pass}, {}) == 0);
}

namespace {

Plan small_plan(std::size_t commands) {
  Plan plan;
  for (std::size_t c = 0; c < commands; ++c) {
    const std::string name = "command " + std::to_string(c);
    plan.commands.push_back({name, name, {name}});
  }
  const BuiltInMetric& wall = kBuiltInMetrics.front();
  plan.metrics.push_back({std::string(wall.name), wall.unit, Better::Less, wall.shown, wall.read});
  return plan;
}

constexpr std::uint64_t kSecond = 1'000'000'000;

/// Differences below 2^20, from a simple generator: sums of a million squares of them are exact.
class Differences {
 public:
  std::uint64_t next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return state_ >> 44U;
  }

 private:
  std::uint64_t state_ = 1;
};

RunRecord small_run(std::uint32_t command, std::uint32_t round, std::uint64_t wall_ns) {
  RunRecord run;
  run.step = {command, round, 0};
  run.outcome = Exited{0};
  run.usage.wall_ns = wall_ns;
  return run;
}

}  // namespace

TEST_CASE("mean and deviation of a million runs agree with exact arithmetic") {
  constexpr std::uint32_t runs = 1'000'000;
  MadeSession session;
  Differences differences;
  std::uint64_t sum = 0;
  std::uint64_t squares = 0;
  for (std::uint32_t i = 0; i < runs; ++i) {
    const std::uint64_t difference = differences.next();
    sum += difference;
    squares += difference * difference;
    session.runs.push_back(small_run(0, i, kSecond + difference));
  }
  const Results results = analyse(small_plan(1), session, {});
  const auto n = static_cast<long double>(runs);
  const auto exact_sum = static_cast<long double>(sum);
  const auto mean = static_cast<double>((kSecond + exact_sum / n) / 1e9L);
  const auto deviation = static_cast<double>(
      std::sqrt((n * static_cast<long double>(squares) - exact_sum * exact_sum) / n / (n - 1)) /
      1e9L);
  REQUIRE(results.commands[0].rows[0].summary);
  const stats::Summary& summary = *results.commands[0].rows[0].summary;
  CHECK(summary.count == runs);
  CHECK(std::fabs(summary.mean / mean - 1) < 1e-12);
  CHECK(std::fabs(summary.stddev().value() / deviation - 1) < 1e-12);
}

TEST_CASE("a thousand commands have each their own runs, in the order run") {
  constexpr std::uint32_t commands = 1000;
  constexpr std::uint32_t rounds = 10;
  MadeSession session;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (std::uint32_t c = 0; c < commands; ++c) {
      const std::uint32_t command = (c * 7 + round) % commands;
      session.runs.push_back(small_run(command, round, 1'000'000 * (command + 1) + round));
    }
  }
  const Results results = analyse(small_plan(commands), session, {});
  for (std::uint32_t c = 0; c < commands; ++c) {
    const auto runs = results.session.runs.of_command(c);
    REQUIRE(runs.size() == rounds);
    for (std::uint32_t round = 0; round < rounds; ++round) {
      REQUIRE(results.session.runs.row(runs[round]).round == round);
      REQUIRE(results.session.runs.value(runs[round], 0) == (1'000'000.0 * (c + 1) + round) / 1e9);
    }
  }
}

/// Nine rounds of two commands whose runs of `kind` have the counts 100 and `candidate_count`, and
/// nine timed rounds. `failing`: the commands whose runs of `kind` fail.
struct WithFailures {
  Plan plan = plan_of(2);
  MadeSession session = rounds_of(Seconds(9, 1.0), Seconds(9, 1.0));
  std::size_t counted = 0;

  WithFailures(RoundKind kind, std::uint64_t candidate_count,
               const std::vector<std::uint32_t>& failing) {
    plan.ignore_failure = IgnoreFailure{true};
    plan.setting.events.events = {{.name = "instructions", .meaning = ""}};
    plan.setting.events.passes = {Pass{}, Pass{{0}, kind}};
    counted = plan.metrics.size();
    plan.metrics.push_back(
        {.name = "instructions", .source = CountedEvent{0}, .kind = kind, .event = 0});
    for (std::uint32_t round = 0; round < 9; ++round)
      for (const std::uint32_t command : {0U, 1U}) {
        RunRecord run = run_of(command, round, 1.0);
        run.step.kind = kind;
        run.step.pass = 1;
        run.counts = {command == 0 ? 100 : candidate_count};
        if (std::ranges::find(failing, command) != failing.end()) run.outcome = Signalled{4};
        session.runs.push_back(run);
      }
  }

  std::size_t place(std::string_view metric) const { return *find_metric(plan.metrics, metric); }

  /// Returns what holds a pass of this gate back.
  gate::Hindrance hindrance(const Condition& condition) {
    gate::Findings findings;
    findings.verdicts = {{.condition = condition,
                          .candidate = 1,
                          .metric = place(condition.metric),
                          .answer = gate::Answer::Pass}};
    void_doubtful_verdicts(make_recording(plan, session), findings);
    CHECK((findings.verdicts[0].answer == gate::Answer::Pass) ==
          (findings.verdicts[0].hindrance.obstacle == gate::Obstacle::None));
    return findings.verdicts[0].hindrance;
  }
};

TEST_CASE("a gate is held back by failures of the runs that give its metric, and by no others") {
  using gate::Obstacle;
  using gate::Side;
  for (const RoundKind kind : {RoundKind::Counting, RoundKind::Simulated}) {
    const std::vector<std::pair<std::vector<std::uint32_t>, Side>> cases = {
        {{0}, Side::Reference}, {{1}, Side::Candidate}, {{0, 1}, Side::Both}};
    for (const auto& [failing, side] : cases) {
      WithFailures made(kind, 3, failing);
      CHECK(made.hindrance({"instructions", GateLimit::of_change(1)}) ==
            gate::Hindrance{Obstacle::NoSuccess, side});
      CHECK(made.hindrance({"wall_time", GateLimit::of_change(10)}) == gate::Hindrance{});
    }
    WithFailures alone(kind, 3, {1});
    CHECK(alone.hindrance({.metric = "instructions", .limit = GateLimit::of_value(1e6)}) ==
          gate::Hindrance{Obstacle::NoSuccess, Side::Candidate});
    CHECK(alone.hindrance({.metric = "wall_time", .limit = GateLimit::of_value(2.0)}) ==
          gate::Hindrance{});
  }
}

TEST_CASE("a gate judged again on a saved session has the same reasons") {
  WithFailures made(RoundKind::Simulated, 3, {1});
  const Recording recording = make_recording(made.plan, made.session);
  const gate::Findings findings = judge(recording,
                                        {{{"instructions", GateLimit::of_change(1)}, made.counted},
                                         {{"wall_time", GateLimit::of_change(10)}, 0}},
                                        0);
  CHECK(findings.verdicts[0].answer == gate::Answer::Inconclusive);
  CHECK(findings.verdicts[0].hindrance ==
        gate::Hindrance{gate::Obstacle::NoSuccess, gate::Side::Candidate});
  CHECK(findings.verdicts[1].answer == gate::Answer::Pass);
}

TEST_CASE("runs that failed give no delta, and those of other kinds keep theirs") {
  for (const std::vector<std::uint32_t>& failing :
       {std::vector<std::uint32_t>{1}, std::vector<std::uint32_t>{0, 1}}) {
    WithFailures made(RoundKind::Simulated, 3, failing);
    const Results results = analyse(made.plan, made.session);
    CHECK_FALSE(results.commands[1].rows[made.counted].delta);
    CHECK(results.commands[1].rows[made.counted].summary->mean == 3.0);
    CHECK(results.commands[1].rows[0].delta);
  }
  WithFailures none(RoundKind::Simulated, 3, {});
  CHECK(analyse(none.plan, none.session).commands[1].rows[none.counted].delta);
}

TEST_CASE("a delta leaves failed runs out, also of the rounds of the other command") {
  MadeSession session = rounds_of(Seconds(12, 1.0), Seconds(12, 2.0));
  change(session.runs, 3, [](RunRecord& run) {
    run.outcome = Exited{3};
    run.usage.wall_ns = 1;
  });
  Plan plan = plan_of(2);
  plan.ignore_failure = IgnoreFailure{true};
  const Results results = analyse(plan, session);
  const stats::Delta& delta = *row_of(results, 1, "wall_time").delta;
  CHECK(*delta.change_of_mean.change == Approx(1.0));
  CHECK(row_of(results, 1, "wall_time").runs == 12);
}

TEST_CASE("of two simulators only the one in which a program dies is without a verdict") {
  WithFailures made(RoundKind::Simulated, 100, {1});
  made.plan.setting.events.events.push_back({.name = "allocations", .meaning = ""});
  made.plan.setting.events.passes.push_back(Pass{{1}, RoundKind::Simulated});
  made.plan.metrics.push_back(
      {.name = "allocations", .source = CountedEvent{1}, .kind = RoundKind::Simulated, .event = 1});
  for (std::uint32_t round = 0; round < 9; ++round)
    for (const std::uint32_t command : {0U, 1U}) {
      RunRecord run = run_of(command, round, 1.0);
      run.step.kind = RoundKind::Simulated;
      run.step.pass = 2;
      run.counts = {7};
      made.session.runs.push_back(run);
    }
  CHECK(made.hindrance({"allocations", GateLimit::of_change(1)}) == gate::Hindrance{});
  CHECK(made.hindrance({"instructions", GateLimit::of_change(1)}).obstacle ==
        gate::Obstacle::NoSuccess);
}

TEST_CASE("a command fails throughout if its timed runs do, whatever others do") {
  WithFailures simulated(RoundKind::Simulated, 3, {1});
  const gate::Verdict verdict{.condition = {"instructions", GateLimit::of_change(1)},
                              .candidate = 1};
  CHECK_FALSE(has_failed_throughout(analyse(simulated.plan, simulated.session), verdict));
  WithFailures timed(RoundKind::Simulated, 3, {});
  change(timed.session.runs, [](RunRecord& run) {
    if (run.step.command == 1 && run.step.kind == RoundKind::Timed) run.outcome = Exited{3};
  });
  CHECK(has_failed_throughout(analyse(timed.plan, timed.session), verdict));
}

TEST_CASE("a wall time that rose beyond the limit is told for the first gate that hides it") {
  Plan plan = plan_of(2);
  MadeSession session = rounds_of(Seconds(12, 1.0), Seconds(12, 1.8));
  gate::Findings findings;
  const std::size_t cpu = *find_metric(plan.metrics, "cpu_time");
  const std::size_t user = *find_metric(plan.metrics, "user_time");
  const auto told = [&](std::vector<gate::Verdict> verdicts) {
    findings.verdicts = std::move(verdicts);
    const Results results = lauka::analyse(plan, session, findings);
    std::vector<bool> all;
    for (const gate::Verdict& verdict : results.findings.verdicts)
      all.push_back(risen_wall_time(results, verdict) != nullptr);
    return all;
  };
  const auto of = [](std::size_t metric, const Condition& condition, gate::Answer answer) {
    return gate::Verdict{
        .condition = condition, .candidate = 1, .metric = metric, .answer = answer};
  };
  using gate::Answer;
  CHECK(told({of(cpu, {"cpu_time", GateLimit::of_change(5)}, Answer::Pass),
              of(user, {"user_time", GateLimit::of_change(5)}, Answer::Pass)}) ==
        std::vector{true, false});
  CHECK(told({of(cpu, {"cpu_time", GateLimit::of_change(90)}, Answer::Pass)}) ==
        std::vector{false});
  CHECK(told({of(cpu, {"cpu_time", GateLimit::of_change(5)}, Answer::Inconclusive)}) ==
        std::vector{false});
  CHECK(told({of(cpu, {"cpu_time", GateLimit::of_change(5)}, Answer::Pass),
              of(0, {"wall_time", GateLimit::of_change(99)}, Answer::Pass)}) ==
        std::vector{false, false});
  const std::size_t memory = *find_metric(plan.metrics, "peak_rss");
  CHECK(told({of(memory, {"peak_rss", GateLimit::of_change(5)}, Answer::Pass)}) ==
        std::vector{false});
}

TEST_CASE("what tuning changed is computed from the runs that succeeded") {
  const auto compared_with = [](bool with_failures, std::optional<IgnoreFailure> ignored = {}) {
    Plan plan = plan_of(2);
    plan.ignore_failure = std::move(ignored);
    std::vector<RunRecord> tuned;
    std::vector<RunRecord> untuned;
    for (std::uint32_t round = 0; round < 24; ++round) {
      for (const std::uint32_t command : {0U, 1U}) {
        RunRecord run = run_of(command, round, 1.0 + 0.01 * ((round * 7 + command * 3) % 5));
        const bool has_failed = round % 6 == 2 && command == 1;
        if (has_failed) run.outcome = Exited{3};
        if (has_failed) run.usage.wall_ns = 1'000'000;
        if (has_failed && !with_failures) continue;
        tuned.push_back(run);
        if (round >= 12) continue;
        run.step.kind = RoundKind::Untuned;
        untuned.push_back(run);
      }
    }
    Session session;
    session.runs = runs_of(plan, tuned);
    session.runs_without_tuning = runs_of(plan, untuned);
    return compare_tuned(plan, session);
  };

  const std::vector<TunedComparison> expected = compared_with(false);
  REQUIRE(expected.size() == 2);
  REQUIRE(expected[1].interval_width.change);
  CHECK(compared_with(true) == expected);
  CHECK(compared_with(true)[1].untuned_runs == 10);
  CHECK(compared_with(true, IgnoreFailure{false, {3}})[1].untuned_runs == 12);
}

}  // namespace lauka
