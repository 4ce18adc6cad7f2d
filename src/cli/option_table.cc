#include "cli/option_table.h"

#include "cli/values.h"
#include "core/choices.h"
#include "core/own_metric.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace lauka::cli {
namespace {

constexpr std::uint64_t kMaxJobs = 1000;
constexpr auto kAnyWholeNumber = std::numeric_limits<std::uint64_t>::max();

Result<void> add_events(ParsedOptions& draft, const OptionValue& given) {
  const bool adds_to_defaults = given.value.starts_with('+');
  const std::string list = adds_to_defaults ? given.value.substr(1) : given.value;
  const auto names = event_or_metric_names(OptionValue{given.option, list});
  if (!names) return names.error();
  draft.options.counting.adds_default_events =
      draft.options.counting.adds_default_events || adds_to_defaults;
  auto& events = draft.options.counting.events;
  for (const std::string& name : *names)
    if (std::ranges::find(events, name) == events.end()) events.push_back(name);
  return {};
}

Result<void> set_fail_if_slower(ParsedOptions& draft, const OptionValue& given) {
  draft.slower_percent = 0.0;
  if (given.value.empty()) return {};
  return keep(percentage(given, kMinGateLimit, kMaxGateLimit), draft.slower_percent);
}

Result<void> set_keep_if_faster(ParsedOptions& draft, const OptionValue& given) {
  draft.keep_faster_percent = 0.0;
  if (given.value.empty()) return {};
  return keep(percentage(given, {0.0, true}, {100.0, false}), draft.keep_faster_percent);
}

Result<void> add_label(ParsedOptions& draft, const OptionValue& given) {
  const std::size_t equals = given.value.find('=');
  const std::string key = given.value.substr(0, equals);
  if (equals == std::string::npos || !is_valid_own_metric_name(key))
    return make_value_error(given,
                            {"is not KEY=VALUE", "write, for example, --label commit=1a2b3c"});
  auto& labels = draft.options.output.labels;
  if (std::ranges::any_of(labels, [&](const Label& label) { return label.key == key; }))
    return make_value_error(given, {"gives a key twice", "use only one of them"});
  labels.push_back({key, given.value.substr(equals + 1)});
  return {};
}

Result<void> set_fail_if_inconclusive(ParsedOptions& draft, const OptionValue& given) {
  draft.options.gates.inconclusive_status = static_cast<int>(ExitStatus::GateInconclusive);
  if (given.value.empty()) return {};
  const auto status = whole_number(given, 1, 255);
  if (!status) return status.error();
  draft.options.gates.inconclusive_status = static_cast<int>(*status);
  return {};
}

/// Splits the value at the last colon, because an event's name may contain colons.
Result<void> set_precision(ParsedOptions& draft, const OptionValue& given) {
  const std::size_t colon = given.value.rfind(':');
  const bool names_metric = colon != std::string::npos && colon > 0;
  draft.options.gates.precision_metric = names_metric ? given.value.substr(0, colon) : "";
  const std::string number = names_metric ? given.value.substr(colon + 1) : given.value;
  return keep(
      percentage_as_fraction(OptionValue{given.option, number}, {0.0, false}, {1000.0, true}),
      draft.options.gates.max_half_width);
}

Result<void> set_tune(ParsedOptions& draft, const OptionValue& given) {
  bool is_list = false;
  auto read = keep(tune_request(given, is_list), draft.options.run.tune);
  if (read && is_list) draft.options.inquiry = {.kind = InquiryKind::TuneList};
  return read;
}

Result<void> set_engine(ParsedOptions& draft, const OptionValue& given) {
  const bool is_reversed = given.value == "dhat,cachegrind";
  const Result<std::size_t> position =
      choice(is_reversed ? OptionValue{given.option, "cachegrind,dhat"} : given);
  if (!position) return position.error();
  draft.options.counting.engine = kEngines.at(*position).choice;
  return {};
}

Result<void> set_metrics(ParsedOptions& draft, const OptionValue& given) {
  Options& options = draft.options;
  options.counting.listed_metrics.clear();
  for (const auto& [name, selection] :
       {std::pair("default", MetricSelection::Default), std::pair("time", MetricSelection::Time),
        std::pair("all", MetricSelection::All)}) {
    options.counting.metric_selection = selection;
    if (given.value == name) return {};
  }
  options.counting.metric_selection = MetricSelection::Listed;
  return keep(event_or_metric_names(given), options.counting.listed_metrics);
}

Result<void> add_parameter_list(ParsedOptions& draft, const OptionValue& given) {
  if (given.words[1].empty())
    return Error{fmt::format("{} {} has an empty list", given.option.spelling(), given.words[0]),
                 "write values with commas between them"};
  draft.options.commands.parameters.push_back(
      {.name = given.words[0], .values = split_list(given.words[1])});
  return {};
}

Result<void> set_threads(ParsedOptions& draft, const OptionValue& given) {
  Inquiry inquiry{.kind = InquiryKind::Threads};
  for (const std::string& text : split_list(given.value)) {
    const auto process =
        whole_number(OptionValue{given.option, text}, 1, std::numeric_limits<std::int32_t>::max());
    if (!process) return process.error();
    const auto id = static_cast<std::int32_t>(*process);
    auto& all = inquiry.processes;
    if (std::ranges::find(all, id) == all.end()) all.push_back(id);
  }
  draft.options.inquiry = std::move(inquiry);
  return {};
}

Result<void> set_suite(ParsedOptions& draft, const OptionValue& given) {
  if (draft.options.suite.suite_path)
    return make_value_error(given, {"is a second suite", "measure one at a time"});
  return keep(read_nonempty_text(given), draft.options.suite.suite_path);
}

Result<void> add_export(ParsedOptions& draft, const OptionValue& given) {
  const ExportRow& row = *std::ranges::find(kExports, given.option.name, &ExportRow::option);
  auto& exports = draft.options.output.exports;
  std::erase_if(exports, [&](const ExportTarget& target) { return target.kind == row.kind; });
  auto file = read_nonempty_text(given);
  if (!file) return file.error();
  exports.push_back({row.kind, *std::move(file), row.option});
  return {};
}

Result<std::string> any_text(const OptionValue& given) {
  return given.value;
}

Result<void> add_hook(ParsedOptions& draft, const OptionValue& given) {
  const HookRow& row = *std::ranges::find(kHookKinds, given.option.name, &HookRow::name);
  return add(any_text(given), draft.options.commands.hooks[row.kind]);
}

Result<void> set_style(ParsedOptions& draft, const OptionValue& given) {
  if (auto known = choice(given); !known) return known.error();
  const std::string& style = given.value;
  Options& options = draft.options;
  if (style == "none") options.output.verbosity = Verbosity::Quiet;
  if (style == "full" || style == "color") options.output.color = ColorChoice::Always;
  if (style == "basic" || style == "nocolor") options.output.color = ColorChoice::Never;
  if (style == "basic" || style == "color") options.output.shows_progress = false;
  return {};
}

template <InquiryKind kind>
Result<void> ask(ParsedOptions& draft, const OptionValue& given) {
  draft.options.inquiry = {.kind = kind, .filter_or_topic = given.value};
  return {};
}

template <typename T, typename Owner>
T& target(ParsedOptions& draft, T Owner::*member) {
  Options& all = draft.options;
  const auto owners = std::tie(draft, all, all.run, all.commands, all.counting, all.suite,
                               all.gates, all.output, all.output.presentation);
  return std::get<Owner&>(owners).*member;
}

template <auto member, auto value>
Result<void> set(ParsedOptions& draft, const OptionValue& /*given*/) {
  target(draft, member) = value;
  return {};
}

template <auto member, auto... values>
Result<void> set_choice(ParsedOptions& draft, const OptionValue& given) {
  return keep(choice(given, std::array{values...}), target(draft, member));
}

template <auto member, std::uint64_t min, std::uint64_t max>
Result<void> set_number(ParsedOptions& draft, const OptionValue& given) {
  return keep(whole_number(given, min, max), target(draft, member));
}

template <auto read, auto member>
Result<void> put(ParsedOptions& draft, const OptionValue& given) {
  return keep(read(given), target(draft, member));
}

template <auto read, auto member>
Result<void> push(ParsedOptions& draft, const OptionValue& given) {
  return add(read(given), target(draft, member));
}

constexpr OptionRules kOfCall = {.scope = Scope::Call};
constexpr OptionRules kOfSaved = {.scope = Scope::Call, .works_with_from = true};
constexpr OptionRules kOfSuite = {.scope = Scope::Call, .needs_suite = true};
constexpr OptionRules kOfMeasured = {.scope = Scope::Session};
constexpr OptionRules kOfSession = {.scope = Scope::Session, .works_with_from = true};
constexpr OptionRules kOfAllGates = {
    .scope = Scope::Session, .works_with_from = true, .needs_suite = true};
constexpr OptionRules kInPlainCall = {.scope = Scope::PlainCall};
constexpr OptionRules kTyped = {.scope = Scope::TypedSession};
constexpr OptionRules kInSuite = {.needs_suite = true};
constexpr OptionRules kFitsSaved = {.works_with_from = true};
constexpr OptionRules kOnMacos = {.needs_macos = true};

constexpr OptionRules brief(std::string_view text, OptionRules others = {}) {
  others.brief_help_text = text;
  return others;
}
constexpr OptionRules sets(std::string_view option, OptionRules others = {}) {
  others.sets_value_of = option;
  return others;
}
constexpr OptionRules contradicts(std::string_view option) {
  return {.contradicted_option = option};
}

constexpr auto kRuns = std::to_array<OptionInfo>({
    {"runs", 'r', ValueForm::Value, "N", "exactly N timed runs of each command",
     set_number<&RunOptions::runs, 1, kMaxRuns>, brief("exactly N runs of each command")},
    {"min-runs", 'm', ValueForm::Value, "N", "at least N timed runs (default 10)",
     set_number<&RunOptions::min_runs, 1, kMaxRuns>, contradicts("runs")},
    {"max-runs", 'M', ValueForm::Value, "N", "at most N timed runs",
     set_number<&RunOptions::max_runs, 1, kMaxRuns>, contradicts("runs")},
    {"duration", 'd', ValueForm::Value, "TIME",
     "time for each command: 5s, 500ms, 2m; a bare number is seconds (default 5s)",
     put<duration, &RunOptions::time_per_command>, brief("time for each command (default 5s)")},
    {"warmup", 'w', ValueForm::Value, "N",
     "untimed runs of each command before the timed ones (default 1)",
     set_number<&RunOptions::warmup, 0, kMaxRuns>,
     brief("runs that are not timed, first (default 1)")},
    {"order", '\0', ValueForm::Value, "random|interleaved|sequential",
     "random: one run of each command per round, shuffled in each round (default); interleaved: "
     "the same, not shuffled; sequential: all runs of one command, then the next",
     set_choice<&RunOptions::order, Order::Random, Order::Interleaved, Order::Sequential>},
    {"seed", '\0', ValueForm::Value, "N",
     "seed of the shuffle; reuse it to repeat an order (default: from the clock)",
     set_number<&RunOptions::seed, 0, kAnyWholeNumber>, kOfMeasured},
    {"precision", '\0', ValueForm::Value, "[METRIC:]PCT",
     "stop as soon as the interval of every delta of wall time, or of METRIC, is no wider than "
     "+-PCT percent (with one command: the interval of its mean), within --max-runs and --duration",
     set_precision, contradicts("runs")},
    {"timeout", '\0', ValueForm::Value, "TIME",
     "kill a run that takes longer, with everything it started, and report it as failed",
     put<duration, &RunOptions::timeout>},
    {"jobs", '\0', ValueForm::Value, "N",
     "run N copies of a command at once, as one run (Linux): wall time covers all of them, CPU "
     "time is their sum, throughput is N / wall time. Each finds its number, from 0, in LAUKA_JOB; "
     "if one fails, the run has failed and the others are killed",
     set_number<&RunOptions::copies_per_run, 1, kMaxJobs>},
    {"until", '\0', ValueForm::Value, "REGEX",
     "a run is over when a line of its output matches (a server that is ready): its wall time is "
     "up to that line. Then its process group gets SIGTERM and, 2 s later, SIGKILL; being "
     "stopped this way is not a failure, but ending before that line is",
     put<regular_expression, &RunOptions::end_pattern>},
    {"layouts", '\0', ValueForm::Value, "N",
     "compare N builds of each command, which differ in the placement of their code: {layout} is 1 "
     "... N in the command, its name, builds, hooks and folder. Changes are then over layouts",
     set_number<&RunOptions::layouts, kMinLayouts, kMaxLayouts>, brief("compare N builds of each")},
    {"build", '\0', ValueForm::Value, "CMD",
     "with --layouts: run CMD with sh -c once for each layout before all runs, without the time "
     "limits; once for all commands, or once per command",
     push<any_text, &CommandOptions::build_commands>},
    {"build-jobs", '\0', ValueForm::Value, "N", "run N of the builds at a time (default 1)",
     set_number<&RunOptions::build_jobs, 1, kMaxJobs>},
});

constexpr auto kCommands = std::to_array<OptionInfo>({
    {"command-name", 'n', ValueForm::Value, "NAME",
     "name to show for a command; once per command, in order, not counting --reference",
     push<any_text, &CommandOptions::names>, brief("name to show, once per command", kFitsSaved)},
    {"reference", '\0', ValueForm::Value, "COMMAND",
     "put COMMAND first, as the one that the others are compared with, at the same values of {VAR}",
     put<read_nonempty_text, &ParsedOptions::reference_command>, kFitsSaved},
    {"reference-name", '\0', ValueForm::Value, "NAME", "name to show for --reference",
     put<any_text, &ParsedOptions::reference_name>},
    {"shell", '\0', ValueForm::Value, "SHELL",
     "run each command with SHELL -c; 'default' is sh, 'none' (the default) runs it directly",
     put<shell, &CommandOptions::shell>},
    {"", 'S', ValueForm::Nothing, "", "the same as --shell default",
     [](ParsedOptions& d, const OptionValue&) -> Result<void> {
       d.options.commands.shell = Shell{{"sh"}};
       return {};
     },
     brief("run the commands in a shell (sh)", sets("shell"))},
    {"", 'N', ValueForm::Nothing, "", "the same as --shell none",
     [](ParsedOptions& d, const OptionValue&) -> Result<void> {
       d.options.commands.shell.reset();
       return {};
     },
     sets("shell")},
    {"ignore-failure", 'i', ValueForm::OptionalNumber, "CODE,...",
     "go on when a run fails, and count such runs. With CODEs, go on only for these exit statuses "
     "(128 + N for signal N), which then count as successes. Deltas and gates leave failed runs "
     "out. A gate between commands that fail at different rates is inconclusive. If every run of a "
     "gated command fails, lauka exits with status 1",
     put<ignored_failures, &RunOptions::ignore_failure>, brief("go on when a run fails")},
});

constexpr auto kAroundCommands = std::to_array<OptionInfo>({
    {"env", '\0', ValueForm::Value, "'A=1 B=2'",
     "set environment variables for the command and its hooks",
     push<environment, &CommandOptions::environment>},
    {"cwd", '\0', ValueForm::Value, "DIR",
     "run the command and its hooks in this folder, where relative paths in them begin; FILE of "
     "--input and --output stays relative to lauka's own",
     push<read_nonempty_text, &CommandOptions::working_folders>},
    {"input", '\0', ValueForm::Value, "null|FILE",
     "standard input of the command, opened again for each run (default null)",
     push<read_input_path, &CommandOptions::inputs>},
    {"output", '\0', ValueForm::Value, "null|pipe|inherit|FILE",
     "where standard output and error of the commands go (default null, the quietest; but GNU grep "
     "stops at its first match there, and pipe makes it do all of its work)",
     push<output, &CommandOptions::outputs>},
    {"show-output", '\0', ValueForm::Nothing, "", "the same as --output inherit",
     [](ParsedOptions& d, const OptionValue&) -> Result<void> {
       d.options.commands.outputs.push_back(OutputChoice{OutputKind::Inherit});
       return {};
     },
     sets("output")},
    {"expect-output", '\0', ValueForm::Value, "same|FILE|sha256:HEX",
     "before anything is timed, compare what each command writes to standard output in its first "
     "run with what the reference writes (same), with a file, or with a hash; exit with 1 and the "
     "first difference where it is another",
     push<expected_output, &CommandOptions::expected_outputs>},
    {"parameter-list", 'L', ValueForm::TwoWords, "VAR a,b,c",
     "measure with each value in place of {VAR} in the command, its name and the nine options "
     "above; repeated: all combinations",
     add_parameter_list, brief("one benchmark per value; {VAR} is replaced")},
    {"parameter-scan", 'P', ValueForm::ThreeWords, "VAR MIN MAX",
     "the same with the numbers from MIN to MAX",
     [](ParsedOptions& d, const OptionValue& g) -> Result<void> {
       d.options.commands.parameters.push_back(
           {.name = g.words[0], .is_scan = true, .min = g.words[1], .max = g.words[2]});
       return {};
     },
     brief("the same for a range of numbers")},
    {"parameter-step-size", 'D', ValueForm::Value, "STEP", "step of a scan (default 1)",
     push<read_nonempty_text, &ParsedOptions::scan_steps>},
    {"as-root", '\0', ValueForm::Nothing, "",
     "under sudo: run the commands as root too (default: as the user who called sudo)",
     set<&RunOptions::as_root, true>, kTyped},
    {"tune", '\0', ValueForm::OptionalWord, "LIST|list|compare",
     "switch off what makes times scatter for as long as the commands are measured (Linux, with "
     "sudo), and restore it afterwards, also if lauka is killed. +NAME,-NAME changes what is "
     "switched, cpus=2-5 chooses the commands' CPUs, compare leaves a quarter of the runs untuned "
     "and reports what tuning changed; --tune=list shows everything and runs nothing",
     set_tune, kTyped},
    {"untune", '\0', ValueForm::Nothing, "",
     "restore what a killed lauka has left of --tune, which any later lauka with the same rights "
     "does as well; runs nothing",
     ask<InquiryKind::Untune>, kOfCall},
});

constexpr auto kMeasured = std::to_array<OptionInfo>({
    {"event", 'e', ValueForm::Value, "[+]EVENT,...",
     "count these events instead of the default ones, or with + besides them; may be repeated; -l "
     "lists them",
     add_events, brief("count these events (-l lists them)")},
    {"engine", '\0', ValueForm::Value, "", "", set_engine},
    {"user-only", '\0', ValueForm::Nothing, "", "count events in user space only",
     set<&CountingOptions::counts_user_space_only, true>},
    {"counting", '\0', ValueForm::Value, "apart|together",
     "apart: times come from runs that count nothing, counts from runs of their own (default); "
     "together: time and count the same runs",
     set_choice<&CountingOptions::counting_choice, CountingChoice::Apart,
                CountingChoice::Together>},
    {"single-pass", '\0', ValueForm::Nothing, "",
     "refuse events that do not fit the counters at once (default: runs take turns)",
     set<&CountingOptions::single_pass, true>},
    {"strategy", '\0', ValueForm::Value, "auto|exit|pet|cpu",
     "macOS: sample each thread as it ends (exit), sample running threads (pet), or count the "
     "whole machine (cpu); auto (default) takes the first that counts a known command completely",
     set_choice<&CountingOptions::strategy, KperfStrategyChoice::Auto, KperfStrategyChoice::AtExit,
                KperfStrategyChoice::SampleRunningThreads, KperfStrategyChoice::Machine>,
     kOnMacos},
    {"period", '\0', ValueForm::Value, "TIME",
     "macOS: how often running threads are sampled (default 1ms, the shortest that the kernel "
     "allows)",
     put<duration, &CountingOptions::thread_sampling_period>, kOnMacos},
    {"metrics", '\0', ValueForm::Value, "LIST",
     "rows of the table: default, time, all, or names in the order wanted, each with a unit if you "
     "like (wall_time:ms,peak_rss:MiB,instructions). Exports always have everything that is "
     "measured; events are counted if one is shown or asked for",
     set_metrics, brief("rows: default, time, all or names", kFitsSaved)},
    {"scrape", '\0', ValueForm::Value, "'NAME[:UNIT][:higher|lower]=REGEX'",
     "a metric that the program prints: the first group of the last match in standard output, or "
     "else in standard error, of each run ('rate:higher=([0-9.]+) requests/s'). May be repeated. A "
     "program can also write its metrics to the file that LAUKA_METRICS names",
     push<scraped_metric, &CountingOptions::scraped_metrics>},
    {"region", '\0', ValueForm::Nothing, "",
     "measure the part of the program that it marks with lauka_region_begin() and "
     "lauka_region_end() of lauka/region.h: region_time, and events of that part only; --metrics "
     "all has the whole run's, too",
     set<&CountingOptions::measures_region, true>},
    {"profile", '\0', ValueForm::OptionalWord, "PERIOD",
     "Linux: sample extra runs, which are not timed, every PERIOD of CPU time (default 1ms), and "
     "show which functions' time changed (docs/functions.md); --fail-if 'sampled_time@FUNCTION > "
     "5' gates one of them",
     put<sampling_period, &CountingOptions::profiling_period>},
    {"derive", '\0', ValueForm::Value, "'NAME[:UNIT][:higher|lower]=FORMULA'",
     "a metric made of others with + - * / ( ) and numbers, in each run that has all its parts: "
     "'mpki=1000*cache-misses/instructions'; its events are counted without -e. May be repeated. "
     "mpki, branch_miss_rate, cache_miss_rate, cpu_utilization, clock and, on Intel, "
     "topdown_retiring and its like are there by name, and with --metrics all",
     [](ParsedOptions& d, const OptionValue& g) -> Result<void> {
       if (d.options.counting.derived_metrics.size() == kMaxDerivedMetrics)
         return make_value_error(g, {"is one --derive too many", "use 1,000 at most"});
       return add(derived_metric(g), d.options.counting.derived_metrics);
     }},
    {"percentiles", '\0', ValueForm::Value, "50,90,99",
     "rows wall_time.p50, wall_time.p90, ...: the time that so many percent of the runs do not "
     "exceed, with its interval. A gate can be on them ('wall_time.p99 > 5'). p90 takes at least "
     "36 runs, p99 368",
     put<percentiles, &CountingOptions::percentiles>, kFitsSaved},
    {"core-kinds", '\0', ValueForm::Value, "NAME=CPUS,...",
     "name the kinds of core by hand, the fastest first (P=0-3,E=4-7; Linux)",
     put<core_kinds, &CountingOptions::core_kinds>},
    {"cores", '\0', ValueForm::Value, "p|e|any",
     "prefer one kind of core: performance, efficiency (Linux: by affinity; macOS: by the "
     "quality-of-service class)",
     set_choice<&CountingOptions::core_preference, CorePreference::Performance,
                CorePreference::Efficiency, CorePreference::Any>},
    {"min-p-share", '\0', ValueForm::Value, "PCT",
     "repeat (at most 3 times, then warn) a run that spent less than this share of its CPU time on "
     "performance cores",
     [](ParsedOptions& d, const OptionValue& g) {
       return keep(percentage_as_fraction(g, {0.0, false}, {100.0, true}),
                   d.options.counting.min_p_share);
     }},
    {"threads", '\0', ValueForm::Value, "PID,...",
     "print times, cycles, instructions and IPC of each thread of a running process by kind of "
     "core, since it started or, with -d TIME, during that time, and run nothing",
     set_threads, kOfCall},
    {"interval", '\0', ValueForm::Value, "TIME",
     "with --threads: print a line of JSON for each thread of these processes and interval (10ms) "
     "instead, until they end, for -d TIME, or until Ctrl-C",
     put<interval, &ParsedOptions::output_interval>, kOfCall},
    {"list-events", 'l', ValueForm::OptionalText, "TEXT",
     "list the events that can be counted here (those with TEXT in them), and run nothing",
     ask<InquiryKind::ListEvents>, kOfCall},
    {"list-metrics", '\0', ValueForm::Nothing, "",
     "list the metrics that can be shown, gated and exported: name, unit, whether they are "
     "measured here, meaning; and run nothing",
     ask<InquiryKind::ListMetrics>, kOfCall},
    {"explain-events", '\0', ValueForm::Nothing, "",
     "show which counter each event (of -e) gets, in how many passes, and which events compete for "
     "which counters, and run nothing",
     ask<InquiryKind::ExplainEvents>, kOfCall},
    {"kpep", '\0', ValueForm::Value, "FILE",
     "with the two above: use Apple's event database FILE instead of this machine's events; works "
     "on any system, without root",
     put<read_nonempty_text, &CountingOptions::event_database_path>, kOfCall},
    {"from", '\0', ValueForm::Value, "FILE",
     "run nothing: show, gate and export the sessions in these files, which --export-json or "
     "hyperfine wrote (words after it are files, too). Commands of one session are compared within "
     "rounds, those of different sessions as independent samples; --reference NAME chooses which "
     "is compared with",
     push<read_nonempty_text, &Options::saved_session_files>, kOfSaved},
    {"suite", '\0', ValueForm::Value, "FILE",
     "measure the benchmarks that this TOML file describes, their rounds interleaved, and show a "
     "row for each and the geometric mean of the changes. Options of a benchmark win over those of "
     "the command line, and these over the file's [defaults]",
     set_suite, kOfSuite},
    {"only", '\0', ValueForm::Value, "REGEX", "of a suite: the benchmarks whose names match",
     put<regular_expression, &SuiteOptions::benchmark_filter>, kOfSuite},
    {"shard", '\0', ValueForm::Value, "I/N",
     "of a suite: the I-th of N disjoint parts, as 2/5; a benchmark is never divided",
     put<shard, &SuiteOptions::shard>, kOfSuite},
    {"resume", '\0', ValueForm::Nothing, "",
     "of a suite that was interrupted: go on with the rounds kept next to the file of "
     "--export-json (FILE.rounds); begin if there are none",
     set<&SuiteOptions::resumes, true>, kOfSuite},
    {"anchor", '\0', ValueForm::Value, "NAME",
     "in a suite: the command of this name (-n, else its text) is an old build that is measured in "
     "the same rounds, and is neither base nor candidate",
     put<read_nonempty_text, &GateOptions::anchor_command>, kInSuite},
});

constexpr auto kGate = std::to_array<OptionInfo>({
    {"fail-if-slower", '\0', ValueForm::OptionalNumber, "PCT",
     "exit with 3 when a command is, with confidence, more than PCT percent slower than the "
     "reference (default 0, but 1 or more is better)",
     set_fail_if_slower, brief("exit with 3 when slower by more than PCT %", kFitsSaved)},
    {"fail-if", '\0', ValueForm::Value, "'METRIC > LIMIT'",
     "the same for any metric; may be repeated. 'instructions > 0.5' is a change in percent, 'ipc "
     "< -5' a drop; with a unit the limit is the value's own ('wall_time > 200ms', 'peak_rss > "
     "64MiB'; of a metric without a unit, 'value(rate) > 5000'), and needs no reference. An event "
     "is counted for it without -e. Without -r, runs go "
     "on until every gate is decided, for at most four times --duration. Before --duration is used "
     "up, a gate needs 10 rounds to fail and 57 to pass; after that, fewer can decide. To catch "
     "slow runs that happen less than once in 20, raise --min-runs",
     push<condition, &GateOptions::conditions>, brief("the same for any metric", kFitsSaved)},
    {"fail-if-inconclusive", '\0', ValueForm::OptionalNumber, "STATUS",
     "exit with 4, or with STATUS (125 for git bisect run), when a gate could not be decided and "
     "none failed",
     set_fail_if_inconclusive, kOfSession},
    {"keep-if-faster", '\0', ValueForm::OptionalNumber, "PCT",
     "of exactly two commands: exit with 0 when the second is shown to be more than PCT percent "
     "faster than the first (default 0), else with 5: it is slower, not faster by so much, or the "
     "runs could not decide",
     set_keep_if_faster, kInPlainCall},
    {"keep-if", '\0', ValueForm::Value, "'METRIC < -LIMIT'",
     "the same for any metric, written as for --fail-if: 'instructions < -1' keeps a command that "
     "needs at least 1 % less, 'ipc > 5' one that has more, 'peak_rss < 64MiB' one below that "
     "value; may be repeated, and all must hold",
     push<keep_condition, &GateOptions::conditions>, kInPlainCall},
    {"confidence", '\0', ValueForm::Value, "PCT",
     "confidence of every interval and gate (default 95). Each delta is the typical round's "
     "change, or the mean's with fewer than six rounds or values of 0",
     [](ParsedOptions& d, const OptionValue& g) {
       return keep(percentage_as_fraction(g, {50.0, true}, {100.0, false}),
                   d.options.gates.confidence);
     },
     kOfSession},
    {"baseline", '\0', ValueForm::Value, "FILE",
     "compare each command with the one of the same name (else, in the same place) in an earlier "
     "--export-json, or in hyperfine's JSON (wall time only)",
     put<read_nonempty_text, &GateOptions::baseline_file>, kFitsSaved},
    {"fdr", '\0', ValueForm::Nothing, "",
     "in a suite: of the gates that fail, at most 1 - confidence are expected to be false alarms "
     "(default: that any is one)",
     set<&GateOptions::controls_fdr, true>, kOfAllGates},
});

constexpr auto kOutput = std::to_array<OptionInfo>({
    {"label", '\0', ValueForm::Value, "KEY=VALUE",
     "keep this with the session, in the JSON and on the page; may be repeated. In a git "
     "repository commit, branch and dirty (yes, no) are there without it",
     add_label, kOfMeasured},
    {"no-git", '\0', ValueForm::Nothing, "", "take no labels from git",
     set<&OutputOptions::takes_labels_from_git, false>, kOfMeasured},
    {"title", '\0', ValueForm::Value, "TEXT",
     "title of the page that --export-html writes (default: the commands' names)",
     put<read_nonempty_text, &Presentation::title>, kOfSession},
    {"description", '\0', ValueForm::Value, "TEXT", "a paragraph below that title",
     put<read_nonempty_text, &Presentation::description>, kOfSession},
    {"table", '\0', ValueForm::Value, "auto|full|compact",
     "full: a table for each command; compact: one table with a row for each command; auto "
     "(default): compact for five commands or more; for three and four a compact one comes first",
     set_choice<&Presentation::table, TableChoice::Auto, TableChoice::Full, TableChoice::Compact>,
     kOfSession},
    {"sort", '\0', ValueForm::Value, "command|time",
     "order of the commands in tables: as given (default), or the fastest first",
     put<sort_order, &Presentation::sort>, brief("order of the table", kOfSession)},
    {"marks", '\0', ValueForm::Value, "emoji|text",
     "marks of gains and losses: emoji (default in UTF-8 terminals), or better and worse (default "
     "elsewhere and in Markdown)",
     set_choice<&Presentation::marks, MarksChoice::Emoji, MarksChoice::Text>, kOfSession},
    {"time-unit", 'u', ValueForm::Value, "ns|us|ms|s|min",
     "show all times in this unit (default: the one that fits each)",
     put<time_unit, &Presentation::time_unit>, kOfSession},
    {"functions", '\0', ValueForm::OptionalText, "ROWS",
     "with --engine cachegrind or --profile, or of a saved session that has them: take the "
     "difference of a simulated event or of the sampled time apart by function. ROWS is a number "
     "of functions with the largest differences (default 20), or a regular expression of their "
     "names; with --engine cachegrind, simulates each command six times",
     put<function_choice, &Presentation::functions>, kOfSession},
    {"histogram", '\0', ValueForm::Nothing, "",
     "draw the distribution of wall time under each table",
     set<&OutputOptions::shows_histogram, true>, kOfSession},
    {"color", '\0', ValueForm::Value, "auto|always|never",
     "auto (default) follows NO_COLOR, CLICOLOR_FORCE and whether the output is a terminal",
     set_choice<&OutputOptions::color, ColorChoice::Auto, ColorChoice::Always, ColorChoice::Never>,
     kOfSession},
    {"style", '\0', ValueForm::Value, "auto|basic|full|nocolor|color|none",
     "in hyperfine's words: nocolor is --color never, full is --color always, basic and color are "
     "these with --no-progress, none is --quiet",
     set_style, kOfSession},
    {"quiet", 'q', ValueForm::Nothing, "", "show errors and gates only",
     set<&OutputOptions::verbosity, Verbosity::Quiet>, sets("verbose", kOfSession)},
    {"verbose", 'v', ValueForm::Nothing, "",
     "show everything, and what makes up the difference in wall time",
     set<&OutputOptions::verbosity, Verbosity::Verbose>, kOfSession},
    {"no-progress", '\0', ValueForm::Nothing, "", "show no progress bar",
     set<&OutputOptions::shows_progress, false>, kOfSession},
    {"check", '\0', ValueForm::Nothing, "",
     "show what can be measured on this machine, what cannot and why, what makes it noisy, and "
     "which command helps; with --export-json also for programs. Runs nothing",
     ask<InquiryKind::Check>, brief("show what can be measured here, and how well", kOfCall)},
    {"help", '\0', ValueForm::OptionalText, "TOPIC",
     "show all options, or one TOPIC's, which may be the next word: runs, commands, metrics, "
     "suite, gates, output, history, or an option's name",
     ask<InquiryKind::Help>, kOfCall},
    {"", 'h', ValueForm::Nothing, "", "show the options that most people need",
     ask<InquiryKind::BriefHelp>, kOfCall},
    {"version", 'V', ValueForm::Nothing, "", "show the version", ask<InquiryKind::Version>,
     kOfCall},
});

struct BuiltText {
  std::array<char, 300> bytes{};
  std::size_t size = 0;

  constexpr void add(std::string_view text) {
    for (const char c : text) bytes.at(size++) = c;
  }
  constexpr std::string_view text() const { return {bytes.data(), size}; }
};

constexpr BuiltText kEngineNames = [] {
  BuiltText names;
  for (const EngineRow& row : kEngines) {
    if (names.size > 0) names.add("|");
    names.add(row.name);
  }
  return names;
}();

constexpr BuiltText kEngineHelp = [] {
  BuiltText help;
  help.add("what counts events");
  for (const EngineRow& row : kEngines) {
    if (row.help.empty()) continue;
    for (const std::string_view part :
         {std::string_view("; "), row.name, std::string_view(" "), row.help})
      help.add(part);
  }
  return help;
}();

constexpr std::size_t kRows = kRuns.size() + kCommands.size() + kHookKinds.size() +
                              kAroundCommands.size() + kMeasured.size() + kGate.size() +
                              kExports.size() + kOutput.size();

constexpr std::array<OptionInfo, kRows> make_table() {
  std::array<OptionInfo, kRows> table{};
  std::size_t size = 0;

  const auto add = [&](OptionSection group, const OptionInfo& row) {
    table.at(size) = row;
    table.at(size++).group = group;
  };
  const auto append = [&](OptionSection group, const auto& rows) {
    for (const OptionInfo& row : rows) add(group, row);
  };

  append(OptionSection::Runs, kRuns);
  append(OptionSection::Commands, kCommands);
  for (const HookRow& row : kHookKinds)
    add(OptionSection::Commands,
        {row.name, row.letter, ValueForm::Value, "CMD", row.help, add_hook, brief(row.brief)});
  append(OptionSection::Commands, kAroundCommands);
  append(OptionSection::Measured, kMeasured);
  append(OptionSection::Gate, kGate);
  for (const ExportRow& row : kExports)
    add(OptionSection::Output, {row.option, '\0', ValueForm::Value, "FILE", row.help, add_export,
                                brief(row.brief, kOfSession)});
  append(OptionSection::Output, kOutput);

  OptionInfo& engine = *std::ranges::find(table, "engine", &OptionInfo::name);
  engine.value_placeholder = kEngineNames.text();
  engine.help = kEngineHelp.text();

  return table;
}

constexpr std::array<OptionInfo, kRows> kTable = make_table();

template <typename Is>
const OptionInfo* row_where(const Is& is) {
  const auto rows = option_table();
  const auto found = std::ranges::find_if(rows, is);
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

std::span<const OptionInfo> option_table() {
  return kTable;
}

std::string OptionInfo::spelling() const {
  return name.empty() ? std::string{'-', letter} : "--" + std::string(name);
}

std::string write_usage(std::string_view spelling, std::string_view value, bool is_optional) {
  if (value.empty()) return std::string(spelling);
  return is_optional ? fmt::format("{}[={}]", spelling, value)
                     : fmt::format("{} {}", spelling, value);
}

std::string OptionInfo::usage() const {
  return write_usage(spelling(), value_placeholder, is_value_optional(*this));
}

bool contradict_each_other(const OptionInfo& option, const OptionInfo& other) {
  const auto contradicts = [](const OptionInfo& a, const OptionInfo& b) {
    return !a.rules.contradicted_option.empty() && a.rules.contradicted_option == b.name;
  };
  return contradicts(option, other) || contradicts(other, option);
}

const OptionInfo* find_option(std::string_view name) {
  return row_where([&](const OptionInfo& row) { return !name.empty() && row.name == name; });
}

const OptionInfo* find_option(char letter) {
  return row_where([&](const OptionInfo& row) { return letter != '\0' && row.letter == letter; });
}

std::string key_of(const OptionInfo& option) {
  return option.name.empty() ? option.spelling() : std::string(option.name);
}

const OptionInfo* option_of_key(std::string_view key) {
  return key.size() == 2 && key.front() == '-' ? find_option(key.back()) : find_option(key);
}

std::size_t multiword_count(const OptionInfo& option) {
  return option.value_form == ValueForm::TwoWords     ? 2
         : option.value_form == ValueForm::ThreeWords ? 3
                                                      : 0;
}

Error with_second_remedy(Error error, const std::string& other) {
  error.remedy += (error.remedy.empty() ? "" : "; ") + other;
  return error;
}

bool is_value_optional(const OptionInfo& option) {
  return option.value_form == ValueForm::OptionalNumber ||
         option.value_form == ValueForm::OptionalWord ||
         option.value_form == ValueForm::OptionalText;
}

}  // namespace lauka::cli
