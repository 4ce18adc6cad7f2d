#include "report/lines.h"

#include "has.h"
#include "report/example.h"
#include "report/format.h"
#include "report/layout_lines.h"

#include <cerrno>
#include <csignal>
#include <string>
#include <utility>

#include <doctest/doctest.h>

namespace lauka::report {
namespace {

/// The lines about a session that ended so, of a first timed run where it failed.
std::string lines_of(std::optional<EarlyEnd> cut_short, const std::string& name,
                     std::size_t width = 0) {
  Session session;
  session.cut_short = std::move(cut_short);
  return early_end_lines(session, {name}, AdviceToEndRuns::TimeoutOrUntil, width);
}

RunFailed failed(Outcome outcome, std::string written = "", std::string until = "") {
  return {Step{0, 0, 0, RoundKind::Timed}, outcome, std::move(written), std::move(until)};
}

}  // namespace

TEST_CASE("a failed hook is reported with its command, its run and its output") {
  Session session;
  session.cut_short =
      HookFailed{HookKind::Prepare, 1, Step{1, 4, 0, RoundKind::Timed}, Exited{2}, "first\nsecond"};
  session.later_failed_hooks.push_back(
      HookFailed{HookKind::Cleanup, 0, {}, Signalled{9, false}, ""});
  CHECK(early_end_lines(session, {"old", "new"}, AdviceToEndRuns::None) ==
        "lauka: --prepare of 'new' (before run 5) exited with status 2; append '|| true' to "
        "continue anyway\n  | first\n  | second\nlauka: --cleanup of 'old' was killed by SIGKILL; "
        "append '|| true' to continue anyway\n");
}

TEST_CASE("a hook that sh did not find is not to be ignored") {
  const auto lines = [](Outcome outcome) {
    return lines_of(HookFailed{HookKind::Prepare, 0, {}, std::move(outcome), ""}, "a");
  };
  CHECK(has(lines(Exited{126}), "|| true"));
  CHECK_FALSE(has(lines(Exited{127}), "|| true"));
}

TEST_CASE("a command that wants the terminal is told how to do without") {
  CHECK(has(lines_of(failed(Stopped{SIGTTOU, 0}), "a"), "setsid -w"));
  CHECK_FALSE(has(lines_of(failed(Stopped{SIGSTOP, 0}), "a"), "setsid"));
}

TEST_CASE("the first reason comes first, and nothing is said where all went well") {
  CHECK(lines_of({}, "old").empty());
  Session session;
  session.cut_short = Interrupted{2};
  session.later_failed_hooks.push_back(
      HookFailed{HookKind::Conclude, 0, Step{0, 0, 0, RoundKind::Warmup}, Exited{1}, ""});
  const std::string lines = early_end_lines(session, {"old"}, AdviceToEndRuns::TimeoutOrUntil);
  CHECK(
      lines.starts_with("lauka: interrupted by SIGINT before any timed run of 'old' ended; use "
                        "--timeout or --until to limit how long a run may take\n"));
  CHECK(has(lines, "--conclude of 'old' (after warm-up run 1) "));
}

TEST_CASE("--until is not advised where the session cannot have it") {
  Session session;
  session.cut_short = Interrupted{2};
  CHECK(early_end_lines(session, {"old"}, AdviceToEndRuns::Timeout) ==
        "lauka: interrupted by SIGINT before any timed run of 'old' ended; use --timeout to limit "
        "how long a run may take\n");
}

TEST_CASE("what a failed run wrote is shown line by line, with nothing in it that steers") {
  CHECK(lines_of(failed(Exited{1}, "10%\r\x1b[2Jb\n\xff"), "a\nb") ==
        "lauka: run 1 of 'a\\nb' exited with status 1; use -i to continue after failures\n  | "
        "10%\\x0d\\x1b[2Jb\n  | \\xff\n");
}

TEST_CASE("the reason is broken between words at the terminal's width, what a run wrote is not") {
  const RunFailed ended = failed(Exited{2}, "one line that is as long as it was");
  const std::string written = "  | one line that is as long as it was\n";
  std::string lines = lines_of(ended, "ls /none", 30);
  REQUIRE(lines.ends_with(written));
  lines.erase(lines.size() - written.size());
  CHECK(lines_with_text(lines).size() > 1);
  for (const std::string& line : lines_with_text(lines)) CHECK(line.size() <= 30);
  for (std::size_t at = 0; (at = lines.find("\n  ")) != std::string::npos;)
    lines.replace(at, 3, " ");
  CHECK(lines + written == lines_of(ended, "ls /none"));
}

TEST_CASE("a status that is an answer is explained, with what accepts it alone") {
  CHECK(lines_of(failed(Exited{1}), "/bin/grep aa f") ==
        "lauka: run 1 of '/bin/grep aa f' exited with status 1; use -i=1, because grep exits "
        "with status 1 if nothing matched\n");
  CHECK_FALSE(has(lines_of(failed(Exited{2}), "grep aa f"), "-i="));
}

TEST_CASE("an interruption after a run is reported without a remedy") {
  Session session;
  session.cut_short = Interrupted{2};
  CHECK(early_end_lines(session, {"old"}, AdviceToEndRuns::None) ==
        "lauka: interrupted by SIGINT\n");
}

TEST_CASE("-i is not offered where a process could not be killed") {
  CHECK_FALSE(has(lines_of(failed(TimedOut{std::chrono::seconds(1), true, 7}), "a"), "use -i"));
}

TEST_CASE("a run that ended before its line is reported with the expression, not to be ignored") {
  const std::string lines = lines_of(failed(Exited{1}, "a\nb\x1b", "rea(dy"), "x");
  CHECK(has(lines, "--until 'rea(dy'; "));
  CHECK(lines.ends_with(":\n  | a\n  | b\\x1b\n"));
  CHECK_FALSE(has(lines, "use -i"));
  CHECK(lines_of(failed(Exited{0}, "", "x"), "x").ends_with("--until 'x'; it wrote nothing\n"));
}

TEST_CASE("the end of a run is described in words") {
  CHECK(outcome_text(Exited{3}) == "exited with status 3");
  CHECK(outcome_text(Signalled{SIGSEGV, true}) == "was killed by SIGSEGV (core dumped)");
  CHECK(outcome_text(Signalled{SIGKILL, false}) == "was killed by SIGKILL");
  CHECK(outcome_text(Signalled{64, false}) == "was killed by signal 64");
  CHECK(outcome_text(TimedOut{std::chrono::seconds(2)}) == "took longer than 2s and was killed");
  CHECK(outcome_text(Cancelled{}) == "was killed because lauka was interrupted");
}

TEST_CASE("a run stopped by job control is reported with the reason") {
  CHECK(outcome_text(Stopped{SIGTTIN}) ==
        "was stopped by SIGTTIN because it tried to use the terminal, which lauka does not give "
        "to commands; start it with setsid -w");
  CHECK(outcome_text(Stopped{SIGSTOP}) ==
        "was stopped by SIGSTOP, and nothing would have resumed it, so it was killed");
}

TEST_CASE("a run that could not be started is reported with the step and the system's reason") {
  CHECK(outcome_text(TimedOut{std::chrono::seconds(1), true, 99}) ==
        "took longer than 1s and could not be killed: its process 99 is still running");
  CHECK(outcome_text(TimedOut{std::chrono::seconds(1), false}) ==
        "waited longer than 1s for the other end of a pipe");
  const std::string not_started = outcome_text(NotStarted{LaunchStep::ReachLauncher, 0});
  CHECK(not_started == "could not be started");
  CHECK(outcome_text(NotStarted{LaunchStep::Execute, ENOENT}) ==
        not_started + ": No such file or directory");
  CHECK(outcome_text(NotStarted{LaunchStep::OpenInput, EACCES}) ==
        not_started + ": its input cannot be opened: Permission denied");
  CHECK(outcome_text(NotStarted{LaunchStep::Execute, ENOEXEC}) ==
        not_started +
            ": Exec format error; if it is a script, give it a first line such as #!/bin/sh, or "
            "use -S");
}

namespace {

std::string line(Precision precision) {
  Results results;
  results.findings.precision = precision;
  return precision_line(results);
}

}  // namespace

TEST_CASE("the precision reached is one line with three digits") {
  CHECK(line({0.01, 0.00934, 24, PrecisionEnd::Reached}) ==
        "precision of wall time: ±0.934% after 24 runs (asked for: ±1%)\n");
  check_order(line({0.25, 0.2, 10, PrecisionEnd::Reached, "instructions"}),
              {"instructions: ±20.0% ", " 10 ", " ±25%"});
  CHECK(has(line({0.01, 0.0, 10, PrecisionEnd::Reached}), ": ±0.00% "));
}

TEST_CASE("the precision of a mean says how rare a slow run it may have missed") {
  Results results;
  results.session.metrics = {metric("wall_time", Unit::Seconds),
                             metric("instructions", Unit::Count)};
  set_commands(results, {command("a", 57, {})});
  results.findings.precision = {0.01, 0.00934, 57, PrecisionEnd::Reached};
  CHECK(
      precision_line(results) ==
      "precision of wall time: ±0.934% after 57 runs (asked for: ±1%); slow runs that happen less "
      "than once in 20 could have been missed\n");
  results.findings.precision->metric = "instructions";
  CHECK(has(precision_line(results), "unusual runs "));
  add_command(command("b", 57, {}), results);
  CHECK_FALSE(has(precision_line(results), "once in"));
}

TEST_CASE("a precision that was not reached names the limit that ended it") {
  CHECK(line({0.01, 0.0101, 812, PrecisionEnd::Duration}) ==
        "precision of wall time: ±1.01% after 812 runs, not the ±1% that was asked for, because "
        "the --duration of each command was used up\n");
  CHECK(has(line({0.0001 / 100, 0.5, 10, PrecisionEnd::MaxRuns}), " ±0.0001% "));
  CHECK(
      line({0.005, 3.0, 20, PrecisionEnd::MaxRuns}).ends_with(" because --max-runs was reached\n"));
  CHECK(line({0.01, 0.02, 40, PrecisionEnd::HooksPreventedRuns})
            .ends_with(" because in sequential order, lauka runs no command a second time; use "
                       "--order random\n"));
  CHECK(line({0.01, 0.02, 40, PrecisionEnd::LostInGateRounds})
            .ends_with(" because the later rounds, which the gates needed, were noisier\n"));
  const std::string unfinished = line({0.01, {}, 1, PrecisionEnd::Unfinished});
  check_order(unfinished, {"no interval after 1 run, ", " ±1% "});
  CHECK(unfinished.ends_with(" because the session was cut short\n"));
}

TEST_CASE("where more runs would not do, the layouts are named, or that there are too many") {
  Precision short_of{0.01, 0.02, 64, PrecisionEnd::MaxRuns};
  short_of.layouts_to_reach = 34;
  CHECK(has(line(short_of), "; more runs would not help, but about 34 layouts "));
  short_of.layouts_to_reach = kMaxLayouts + 1;
  CHECK(has(line(short_of), " 1000 layouts"));
}

TEST_CASE("one build misleads if its answer would differ with as many runs as all builds have") {
  const auto lines = [](const stats::Delta& of_all, const stats::Delta& of_first) {
    return layout_lines(example_over_layouts(of_all, of_first));
  };
  const std::string misled = lines(changed(0.003, 0.009), changed(0.031, 0.002));
  CHECK(misled ==
        "the change over 8 layouts is +0.3% ± 0.9%, but that of layout 1 alone is +3.1% ± 0.2%\n");
  CHECK(has(lines(changed(0.05, 0.01), changed(0.0, 0.02)), "layout 1 alone is "));
  CHECK(has(lines(changed(0.05, 0.01), changed(-0.05, 0.01)), "layout 1 alone is "));

  // With more runs, layout 1 may be significant, too.
  CHECK(lines(changed(0.03, 0.005), changed(0.02, 0.04)).empty());
  CHECK(lines(changed(0.03, 0.005), changed(0.01, 0.005)).empty());
}

TEST_CASE("sides with different numbers of layouts have both numbers, and no layout is missing") {
  Results results = example_over_layouts(changed(0.003, 0.009), changed(0.031, 0.002));
  results.session.origins = {{.command_count = 1, .layouts = 8},
                             {.command_count = 1, .layouts = 6}};
  LayoutResult over = *results.commands[1].rows[0].layouts;
  over.mean_log_ratio->layout_means.resize(6);
  results.commands[1].rows[0].layouts = std::make_shared<const LayoutResult>(over);
  CHECK(layout_lines(results) ==
        "the change over 8 and 6 layouts is +0.3% ± 0.9%, but that of layout 1 alone is +3.1% ± "
        "0.2%\n");

  over.mean_log_ratio->layout_means.erase(over.mean_log_ratio->layout_means.begin() + 2);
  results.commands[1].rows[0].layouts = std::make_shared<const LayoutResult>(over);
  CHECK(has(layout_lines(results), "leaves out layout 3 of 6, "));
}

TEST_CASE("a small significant change between two programs may be their placement, says -v") {
  const auto session_of = [](const char* candidate, double change) {
    const stats::Summary of_runs = summary(9, 0.1, 0.01, 0.09, 0.11);
    return results_of({metric("wall_time", Unit::Seconds)},
                      {command("./old x", 9, {row(0, of_runs)}),
                       command(candidate, 9, {row(0, of_runs, changed(change, 0.005))})});
  };
  CHECK(has(layouts_advice_line(session_of("./new x", 0.02)), "--layouts "));
  CHECK(has(table(session_of("./new x", 0.02), {.verbose = true}), "--layouts "));
  CHECK_FALSE(has(table(session_of("./new x", 0.02), {}), "--layouts "));
  CHECK(layouts_advice_line(session_of("./new x", 0.04)).empty());
  CHECK(layouts_advice_line(session_of("./new x", 0.002)).empty());
  CHECK(layouts_advice_line(session_of("./old y", 0.02)).empty());
}

TEST_CASE("the precision is below the table, unless only gates are wanted") {
  Results results = manual_example();
  CHECK_FALSE(has(screen(results, {}, false), "precision"));
  results.findings.precision = Precision{0.01, 0.0101, 812, PrecisionEnd::Duration};
  CHECK(screen(results, {}, false).ends_with("\n\n" + precision_line(results)));
  CHECK_FALSE(has(screen(results, {}, true), "precision"));
}

namespace {

WallFactor factor(WallFactorKind part, double change, double half_width,
                  std::optional<double> reference = {}, std::optional<double> candidate = {}) {
  return {part, changed(change, half_width), reference, candidate};
}

/// The candidate of the manual's example, 4.55 times faster, with these factors.
std::string line_of(WallTimeExplanation why) {
  Results results = manual_example();
  why.command = 1;
  results.explanations = {std::move(why)};
  return why_lines(results);
}

}  // namespace

TEST_CASE("why: each factor that differs from 1 is named with its interval") {
  WallTimeExplanation why;
  why.factors = {factor(WallFactorKind::Instructions, 1 / 3.0 - 1, 0.001),
                 factor(WallFactorKind::InstructionsPerCycle, 0.35, 0.02),
                 factor(WallFactorKind::Clock, 0.001, 0.005, 3.81e9, 3.82e9),
                 factor(WallFactorKind::Utilisation, -0.01, 0.002, 0.99, 0.98)};
  CHECK(line_of(why) ==
        "why: 4.55 ± 0.11x faster: 3.00 ± 0.01x fewer instructions, 1.35 ± 0.02x more of them "
        "per cycle, the same clock (3.82 GHz), CPU 1.010 ± 0.002x less busy (99% → 98%)\n");
}

TEST_CASE("why: what stays the same is left out, and what was not counted is said") {
  WallTimeExplanation why;
  why.factors = {factor(WallFactorKind::Instructions, 0.001, 0.002),
                 factor(WallFactorKind::InstructionsPerCycle, 0.5, 0.02),
                 factor(WallFactorKind::Clock, -0.2, 0.01, 4.0e9, 3.2e9),
                 factor(WallFactorKind::Utilisation, 2.8, 0.1, 1.0, 3.8)};
  why.sums_core_kinds = true;
  CHECK(
      line_of(why) ==
      "why: 4.55 ± 0.11x faster: 1.50 ± 0.02x more instructions per cycle, a 1.250 ± 0.016x lower "
      "clock (4.00 → 3.20 GHz), CPU 3.80 ± 0.10x busier (100% → 380%); cycles are summed over all "
      "kinds of core\n");
  why = {};
  why.factors = {factor(WallFactorKind::CpuTime, 0.001, 0.002),
                 factor(WallFactorKind::Utilisation, 0.0, 0.1)};
  why.leaves_out_cycles = why.lacks_instructions = true;
  CHECK(line_of(why) ==
        "why: 4.55 ± 0.11x faster: no factor changed significantly; instructions and cycles were "
        "not counted\n");
  why.factors = {factor(WallFactorKind::Instructions, 1.0, 0.02),
                 factor(WallFactorKind::CpuTimePerInstruction, -0.5, 0.01)};
  why.has_kernel_only_metric = true;
  CHECK(has(line_of(why), "instructions and cycles of user space were not counted"));
  why.has_kernel_only_metric = why.lacks_instructions = false;
  why.is_simulated = true;
  CHECK(line_of(why) ==
        "why: 4.55 ± 0.11x faster: 2.00 ± 0.02x more instructions, 2.00 ± 0.04x less CPU time for "
        "each of them; cycles were not counted; instructions are simulated\n");
}

}  // namespace lauka::report
