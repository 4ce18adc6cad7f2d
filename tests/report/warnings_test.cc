#include "report/warnings.h"

#include "report/example.h"

#include <string>

#include <doctest/doctest.h>

namespace lauka::report {

namespace {

constexpr Style kPlain{};

/// One command, "one"; or "one" and "two" with a delta.
Results results_of(std::size_t commands) {
  Results results;
  results.metrics = {metric("wall_time", Unit::Seconds)};
  results.commands.push_back(command("one", 20, {row(0, summary(20, 1, 0.1, 0.9, 1.1))}));
  if (commands == 1) return results;
  results.commands.push_back(command("two", 20, {row(0, summary(20, 1, 0.1, 0.9, 1.1))}));
  results.rankings = {{1, 1.0, 0.01, true, false}};
  return results;
}

std::string line_of(Results results, const Warning& warning) {
  results.warnings = {warning};
  return warning_lines(results, kPlain);
}

std::string line_of(const Finding& finding) {
  return line_of(results_of(1), {finding, 0U});
}

}  // namespace

TEST_CASE("no warning, no text") {
  CHECK(warning_lines(results_of(2), kPlain).empty());
}

TEST_CASE("a slow first run without a warm-up asks for one, with one for more") {
  CHECK(line_of(SlowFirstRun{{0.0042, 0.002, true}, 0}) ==
        "lauka: warning: 'one': the first run took 2.1 times the median of the rest (4.20ms, "
        "2.00ms); use --warmup 1, unless cold starts are what you measure\n");
  CHECK(line_of(SlowFirstRun{{1.061, 1.0, true}, 2}) ==
        "lauka: warning: 'one': the first run took 1.06 times the median of the rest (1.06s, "
        "1.00s); if that happens again, raise --warmup above 2\n");
  CHECK(line_of(SlowFirstRun{{0.001, 0.0, true}, 0}) ==
        "lauka: warning: 'one': the first run took more than the median of the rest (1.00ms, 0s); "
        "use --warmup 1, unless cold starts are what you measure\n");
}

TEST_CASE("outliers are counted") {
  CHECK(line_of(ManyOutliers{{5, 5.0 / 60.0, true}, 60}) ==
        "lauka: warning: 'one': 5 of 60 runs (8%) took far longer or shorter than the rest; other "
        "programs may have been running: stop them, or go by cpu_time, which suffers less\n");
}

TEST_CASE("two modes are shown with both means") {
  CHECK(line_of(stats::TwoModes{0.0012, 0.0015, 6.0, 0.3, true}) ==
        "lauka: warning: 'one': runs are of two kinds, of about 1.20ms and 1.50ms; the rarer are "
        "30% of them; the mean stands for neither: look for kinds of core or clock frequencies, or "
        "at the single runs with --export-runs\n");
}

TEST_CASE("drift and slow noise say what becomes of deltas") {
  const stats::Drift drift{0.9, 0.0534, true};
  const stats::SlowNoise noise{0.618, true};
  const std::string drift_line =
      "lauka: warning: 'one': wall time rose by 5.3% from the first third of the runs to the last; "
      "let the machine cool down or finish its other work";
  const std::string noise_line =
      "lauka: warning: 'one': runs are like their neighbours (correlation 0.62): wall time comes "
      "in slow waves; the mean will not repeat within its ±: measure longer with --duration";
  const std::string hold = "; deltas, taken within rounds, hold\n";
  const std::string suffer = "; --order random keeps it out of deltas\n";
  CHECK(line_of(drift) == drift_line + "\n");
  CHECK(line_of(noise) == noise_line + "\n");
  Results results = results_of(2);
  CHECK(line_of(results, {drift, 0U}) == drift_line + hold);
  CHECK(line_of(results, {noise, 0U}) == noise_line + hold);
  results.paired = false;
  CHECK(line_of(results, {drift, 0U}) == drift_line + suffer);
  CHECK(line_of(results, {noise, 0U}) == noise_line + suffer);
  CHECK(line_of(stats::Drift{-0.9, -0.021, true}) ==
        "lauka: warning: 'one': wall time fell by 2.1% from the first third of the runs to the "
        "last; raise --warmup, or let the machine finish its other work\n");
}

TEST_CASE("what the clocks cannot tell apart") {
  CHECK(line_of(CoarseClock{54e-6, 1e-6}) ==
        "lauka: warning: 'one': a run takes 54.0µs, and the clock here steps by 1.00µs; give it "
        "more work in one run\n");
  CHECK(line_of(UncertainSplit{0.0012, 0.004}) ==
        "lauka: warning: 'one': user_time and system_time are guesses: 1.20ms of CPU time is less "
        "than 10 ticks of 4.00ms; go by cpu_time, their sum, which is exact\n");
}

TEST_CASE("too few runs name the option that allows more") {
  const Results results = results_of(2);
  CHECK(line_of(results, {FewRuns{3, false, FewBecause::Runs}}) ==
        "lauka: warning: 3 runs of a command say little about a delta; use --runs 10 or more\n");
  CHECK(line_of(results, {FewRuns{1, false, FewBecause::MaxRuns}}) ==
        "lauka: warning: 1 run of a command says little about a delta; use --max-runs 10 or "
        "more\n");
  CHECK(line_of(results, {FewRuns{7, true, FewBecause::MinRuns}}) ==
        "lauka: warning: with 7 rounds a gate can decide about large changes only; use --min-runs "
        "10 or more\n");
  CHECK(line_of(results, {FewRuns{1, true, FewBecause::Ended}}) ==
        "lauka: warning: with 1 round a gate can decide about large changes only; let it run to "
        "its end\n");
}

TEST_CASE("a sequential order") {
  const Results results = results_of(2);
  CHECK(line_of(results, {SequentialRuns{false}}) ==
        "lauka: warning: the order was sequential, so deltas carry the machine's drift; --order "
        "random compares within rounds\n");
  CHECK(
      line_of(results, {SequentialRuns{false, true}}) ==
      "lauka: warning: the order was sequential, as one command's --setup or --cleanup may undo "
      "another's, so deltas carry the machine's drift; --order random is better where they do not "
      "disturb each other\n");
  CHECK(line_of(results, {SequentialRuns{true}}) ==
        "lauka: warning: the order was sequential, so deltas carry the machine's drift and gates "
        "fail by chance more often than the confidence says; --order random compares within "
        "rounds\n");
  CHECK(line_of(results, {SequentialRuns{true, true}}) ==
        "lauka: warning: the order was sequential, as one command's --setup or --cleanup may undo "
        "another's, so deltas carry the machine's drift and gates fail by chance more often than "
        "the confidence says, and look once; --order random is better where they do not disturb "
        "each other\n");
}

TEST_CASE("advice that two lines would give is given once, below both") {
  Results results = results_of(2);
  results.warnings = {{CoarseClock{54e-6, 1e-6}, 0U}, {CoarseClock{55e-6, 1e-6}, 1U}};
  CHECK(warning_lines(results, kPlain) ==
        "lauka: warning: 'one': a run takes 54.0µs, and the clock here steps by 1.00µs\n"
        "lauka: warning: 'two': a run takes 55.0µs, and the clock here steps by 1.00µs; give it "
        "more work in one run\n");
}

TEST_CASE("commands of one name are told apart by their places") {
  Results results = results_of(2);
  results.commands[1].name = "one";
  CHECK(line_of(results, {CoarseClock{54e-6, 1e-6}, 1U}) ==
        "lauka: warning: benchmark 2, 'one': a run takes 54.0µs, and the clock here steps by "
        "1.00µs; give it more work in one run\n");
}

TEST_CASE("warnings of hidden rows are for --verbose and for programs") {
  Results results = results_of(1);
  results.warnings = {{UncertainSplit{0.0012, 0.004}, 0U, Shown::Verbose}};
  CHECK(warning_lines(results, kPlain).empty());
  CHECK_FALSE(warning_lines(results, Style{.verbose = true}).empty());
  const auto all = worded_warnings(results);
  REQUIRE(all.size() == 1);
  CHECK(all[0].kind == "uncertain_split");
  CHECK(all[0].command == 0U);
  CHECK(all[0].text ==
        "user_time and system_time are guesses: 1.20ms of CPU time is less than 10 ticks of "
        "4.00ms");
  CHECK(all[0].advice == "go by cpu_time, their sum, which is exact");
}

TEST_CASE("other cores are told with both shares and the cycles by kind") {
  const OtherCores seen{
      "p_share", 0.4, 0.955, {{"cycles (P)", 3.1e9, 5e9}, {"cycles (E)", 2e8, 1e7}}};
  CHECK(line_of(results_of(2), {seen, 1U}) ==
        "lauka: warning: 'two': p_share is 40.0%, that of the reference 95.5%: the delta of times "
        "is not one of code alone, cycles (P) 3.10G against 5.00G, cycles (E) 200M against 10.0M; "
        "--cores p or e keeps all on one kind of core\n");
}

TEST_CASE("runs that kept too small a share on P are told with the limit") {
  CHECK(line_of(LowShare{"p_share", 0.9, 2, 10}) ==
        "lauka: warning: 'one': 2 of 10 runs kept a p_share below 90.0%, though run again; --cores "
        "p keeps runs on performance cores, or ask for less\n");
}

}  // namespace lauka::report
