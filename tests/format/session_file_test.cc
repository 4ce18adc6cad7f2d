#include "core/choices.h"
#include "fakes/analysed.h"
#include "fakes/change_runs.h"
#include "format/json.h"
#include "notes.h"
#include "plan/rows.h"
#include "report/example.h"
#include "report/exports.h"
#include "report/html.h"
#include "results/analyse.h"
#include "results/results.h"
#include "session/baseline.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

// A session is data: what --export-json wrote is read back, and all that is made of it is the same.

namespace lauka::report {
namespace {

/// A run with unique numbers that take all digits.
RunRecord run_of(std::uint32_t command, std::uint32_t round, RoundKind kind = RoundKind::Timed) {
  RunRecord run;
  run.step = {command, round, 0, kind};
  run.outcome = Exited{0};
  const std::uint64_t odd = 1'234'567ULL * (1 + (round * 7 + command * 3) % 11);
  run.usage.wall_ns = 100'000'003 + odd + 9'000'001ULL * command;
  run.usage.user_ns = 70'000'007 + odd / 3;
  run.usage.system_ns = 3'333'333 + odd / 7;
  run.usage.peak_rss_bytes = 4096 * (1000 + round);
  run.usage.minor_faults = 100 + round;
  run.usage.voluntary_switches = command;
  return run;
}

/// Two commands that take turns for `rounds`.
struct Case {
  Plan plan{};
  MadeSession session{};
  gate::Findings findings{};
  Circumstances circumstances{
      "1.2.3",
      std::chrono::sys_days(std::chrono::year(2024) / 2 / 29) + std::chrono::seconds(86399),
      {"host", "Linux", "Debian", "6.1", "x86_64", "CPU \"9000\"", 8}};

  explicit Case(std::uint32_t rounds) {
    plan.commands = {{.name = "old", .text = "./old -x", .words = {"./old", "-x"}},
                     {.name = "neu ⚡", .text = "./new", .words = {"./new"}}};
    plan.setting.seed = 18'446'744'073'709'551'615U;
    plan.metrics = make_metrics({}, MetricSelection::Default, false);
    for (std::uint32_t round = 0; round < rounds; ++round)
      for (std::uint32_t c = 0; c < 2; ++c) session.runs.push_back(run_of(c, round));
  }

  Results results() const {
    using std::chrono::milliseconds;
    return analyse(plan, session, findings, {milliseconds(1), milliseconds(10)}, circumstances);
  }
};

SessionFromFile read_again(const Results& results) {
  auto read = read_sessions(written(write_json, results));
  if (!read) FAIL(read.error().line());
  return std::move(read->benchmarks.front());
}

Results read_back(const Results& results) {
  SessionFromFile read = read_again(results);
  return analyse(std::move(read.recording), std::move(read.findings));
}

/// Returns the first difference of two texts; empty if they are equal.
std::string first_difference(const std::string& a, const std::string& b) {
  if (a == b) return "";
  const auto parted = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto at = static_cast<std::size_t>(parted.first - a.begin());
  const std::size_t from = at < 60 ? 0 : at - 60;
  return a.substr(from, 120) + "\n <> \n" + b.substr(from, 120);
}

/// Reads `results` back, and compares all that is made of both.
void check_same(const Results& results) {
  const Results again = read_back(results);
  for (const Exporter write :
       {&write_json, &write_summary_csv, &write_runs_csv, &write_markdown, &write_html})
    CHECK(first_difference(written(write, again), written(write, results)) == "");
  for (const bool verbose : {false, true}) {
    const Style style{.verbose = verbose, .shows_histograms = true};
    CHECK(first_difference(screen(again, style, false), screen(results, style, false)) == "");
  }
  CHECK(again.warnings.size() == results.warnings.size());
}

}  // namespace

TEST_CASE("a session that is written and read back gives the same of everything") {
  const Case plain(12);
  check_same(plain.results());
  CHECK(plain.results().commands[1].rows[0].delta.has_value());
  Case in_milliseconds(3);
  in_milliseconds.plan.metrics[0].shown_in = find_display_unit("ms");
  in_milliseconds.plan.metrics[4].shown = Shown::Verbose;
  check_same(in_milliseconds.results());
}

TEST_CASE("failures, bounds, parameters, a shell and hooks are read back as they were") {
  Case it(15);
  it.plan.ignore_failure.emplace();
  it.plan.setting.order = Order::Sequential;
  it.plan.setting.order_for_hooks = true;
  it.plan.setting.stop.exact_runs = 15;
  it.plan.shell = Shell{{"bash", "--norc", "it's"}};
  it.plan.setting.until = "ready (\\d+)";
  it.plan.setting.jobs = 3;
  it.plan.setting.measures_region = true;
  it.plan.commands[0].folder = "build";
  it.plan.commands[0].expected = ExpectedOutput{};
  it.plan.commands[1].expected = ExpectedOutput{ExpectedOutput::Kind::Hash, "ab"};
  it.plan.commands[0].parameters = {{"size", "4"}, {"mode", "fast, \"1\""}};
  it.plan.commands[1].parameters = {{"size", "8"}};
  it.plan.commands[0].unfilled_name = it.plan.commands[1].unfilled_name = "./x {size}";
  it.plan.reference = pair_by_parameters(it.plan.commands, 0);
  it.session.overheads = {{1'000'001, 2, 3}, {999'999, 0, 7}};
  change(it.session.runs, 2, [](RunRecord& run) { run.outcome = Exited{3}; });
  change(it.session.runs, 4, [](RunRecord& run) { run.outcome = Signalled{11}; });
  change(it.session.runs, 5, [](RunRecord& run) { run.outcome = TimedOut{}; });
  change(it.session.runs, 6, [](RunRecord& run) { run.details.below_overhead = true; });
  it.session.notes = {{"orphans", "a note"}, {"", "another"}};
  it.session.counter_loss_files = {CounterLossFile{CounterLoss::Unreadable, "./old", true},
                                   std::nullopt};
  it.circumstances.machine.allowance = Allowance{{0, 2}, 0.5, 1'000'000};
  it.circumstances.throttling = QuotaWait{12, 5, 7'000'000};
  change(it.session.runs, [&](RunRecord& run) {
    if (run.step.command == 1) run.usage.peak_rss_floor_bytes = 4096 * 1010;
  });
  const Results results = it.results();
  REQUIRE(results.commands[0].endings.failed_runs() == 2);
  REQUIRE(results.commands[1].rows[4].largest_bound_of_runs.has_value());
  check_same(results);
}

TEST_CASE("a session that was cut short, and one without a run, stay what they are") {
  Case it(4);
  it.session.cut_short = Interrupted{2};
  check_same(it.results());
  it.session.runs.clear();
  check_same(it.results());
}

TEST_CASE("a session that its gates ended is read back as one, so that it promises nothing") {
  Case it(12);
  REQUIRE(it.results().commands[1].rows[0].detectable.has_value());
  CHECK_FALSE(read_again(it.results()).recording.ended_by_gates);

  it.session.ended_by_gates = true;
  CHECK_FALSE(it.results().commands[1].rows[0].detectable.has_value());
  CHECK(read_again(it.results()).recording.ended_by_gates);
  check_same(it.results());
}

TEST_CASE("counts, passes, kinds of core and runs that were run again are read back") {
  Case it(10);
  it.plan.setting.events.events = {
      {.name = "cpu-cycles", .meaning = "perf cycles", .role = Role::Cycles},
      {.name = "instructions", .meaning = "perf", .role = Role::Instructions},
      {.name = "fp_ops", .meaning = "FP", .zero_is_doubtful = true},
      {.name = "cpu-cycles (P)",
       .meaning = "P",
       .index_for_all_core_kinds = 0,
       .role = Role::Cycles},
      {.name = "p_time", .meaning = "P", .is_time = true, .role = Role::CoreTime, .core_kind = "P"},
      {.name = "e_time",
       .meaning = "E",
       .is_time = true,
       .role = Role::CoreTime,
       .core_kind = "E"}};
  it.plan.setting.events.passes = {{{4, 5}}, {{0, 1, 2, 3}, RoundKind::Counting}};
  it.plan.metrics = make_metrics(it.plan.setting.events, MetricSelection::All, true);
  it.plan.cores.min_share_on_first_kind = 0.75;
  std::uint64_t odd = 1;
  change(it.session.runs, [&](RunRecord& run) {
    odd = odd * 6'364'136'223'846'793'005U + 1;
    run.counts = {9'000'000 + (odd >> 44U), (run.step.command == 0 ? 100U : 9'000'000U)};
  });
  for (std::uint32_t round = 0; round < 5; ++round) {
    for (std::uint32_t c = 0; c < 2; ++c) {
      RunRecord run = run_of(c, round, RoundKind::Counting);
      run.step.pass = 1;
      run.usage.wall_ns *= 2;
      run.counts = {30'000'000 + round, 70'000'001 + c, 0, 20'000'000};
      run.own_process_counts = {29'000'000 + round, std::nullopt, std::nullopt, std::nullopt};
      run.instruction_coverage = 0.9 + 0.01 * round;
      it.session.runs.push_back(run);
    }
  }
  it.session.redone_runs.push_back(
      {it.session.runs[3], RedoReason::Counting, "the trace lost records"});
  const Results results = it.results();
  REQUIRE(results.commands[0].counting_slowdown.value_or(0.0) > 1.5);
  REQUIRE(results.commands[1].discarded_runs == 1);
  REQUIRE(find_metric(results.session.metrics, Role::Ipc).has_value());
  REQUIRE(results.commands[0]
              .rows[*find_metric(results.session.metrics, "fp_ops")]
              .is_probably_uncounted);
  check_same(results);
  const auto again = read_back(results);
  CHECK(again.session.metrics[*find_metric(again.session.metrics, Role::Cycles)].name ==
        "cpu-cycles");
}

TEST_CASE("a note of a later lauka keeps its kind, unless that is no name") {
  Case it(3);
  it.session.notes = {{"seen_in_2040", "new"}, {"", "unnamed"}, {"Not a name", "wrong"}};
  const std::vector<Note> notes = read_back(it.results()).session.notes;
  CHECK(kinds_of(notes) == std::vector<std::string>{"seen_in_2040", "", ""});
  CHECK(texts_of(notes) == std::vector<std::string>{"new", "unnamed", "wrong"});
  check_same(read_back(it.results()));
}

TEST_CASE("percentiles are read back with the values that they are made of") {
  Case it(40);
  Metric tail = it.plan.metrics[0];
  tail.percentile = Percentile{tail.name, 0.9};
  tail.name = "wall_time.p90";
  tail.role = Role::Other;
  it.plan.metrics.insert(it.plan.metrics.begin() + 1, tail);
  tail.percentile->share = 0.99;
  tail.name = "wall_time.p99";
  it.plan.metrics.insert(it.plan.metrics.begin() + 2, tail);
  const Results results = it.results();
  REQUIRE(results.commands[1].rows[1].quantile.has_value());
  REQUIRE(results.commands[1].rows[1].delta.has_value());
  CHECK(results.commands[1].rows[1].delta->basis == stats::Basis::Quantile);
  CHECK_FALSE(results.commands[1].rows[2].quantile.has_value());
  CHECK_FALSE(results.commands[1].rows[2].delta.has_value());
  CHECK(results.commands[1].rows[2].runs_needed_for_percentile == 368);
  check_same(results);
  Case later(40);
  later.plan.metrics = it.plan.metrics;
  const SessionFromFile read = read_again(Case(40).results());  // without percentiles
  REQUIRE(use_baseline(later.plan, "b.json", std::make_shared<Recording>(read.recording)));
  CHECK(later.results().commands[1].rows[1].delta.has_value());
  check_same(later.results());
}

TEST_CASE("findings of gates and a precision are read back, not made again") {
  Case it(20);
  gate::Verdict verdict;
  verdict.condition = {"wall_time", GateLimit::of_change(10.0)};
  verdict.candidate = 1;
  verdict.answer = gate::Answer::Inconclusive;
  verdict.delta.change = 1.0 / 3.0;
  verdict.delta.bounds = {0.1, 0.7};
  verdict.delta.basis = stats::Basis::Typical;
  verdict.delta.change_of_mean = {0.29, stats::IntervalEnds{-0.07, 0.57}};
  verdict.delta.mean_and_typical_differ = true;
  verdict.delta.widening = 2.25;
  verdict.rounds = 19;
  verdict.estimated_rounds_without_gates = 250;
  verdict.p_value_of_fail = 0.07;
  verdict.spendable_error = 0.01;
  verdict.rounds_factor = 1.7;
  verdict.look = 3;
  gate::Verdict bounded = verdict;
  bounded.condition = {"peak_rss", GateLimit::of_value(3e6, "3MB", Unit::Bytes), true};
  bounded.metric = 4;
  bounded.answer = gate::Answer::Fail;
  bounded.decided_by = gate::DecidedBy::Both;
  gate::Verdict small;
  small.condition = {"peak_rss", GateLimit::of_change(5.0)};
  small.metric = 4;
  small.candidate = 1;
  small.hindrance = {
      gate::Obstacle::UpperBounds, gate::Side::Reference, {{SettingKind::Jobs, "1", "2"}}};
  gate::Verdict accepted = verdict;
  accepted.condition = {.metric = "wall_time",
                        .limit = GateLimit::of_change(12.0),
                        .acceptance = Acceptance{.own_limit = GateLimit::of_change(10.0),
                                                 .reason = "new parser",
                                                 .last_day = "2027-03-01",
                                                 .entry = "a.toml:3"}};
  it.findings.verdicts = {verdict, bounded, small, accepted};
  it.findings.gated_metric_tails = {{0, {0.005, 0.025}}, {4, {0.01, 0.03}}};
  it.findings.precision = Precision{.wanted_half_width = 0.007,
                                    .half_width = 0.0123,
                                    .fewest_values_of_command = 20,
                                    .end = PrecisionEnd::Duration,
                                    .metric = "cpu_time"};
  check_same(it.results());
  Case ungated(20);
  const Results plain = ungated.results();
  CHECK_MESSAGE(it.results().commands[1].rows[0].delta->bounds->low !=
                    plain.commands[1].rows[0].delta->bounds->low,
                "the intervals of a gated metric are its own");
}

TEST_CASE("a session that was compared with a baseline is read back with the baseline's values") {
  Case before(9);
  const Results earlier = before.results();
  SessionFromFile read = read_again(earlier);
  Case it(7);
  change(it.session.runs, [&](RunRecord& run) { run.usage.wall_ns += 5'000'000; });
  const auto session = std::make_shared<Recording>(std::move(read.recording));
  REQUIRE(use_baseline(it.plan, "b.json", session));
  const Results results = it.results();
  REQUIRE(results.commands[0].rows[0].delta.has_value());
  CHECK_FALSE(results.are_all_deltas_paired);
  check_same(results);
}

}  // namespace lauka::report
