#include "core/choices.h"
#include "report/example.h"
#include "report/screen.h"
#include "report/style.h"
#include "report/suite_screen.h"
#include "report/warning_lines.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::report {
namespace {

constexpr Style kPlain{};

/// One command, "one"; or "one" and "two" with a delta.
Results results_of(std::size_t commands) {
  Results results;
  results.session.metrics = {metric("wall_time", Unit::Seconds)};
  add_command(command("one", 20, {row(0, summary(20, 1, 0.1, 0.9, 1.1))}), results);
  if (commands == 1) return results;
  add_command(command("two", 20, {row(0, summary(20, 1, 0.1, 0.9, 1.1))}), results);
  results.headline_comparisons = {ranked(1, 1.0, 0.01, true, false)};
  return results;
}

std::string warning_lines(const Results& results, const Style& style) {
  std::string lines;
  for (const std::string& text : warning_texts(results, style))
    lines += wrapped_message("warning: " + text, style.width);
  return lines;
}

std::string line_of(Results results, const Warning& warning) {
  results.warnings = {warning};
  return warning_lines(results, kPlain);
}

std::string line_of(const WarningFacts& finding) {
  return line_of(results_of(1), {finding, 0U});
}

}  // namespace

TEST_CASE("a slow first run without a warm-up asks for one, with one for more") {
  CHECK(line_of(SlowFirstRun{{0.0042, 0.002, true}, 0}) ==
        "lauka: warning: 'one': the first run took 2.1 times the median of the other runs (4.20ms "
        "instead of 2.00ms); use --warmup 1, unless you want to measure cold starts\n");
  check_order(line_of(SlowFirstRun{{1.061, 1.0, true}, 2}),
              {"1.06 times", "(1.06s instead of 1.00s)", "--warmup 3"});
  const std::string after_none = line_of(SlowFirstRun{{0.001, 0.0, true}, 0});
  CHECK(has(after_none, "(1.00ms instead of 0s)"));
  CHECK_FALSE(has(after_none, " times "));
  CHECK(has(line_of(SlowFirstRun{{0.0042, 0.002, true}, 0, true}), "from the disk"));
}

TEST_CASE("outliers are counted") {
  CHECK(line_of(ManyOutliers{5, 60}) ==
        "lauka: warning: 'one': 5 of 60 runs (8%) took far more or far less time than the rest; "
        "stop other programs that may be running, or compare cpu_time, which suffers less\n");
}

TEST_CASE("two modes are shown with both means") {
  CHECK(line_of(stats::TwoModes{0.0012, 0.0015, 6.0, 0.3, true}) ==
        "lauka: warning: 'one': the runs fall into two groups, around 1.20ms and 1.50ms, and the "
        "smaller group has 30% of them; the mean describes neither group, so look for cores of "
        "different kinds or clock speeds, or look at single runs with --export-runs\n");
}

TEST_CASE("drift and slow noise say what becomes of deltas") {
  const stats::Drift drift{0.9, 0.0534, true};
  const stats::SlowNoise noise{0.618, true};
  const std::string drift_line =
      "lauka: warning: 'one': wall time rose by 5.3% from the first third of the runs to the last; "
      "check for overheating, for other programs, and for things that each run leaves behind";
  const std::string noise_line =
      "lauka: warning: 'one': consecutive runs resemble each other (r = 0.62); the mean of another "
      "session may differ by more than its ±, so measure longer with --duration";
  const std::string hold =
      "; deltas compare runs of the same round, so what both commands share cancels out\n";
  const std::string suffer = "; use --order random to keep this out of deltas\n";
  CHECK(line_of(drift) == drift_line + "\n");
  CHECK(line_of(noise) == noise_line + "\n");
  Results results = results_of(2);
  CHECK(line_of(results, {drift, 0U}) == drift_line + hold);
  CHECK(line_of(results, {noise, 0U}) == noise_line + hold);
  results.are_all_deltas_paired = false;
  CHECK(line_of(results, {drift, 0U}) == drift_line + suffer);
  CHECK(line_of(results, {noise, 0U}) == noise_line + suffer);
  check_order(line_of(stats::Drift{-0.9, -0.021, true}), {"fell by 2.1%", "--warmup"});
}

TEST_CASE("differences below the clocks' resolution") {
  CHECK(line_of(CoarseClock{54e-6, 1e-6}) ==
        "lauka: warning: 'one': a run takes 54.0µs, but the clock of this machine has a "
        "resolution of only 1.00µs; let each run do more work\n");
  CHECK(line_of(UncertainSplit{0.0012, 0.004}) ==
        "lauka: warning: 'one': user_time and system_time are estimates, because the CPU time of "
        "1.20ms is less than 10 clock ticks of 4.00ms; use cpu_time, their sum, which is exact\n");
}

TEST_CASE("too few runs name the option that allows more") {
  const Results results = results_of(2);
  CHECK(
      line_of(results, {FewRuns{3, false, FewRunsReason::Runs}}) ==
      "lauka: warning: 3 runs per command say little about a difference; use --runs 10 or more\n");
  CHECK(line_of(results, {FewRuns{1, false, FewRunsReason::MaxRuns}}) ==
        "lauka: warning: a single run gives no σ and no confidence interval; use --max-runs 10 or "
        "more\n");
  CHECK(line_of(results, {FewRuns{7, true, FewRunsReason::MinRuns}}) ==
        "lauka: warning: with 7 rounds, a gate can detect only large changes; use --min-runs 10 or "
        "more\n");
  CHECK(has(line_of(results, {FewRuns{1, true, FewRunsReason::Ended}}), "1 round, a gate"));
}

TEST_CASE("a sequential order") {
  const Results results = results_of(2);
  CHECK(line_of(results, {NotInterleaved{false}}) ==
        "lauka: warning: the commands were run one after the other, so deltas include any drift of "
        "the machine; use --order random to compare runs of the same round\n");
  CHECK(has(line_of(results, {NotInterleaved{false, true}}), "--setup or --cleanup"));
  const std::string gated = line_of(results, {NotInterleaved{true}});
  CHECK(has(gated, "--confidence"));
  CHECK_FALSE(has(gated, "--setup"));
  CHECK(line_of(results, {NotInterleaved{true, true}}) ==
        "lauka: warning: the commands were run one after the other because --setup or --cleanup of "
        "one may undo that of another, so deltas include any drift of the machine and gates fail "
        "by chance more often than --confidence says, and gates were judged only once; use --order "
        "random if the commands do not disturb each other\n");
}

TEST_CASE("warnings of one kind are one line for all commands they are about") {
  Results results = results_of(2);
  results.warnings = {
      {CoarseClock{54e-6, 1e-6}, 0U}, {ManyOutliers{5, 60}, 0U}, {CoarseClock{55e-6, 1e-6}, 1U}};
  const std::vector<std::string> lines = warning_texts(results, kPlain);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] ==
        "'one' (54.0µs) and 'two' (55.0µs): runs are too short for the clock of this machine, "
        "whose resolution is 1.00µs; let each run do more work");
  CHECK(lines[1].starts_with("'one': 5 of 60 runs"));
}

TEST_CASE("warnings of one kind are one line, though their words and remedies differ") {
  Results results = results_of(2);
  results.warnings = {{stats::Drift{0.9, 0.05, true}, 0U}, {stats::Drift{-0.9, -0.021, true}, 1U}};
  const std::vector<std::string> drifts = warning_texts(results, kPlain);
  REQUIRE(drifts.size() == 1);
  CHECK(drifts[0] ==
        "'one' (rose by 5.0%) and 'two' (fell by 2.1%): wall time changed from the first third of "
        "the runs to the last; check for a cold start (--warmup), for overheating, for other "
        "programs, and for things that each run leaves behind; deltas compare runs of the same "
        "round, so what both commands share cancels out");

  stats::Delta delta;
  static_cast<stats::Change&>(delta) = {0.002, stats::IntervalEnds{-0.002, 0.006}};
  delta.change_of_mean = {0.2, stats::IntervalEnds{0.1, 0.3}};
  results.warnings = {{MeanDiffers{"wall_time", delta, true}, 1U},
                      {MeanDiffers{"cpu_time", delta, false}, 1U}};
  const std::vector<std::string> means = warning_texts(results, kPlain);
  REQUIRE(means.size() == 1);
  CHECK(
      means[0].starts_with("'two' (wall_time: +20% ± 10% and +0.2% ± 0.4%; cpu_time: +20% ± 10% "
                           "and +0.2% ± 0.4%): the mean and the typical round changed"));

  results.warnings = {{NeverCounted{"cache-misses"}}, {NeverCounted{"branches"}}};
  const std::vector<std::string> events = warning_texts(results, kPlain);
  REQUIRE(events.size() == 1);
  CHECK(events[0].starts_with("cache-misses and branches: 0 in every run"));
}

TEST_CASE("warnings about two files are two lines") {
  Results results = results_of(2);
  results.warnings = {{OtherConditions{true, "a.json", {{SettingKind::Kernel, "5", "6"}}}},
                      {OtherConditions{true, "b.json", {{SettingKind::Kernel, "4", "6"}}}}};
  CHECK(warning_texts(results, kPlain).size() == 2);
}

TEST_CASE("of many commands a warning names the first ones") {
  Results results = results_of(2);
  for (const char* name : {"three", "four", "five", "six"})
    add_command(command(name, 20, {}), results);
  for (std::size_t c = 0; c < 6; ++c) results.warnings.push_back({stats::SlowNoise{0.5, true}, c});
  CHECK(
      warning_texts(results, kPlain)
          .at(0)
          .starts_with("'one' (r = 0.50), 'two' (r = 0.50), 'three' (r = 0.50), 'four' (r = 0.50), "
                       "'five' (r = 0.50) and 'six' (r = 0.50): "));
  add_command(command("seven", 20, {}), results);
  results.warnings.push_back({stats::SlowNoise{0.5, true}, 6U});
  CHECK(has(warning_texts(results, kPlain).at(0), "'five' (r = 0.50) and 2 more: "));
}

TEST_CASE("commands of one name are distinguished by their numbers") {
  Results results = results_of(2);
  results.session.commands[1].name = "one";
  const Warning of_second{CoarseClock{54e-6, 1e-6}, 1U};
  CHECK(line_of(results, of_second).starts_with("lauka: warning: benchmark 2, 'one': "));
  results.benchmark = "parse";
  CHECK(has(line_of(results, of_second), "command 2, 'one': "));
}

TEST_CASE("warnings show times in the unit of --time-unit, but a clock's resolution in its own") {
  Results results = results_of(1);
  results.presentation.time_unit = find_display_unit("s");
  CHECK(has(line_of(results, {CoarseClock{54e-6, 1e-6}, 0U}), "0.0000540s"));
  CHECK(has(line_of(results, {CoarseClock{54e-6, 1e-6}, 0U}), "1.00µs"));
}

TEST_CASE("warnings of hidden rows are for --verbose and for programs") {
  Results results = results_of(1);
  results.warnings = {{UncertainSplit{0.0012, 0.004}, 0U, Shown::Verbose}};
  CHECK(warning_lines(results, kPlain).empty());
  CHECK_FALSE(warning_lines(results, Style{.verbose = true}).empty());
  const auto all = make_warning_texts(results);
  REQUIRE(all.size() == 1);
  CHECK(all[0].kind == "uncertain_split");
  CHECK(all[0].command_index == 0U);
  CHECK(line_of(results, results.warnings[0]).empty());
  CHECK(line_of(UncertainSplit{0.0012, 0.004}) ==
        "lauka: warning: 'one': " + all[0].text + "; " + all[0].advice + "\n");
}

TEST_CASE("other cores are reported with both shares and the cycles by kind") {
  const DifferentCoreShares seen{
      "p_share", 0.4, 0.955, {{"cycles (P)", 3.1e9, 5e9}, {"cycles (E)", 2e8, 1e7}}};
  CHECK(line_of(results_of(2), {seen, 1U}) ==
        "lauka: warning: 'two': p_share is 40.0%, but 95.5% for the reference, because the two "
        "commands ran on different kinds of core, which may explain a part of the difference in "
        "time, cycles (P) 3.10G against 5.00G, cycles (E) 200M against 10.0M; use --cores p or "
        "--cores e to keep all runs on one kind of core\n");
}

TEST_CASE("runs with too small a share on P are reported with the limit") {
  CHECK(line_of(LowCoreShare{"p_share", 0.9, 2, 10}) ==
        "lauka: warning: 'one': 2 of 10 runs had a p_share below 90.0% although they were "
        "repeated; use --cores p to keep runs on performance cores, or lower --min-p-share\n");
}

TEST_CASE("lost counts name the file, the reason and what helps") {
  const CounterLossFile setuid{CounterLoss::SetUser, "/bin/x", true};
  CHECK(line_of(LostCounts{setuid}) ==
        "lauka: warning: 'one': no event is counted, because Linux stops the counters when a run "
        "executes /bin/x, which is setuid to another user; measure a copy made with cp, which "
        "loses this property, or let root run the command (sudo lauka --as-root ...)\n");
  Command one;
  one.name = "one";
  CHECK("lauka: warning: " + counter_loss_line(one, setuid) + "\n" == line_of(LostCounts{setuid}));
  const auto line = [](CounterLoss loss) { return line_of(LostCounts{{loss, "/bin/x", false}}); };
  CHECK(line(CounterLoss::SetGroup).find("setgid") != std::string::npos);
  CHECK(line(CounterLoss::Capabilities).find("capabilities") != std::string::npos);
  CHECK(line(CounterLoss::Unreadable).find("chmod a+r /bin/x") != std::string::npos);
  CHECK(line(CounterLoss::Unreadable).find("root") == std::string::npos);
}

TEST_CASE("a quota that was used up is to be raised; other programs are not blamed") {
  CHECK(line_of(results_of(1), {Throttled{{120, 37, 1'200'000'000}}}) ==
        "lauka: warning: the CPU quota of the control group was used up in 37 of 120 periods, and "
        "processes waited 1.20s altogether; raise the quota or remove it (docker --cpus, systemd "
        "CPUQuota=, cpu.max), or compare cpu_time\n");
}

TEST_CASE("a machine that seems busy is reported with what was seen") {
  CHECK(line_of(BusyMachine{1.2, 0.4, 100}) ==
        "lauka: warning: 'one': the machine seems busy: a run of 1.20s spent 400ms on a CPU and "
        "was preempted 100 times; compare cpu_time, or stop other programs\n");
}

TEST_CASE("rounds that resemble each other say how much wider the interval is") {
  const Results results = results_of(2);
  CHECK(line_of(results, {AlikeRounds{"wall_time", 2.2, false}}) ==
        "lauka: warning: wall_time: neighbouring rounds resemble each other, so the interval of "
        "the change is 2.2 times as wide as it would be for independent ones; use --prepare to "
        "remove what one run leaves behind for the next, or measure more rounds\n");
  CHECK(has(line_of(results, {AlikeRounds{"wall_time", 2.2, true}, 1U}),
            "'two': wall_time: neighbouring runs resemble"));
}

TEST_CASE("a mean that says another thing names long runs only if there are some") {
  stats::Delta delta;
  static_cast<stats::Change&>(delta) = {0.002, stats::IntervalEnds{-0.002, 0.006}};
  delta.change_of_mean = {0.2, stats::IntervalEnds{0.1, 0.3}};
  const Results results = results_of(2);
  CHECK(
      has(line_of(results, {MeanDiffers{"wall_time", delta, true}, 1U}), "because some runs took"));
  CHECK_FALSE(has(line_of(results, {MeanDiffers{"wall_time", delta, false}, 1U}), "because"));
}

TEST_CASE("A/A says that programs are identical only of native ones, and names another name") {
  const Results results = results_of(2);
  CHECK(has(line_of(results, {SamePrograms{"one"}, 1U}),
            "the program and its arguments are identical to those of 'one'"));
  CHECK(has(line_of(results, {SamePrograms{"one", true, false}, 1U}),
            "the program (apart from its name) and its arguments are identical to those of 'one'"));
  CHECK(has(line_of(results, {SamePrograms{"one", false, true}, 1U}),
            "the file that is run and its arguments are the same as those of 'one'; make sure that "
            "the commands run different code"));
}

TEST_CASE("one line about pairs of identical programs names the reference of none") {
  Results results = results_of(2);
  repeat_command(results, 1, 2);
  results.warnings = {{SamePrograms{"one"}, 1U}, {SamePrograms{"three"}, 3U}};
  const std::vector<std::string> lines = warning_texts(results, Style{});
  REQUIRE(lines.size() == 1);
  CHECK(has(
      lines[0],
      "each runs the same file with the same arguments as the command that it is compared with; "));
}

TEST_CASE("other settings of a baseline are named with both values, features by what differs") {
  const Results results = results_of(1);
  OtherConditions other;
  other.differences = {{SettingKind::Jobs, "1", "2"},
                       {SettingKind::ProcessorFeatures, "avx2 avx512f", "avx2 erms"}};
  CHECK(has(line_of(results, {other}),
            "the baseline was measured under other conditions: --jobs '1' instead of '2', "
            "processor's features (only one of the two sides has avx512f and erms); measure the "
            "baseline again on this machine"));
  other.file = "b.json";
  CHECK(has(line_of(results, {other}), "--jobs '2' instead of '1'"));
}

TEST_CASE("what differs between two commands is listed, and with -v all of it") {
  Results results = results_of(2);
  const OtherCircumstances other{"one",
                                 {{SettingKind::Limits, "cpu=1 stack=8", "cpu=1 stack=9"},
                                  {SettingKind::Libraries, "libm.so=1234567890", "libz.so=ab"},
                                  {SettingKind::CompilerFlags, "-O2", "-O3"},
                                  {SettingKind::Nice, "0", "5"}}};
  results.warnings = {{other, 1U}};
  CHECK(
      warning_lines(results, kPlain) ==
      "lauka: warning: 'two': circumstances that may explain a delta differ from those of 'one': "
      "limits (stack '9' instead of '8'), libraries (without libm.so, with libz.so build ab), nice "
      "value '5' instead of '0'; make the circumstances equal, unless you want to compare them\n");
  CHECK(has(warning_lines(results, {.verbose = true}), "compiler flags (without -O2, with -O3)"));
  CHECK(has(warning_lines(results, {.shows_all_differences = true}), "compiler flags"));

  results.warnings = {
      {OtherCircumstances{"one", {{SettingKind::TextSize, "1", "2"}}}, 1U, Shown::Verbose}};
  CHECK(warning_lines(results, kPlain).empty());
  CHECK(has(warning_lines(results, {.shows_all_differences = true}), "size of the text section"));
}

TEST_CASE("of many entries that differ, the first ones are named") {
  const OtherCircumstances other{
      "one", {{SettingKind::Variables, "LD_A=1", "LC_B=2 LC_C=3 LC_D=4 LC_E=5 LC_F=6 LC_G=7"}}};
  CHECK(has(line_of(other),
            "(with LC_B '2', with LC_C '3', with LC_D '4', with LC_E '5', with "
            "LC_F '6', 2 more)"));
}

TEST_CASE("simulated counts of another processor name the tunables that make them comparable") {
  const Results results = results_of(1);
  CHECK(has(line_of(results, {OtherProcessor{"", {"avx512f", "abm"}}}),
            "--env GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-LZCNT"));
  CHECK(has(line_of(results, {OtherProcessor{"b.json"}}),
            "the simulated counts of 'b.json' come from another processor"));
}

TEST_CASE("a screen shows two warnings, those about deltas first, and counts the others") {
  Results results = results_of(2);
  results.warnings = {{stats::Drift{0.9, 0.05, true}, 0U},
                      {stats::TwoModes{0.0012, 0.0015, 6.0, 0.3, true}, 1U},
                      {SamePrograms{"one"}, 1U},
                      {BelowShell{10, 3}, 0U}};
  const std::vector<std::string> lines = screen_warnings({{results}}, {});
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].starts_with("warning: 'two': the program and"));
  CHECK(has(lines[1], "rose by 5.0%"));
  CHECK(lines[2] == "2 more warnings: -v shows them");
  CHECK(screen_warnings({{results}}, {.verbose = true}).size() == 4);
  CHECK(warning_texts(results, Style{}).size() == 4);  // of Markdown and the page
}

TEST_CASE("verdicts close the screen, below tables and warnings") {
  const ScreenSections parts =
      screen_sections_of_benchmark(manual_example(), Style{}, ScreenContent::All);
  CHECK(has(parts.tables, "core_active_cycle"));
  CHECK(parts.verdicts == "\n./build-new -O2 ran 4.55 ± 0.04 times faster than ./build-old\n");
}

TEST_CASE("a line says that a run under 1 ms may be mostly the start of its process") {
  const std::string line = "a run shorter than 1 ms may consist mostly of the start of its process";
  CHECK_FALSE(has(screen(manual_example(), Style{}, false), line));
  Results results = manual_example();
  results.commands[1].rows[0].summary->mean = 0.0009;
  CHECK(has(screen(results, Style{}, false), line));
  results.commands[1].rows[0].summary->median = 0.0009;
  results.session.seconds_of_running_true = 0.00045;
  CHECK(has(screen(results, Style{}, false),
            "about 450µs of each run is the start of its process, as the runs of 'true' show"));
  results.commands[1].rows[0].summary->median = 0.0004;
  CHECK(has(screen(results, Style{}, false),
            "the shortest runs take no longer than those of 'true' (450µs), so they are mostly the "
            "start of a process"));
}

TEST_CASE("a median of preemptions is a whole number") {
  CHECK(has(line_of(BusyMachine{1.2, 0.4, 9.5}), "was preempted 10 times;"));
  CHECK(has(line_of(BusyMachine{1.2, 0.4, 1.0}), "was preempted 1 time;"));
}

}  // namespace lauka::report
