#include "report/warning_lines.h"

#include "core/text.h"
#include "report/format.h"
#include "report/style.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lauka::report {

namespace {

constexpr std::size_t kMaxNamedSubjects = 5;

/// Continues a sentence about a source of error, for a session that has gates.
constexpr std::string_view kClauseOnGates =
    " and gates fail by chance more often than --confidence says";

std::string format_seconds(double value) {
  return quantity(value, Unit::Seconds);
}

std::string format_whole_percent(double fraction) {
  return fmt::format("{:.0f}%", fraction * 100.0);
}

std::string format_as_times(double ratio) {
  // With one decimal, a ratio slightly above 1 would read "1.0 times", as if nothing were
  // different.
  const int decimals = ratio < 1.95 ? 2 : 1;
  return fmt::format("{:.{}f} times", ratio, decimals);
}

std::string advise_more_runs(const FewRuns& warning) {
  const auto advise = [&](std::string_view option) {
    return fmt::format("use {} {} or more", option, warning.advised_runs);
  };
  switch (warning.limiting_option) {
    case FewRunsReason::Runs:
      return advise("--runs");
    case FewRunsReason::MaxRuns:
      return advise("--max-runs");
    case FewRunsReason::MinRuns:
      return advise("--min-runs");
    case FewRunsReason::Ended:
      break;
  }
  return "measure again, because the session ended early";
}

/// Returns the value of an entry as a message shows it: of a build-id the first digits.
std::string shortened_value(SettingKind kind, const std::string& value) {
  constexpr std::size_t digits = 8;
  return kind == SettingKind::Libraries ? "build " + value.substr(0, digits) : cited(value);
}

/// Returns the first `most` texts and "7 more". Never ends with "1 more", which would take the
/// place of the text that it hides.
std::vector<std::string> cut_list(std::vector<std::string> texts, std::size_t most) {
  if (texts.size() <= most || texts.size() - most == 1) return texts;
  std::string more = fmt::format("{} more", texts.size() - most);
  texts.resize(most);
  texts.push_back(std::move(more));
  return texts;
}

/// Returns " '8192'"; empty for an empty value, which an entry such as an environment variable may
/// have.
std::string blank_and_value(SettingKind kind, const std::string& value) {
  return value.empty() ? "" : " " + shortened_value(kind, value);
}

/// Returns one entry in which two lists of settings differ: "stack '8192' instead of 'unlimited'".
std::string describe_entry(const EntryDifference& entry, SettingKind kind, DifferenceSide subject) {
  // A side without the entry has no value.
  const bool is_candidate = subject == DifferenceSide::Candidate;
  const auto& own_value = is_candidate ? entry.candidate_value : entry.reference_value;
  const auto& other_value = is_candidate ? entry.reference_value : entry.candidate_value;

  const std::string name = one_line(entry.name);
  if (!own_value) return fmt::format("without {}", name);
  const std::string own_text = blank_and_value(kind, *own_value);
  if (!other_value) return fmt::format("with {}{}", name, own_text);
  return fmt::format("{}{} instead of{}", name, own_text,
                     other_value->empty() ? " none" : blank_and_value(kind, *other_value));
}

/// Returns the entries in which two lists of settings differ, as they are on the side of `subject`:
/// "stack '8192' instead of 'unlimited', with LD_PRELOAD 'a.so'".
std::string list_differing_entries(const SettingDifference& difference, DifferenceSide subject,
                                   std::size_t max_entries) {
  std::vector<std::string> texts;
  for (const EntryDifference& entry : find_differing_entries(difference))
    texts.push_back(describe_entry(entry, difference.kind, subject));
  return fmt::format("{}", fmt::join(cut_list(std::move(texts), max_entries), ", "));
}

std::string_view describe_loss(CounterLoss loss) {
  switch (loss) {
    case CounterLoss::SetUser:
      return "which is setuid to another user";
    case CounterLoss::SetGroup:
      return "which is setgid to another group";
    case CounterLoss::Capabilities:
      return "which has file capabilities";
    case CounterLoss::Unreadable:
      break;
  }
  return "which its user may not read";
}

WarningText make_counter_loss_text(const CounterLossFile& lost) {
  const std::string file = shell_quoted(lost.file);
  std::string advice = lost.loss == CounterLoss::Unreadable
                           ? fmt::format("let every user read the file (chmod a+r {})", file)
                           : std::string("measure a copy made with cp, which loses this property");
  if (lost.counted_as_root) advice += ", or let root run the command (sudo lauka --as-root ...)";
  return {.kind = "lost_counts",
          .text = fmt::format(
              "no event is counted, because Linux stops the counters when a run executes {}, {}",
              file, describe_loss(lost.loss)),
          .advice = std::move(advice)};
}

/// Returns the name that GLIBC_TUNABLES has for a feature of /proc/cpuinfo: "AVX2" for "avx2".
/// Linux calls LZCNT by the name of AMD's group of instructions, abm.
std::string tunable_name_of(std::string_view feature) {
  if (feature == "abm") return "LZCNT";
  return upper_case(feature);
}

std::string_view advise_on_drift(const stats::Drift& drift) {
  const bool has_risen = drift.change > 0.0;
  return has_risen ? "check for overheating, for other programs, and for things that each run "
                     "leaves behind"
                   : "raise --warmup if this was a cold start, or check for other programs that "
                     "were running";
}

/// Returns what is the same as in the reference, whose name follows.
std::string_view say_what_is_same(const SamePrograms& warning) {
  // The code that a script or a launcher runs may be in another file, and may differ.
  if (!warning.is_native) return "the file that is run and its arguments are the same as those of ";
  return warning.has_same_name
             ? "the program and its arguments are identical to those of "
             : "the program (apart from its name) and its arguments are identical to those of ";
}

constexpr std::string_view kMakeSureThatCodeDiffers =
    "make sure that the commands run different code, unless you want to measure noise";

std::string_view advise_on_same_programs(const SamePrograms& warning) {
  if (!warning.is_native) return kMakeSureThatCodeDiffers;
  return warning.has_same_name
             ? "build the programs again, unless you want to measure noise"
             : "build the programs again, unless you want to measure noise or the program behaves "
               "according to its name";
}

/// Returns words that fit a line about several commands.
WarningText::OfKind describe_same_programs(const SamePrograms& warning) {
  const bool is_other_file = warning.is_native && !warning.has_same_name;
  return {.text = is_other_file
                      ? "each runs a program that is identical to the one that it is compared with"
                      : "each runs the same file with the same arguments as the command that it is "
                        "compared with",
          .advice = std::string(kMakeSureThatCodeDiffers)};
}

std::string describe_few_runs(const FewRuns& warning) {
  if (warning.is_about_gate)
    return fmt::format("with {} round{}, a gate can detect only large changes", warning.runs,
                       warning.runs == 1 ? "" : "s");
  if (warning.runs == 1) return "a single run gives no σ and no confidence interval";
  if (warning.runs == 2) return "two runs give no confidence interval";
  return fmt::format("{} runs per command say little about a difference", warning.runs);
}

/// Returns the name of a session that was read from `file`, or without a file "the baseline".
std::string name_session(const std::string& file) {
  return file.empty() ? "the baseline" : cited(file);
}

std::string advise_on_other_conditions(const OtherConditions& warning) {
  const bool is_joined = !warning.file.empty();
  if (!warning.names_machine)
    return fmt::format("make sure that it was {}, or measure again with lauka --export-json",
                       is_joined ? "the machine of the reference" : "this machine");
  return is_joined ? "compare sessions of the same machine, or measure both commands in one session"
                   : "measure the baseline again on this machine";
}

/// Returns the features as GLIBC_TUNABLES switches them off. "-AVX2" tells libc to choose its
/// functions as if there were no AVX2.
std::string list_switched_off(const std::vector<std::string>& features) {
  std::string list;
  for (const std::string& feature : features)
    list += fmt::format("{}-{}", list.empty() ? "" : ",", tunable_name_of(feature));
  return list;
}

/// Returns the end of a sentence: what an order without rounds means for gates. Empty without
/// gates.
std::string make_clause_on_gates(const NotInterleaved& warning) {
  if (!warning.has_gates) return "";

  // Gates are judged early only after complete rounds. In this order there are none before the
  // end.
  return std::string(kClauseOnGates) +
         (warning.is_caused_by_hooks ? ", and gates were judged only once" : "");
}

/// Returns ", cycles:u 1.2G against 0.9G" for each kind of core on which cycles were counted.
std::string list_cycles(const DifferentCoreShares& warning) {
  std::string list;
  for (const DifferentCoreShares::Cycles& cycles : warning.cycles)
    list += fmt::format(", {} {} against {}", cycles.event, quantity(cycles.candidate, Unit::Count),
                        quantity(cycles.reference, Unit::Count));
  return list;
}

/// Returns ", because some runs took far more than the rest"; empty without high outliers.
std::string explain_mean(const MeanDiffers& warning) {
  if (!warning.has_high_outliers) return "";

  // A few very high values raise a command's mean, but not its typical value. If they are the
  // reference's, the candidate's mean seems to have fallen.
  const stats::Delta& delta = warning.delta;
  const bool are_outliers_of_candidate = *delta.change_of_mean.change > *delta.change;
  return fmt::format(", because some runs{} took far more than the rest",
                     are_outliers_of_candidate ? "" : " of the reference");
}

/// Returns words that fit a line about commands whose means differ in other metrics, or for other
/// causes.
WarningText::OfKind describe_any_means(const MeanDiffers& warning) {
  return {
      .text = "the mean and the typical round changed differently",
      .advice =
          "compare the runs with --export-runs or --histogram; a gate on rare runs needs more "
          "rounds",
      .figures = fmt::format("{}: {} and {}", warning.metric,
                             delta_text(warning.delta.change_of_mean), delta_text(warning.delta))};
}

/// Returns "a process", "2 processes" or "2 to 5 processes".
std::string say_process_count(const OutlivedRuns& warning) {
  if (warning.most_processes == 1) return "a process";
  if (warning.fewest_processes == warning.most_processes)
    return fmt::format("{} processes", warning.most_processes);
  return fmt::format("{} to {} processes", warning.fewest_processes, warning.most_processes);
}

/// Makes the text of each kind of warning, as a visitor of Warning::finding.
struct WarningTextMaker {
  bool has_deltas;
  bool are_deltas_paired;
  bool is_verbose;
  const DisplayUnit* unit;

  std::string format_run_time(double value) const { return time_text(value, unit); }

  /// Returns the differences that are shown; with --verbose all.
  std::string list_differences(std::vector<SettingDifference> differences,
                               DifferenceSide subject) const {
    if (!is_verbose) std::erase_if(differences, std::not_fn(is_always_shown));
    std::vector<std::string> texts;
    texts.reserve(differences.size());
    for (const SettingDifference& difference : differences)
      texts.push_back(difference_text(difference, subject));
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  /// Returns the end of an advice: what a disturbance means for deltas. Empty without deltas.
  std::string make_clause_on_deltas() const {
    if (!has_deltas) return "";
    return are_deltas_paired
               ? "; deltas compare runs of the same round, so what both commands share cancels out"
               : "; use --order random to keep this out of deltas";
  }

  WarningText operator()(const SlowFirstRun& warning) const {
    const auto& [first, rest, slow] = warning.first_run_times;
    const std::string_view and_read =
        warning.only_first_run_read_disk ? ", and only this run read from the disk" : "";
    const std::string ratio = rest > 0.0 ? format_as_times(first / rest) : "more than";
    return {.kind = "first_run_slow",
            .text = fmt::format(
                "the first run took {} the median of the other runs ({} instead of {}){}", ratio,
                format_run_time(first), format_run_time(rest), and_read),
            .advice = warning.warmup == 0 ? "use --warmup 1, unless you want to measure cold starts"
                                          : fmt::format("if this happens again, use --warmup {}",
                                                        warning.warmup + 1),
            .text_for_all_commands =
                fmt::format("the first run took longer than the other runs{}", and_read),
            .command_figures = ratio + " the median",
            .of_kind = {.text = "the first run took longer than the other runs"}};
  }

  /// Returns words that fit a line about several commands of which one rose and another fell.
  WarningText::OfKind describe_any_drift(std::string figures) const {
    return {.text = "wall time changed from the first third of the runs to the last",
            .advice =
                "check for a cold start (--warmup), for overheating, for other programs, "
                "and for things that each run leaves behind" +
                make_clause_on_deltas(),
            .figures = std::move(figures)};
  }

  WarningText operator()(const stats::Drift& drift) const {
    const std::string_view rose_or_fell = drift.change > 0.0 ? "rose" : "fell";
    const std::string by_percent = fmt::format("by {:.1f}%", std::abs(drift.change) * 100.0);
    const std::string_view period = "from the first third of the runs to the last";
    return {.kind = "drift",
            .text = fmt::format("wall time {} {} {}", rose_or_fell, by_percent, period),
            .advice = std::string(advise_on_drift(drift)) + make_clause_on_deltas(),
            .text_for_all_commands = fmt::format("wall time {} {}", rose_or_fell, period),
            .command_figures = by_percent,
            .of_kind = describe_any_drift(fmt::format("{} {}", rose_or_fell, by_percent))};
  }

  WarningText operator()(const stats::TwoModes& modes) const {
    const std::string both =
        fmt::format("{} and {}", format_run_time(modes.low_mean), format_run_time(modes.high_mean));
    return {.kind = "two_modes",
            .text = fmt::format(
                "the runs fall into two groups, around {}, and the smaller group has {} of them",
                both, format_whole_percent(modes.smaller_share)),
            .advice =
                "the mean describes neither group, so look for cores of different kinds or clock "
                "speeds, or look at single runs with --export-runs",
            .text_for_all_commands = "the runs fall into two groups",
            .command_figures = both};
  }

  WarningText operator()(const ManyOutliers& warning) const {
    const std::string figure = fmt::format("{} of {}", warning.count, warning.all_runs);
    const std::string end = " took far more or far less time than the rest";
    return {.kind = "severe_outliers",
            .text = fmt::format("{} runs ({}){}", figure,
                                format_whole_percent(static_cast<double>(warning.count) /
                                                     static_cast<double>(warning.all_runs)),
                                end),
            .advice =
                "stop other programs that may be running, or compare cpu_time, which suffers less",
            .text_for_all_commands = "several runs" + end,
            .command_figures = figure};
  }

  WarningText operator()(const stats::SlowNoise& noise) const {
    const std::string figure = fmt::format("r = {:.2f}", noise.autocorrelation);
    return {.kind = "slow_noise",
            .text = fmt::format("consecutive runs resemble each other ({})", figure),
            .advice =
                "the mean of another session may differ by more than its ±, so measure longer with "
                "--duration" +
                make_clause_on_deltas(),
            .text_for_all_commands = "consecutive runs resemble each other",
            .command_figures = figure};
  }

  WarningText operator()(const CoarseClock& warning) const {
    const std::string step = format_seconds(warning.step_seconds);
    return {.kind = "coarse_clock",
            .text = fmt::format(
                "a run takes {}, but the clock of this machine has a resolution of only {}",
                format_run_time(warning.median_seconds), step),
            .advice = "let each run do more work",
            .text_for_all_commands =
                "runs are too short for the clock of this machine, whose resolution is " + step,
            .command_figures = format_run_time(warning.median_seconds)};
  }

  WarningText operator()(const UncertainSplit& warning) const {
    const std::string cpu = format_run_time(warning.median_cpu_seconds);
    const std::string start = "user_time and system_time are estimates, because ";
    const std::string end =
        " is less than 10 clock ticks of " + format_seconds(warning.tick_seconds);
    return {.kind = "uncertain_split",
            .text = start + "the CPU time of " + cpu + end,
            .advice = "use cpu_time, their sum, which is exact",
            .text_for_all_commands = start + "CPU time" + end,
            .command_figures = cpu};
  }

  WarningText operator()(const BelowShell& warning) const {
    const std::string general =
        "runs took no longer than the start of the shell alone, which counts as 0s";
    const std::string figure =
        fmt::format("{} of {}", warning.runs_below_shell_time, warning.all_timed_runs);
    return {.kind = "below_shell",
            .text = figure + " " + general,
            .advice = "run the command without the shell (-N), or give it more work",
            .text_for_all_commands = general,
            .command_figures = figure};
  }

  // Commands that run identical programs differ only by noise, so the user has probably measured
  // the same build twice.
  WarningText operator()(const SamePrograms& warning) const {
    return {.kind = "same_programs",
            .text = std::string(say_what_is_same(warning)) + cited(warning.reference),
            .advice = std::string(advise_on_same_programs(warning)),
            .of_kind = describe_same_programs(warning)};
  }

  WarningText operator()(const FewRuns& warning) const {
    return {.kind = "few_runs",
            .text = describe_few_runs(warning),
            .advice = advise_more_runs(warning),
            .of_kind = {.text = "few runs say little about a difference"}};
  }

  WarningText operator()(const SeparateSessions& warning) const {
    return {
        .kind = "baseline",
        .text = std::string(
                    warning.is_joined
                        ? "deltas between sessions include everything else that was different "
                          "between them"
                        : "deltas against a baseline include everything else that has changed on "
                          "the machine since it was measured") +
                (warning.has_gates ? "," + std::string(kClauseOnGates) : ""),
        .advice =
            "measure both commands in one session if you can, or compare cpu_time or instructions"};
  }

  /// Returns what is known about the conditions of a session that was read from a file. That
  /// session is the baseline, which has the references, or it was joined to another one, which has
  /// the reference.
  std::string describe_conditions(const OtherConditions& warning) const {
    const std::string session = name_session(warning.file);
    if (!warning.names_machine) return session + " does not say on which machine it was measured";

    const bool is_joined = !warning.file.empty();
    if (is_joined)
      return fmt::format("{} was measured under other conditions than the reference: {}", session,
                         list_differences(warning.differences, DifferenceSide::Candidate));
    return fmt::format("{} was measured under other conditions: {}", session,
                       list_differences(warning.differences, DifferenceSide::Reference));
  }

  WarningText operator()(const OtherConditions& warning) const {
    return {.kind = "foreign_baseline",
            .text = describe_conditions(warning),
            .advice = advise_on_other_conditions(warning),
            .has_own_line = true};
  }

  WarningText operator()(const OtherCircumstances& warning) const {
    const std::string figures = list_differences(warning.differences, DifferenceSide::Candidate);
    const std::string start = "circumstances that may explain a delta differ from those of ";
    return {.kind = "other_circumstances",
            .text = start + cited(warning.reference) + ": " + figures,
            .advice = "make the circumstances equal, unless you want to compare them",
            .text_for_all_commands = start + "the reference",
            .command_figures = figures};
  }

  // A simulator counts the instructions that a program executes. They depend on the processor only
  // because libc chooses its functions, such as memcpy, by the features that the processor has.
  WarningText operator()(const OtherProcessor& warning) const {
    const std::string switched_off_features = list_switched_off(warning.differing_features);
    const std::string advice =
        switched_off_features.empty()
            ? "measure both on one processor, or let GLIBC_TUNABLES choose the same functions "
              "on both (--env GLIBC_TUNABLES=glibc.cpu.name=generic on Arm)"
            : fmt::format(
                  "measure both with --env GLIBC_TUNABLES=glibc.cpu.hwcaps={}, which "
                  "switches off the features that only one of the processors has",
                  switched_off_features);
    return {.kind = "other_processor",
            .text = fmt::format(
                "the simulated counts of {} come from another processor, for which libc "
                "may choose other functions",
                name_session(warning.file)),
            .advice = advice};
  }

  WarningText operator()(const NotInterleaved& warning) const {
    const bool is_caused_by_hooks = warning.is_caused_by_hooks;
    const std::string_view cause =
        is_caused_by_hooks ? " because --setup or --cleanup of one may undo that of another" : "";
    const std::string start = "the commands were run one after the other";
    const std::string drift = ", so deltas include any drift of the machine";
    const std::string use_random_order = "use --order random to compare runs of the same round";
    return {.kind = "sequential_order",
            .text = fmt::format("{}{}{}{}", start, cause, drift, make_clause_on_gates(warning)),
            .advice = is_caused_by_hooks
                          ? "use --order random if the commands do not disturb each other"
                          : use_random_order,
            .of_kind = {.text = start + drift, .advice = use_random_order}};
  }

  WarningText operator()(const DifferentCoreShares& warning) const {
    const std::string candidate_share = quantity(warning.candidate_share, Unit::Fraction);
    const std::string reference_share = quantity(warning.reference_share, Unit::Fraction);
    const std::string consequence = ", which may explain a part of the difference in time";

    // The cycles on each kind of core show the same in numbers. On a line about several commands,
    // their names precede the text.
    return {
        .kind = "other_cores",
        .text = fmt::format(
            "{} is {}, but {} for the reference, because the two commands ran on different "
            "kinds of core{}{}",
            warning.metric, candidate_share, reference_share, consequence, list_cycles(warning)),
        .advice = "use --cores p or --cores e to keep all runs on one kind of core",
        .text_for_all_commands = "ran on other kinds of core than the reference" + consequence,
        .command_figures =
            fmt::format("{} {} against {}", warning.metric, candidate_share, reference_share)};
  }

  WarningText operator()(const LowCoreShare& warning) const {
    const std::string general =
        fmt::format("runs had a {} below {} although they were repeated", warning.metric,
                    quantity(warning.min_core_share, Unit::Fraction));
    const std::string figure =
        fmt::format("{} of {}", warning.runs_below_min_share, warning.all_runs);
    return {.kind = "low_share",
            .text = figure + " " + general,
            .advice = "use --cores p to keep runs on performance cores, or lower --min-p-share",
            .text_for_all_commands = general,
            .command_figures = figure};
  }

  WarningText operator()(const LowCoverage& warning) const {
    const std::string figure = fmt::format("{:.1f}%", warning.median * 100.0);
    const std::string start = "the counters saw only ";
    const std::string end = " of the instructions that the kernel recorded";
    return {.kind = "low_coverage",
            .text = start + figure + end,
            .advice = "compare commands by these counts, but do not quote the counts as totals",
            .text_for_all_commands = start + "a part" + end,
            .command_figures = figure};
  }

  WarningText operator()(const MeanDiffers& warning) const {
    const std::string change_of_mean = delta_text(warning.delta.change_of_mean);
    const std::string typical_change = delta_text(warning.delta);
    const std::string cause = explain_mean(warning);
    return {
        .kind = "mean_differs",
        .text = fmt::format("{}: the mean changed by {}, but the typical round by {}{}",
                            warning.metric, change_of_mean, typical_change, cause),
        .advice = warning.has_high_outliers
                      ? "find them with --export-runs; a gate on such rare runs needs more rounds"
                      : "compare the runs of both commands with --export-runs or --histogram",
        .text_for_all_commands = fmt::format(
            "{}: the mean and the typical round changed differently{}", warning.metric, cause),
        .command_figures = change_of_mean + " and " + typical_change,
        .of_kind = describe_any_means(warning)};
  }

  WarningText operator()(const AlikeRounds& warning) const {
    const std::string wider = format_as_times(warning.widening) + " as wide";
    const std::string start =
        fmt::format("{}: neighbouring {} resemble each other, so the interval of the change is ",
                    warning.metric, warning.is_of_one_command ? "runs" : "rounds");
    return {
        .kind = "alike_rounds",
        .text = start + wider + " as it would be for independent ones",
        .advice =
            "use --prepare to remove what one run leaves behind for the next, or measure more "
            "rounds",
        .text_for_all_commands = start + "wider than it would be for independent ones",
        .command_figures = wider,
        .of_kind = {
            .text = "neighbouring runs or rounds resemble each other, so intervals are wider than "
                    "they would be for independent ones",
            .figures = fmt::format("{}: {}", warning.metric, wider)}};
  }

  WarningText operator()(const NeverCounted& warning) const {
    const std::string what =
        "0 in every run, although instructions were executed, so this processor may not count ";
    return {.kind = "not_counted",
            .text = warning.event + " is " + what + "it",
            .advice =
                "count it together with other events, which may give it another counter "
                "(--explain-events)",
            .of_kind = {.text = what + "them",
                        .advice = "count them together with other events, which may give them "
                                  "other counters (--explain-events)"},
            .event = warning.event};
  }

  WarningText operator()(const BusyMachine& warning) const {
    const std::string wall = format_run_time(warning.median_wall_seconds);
    const std::string cpu = format_run_time(warning.median_cpu_seconds);
    const std::string preemptions =
        plural(static_cast<std::size_t>(std::llround(warning.median_preemptions)), "time");
    return {
        .kind = "busy_machine",
        .text = fmt::format(
            "the machine seems busy: a run of {} spent {} on a CPU and was preempted {}", wall, cpu,
            preemptions),
        .advice = "compare cpu_time, or stop other programs",
        .text_for_all_commands =
            "the machine seems busy: runs were preempted, and spent much of their time without a "
            "CPU",
        .command_figures = fmt::format("{} of {} on a CPU, preempted {}", cpu, wall, preemptions)};
  }

  WarningText operator()(const LostCounts& warning) const {
    return make_counter_loss_text(warning.file);
  }

  WarningText operator()(const Throttled& warning) const {
    const auto& [periods, throttled, waited_ns] = warning.quota_waits;
    return {
        .kind = "throttled",
        .text =
            fmt::format("the CPU quota of the control group was used up in {} of {} periods, and "
                        "processes waited {} altogether",
                        throttled, periods, format_seconds(to_seconds(waited_ns))),
        .advice =
            "raise the quota or remove it (docker --cpus, systemd CPUQuota=, cpu.max), or compare "
            "cpu_time"};
  }

  WarningText operator()(const OutlivedRuns& warning) const {
    const std::string processes = say_process_count(warning);
    const std::string figure =
        fmt::format("{} of {} runs", warning.outlived_runs, warning.examined_runs);
    return {.kind = "outlived",
            .text = fmt::format(
                "{} outlived the run in {}, and what {} did afterwards was not measured", processes,
                figure, warning.most_processes == 1 ? "it" : "they"),
            .advice = "make the command wait for the processes that it starts",
            .text_for_all_commands =
                "processes outlived the run, and what they did afterwards was not measured",
            .command_figures = fmt::format("{}, in {}", processes, figure)};
  }

  WarningText operator()(const SlowedByCounting& warning) const {
    return {
        .kind = "slowed_by_counting",
        .text = fmt::format("the counting runs took {} as long as the timed runs, because counting "
                            "slowed them down",
                            format_as_times(warning.ratio)),
        .advice = "the times that you see come from the timed runs only",
        .text_for_all_commands = "counting slowed the runs down",
        .command_figures = format_as_times(warning.ratio)};
  }
};

WarningText make_warning_text(const Results& results, const Warning& warning, bool is_verbose) {
  const bool has_deltas =
      !results.headline_comparisons.empty() &&
      results.session.reference.index_in_session(results.headline_comparisons.front().command);
  const WarningTextMaker maker{.has_deltas = has_deltas,
                               .are_deltas_paired = results.are_all_deltas_paired,
                               .is_verbose = is_verbose,
                               .unit = results.presentation.time_unit};
  WarningText words = std::visit(maker, warning.finding);

  // Where a warning sets no text for several commands or its kind, the narrower text fits them too.
  if (words.text_for_all_commands.empty()) words.text_for_all_commands = words.text;
  if (words.of_kind.text.empty()) words.of_kind.text = words.text_for_all_commands;
  if (words.of_kind.advice.empty()) words.of_kind.advice = words.advice;
  if (words.of_kind.figures.empty()) words.of_kind.figures = words.command_figures;
  words.command_index = warning.command;
  return words;
}

/// Returns what the warning is about: the event, or the command, with its number if several
/// commands have its name. Empty for a warning about several commands or the session.
std::string find_subject(const Results& results, const WarningText& words) {
  if (!words.event.empty()) return words.event;
  if (!words.command_index) return "";
  const std::string& name = results.session.commands[*words.command_index].name;
  const auto namesakes = std::ranges::count(results.session.commands, name, &Command::name);
  const std::string_view what = results.benchmark.empty() ? "benchmark" : "command";
  return namesakes > 1 ? fmt::format("{} {}, {}", what, *words.command_index + 1, cited(name))
                       : cited(name);
}

bool is_same_text(const WarningText& a, const WarningText& b) {
  return a.event.empty() && a.advice == b.advice &&
         a.text_for_all_commands == b.text_for_all_commands;
}

bool may_share_a_line(const WarningText& a, const WarningText& b) {
  return a.kind == b.kind && !a.has_own_line && !b.has_own_line;
}

/// A command or an event, and the figures of all its warnings in a group. Either may be empty.
struct SubjectAndFigures {
  std::string subject;
  std::string figures;
};

std::string join_subjects(const std::vector<SubjectAndFigures>& subjects) {
  std::vector<std::string> texts;
  for (const auto& [subject, figures] : subjects) {
    if (subject.empty() && figures.empty()) continue;
    const bool has_both = !subject.empty() && !figures.empty();
    texts.push_back(has_both ? fmt::format("{} ({})", subject, figures) : subject + figures);
  }
  return texts.empty() ? "" : listed(cut_list(std::move(texts), kMaxNamedSubjects));
}

/// Returns "'a' (5 of 60) and 'b' (7 of 60)": the subjects of a group of warnings, each with its
/// figures, which are those of the kind unless `have_all_same_text`. Empty if the warnings
/// have neither subjects nor figures.
std::string list_subjects(const Results& results, std::span<const WarningText> group,
                          bool have_all_same_text) {
  std::vector<SubjectAndFigures> subjects;
  for (const WarningText& words : group) {
    const std::string subject = find_subject(results, words);
    const std::string& figures = have_all_same_text ? words.command_figures : words.of_kind.figures;
    const auto known = std::ranges::find(subjects, subject, &SubjectAndFigures::subject);
    if (known == subjects.end())
      subjects.push_back({subject, figures});
    else if (!figures.empty())
      known->figures += (known->figures.empty() ? "" : "; ") + figures;
  }

  return join_subjects(subjects);
}

/// True if a text without figures fits all warnings of the group.
bool have_same_text(std::span<const WarningText> group) {
  return std::ranges::all_of(
      group, [&](const WarningText& words) { return is_same_text(group.front(), words); });
}

std::string make_line(const Results& results, std::span<const WarningText> group) {
  const WarningText& words = group.front();
  if (group.size() == 1) {
    const std::string subject = words.event.empty() ? find_subject(results, words) : "";
    return (subject.empty() ? "" : subject + ": ") + words.text + "; " + words.advice;
  }

  const bool is_one_text_enough = have_same_text(group);
  const std::string subjects = list_subjects(results, group, is_one_text_enough);
  return fmt::format("{}{}{}; {}", subjects, subjects.empty() ? "" : ": ",
                     is_one_text_enough ? words.text_for_all_commands : words.of_kind.text,
                     is_one_text_enough ? words.advice : words.of_kind.advice);
}

/// Returns the line of the warnings in `group`, which share it, with the texts that it has if it is
/// also shared by other benchmarks of a suite.
WarningLine make_warning_line(const Results& results, std::span<const WarningText> group) {
  const WarningText& first = group.front();
  const std::string text_of_kind = first.of_kind.text + "; " + first.of_kind.advice;
  return {.text = make_line(results, group),
          .text_without_names = have_same_text(group)
                                    ? first.text_for_all_commands + "; " + first.advice
                                    : text_of_kind,
          .kind = first.has_own_line ? std::string_view() : first.kind,
          .text_of_kind = text_of_kind};
}

bool is_about_differences(const Warning& warning) {
  return std::holds_alternative<OtherCircumstances>(warning.finding) ||
         std::holds_alternative<OtherConditions>(warning.finding);
}

/// Returns the warnings that `style` shows, in words.
std::vector<WarningText> make_shown_texts(const Results& results, const Style& style) {
  const bool lists_all_differences = style.verbose || style.shows_all_differences;
  std::vector<WarningText> texts;
  for (const Warning& warning : results.warnings) {
    const bool is_wanted_difference = lists_all_differences && is_about_differences(warning);
    if (warning.shown == Shown::Always || style.verbose || is_wanted_difference)
      texts.push_back(make_warning_text(results, warning, lists_all_differences));
  }
  return texts;
}

/// True if the warning may change what a reader concludes from a delta, so that ByWeight puts it
/// first.
bool may_mislead_about_deltas(const WarningText& words) {
  constexpr auto kinds = std::to_array<std::string_view>(
      {"other_circumstances", "few_runs", "sequential_order", "baseline", "foreign_baseline",
       "other_processor", "other_cores", "mean_differs", "alike_rounds", "same_programs",
       "outlived"});
  return std::ranges::find(kinds, words.kind) != kinds.end();
}

}  // namespace

std::string difference_text(const SettingDifference& difference, DifferenceSide subject,
                            std::size_t most_entries) {
  const SettingRow& row = row_of(difference.kind);
  const bool is_candidate = subject == DifferenceSide::Candidate;
  const std::string& own = is_candidate ? difference.candidate_value : difference.reference_value;
  const std::string& other = is_candidate ? difference.reference_value : difference.candidate_value;
  if (row.is_list)
    return fmt::format("{} ({})", row.title,
                       list_differing_entries(difference, subject, most_entries));

  if (difference.kind == SettingKind::ProcessorFeatures)
    return fmt::format(
        "{} (only one of the two sides has {})", row.title,
        listed(words_of_only_one(difference.reference_value, difference.candidate_value)));
  return fmt::format("{} {} instead of {}", row.title, cited(own), cited(other));
}

std::string counter_loss_line(const Command& command, const CounterLossFile& file) {
  const WarningText words = make_counter_loss_text(file);
  return cited(command.name) + ": " + words.text + "; " + words.advice;
}

std::vector<WarningText> make_warning_texts(const Results& results) {
  std::vector<WarningText> all;
  for (const Warning& warning : results.warnings)
    all.push_back(make_warning_text(results, warning, true));
  return all;
}

// Warnings of one kind share a line, so that several commands with the same trouble do not fill the
// screen.
std::vector<WarningLine> warning_lines(const Results& results, const Style& style,
                                       WarningOrder order) {
  std::vector<WarningText> pending = make_shown_texts(results, style);
  if (order == WarningOrder::ByWeight)
    std::stable_partition(pending.begin(), pending.end(), may_mislead_about_deltas);

  // Each line takes the first warning that is left, and all that may share a line with it.
  std::vector<WarningLine> lines;
  while (!pending.empty()) {
    const WarningText first = pending.front();
    const auto group_end = std::stable_partition(
        pending.begin() + 1, pending.end(),
        [&](const WarningText& words) { return may_share_a_line(first, words); });
    lines.push_back(make_warning_line(results, {pending.begin(), group_end}));
    pending.erase(pending.begin(), group_end);
  }

  return lines;
}

}  // namespace lauka::report
