#include "results/warnings.h"

#include "fakes/analysed.h"
#include "fakes/change_runs.h"
#include "fakes/gates.h"
#include "fakes/one_look.h"
#include "has.h"
#include "plan/make_plan.h"
#include "plan/rows.h"
#include "results/analyse.h"
#include "results/results.h"
#include "stats/noise.h"

#include <chrono>
#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

using namespace std::chrono_literals;
using Seconds = std::vector<double>;

/// The kinds found, in their order, one word each.
std::string kinds(const std::vector<Warning>& warnings) {
  struct Name {
    const char* operator()(const SlowFirstRun&) const { return "first"; }
    const char* operator()(const stats::Drift&) const { return "drift"; }
    const char* operator()(const stats::TwoModes&) const { return "modes"; }
    const char* operator()(const ManyOutliers&) const { return "outliers"; }
    const char* operator()(const stats::SlowNoise&) const { return "noise"; }
    const char* operator()(const CoarseClock&) const { return "clock"; }
    const char* operator()(const UncertainSplit&) const { return "split"; }
    const char* operator()(const BelowShell&) const { return "shell"; }
    const char* operator()(const FewRuns&) const { return "few"; }
    const char* operator()(const NotInterleaved&) const { return "sequential"; }
    const char* operator()(const SeparateSessions&) const { return "baseline"; }
    const char* operator()(const OtherConditions&) const { return "foreign"; }
    const char* operator()(const OtherCircumstances&) const { return "other"; }
    const char* operator()(const OtherProcessor&) const { return "processor"; }
    const char* operator()(const DifferentCoreShares&) const { return "cores"; }
    const char* operator()(const LowCoreShare&) const { return "share"; }
    const char* operator()(const LowCoverage&) const { return "coverage"; }
    const char* operator()(const NeverCounted&) const { return "not counted"; }
    const char* operator()(const MeanDiffers&) const { return "mean"; }
    const char* operator()(const AlikeRounds&) const { return "alike"; }
    const char* operator()(const SlowedByCounting&) const { return "slowed"; }
    const char* operator()(const BusyMachine&) const { return "busy"; }
    const char* operator()(const OutlivedRuns&) const { return "outlived"; }
    const char* operator()(const SamePrograms&) const { return "same programs"; }
    const char* operator()(const LostCounts&) const { return "lost"; }
    const char* operator()(const Throttled&) const { return "throttled"; }
  };
  std::string all;
  for (const Warning& warning : warnings) {
    if (!all.empty()) all += " ";
    all += std::visit(Name{}, warning.finding);
    if (warning.shown == Shown::Verbose) all += "(verbose)";
  }
  return all;
}

/// A first run that chance does not explain.
constexpr FirstRunFacts kTelling{.warmup = 1, .chance_of_slowest = 0.001};

std::string kinds_of_series(const Seconds& series) {
  return kinds(warnings_of_series(0, series, kTelling));
}

/// One second, give or take a hundredth, in an order without waves.
Seconds steady(std::size_t runs) {
  Seconds series;
  for (std::size_t i = 0; i < runs; ++i) {
    series.push_back(1.0 + 0.01 * std::sin(2.4 * static_cast<double>(i)));
  }
  return series;
}

Plan plan_of_wall_time(std::size_t commands, MetricSelection selection = MetricSelection::Default) {
  Plan plan;
  for (std::size_t c = 0; c < commands; ++c) {
    const std::string name(1, static_cast<char>('a' + c));
    plan.commands.push_back({name, name, {name}});
  }
  plan.metrics = make_metrics({}, selection, false);
  return plan;
}

/// Every run takes `wall` and `user`; commands take turns.
MadeSession session_of(const Plan& plan, std::uint32_t rounds, std::chrono::nanoseconds wall = 1s,
                       std::chrono::nanoseconds user = 1s) {
  MadeSession session;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (std::uint32_t c = 0; c < plan.commands.size(); ++c) {
      RunRecord run;
      run.step = {c, round, 0, RoundKind::Timed};
      run.outcome = Exited{0};
      run.usage.wall_ns = static_cast<std::uint64_t>(wall.count());
      run.usage.user_ns = static_cast<std::uint64_t>(user.count());
      session.runs.push_back(run);
    }
  }
  return session;
}

/// Returns the runner's findings about the gates: decided once, on the wall time of all rounds.
gate::Findings findings_of(const Plan& plan, const MadeSession& session) {
  gate::Findings findings;
  std::vector<Seconds> walls(plan.commands.size());
  for (const RunRecord& run : session.runs) {
    walls[run.step.command].push_back(static_cast<double>(run.usage.wall_ns) / 1e9);
  }
  for (const auto& [condition, metric] : plan.gates) {
    for (std::size_t c = 1; c < walls.size(); ++c) {
      const gate::Evidence evidence{walls[0], walls[c], plan.setting.order != Order::Sequential};
      findings.verdicts.push_back(gate::decide(condition, c, evidence, plan.confidence, 1));
      findings.verdicts.back().metric = metric;
    }
  }
  return findings;
}

std::vector<Warning> warnings_of(const Plan& plan, const MadeSession& session,
                                 const TimerResolutions& timers = {1ns, 4ms}) {
  return analyse(plan, session, findings_of(plan, session), timers).warnings;
}

}  // namespace

TEST_CASE("a steady series has no warning, however short") {
  for (const std::size_t runs : {0U, 1U, 2U, 5U, 10U, 20U, 30U, 200U}) {
    CHECK(kinds_of_series(steady(runs)).empty());
  }
}

TEST_CASE("a slow first run is reported with its numbers, and with the warm-up it had") {
  Seconds series = steady(10);
  series.front() = 2.0;
  const auto warnings = warnings_of_series(1, series, {.warmup = 3, .chance_of_slowest = 0.01});
  REQUIRE(kinds(warnings) == "first");
  CHECK(warnings.front().command == 1U);
  const auto& slow = std::get<SlowFirstRun>(warnings.front().finding);
  CHECK(slow.first_run_times.first == 2.0);
  CHECK(slow.first_run_times.median_of_rest == doctest::Approx(1.0).epsilon(0.01));
  CHECK(slow.warmup == 3);
  CHECK_FALSE(slow.only_first_run_read_disk);
  series.front() = 1.04;
  CHECK(kinds_of_series(series).empty());
}

TEST_CASE("a slow first run is reported only if chance does not explain it, or the disk does") {
  Seconds series = steady(10);
  series.front() = 2.0;
  CHECK(kinds(warnings_of_series(0, series, {.chance_of_slowest = 0.1})).empty());
  const auto read =
      warnings_of_series(0, series, {.only_first_run_read_disk = true, .chance_of_slowest = 0.1});
  REQUIRE(kinds(read) == "first");
  CHECK(std::get<SlowFirstRun>(read.front().finding).only_first_run_read_disk);

  const auto of = [](std::size_t commands, std::uint32_t rounds, std::size_t slow, bool reads) {
    const Plan plan = plan_of_wall_time(commands);
    MadeSession session = session_of(plan, rounds);
    change(session.runs, [&](RunRecord& run) {
      if (run.step.round > 0 || run.step.command >= slow) return;
      run.usage.wall_ns *= 2;
      if (reads) run.usage.block_reads = 8;
    });
    return kinds(warnings_of(plan, session));
  };
  CHECK(of(1, 99, 1, false).empty());
  CHECK(of(1, 100, 1, false) == "first");
  CHECK(of(2, 100, 1, false).empty());
  CHECK(of(2, 200, 1, false) == "first");
  CHECK(of(2, 9, 2, false).empty());
  CHECK(of(2, 10, 2, false) == "first first");
  CHECK(of(3, 5, 3, false) == "first first first");
  CHECK(of(2, 6, 1, true) == "first");
}

TEST_CASE("a slow first run is no outlier as well, but hides no others") {
  Seconds series = steady(10);
  series.front() = 2.0;
  CHECK(stats::severe_outliers(series).many);
  CHECK(kinds_of_series(series) == "first");
  series.push_back(1.0);
  series[4] = series[7] = 1.5;
  CHECK(kinds(warnings_of_series(0, series, {.warmup = 0, .chance_of_slowest = 0.0})) ==
        "first outliers");
  CHECK(kinds(warnings_of_series(0, series, {.warmup = 1, .chance_of_slowest = 0.0})) ==
        "outliers");
}

TEST_CASE("one outlier is bad luck, two of forty are a warning, two of forty-one are not") {
  Seconds series = steady(41);
  series[20] = 3.0;
  series[29] = 0.2;
  CHECK(kinds_of_series(series).empty());
  series.pop_back();
  const auto warnings = warnings_of_series(0, series, kTelling);
  REQUIRE(kinds(warnings) == "outliers");
  const auto& outliers = std::get<ManyOutliers>(warnings.front().finding);
  CHECK(outliers.count == 2);
  CHECK(outliers.all_runs == 40);
  // A third one that is not as far off is in the table's column, and so in the warning.
  series[10] = 1.0 + 3.0 * (stats::summarize(series).q3 - stats::summarize(series).q1);
  REQUIRE(stats::severe_outliers(series).count == 2);
  const auto same = warnings_of_series(0, series, kTelling);
  REQUIRE(kinds(same) == "outliers");
  CHECK(std::get<ManyOutliers>(same.front().finding).count == 3);
  CHECK(stats::summarize(series).outliers == 3);

  Seconds few = steady(10);
  few[4] = 3.0;
  CHECK(stats::severe_outliers(few).many);
  CHECK(kinds_of_series(few).empty());
}

TEST_CASE("drift is reported alone, although neighbours are alike in it") {
  Seconds series = steady(40);
  for (std::size_t i = 0; i < series.size(); ++i) series[i] += 0.005 * static_cast<double>(i);
  CHECK(stats::slow_noise(series)->slow);
  CHECK(kinds_of_series(series) == "drift");
  CHECK(kinds_of_series(Seconds(series.begin(), series.begin() + 19)).empty());
}

TEST_CASE("of drift and outliers the one that moves the mean is reported") {
  // From 1.000 to 1.036, with every eighteenth run far off.
  const auto series_with_spread = [](double spread) {
    Seconds series;
    for (int i = 0; i < 900; ++i) {
      const double between_0_and_1 = std::fmod(0.618034 * i, 1.0);
      series.push_back(i % 18 == 11 ? 3.0 : 1.0 + 0.036 * i / 900 + spread * between_0_and_1);
    }
    CHECK(stats::severe_outliers(series).many);
    CHECK(stats::drift(series)->drifting);
    return series;
  };
  CHECK(kinds_of_series(series_with_spread(0.01)) == "drift");
  CHECK(kinds_of_series(series_with_spread(0.2)) == "outliers");
}

TEST_CASE("a series that steps up drifts: when it changed says more than that it has two modes") {
  Seconds series = steady(40);
  for (std::size_t i = 20; i < series.size(); ++i) series[i] += 0.3;
  CHECK(stats::two_modes(series)->is_bimodal);
  CHECK(kinds_of_series(series) == "drift");
}

TEST_CASE("two modes are reported alone, even if the rarer ones look like outliers") {
  Seconds series = steady(40);
  for (std::size_t i = 3; i < series.size(); i += 5) series[i] += 0.3;
  CHECK(stats::severe_outliers(series).many);
  CHECK(kinds_of_series(series) == "modes");
  Seconds waves = steady(60);
  for (std::size_t i = 0; i < waves.size(); ++i) waves[i] += i / 10 % 2 == 0 ? 0.0 : 0.3;
  CHECK(stats::slow_noise(waves)->slow);
  CHECK(kinds_of_series(waves) == "modes");
}

TEST_CASE("slow waves are reported, unless bursts of outliers are alike") {
  Seconds series;
  for (int i = 0; i < 40; ++i) series.push_back(1.0 + 0.1 * std::sin(0.3 * i));
  CHECK(kinds_of_series(series) == "noise");
  Seconds bursts = steady(40);
  for (const std::size_t i : {18U, 19U, 20U, 21U}) bursts[i] = 2.0;
  CHECK(stats::slow_noise(bursts)->autocorrelation > 3.0 / std::sqrt(40.0));
  CHECK(kinds_of_series(bursts) == "outliers");
}

TEST_CASE("quiet normal noise is hardly ever warned of") {
  constexpr int trials = 2000;
  noise::Source source(5);
  for (const std::size_t runs : {5U, 10U, 20U, 50U, 200U}) {
    int warned = 0;
    for (int trial = 0; trial < trials; ++trial) {
      const FirstRunFacts facts{.warmup = 1, .chance_of_slowest = 1.0 / static_cast<double>(runs)};
      warned += warnings_of_series(0, source.normals(runs, 0.1, 0.002), facts).empty() ? 0 : 1;
    }
    INFO(runs << " runs: " << warned);
    CHECK(warned <= trials / 100);
  }
}

TEST_CASE("values in coarse steps are neither outliers nor two groups, and waves are no drift") {
  Seconds ticks(40, 1.0);
  for (const std::size_t i : {3U, 17U, 31U}) ticks[i] = 1.1;
  CHECK(kinds_of_series(ticks).empty());
  for (std::size_t i = 0; i < ticks.size(); i += 2) ticks[i] = 1.1;
  CHECK(kinds_of_series(ticks).empty());
  ticks[5] = ticks[11] = 1.9;
  CHECK(kinds_of_series(ticks) == "outliers");
  int trends = 0;
  int drifts = 0;
  noise::Source source(3);
  for (int trial = 0; trial < 300; ++trial) {
    Seconds waves;
    for (double wave = source.normal(); waves.size() < 30;
         wave = 0.6 * wave + 0.8 * source.normal())
      waves.push_back(std::exp(0.05 * wave));
    const auto drift = stats::drift(waves);
    trends += std::abs(drift->rank_correlation) * std::sqrt(29.0) > 3.29 ? 1 : 0;
    drifts += drift->drifting ? 1 : 0;
  }
  CHECK(trends > 15);
  CHECK(drifts <= 3);
}

TEST_CASE("the clock is too coarse below a hundred of its steps") {
  const Plan plan = plan_of_wall_time(1);
  const auto coarse = warnings_of(plan, session_of(plan, 12, 99us), {1us, 0ms});
  REQUIRE(kinds(coarse) == "clock");
  CHECK(coarse.front().command == 0U);
  CHECK(std::get<CoarseClock>(coarse.front().finding).step_seconds ==
        doctest::Approx(1e-6).epsilon(1e-12));
  CHECK(kinds(warnings_of(plan, session_of(plan, 12, 101us), {1us, 0ms})).empty());
  Plan in_shell = plan;
  in_shell.shell = Shell{{"sh"}};
  const auto subtracted = warnings_of(in_shell, session_of(plan, 12, 99us), {1us, 0ms});
  CHECK(kinds(subtracted).find("clock") == std::string::npos);
}

TEST_CASE("user and system time are uncertain below ten ticks, for those who see them") {
  const Plan plan = plan_of_wall_time(1);
  const auto uncertain = warnings_of(plan, session_of(plan, 12, 1s, 39ms));
  REQUIRE(kinds(uncertain) == "split(verbose)");
  CHECK(std::get<UncertainSplit>(uncertain.front().finding).median_cpu_seconds ==
        doctest::Approx(0.039).epsilon(1e-12));
  CHECK(kinds(warnings_of(plan, session_of(plan, 12, 1s, 41ms))).empty());
  CHECK(kinds(warnings_of(plan, session_of(plan, 12, 1s, 39ms), {1ns, 1ms})).empty());
  // A tick that is not known is taken to be 4 ms.
  CHECK(kinds(warnings_of(plan, session_of(plan, 12, 1s, 39ms), {})) == "split(verbose)");
  const Plan shown = plan_of_wall_time(1, MetricSelection::All);
  CHECK(kinds(warnings_of(shown, session_of(shown, 12, 1s, 39ms))) == "split");
  Plan gated = plan_of_wall_time(2);
  gated.gates = fakes::gates_of(gated, {{"system_time", GateLimit::of_change(5.0)}});
  CHECK(kinds(warnings_of(gated, session_of(gated, 12, 1s, 39ms))) == "split split");
}

TEST_CASE("deltas want five runs, and the reason of fewer is reported") {
  Plan plan = plan_of_wall_time(3);
  CHECK(kinds(warnings_of(plan, session_of(plan, 5))).empty());
  MadeSession session = session_of(plan, 4);
  auto warnings = warnings_of(plan, session);
  REQUIRE(kinds(warnings) == "few");  // once, not once for each candidate
  CHECK_FALSE(warnings.front().command);
  const auto reported = [&] {
    return std::get<FewRuns>(warnings_of(plan, session).front().finding);
  };
  CHECK(reported().runs == 4);
  CHECK_FALSE(reported().is_about_gate);
  CHECK(reported().limiting_option == FewRunsReason::MinRuns);
  plan.setting.stop.max_runs = 4;
  CHECK(reported().limiting_option == FewRunsReason::MaxRuns);
  plan.setting.stop.exact_runs = 4;
  CHECK(reported().limiting_option == FewRunsReason::Runs);
  session.cut_short = Interrupted{2};
  CHECK(reported().limiting_option == FewRunsReason::Ended);
}

TEST_CASE("few runs of a command alone are no warning") {
  const Plan plan = plan_of_wall_time(1);
  CHECK(kinds(warnings_of(plan, session_of(plan, 1))).empty());
}

TEST_CASE("a gate wants ten rounds, unless fewer have decided it") {
  Plan plan = plan_of_wall_time(2);
  plan.gates = fakes::gates_of(plan, {{"wall_time", GateLimit::of_change(0.0)}});
  // Undecided: the candidate is above and below in turns.
  const auto undecided = [&](std::uint32_t rounds) {
    MadeSession session = session_of(plan, rounds);
    change(session.runs, [&](RunRecord& run) {
      if (run.step.command == 0) run.usage.wall_ns += 1000;
      if (run.step.command == 1) run.usage.wall_ns += run.step.round % 2 == 0 ? 2000U : 0U;
    });
    return session;
  };
  CHECK(kinds(warnings_of(plan, undecided(10))).empty());
  const auto warnings = warnings_of(plan, undecided(9));
  REQUIRE(kinds(warnings) == "few");
  const auto& few = std::get<FewRuns>(warnings.front().finding);
  CHECK(few.is_about_gate);
  CHECK(few.runs == 9);
  plan.gates = fakes::gates_of(plan, {{"wall_time", GateLimit::of_change(50.0)}});
  const MadeSession session = undecided(9);
  const Results decided = analyse(plan, session, findings_of(plan, session), {1ns, 4ms});
  REQUIRE(decided.findings.verdicts.front().answer == gate::Answer::Pass);
  CHECK(kinds(decided.warnings).empty());
}

TEST_CASE("a command that is pushed off its CPU differs from one that sleeps, however steady") {
  const auto reported = [](std::uint64_t pushed, std::uint64_t willing,
                           std::uint64_t quota_ns = 0) {
    MadeSession session = session_of(plan_of_wall_time(1), 12, 2s, 1s);
    change(session.runs, [&](RunRecord& run) {
      run.usage.involuntary_switches = pushed;
      run.usage.voluntary_switches = willing;
    });
    const Plan plan = plan_of_wall_time(1);
    Circumstances circumstances;
    if (quota_ns > 0) circumstances.throttling = QuotaWait{9, 2, quota_ns};
    return kinds(
        analyse(plan, session, findings_of(plan, session), {1ns, 4ms}, circumstances).warnings);
  };
  CHECK(reported(50, 3) == "busy");
  CHECK(has(reported(50, 3, 1'000'000'000), "busy"));
  // Of the 12 s that the runs waited; stopping other programs would not end that.
  CHECK_FALSE(has(reported(50, 3, 10'000'000'000), "busy"));
  CHECK(reported(3, 50).empty());
  CHECK(reported(0, 0).empty());
  CHECK(reported(4, 3).empty());  // a second without a CPU: too long for four other slices
}

TEST_CASE("counting is said to slow the runs down if the interval of the ratio is beyond 5%") {
  const Seconds timed = steady(40);
  Seconds counting = steady(8);
  CHECK_FALSE(slowed_by_counting(timed, counting));
  for (std::size_t i = 0; i < counting.size(); ++i) counting[i] *= i % 2 == 0 ? 0.8 : 1.4;
  CHECK(stats::median(stats::sorted(counting)) > 1.05);
  CHECK_FALSE(slowed_by_counting(timed, counting));
  for (double& one : counting = steady(8)) one *= 1.2;
  const auto slowed = slowed_by_counting(timed, counting);
  REQUIRE(slowed);
  CHECK(slowed->ratio == doctest::Approx(1.2).epsilon(0.02));
  CHECK_FALSE(slowed_by_counting(timed, Seconds{}));
}

TEST_CASE("rounds that resemble each other are reported; a command only if its own runs do") {
  const Plan plan = plan_of_wall_time(2);
  // Of slow waves each command has the share given; what both have cancels.
  const auto found = [&](double reference, double candidate) {
    MadeSession session = session_of(plan, 60);
    change(session.runs, [&](RunRecord& run) {
      const double share = run.step.command == 0 ? reference : candidate;
      const double own = 0.01 * std::sin(2.4 * run.step.round + run.step.command);
      const double wave = share * 0.1 * std::sin(0.5 * run.step.round);
      run.usage.wall_ns = static_cast<std::uint64_t>((1.0 + own + wave) * 1e9);
    });
    std::vector<Warning> alike;
    for (const Warning& warning : warnings_of(plan, session))
      if (std::holds_alternative<AlikeRounds>(warning.finding)) alike.push_back(warning);
    return alike;
  };
  const auto of_candidate = found(0.0, 1.0);
  REQUIRE(of_candidate.size() == 1);
  CHECK(of_candidate[0].command == 1U);
  const auto& alike = std::get<AlikeRounds>(of_candidate[0].finding);
  CHECK(alike.metric == "wall_time");
  CHECK(alike.is_of_one_command);
  CHECK(alike.widening > 1.5);
  CHECK(found(1.0, 0.0).at(0).command == 0U);
  CHECK(found(1.0, 1.0).empty());
  CHECK(found(0.0, 0.0).empty());
  const auto of_both = found(-1.0, 1.0);
  REQUIRE(of_both.size() == 1);
  CHECK_FALSE(of_both[0].command);
  CHECK_FALSE(std::get<AlikeRounds>(of_both[0].finding).is_of_one_command);
}

TEST_CASE("a candidate that is the reference's program is reported if it has run") {
  const Plan plan = plan_of_wall_time(2);
  MadeSession session = session_of(plan, 10);
  session.programs = {{"file", "call"}, {"file", "call"}};
  CHECK(kinds(warnings_of(plan, session)) == "same programs");
  session.programs[1].call_sha256 = "another";
  CHECK(kinds(warnings_of(plan, session)).empty());
  session.programs[1].call_sha256 = "call";
  session.runs.clear();
  session.cut_short = Interrupted{2};
  CHECK(kinds(warnings_of(plan, session)).empty());
}

TEST_CASE("a sequential order is reported once, if there are deltas") {
  Plan plan = plan_of_wall_time(3);
  plan.setting.order = Order::Sequential;
  auto warnings = warnings_of(plan, session_of(plan, 10));
  REQUIRE(kinds(warnings) == "sequential");
  CHECK_FALSE(std::get<NotInterleaved>(warnings.front().finding).has_gates);
  plan.gates = fakes::gates_of(plan, {{"wall_time", GateLimit::of_change(10.0)}});
  warnings = warnings_of(plan, session_of(plan, 10));
  REQUIRE(kinds(warnings) == "sequential");
  CHECK(std::get<NotInterleaved>(warnings.front().finding).has_gates);
  Plan alone = plan_of_wall_time(1);
  alone.setting.order = Order::Sequential;
  CHECK(kinds(warnings_of(alone, session_of(alone, 10))).empty());
}

TEST_CASE("only wall time is examined, and warnings follow the order of their kinds") {
  Plan plan = plan_of_wall_time(2);
  MadeSession session = session_of(plan, 12, 100ms, 1ms);
  change(session.runs, [&](RunRecord& run) {
    const bool is_off =
        run.step.command == 0 ? run.step.round == 4 || run.step.round == 7 : run.step.round == 0;
    run.usage.wall_ns += 1000 * (run.step.round % 5);
    if (is_off) run.usage.wall_ns *= 2;
    if (run.step.command == 1 && run.step.round == 0) run.usage.block_reads = 8;
    run.usage.peak_rss_bytes = run.step.round < 6 ? 1'000'000 : 2'000'000;
  });
  CHECK(kinds(warnings_of(plan, session)) == "first outliers split(verbose) split(verbose)");
}

TEST_CASE("a baseline is always warned of, and what differs is named once more") {
  Results results;
  const auto session = std::make_shared<Recording>();
  session->circumstances = {"1", {}, {.name = "a", .cpu_model = "x"}};
  results.session.reference.baseline =
      Baseline{.file = "b.json", .session = session, .reference_places = {0}};
  session->commands.resize(1);
  results.commands.resize(1);
  results.session.commands.resize(1);
  results.session.circumstances = {"1", {}, {.name = "a", .kernel = "6.1", .cpu_model = "x"}};
  results.are_all_deltas_paired = false;
  CHECK(kinds(warnings_of_results(results)) == "baseline");
  results.session.circumstances.machine.cpu_model = "y";
  results.session.circumstances.version = "2";
  const auto warnings = warnings_of_results(results);
  CHECK(kinds(warnings) == "baseline foreign");
  const auto& foreign = std::get<OtherConditions>(warnings.back().finding);
  REQUIRE(foreign.differences.size() == 2);
  CHECK(foreign.differences[0].kind == SettingKind::Processor);
  CHECK(foreign.differences[1].reference_value == "1");
  results.session.circumstances = session->circumstances;
  results.session.circumstances.machine.tuning = "turbo=0";
  const auto tuned = warnings_of_results(results);
  REQUIRE(kinds(tuned) == "baseline foreign");
  CHECK(std::get<OtherConditions>(tuned.back().finding).differences[0].reference_value == "none");
  CHECK(class_of(results.session.circumstances.machine) !=
        class_of(session->circumstances.machine));
  session->was_written_by_lauka = false;
  CHECK_FALSE(std::get<OtherConditions>(warnings_of_results(results).back().finding).names_machine);
}

TEST_CASE("a baseline made with other CPUs, another quota or memory limit is pointed out") {
  const Machine whole{.name = "a", .cpus = 2, .allowance = Allowance{{0, 1}}};
  Results results;
  const auto session = std::make_shared<Recording>();
  session->circumstances = {"1", {}, whole};
  results.session.reference.baseline =
      Baseline{.file = "b.json", .session = session, .reference_places = {0}};
  session->commands.resize(1);
  results.commands.resize(1);
  results.session.commands.resize(1);
  results.are_all_deltas_paired = false;
  for (const Allowance& other :
       {Allowance{{1}}, Allowance{{0, 1}, 0.5}, Allowance{{0, 1}, std::nullopt, 1000}}) {
    results.session.circumstances = session->circumstances;
    CHECK(kinds(warnings_of_results(results)) == "baseline");
    results.session.circumstances.machine.allowance = other;
    const auto warnings = warnings_of_results(results);
    REQUIRE(kinds(warnings) == "baseline foreign");
    CHECK(std::get<OtherConditions>(warnings.back().finding).differences.size() == 1);
    CHECK(class_of(results.session.circumstances.machine) != class_of(whole));
    results.session.circumstances.machine.allowance.reset();  // as of an older lauka
    CHECK(kinds(warnings_of_results(results)) == "baseline");
  }
  Machine unknown = whole;
  unknown.allowance.reset();
  CHECK(class_of(unknown) == class_of(whole));
}

TEST_CASE("simulated counts of another processor are pointed out, with the features that differ") {
  Results results;
  const auto session = std::make_shared<Recording>();
  Machine machine{.architecture = "x86_64", .cpu_model = "x"};
  machine.cpu_features = "avx2 avx512f erms";
  session->circumstances = {"1", {}, machine};
  session->commands.resize(1);
  results.session.reference.baseline =
      Baseline{.file = "b.json", .session = session, .reference_places = {0}};
  results.commands.resize(1);
  results.session.commands.resize(1);
  results.are_all_deltas_paired = false;
  results.session.circumstances = session->circumstances;
  results.session.circumstances.machine.cpu_features = "avx2 erms";
  CHECK(kinds(warnings_of_results(results)) == "baseline foreign");

  results.session.metrics.push_back({.name = "instructions", .kind = RoundKind::Simulated});
  results.commands[0].rows.resize(1);
  const auto warnings = warnings_of_results(results);
  REQUIRE(kinds(warnings) == "baseline foreign processor");
  CHECK(std::get<OtherProcessor>(warnings.back().finding).differing_features ==
        std::vector<std::string>{"avx512f"});
  results.session.circumstances = session->circumstances;
  CHECK(kinds(warnings_of_results(results)) == "baseline");
}

TEST_CASE("the same program is not named next to a significant difference, or a gate that fails") {
  Results results;
  results.session.metrics = {make_metrics({}, MetricSelection::Default, false).front()};
  for (const char* const text : {"./old 1", "./new 1"}) {
    Command command{text, text, {}};
    command.fingerprint = {"file", "call", "", ProgramKind::Native};
    results.session.commands.push_back(command);
  }
  results.commands.resize(2);
  for (CommandResult& command : results.commands) {
    command.runs = 10;
    command.rows.resize(1);
  }
  const auto same_of = [&]() -> std::optional<SamePrograms> {
    for (const Warning& warning : warnings_of_results(results))
      if (const auto* same = std::get_if<SamePrograms>(&warning.finding)) return *same;
    return std::nullopt;
  };
  REQUIRE(same_of());
  CHECK(same_of()->is_native);
  CHECK_FALSE(same_of()->has_same_name);
  results.session.commands[1].fingerprint.program = ProgramKind::Launcher;
  CHECK_FALSE(same_of()->is_native);

  stats::Delta delta;
  delta.change = 0.5;
  delta.bounds = stats::IntervalEnds{0.4, 0.6};
  results.commands[1].rows[0].delta = delta;
  CHECK_FALSE(same_of());
  results.commands[1].rows[0].delta.reset();
  results.findings.verdicts.push_back({.candidate = 1, .answer = gate::Answer::Fail});
  CHECK_FALSE(same_of());
  results.findings.verdicts[0].answer = gate::Answer::Pass;
  CHECK(same_of());
  results.session.commands[1].fingerprint.argument_files_sha256 = "another script";
  CHECK_FALSE(same_of());
}

TEST_CASE("a quota that kept processes from running is warned of, also of a joined session's") {
  Results results;
  results.commands.resize(1);
  results.session.commands.resize(1);
  CHECK(kinds(warnings_of_results(results)).empty());
  results.session.circumstances.throttling = QuotaWait{9, 0, 0};
  CHECK(kinds(warnings_of_results(results)).empty());
  results.session.circumstances.throttling = QuotaWait{9, 2, 1'000'000};
  CHECK(kinds(warnings_of_results(results)) == "throttled");
  results.session.origins.resize(1);
  results.session.origins[0].command_count = 1;
  results.session.origins[0].circumstances.throttling = QuotaWait{5, 3, 2'000'000};
  const auto warnings = warnings_of_results(results);
  CHECK(std::get<Throttled>(warnings.front().finding).quota_waits.throttled == 3);
}

TEST_CASE("lost counts were reported before the first run; of a saved session they are shown") {
  Results results;
  results.commands.resize(1);
  results.session.commands.resize(1);
  results.session.commands[0].lost_counts = CounterLossFile{CounterLoss::SetUser, "/x"};
  CHECK(kinds(warnings_of_results(results)) == "lost(verbose)");
  results.session.file = "saved.json";
  CHECK(kinds(warnings_of_results(results)) == "lost");
}

namespace {

/// Commands whose runs took 10 ms, with these shares of their time on P, and cycles by kind.
struct Wandering {
  Plan plan;
  MadeSession session;

  explicit Wandering(const std::vector<double>& shares) {
    CorePlan cores;
    cores.timed_kinds = {"P", "E"};
    Options options;
    for (std::size_t c = 0; c < shares.size(); ++c)
      options.commands.command_lines.emplace_back(1, static_cast<char>('a' + c));
    const auto select = [](const EventRequest&) -> Result<EventSet> {
      EventSet set;
      set.events = {{.name = "cycles", .meaning = "", .role = Role::Cycles},
                    {.name = "cycles (P)",
                     .meaning = "",
                     .index_for_all_core_kinds = 0,
                     .role = Role::Cycles},
                    {.name = "cycles (E)",
                     .meaning = "",
                     .index_for_all_core_kinds = 0,
                     .role = Role::Cycles}};
      set.passes = {{{0, 1, 2}}};
      return set;
    };
    plan = *make_plan(options, select, {.clock_seed = 1, .cores = cores});
    for (std::uint32_t round = 0; round < 12; ++round)
      for (std::uint32_t c = 0; c < shares.size(); ++c) add(round, c, shares[c]);
  }

  void add(std::uint32_t round, std::uint32_t command, double share) {
    RunRecord run;
    run.step = {command, round, 0, RoundKind::Timed};
    run.outcome = Exited{0};
    run.usage.wall_ns = 10'000'000;
    const auto p = static_cast<std::uint64_t>(1000 * share);
    run.counts = {1000, p, 1000 - p, p * 10, (1000 - p) * 10};
    session.runs.push_back(run);
  }

  std::vector<Warning> warnings() const { return analyse(plan, session, {}).warnings; }
};

template <typename Kind>
std::vector<Warning> of_kind(const std::vector<Warning>& all) {
  std::vector<Warning> found;
  for (const Warning& warning : all)
    if (std::holds_alternative<Kind>(warning.finding)) found.push_back(warning);
  return found;
}

}  // namespace

TEST_CASE("shares that differ by more than five points from the reference's are warned of, once") {
  const auto found = of_kind<DifferentCoreShares>(Wandering({0.95, 0.88, 0.4}).warnings());
  REQUIRE(found.size() == 1);
  CHECK(found[0].command == 2U);
  const auto& seen = std::get<DifferentCoreShares>(found[0].finding);
  CHECK(seen.metric == "p_share");
  CHECK(seen.candidate_share == doctest::Approx(0.4));
  CHECK(seen.reference_share == doctest::Approx(0.95));
  REQUIRE(seen.cycles.size() == 2);
  CHECK(seen.cycles[0].event == "cycles (P)");
  CHECK(seen.cycles[0].candidate == 400);
  CHECK(seen.cycles[1].reference == 50);
}

TEST_CASE("shares that vary more than they differ are no finding") {
  Wandering it({0.6, 0.6});
  it.session.runs.clear();
  for (std::uint32_t round = 0; round < 12; ++round) {
    it.add(round, 0, round % 2 == 0 ? 0.1 : 0.9);
    it.add(round, 1, round % 3 == 0 ? 0.1 : 0.9);
  }
  CHECK(of_kind<DifferentCoreShares>(it.warnings()).empty());
}

TEST_CASE("shares within five points of each other are one machine's noise") {
  CHECK(of_kind<DifferentCoreShares>(Wandering({0.95, 0.901}).warnings()).empty());
  CHECK(of_kind<DifferentCoreShares>(Wandering({0.2}).warnings()).empty());
}

TEST_CASE("runs below the least share are reported, and repeated ones are counted") {
  Wandering it({0.9, 0.5});
  it.plan.cores.min_share_on_first_kind = 0.8;
  it.session.redone_runs.push_back({it.session.runs[1], RedoReason::Counting, "because"});
  it.session.redone_runs.push_back({it.session.runs[1], RedoReason::Counting, "because"});
  const Results results = analyse(it.plan, it.session, {});
  CHECK(results.commands[0].discarded_runs == 0);
  CHECK(results.commands[1].discarded_runs == 2);
  CHECK(results.commands[1].runs == 12);
  const auto found = of_kind<LowCoreShare>(results.warnings);
  REQUIRE(found.size() == 1);
  CHECK(found[0].command == 1U);
  CHECK(std::get<LowCoreShare>(found[0].finding).runs_below_min_share == 12);
}

namespace {

/// A plan that counts one event of one command, with a counter that may not be able to count it.
Plan counting_plan() {
  Plan plan;
  plan.commands.push_back({"a", "./a", {"./a"}});
  Event event;
  event.name = "inst_all";
  event.zero_is_doubtful = true;
  plan.setting.events.events.push_back(event);
  plan.setting.events.passes.push_back({{0}});
  Metric metric;
  metric.name = "inst_all";
  metric.source = CountedEvent{0};
  metric.event = 0;
  plan.metrics.push_back(metric);
  return plan;
}

MadeSession session_of(const std::vector<std::uint64_t>& counts,
                       const std::vector<double>& coverage) {
  MadeSession session;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    RunRecord run;
    run.step.round = static_cast<std::uint32_t>(i);
    run.outcome = Exited{0};
    run.counts = {counts[i]};
    if (i < coverage.size()) run.instruction_coverage = coverage[i];
    session.runs.push_back(run);
  }
  return session;
}

Results analysed(const MadeSession& session, const Plan& plan = counting_plan()) {
  return analyse(plan, session, {}, TimerResolutions{}, Circumstances{});
}

}  // namespace

TEST_CASE("a median coverage under 98% is warned of with its figure") {
  const MadeSession session = session_of({5, 5, 5}, {0.99, 0.93, 0.96});
  const Results low = analysed(session);
  const auto found = of_kind<LowCoverage>(low.warnings);
  REQUIRE(found.size() == 1);
  CHECK(std::get<LowCoverage>(found[0].finding).median == doctest::Approx(0.96));
  CHECK(low.commands[0].coverage == doctest::Approx(0.96));
  CHECK(low.session.runs.row(1).instruction_coverage == doctest::Approx(0.93));
  CHECK(of_kind<LowCoverage>(analysed(session_of({5, 5, 5}, {0.97, 0.98, 0.99})).warnings).empty());
  const Results unknown = analysed(session_of({5, 5, 5}, {}));
  CHECK(of_kind<LowCoverage>(unknown.warnings).empty());
  CHECK_FALSE(unknown.commands[0].coverage.has_value());
}

TEST_CASE("an event that is 0 in every run, while instructions are not, is doubted") {
  const Results never = analysed(session_of({0, 0, 0}, {1.0, 1.0, 1.0}));
  CHECK(never.commands[0].rows[0].is_probably_uncounted);
  CHECK_FALSE(never.commands[0].rows[0].summary.has_value());
  const auto found = of_kind<NeverCounted>(never.warnings);
  REQUIRE(found.size() == 1);
  CHECK(std::get<NeverCounted>(found[0].finding).event == "inst_all");

  CHECK_FALSE(
      analysed(session_of({0, 1, 0}, {1.0, 1.0, 1.0})).commands[0].rows[0].is_probably_uncounted);
  CHECK_FALSE(analysed(session_of({0, 0, 0}, {})).commands[0].rows[0].is_probably_uncounted);
  Plan sure = counting_plan();
  sure.setting.events.events[0].zero_is_doubtful = false;
  const Results zero = analysed(session_of({0, 0, 0}, {1.0, 1.0, 1.0}), sure);
  CHECK(zero.commands[0].rows[0].summary.has_value());
}

namespace {

/// Two commands, run one after the other, of which only the simulated instructions are shown. The
/// candidate executes one more instruction in each of its runs, and `varying` more in the last.
Results exact_results(std::uint64_t varying, std::uint32_t timed_rounds) {
  Plan plan = plan_of_wall_time(2);
  plan.setting.order = Order::Sequential;
  plan.setting.stop.exact_runs = timed_rounds;
  plan.setting.events.events = {{"instructions", "", false, true}};
  plan.setting.events.passes = {Pass{}, Pass{{0}, RoundKind::Simulated}};
  plan.metrics = make_metrics(plan.setting.events, MetricSelection::Default, true);
  for (Metric& metric : plan.metrics)
    if (metric.name != "instructions") metric.shown = Shown::Verbose;
  MadeSession session = session_of(plan, timed_rounds);
  for (std::uint32_t round = 0; round < 3; ++round) {
    for (std::uint32_t c = 0; c < 2; ++c) {
      RunRecord run;
      run.step = {c, round, 1, RoundKind::Simulated};
      run.outcome = Exited{0};
      run.counts = {1000 + c + (c == 1 && round == 2 ? varying : 0)};
      session.runs.push_back(run);
    }
  }
  return analyse(plan, std::move(session), {}, {1ns, 4ms});
}

}  // namespace

TEST_CASE("exact counts have no warnings about few runs or the order of the runs") {
  const Results exact = exact_results(0, 1);
  const auto metric = find_metric(exact.session.metrics, "instructions");
  REQUIRE(metric);
  CHECK(exact.commands[1].rows[*metric].delta.value().is_exact);
  CHECK(kinds(exact.warnings).empty());
  const Results varying = exact_results(7, 1);
  CHECK_FALSE(varying.commands[1].rows[*metric].delta.value().is_exact);
  CHECK(kinds(varying.warnings) == "few sequential");
}

TEST_CASE("warnings about wall time are for --verbose if wall time is not shown") {
  Plan plan = plan_of_wall_time(1);
  CHECK(kinds(warnings_of(plan, session_of(plan, 12, 99us), {1us, 0ms})) == "clock");
  for (Metric& metric : plan.metrics)
    if (metric.role == Role::WallTime) metric.shown = Shown::Verbose;
  CHECK(kinds(warnings_of(plan, session_of(plan, 12, 99us), {1us, 0ms})) == "clock(verbose)");
}

TEST_CASE("equal times are not exact, nor is a verdict about them") {
  Plan plan = plan_of_wall_time(2);
  plan.gates = fakes::gates_of(plan, {{"wall_time", GateLimit::of_change(5.0)}});
  const MadeSession session = session_of(plan, 12);
  const Results results = analyse(plan, session, findings_of(plan, session));
  const auto wall = find_metric(results.session.metrics, Role::WallTime);
  REQUIRE(results.commands[1].rows[*wall].delta);
  CHECK(results.commands[1].rows[*wall].delta->change == 0.0);
  CHECK_FALSE(results.commands[1].rows[*wall].delta->is_exact);
  CHECK_FALSE(results.findings.verdicts.at(0).delta.is_exact);
}

}  // namespace lauka
