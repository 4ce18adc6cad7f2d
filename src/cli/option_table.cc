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
  const auto names = read_event_or_metric_names(OptionValue{given.option, list});
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
  constexpr const LimitKindRow& range = row_of(LimitKind::Change);
  return assign_or_error(read_percentage(given, range.low, range.high), draft.slower_percent);
}

Result<void> set_keep_if_faster(ParsedOptions& draft, const OptionValue& given) {
  draft.keep_faster_percent = 0.0;
  if (given.value.empty()) return {};
  return assign_or_error(read_percentage(given, {0.0, true}, {100.0, false}),
                         draft.keep_faster_percent);
}

Result<void> set_race(ParsedOptions& draft, const OptionValue& given) {
  draft.options.run.race_limit = kDefaultRaceLimit;
  if (given.value.empty()) return {};
  return assign_or_error(read_percentage_as_fraction(given, {0.0, true}, {100.0, false}),
                         draft.options.run.race_limit);
}

Result<void> add_label(ParsedOptions& draft, const OptionValue& given) {
  const std::size_t equals = given.value.find('=');
  const std::string key = given.value.substr(0, equals);
  if (equals == std::string::npos || !is_valid_own_metric_name(key))
    return make_value_error(
        given, {"is not of the form KEY=VALUE", "write, for example, --label commit=1a2b3c"});
  auto& labels = draft.options.output.labels;
  if (std::ranges::any_of(labels, [&](const Label& label) { return label.key == key; }))
    return make_value_error(
        given, {"gives a value to a key that already has one", "use only one of them"});
  labels.push_back({key, given.value.substr(equals + 1)});
  return {};
}

Result<void> set_fail_if_inconclusive(ParsedOptions& draft, const OptionValue& given) {
  draft.options.gates.inconclusive_status = static_cast<int>(ExitStatus::GateInconclusive);
  if (given.value.empty()) return {};
  const auto status = read_whole_number(given, 1, 255);
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
  return assign_or_error(
      read_percentage_as_fraction(OptionValue{given.option, number}, {0.0, false}, {1000.0, true}),
      draft.options.gates.max_half_width);
}

Result<void> set_tune(ParsedOptions& draft, const OptionValue& given) {
  const auto typed = read_tune_value(given);
  if (!typed) return typed.error();
  draft.options.run.tune = typed->request;
  if (typed->is_list) draft.options.inquiry = {.kind = InquiryKind::TuneList};
  return {};
}

Result<void> set_engine(ParsedOptions& draft, const OptionValue& given) {
  // The two names may be in either order, but the table of engines has only one.
  const bool is_reversed = given.value == "dhat,cachegrind";
  const Result<std::size_t> position =
      read_choice(is_reversed ? OptionValue{given.option, "cachegrind,dhat"} : given);
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
  return assign_or_error(read_event_or_metric_names(given), options.counting.listed_metrics);
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
    const auto process = read_whole_number(OptionValue{given.option, text}, 1,
                                           std::numeric_limits<std::int32_t>::max());
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
    return make_value_error(given, {"would be a second suite", "measure one suite at a time"});
  return assign_or_error(read_nonempty_text(given), draft.options.suite.suite_path);
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

Result<std::string> read_any_text(const OptionValue& given) {
  return given.value;
}

Result<void> add_hook(ParsedOptions& draft, const OptionValue& given) {
  const HookRow& row = *std::ranges::find(kHookKinds, given.option.name, &HookRow::name);
  return add(read_any_text(given), draft.options.commands.hooks[row.kind]);
}

Result<void> set_style(ParsedOptions& draft, const OptionValue& given) {
  if (auto known = read_choice(given); !known) return known.error();
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

/// Returns the member of the options that `member` names, whichever struct has it.
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
  return assign_or_error(read_choice(given, std::array{values...}), target(draft, member));
}

template <auto member, std::uint64_t min, std::uint64_t max>
Result<void> set_number(ParsedOptions& draft, const OptionValue& given) {
  return assign_or_error(read_whole_number(given, min, max), target(draft, member));
}

template <auto read, auto member>
Result<void> put(ParsedOptions& draft, const OptionValue& given) {
  return assign_or_error(read(given), target(draft, member));
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
    {"runs", 'r', ValueForm::Value, "N", "time each command exactly N times",
     set_number<&RunOptions::runs, 1, kMaxRuns>, brief("time each command exactly N times")},
    {"min-runs", 'm', ValueForm::Value, "N", "time each command at least N times (default 10)",
     set_number<&RunOptions::min_runs, 1, kMaxRuns>, contradicts("runs")},
    {"max-runs", 'M', ValueForm::Value, "N", "time each command at most N times",
     set_number<&RunOptions::max_runs, 1, kMaxRuns>, contradicts("runs")},
    {"duration", 'd', ValueForm::Value, "TIME", "spend about TIME on each command (default 5s)",
     put<read_duration, &RunOptions::time_per_command>,
     brief("spend about TIME on each (default 5s)")},
    {"warmup", 'w', ValueForm::Value, "N",
     "warm up with N untimed runs of each command (default 1)",
     set_number<&RunOptions::warmup, 0, kMaxRuns>,
     brief("warm up with N untimed runs (default 1)")},
    {"order", '\0', ValueForm::Value, "random|interleaved|sequential",
     "choose the order in which the commands run (default random)",
     set_choice<&RunOptions::order, Order::Random, Order::Interleaved, Order::Sequential>},
    {"seed", '\0', ValueForm::Value, "N",
     "shuffle the runs with seed N, to repeat an order (default: from the clock)",
     set_number<&RunOptions::seed, 0, kAnyWholeNumber>, kOfMeasured},
    {"precision", '\0', ValueForm::Value, "[METRIC:]PCT",
     "stop as soon as every delta is known to within PCT percent", set_precision,
     contradicts("runs")},
    {"race", '\0', ValueForm::OptionalNumber, "PCT",
     "drop each command that is significantly slower than another, until the rest are within PCT "
     "percent of each other (default 1)",
     set_race},
    {"timeout", '\0', ValueForm::Value, "TIME",
     "kill a run that takes longer than TIME, and report it as failed",
     put<read_duration, &RunOptions::timeout>},
    {"jobs", '\0', ValueForm::Value, "N",
     "start N copies of a command at once, as one run (Linux only)",
     set_number<&RunOptions::copies_per_run, 1, kMaxJobs>},
    {"until", '\0', ValueForm::Value, "REGEX",
     "end a run as soon as a line of its output matches REGEX",
     put<read_regular_expression, &RunOptions::end_pattern>},
    {"layouts", '\0', ValueForm::Value, "N",
     "measure N builds of each command, which differ only in the placement of their code",
     set_number<&RunOptions::layouts, kMinLayouts, kMaxLayouts>,
     brief("measure N builds of each command")},
    {"build", '\0', ValueForm::Value, "CMD",
     "run CMD once for each layout, before the first run (needs --layouts)",
     push<read_any_text, &CommandOptions::build_commands>},
    {"build-jobs", '\0', ValueForm::Value, "N", "run N builds at a time (default 1, needs --build)",
     set_number<&RunOptions::build_jobs, 1, kMaxJobs>},
});

constexpr auto kCommands = std::to_array<OptionInfo>({
    {"command-name", 'n', ValueForm::Value, "NAME", "show a command under the name NAME",
     push<read_any_text, &CommandOptions::names>,
     brief("show a command under this name", kFitsSaved)},
    {"reference", '\0', ValueForm::Value, "COMMAND",
     "use COMMAND as the reference, and compare the other commands with it",
     put<read_nonempty_text, &ParsedOptions::reference_command>, kFitsSaved},
    {"reference-name", '\0', ValueForm::Value, "NAME",
     "show the command of --reference under the name NAME",
     put<read_any_text, &ParsedOptions::reference_name>},
    {"shell", '\0', ValueForm::Value, "SHELL",
     "run each command with SHELL -c (default none: run it without a shell)",
     put<read_shell, &CommandOptions::shell>},
    {"", 'S', ValueForm::Nothing, "",
     "run each command with sh -c, which pipelines need (the same as --shell default)",
     [](ParsedOptions& d, const OptionValue&) -> Result<void> {
       d.options.commands.shell = Shell{{"sh"}};
       return {};
     },
     brief("run the commands in a shell (sh)", sets("shell"))},
    {"", 'N', ValueForm::Nothing, "", "run each command without a shell (the same as --shell none)",
     [](ParsedOptions& d, const OptionValue&) -> Result<void> {
       d.options.commands.shell.reset();
       return {};
     },
     sets("shell")},
    {"ignore-failure", 'i', ValueForm::OptionalNumber, "CODE,...",
     "continue when a run fails, and count the failed runs",
     put<read_ignored_failures, &RunOptions::ignore_failure>, brief("continue when a run fails")},
});

constexpr auto kAroundCommands = std::to_array<OptionInfo>({
    {"env", '\0', ValueForm::Value, "'A=1 B=2'",
     "set environment variables for the command and its hooks",
     push<read_environment, &CommandOptions::environment>},
    {"cwd", '\0', ValueForm::Value, "DIR", "run the command and its hooks in the folder DIR",
     push<read_nonempty_text, &CommandOptions::working_folders>},
    {"input", '\0', ValueForm::Value, "null|FILE",
     "connect the command's standard input to FILE (default null: no input)",
     push<read_input_path, &CommandOptions::inputs>},
    {"output", '\0', ValueForm::Value, "null|pipe|inherit|FILE",
     "choose where the standard output and standard error of the commands go (default null)",
     push<read_output, &CommandOptions::outputs>},
    {"show-output", '\0', ValueForm::Nothing, "",
     "show what the commands write (the same as --output inherit)",
     [](ParsedOptions& d, const OptionValue&) -> Result<void> {
       d.options.commands.outputs.push_back(OutputChoice{OutputKind::Inherit});
       return {};
     },
     sets("output")},
    {"expect-output", '\0', ValueForm::Value, "same|FILE|sha256:HEX",
     "before timing anything, check what each command writes to standard output",
     push<read_expected_output, &CommandOptions::expected_outputs>},
    {"parameter-list", 'L', ValueForm::TwoWords, "VAR a,b,c",
     "measure each command with each value in place of {VAR}", add_parameter_list,
     brief("replace {VAR} with each value in turn")},
    {"parameter-scan", 'P', ValueForm::ThreeWords, "VAR MIN MAX",
     "measure each command with each number from MIN to MAX in place of {VAR}",
     [](ParsedOptions& d, const OptionValue& g) -> Result<void> {
       d.options.commands.parameters.push_back(
           {.name = g.words[0], .is_scan = true, .min = g.words[1], .max = g.words[2]});
       return {};
     },
     brief("replace {VAR} with each number in turn")},
    {"parameter-step-size", 'D', ValueForm::Value, "STEP",
     "set the step of --parameter-scan (default 1)",
     push<read_nonempty_text, &ParsedOptions::scan_steps>},
    {"as-root", '\0', ValueForm::Nothing, "",
     "run the commands as root if lauka was started with sudo", set<&RunOptions::as_root, true>,
     kTyped},
    {"tune", '\0', ValueForm::OptionalWord, "LIST|list|compare",
     "during the session, switch off what makes times vary (Linux only, with sudo)", set_tune,
     kTyped},
    {"untune", '\0', ValueForm::Nothing, "",
     "undo the changes of a --tune session that was killed, and run nothing",
     ask<InquiryKind::Untune>, kOfCall},
});

constexpr auto kMeasured = std::to_array<OptionInfo>({
    {"event", 'e', ValueForm::Value, "[+]EVENT,...",
     "count these events instead of the default ones (with +: in addition to them)", add_events,
     brief("count these events (-l lists them)")},
    {"engine", '\0', ValueForm::Value, "", "choose what counts events (default auto)", set_engine},
    {"user-only", '\0', ValueForm::Nothing, "", "count events in user space only",
     set<&CountingOptions::counts_user_space_only, true>},
    {"counting", '\0', ValueForm::Value, "apart|together",
     "count in separate, untimed runs (apart, the default) or in the timed runs (together)",
     set_choice<&CountingOptions::counting_choice, CountingChoice::Apart,
                CountingChoice::Together>},
    {"single-pass", '\0', ValueForm::Nothing, "",
     "refuse to run if the counters cannot count all events at once",
     set<&CountingOptions::single_pass, true>},
    {"strategy", '\0', ValueForm::Value, "auto|exit|pet|cpu",
     "choose how events are counted (macOS only, default auto)",
     set_choice<&CountingOptions::strategy, KperfStrategyChoice::Auto, KperfStrategyChoice::AtExit,
                KperfStrategyChoice::SampleRunningThreads, KperfStrategyChoice::Machine>,
     kOnMacos},
    {"period", '\0', ValueForm::Value, "TIME",
     "sample running threads every TIME (macOS only, default 1ms)",
     put<read_duration, &CountingOptions::thread_sampling_period>, kOnMacos},
    {"metrics", '\0', ValueForm::Value, "LIST",
     "choose the rows of the table: default, time, all, or a list of names", set_metrics,
     brief("choose rows: default, time, all or names", kFitsSaved)},
    {"scrape", '\0', ValueForm::Value, "'NAME[:UNIT][:higher|lower]=REGEX'",
     "read a metric from what the program prints",
     push<read_scraped_metric, &CountingOptions::scraped_metrics>},
    {"region", '\0', ValueForm::Nothing, "", "measure only the part of the program that it marks",
     set<&CountingOptions::measures_region, true>},
    {"profile", '\0', ValueForm::OptionalWord, "PERIOD",
     "sample additional runs, to show which functions became faster or slower (Linux only)",
     put<read_sampling_period, &CountingOptions::profiling_period>},
    {"call-graph", '\0', ValueForm::Value, "fp|none",
     "find the callers of sampled code by frame pointers (fp, the default), or not at all",
     set_choice<&CountingOptions::call_graph, CallGraphChoice::FramePointers,
                CallGraphChoice::None>},
    {"derive", '\0', ValueForm::Value, "'NAME[:UNIT][:higher|lower]=FORMULA'",
     "compute a metric from other metrics",
     [](ParsedOptions& d, const OptionValue& g) -> Result<void> {
       if (d.options.counting.derived_metrics.size() == kMaxDerivedMetrics)
         return make_value_error(g, {"is one formula too many", "use at most 1,000"});
       return add(read_derived_metric(g), d.options.counting.derived_metrics);
     }},
    {"percentiles", '\0', ValueForm::Value, "50,90,99",
     "add rows for these percentiles of wall time",
     put<read_percentiles, &CountingOptions::percentiles>, kFitsSaved},
    {"core-kinds", '\0', ValueForm::Value, "NAME=CPUS,...",
     "name the kinds of core by hand, the fastest first (Linux only)",
     put<read_core_kinds, &CountingOptions::core_kinds>},
    {"cores", '\0', ValueForm::Value, "p|e|any",
     "prefer performance cores (p) or efficiency cores (e)",
     set_choice<&CountingOptions::core_preference, CorePreference::Performance,
                CorePreference::Efficiency, CorePreference::Any>},
    {"min-p-share", '\0', ValueForm::Value, "PCT",
     "repeat runs that spent less than PCT percent of their CPU time on performance cores",
     [](ParsedOptions& d, const OptionValue& g) {
       return assign_or_error(read_percentage_as_fraction(g, {0.0, false}, {100.0, true}),
                              d.options.counting.min_p_share);
     }},
    {"threads", '\0', ValueForm::Value, "PID,...",
     "show the times and counts of each thread of a process on each kind of core, and run "
     "nothing",
     set_threads, kOfCall},
    {"interval", '\0', ValueForm::Value, "TIME",
     "print a line of JSON for each thread every TIME (needs --threads)",
     put<read_interval, &ParsedOptions::output_interval>, kOfCall},
    {"list-events", 'l', ValueForm::OptionalText, "TEXT",
     "list the events that can be counted here, and run nothing", ask<InquiryKind::ListEvents>,
     kOfCall},
    {"list-metrics", '\0', ValueForm::Nothing, "",
     "list the metrics that can be shown, gated and exported, and run nothing",
     ask<InquiryKind::ListMetrics>, kOfCall},
    {"explain-events", '\0', ValueForm::Nothing, "",
     "show which counter each event gets, and run nothing", ask<InquiryKind::ExplainEvents>,
     kOfCall},
    {"kpep", '\0', ValueForm::Value, "FILE",
     "use Apple's event database FILE (needs --list-events or --explain-events)",
     put<read_nonempty_text, &CountingOptions::event_database_path>, kOfCall},
    {"from", '\0', ValueForm::Value, "FILE",
     "show, gate and export saved sessions instead of running anything",
     push<read_nonempty_text, &Options::saved_session_files>, kOfSaved},
    {"suite", '\0', ValueForm::Value, "FILE",
     "measure the benchmarks that the TOML file FILE describes", set_suite, kOfSuite},
    {"only", '\0', ValueForm::Value, "REGEX",
     "measure only the benchmarks whose names match REGEX (needs --suite)",
     put<read_regular_expression, &SuiteOptions::benchmark_filter>, kOfSuite},
    {"shard", '\0', ValueForm::Value, "I/N",
     "split the benchmarks into N parts, and measure only part I (needs --suite)",
     put<read_shard, &SuiteOptions::shard>, kOfSuite},
    {"resume", '\0', ValueForm::Nothing, "",
     "continue a suite that was interrupted (needs --suite and --export-json)",
     set<&SuiteOptions::resumes, true>, kOfSuite},
    {"anchor", '\0', ValueForm::Value, "NAME",
     "treat the command NAME as an old build: measure it, but apply no gate to it (needs --suite)",
     put<read_nonempty_text, &GateOptions::anchor_command>, kInSuite},
});

constexpr auto kGate = std::to_array<OptionInfo>({
    {"fail-if-slower", '\0', ValueForm::OptionalNumber, "PCT",
     "exit with status 3 if a command is significantly more than PCT percent slower",
     set_fail_if_slower, brief("exit with status 3 if over PCT % slower", kFitsSaved)},
    {"fail-if", '\0', ValueForm::Value, "'METRIC > LIMIT'",
     "exit with status 3 if METRIC is significantly above LIMIT (with <: below it)",
     push<read_condition, &GateOptions::conditions>,
     brief("exit with 3 if METRIC is above LIMIT", kFitsSaved)},
    {"accept", '\0', ValueForm::Value, "FILE",
     "use the looser gate limits in the TOML file FILE, each until its last day",
     put<read_nonempty_text, &GateOptions::accepted_file>, kOfSession},
    {"fail-if-inconclusive", '\0', ValueForm::OptionalNumber, "STATUS",
     "exit with status 4 (or STATUS) if no gate failed, but one is inconclusive",
     set_fail_if_inconclusive, kOfSession},
    {"keep-if-faster", '\0', ValueForm::OptionalNumber, "PCT",
     "exit with status 0 only if the second command is significantly more than PCT percent faster, "
     "else with 5",
     set_keep_if_faster, kInPlainCall},
    {"keep-if", '\0', ValueForm::Value, "'METRIC < -LIMIT'",
     "exit with status 0 only if METRIC significantly meets this condition, else with 5",
     push<read_keep_condition, &GateOptions::conditions>, kInPlainCall},
    {"series", '\0', ValueForm::Value, "FILE",
     "limit the share of falsely kept candidates over all calls that use FILE, or, without a "
     "command, show the series",
     put<read_nonempty_text, &GateOptions::series_file>, kInPlainCall},
    {"confidence", '\0', ValueForm::Value, "PCT",
     "set the confidence of every interval and gate in percent (default 95)",
     [](ParsedOptions& d, const OptionValue& g) {
       return assign_or_error(read_percentage_as_fraction(g, {50.0, true}, {100.0, false}),
                              d.options.gates.confidence);
     },
     kOfSession},
    {"baseline", '\0', ValueForm::Value, "FILE",
     "compare each command with the command of the same name in an earlier session",
     put<read_nonempty_text, &GateOptions::baseline_file>, kFitsSaved},
    {"fdr", '\0', ValueForm::Nothing, "",
     "limit the share of false alarms among the gates that fail (needs --suite or --from)",
     set<&GateOptions::controls_fdr, true>, kOfAllGates},
});

constexpr auto kOutput = std::to_array<OptionInfo>({
    {"label", '\0', ValueForm::Value, "KEY=VALUE",
     "keep KEY=VALUE with the session, in the JSON and on the page", add_label, kOfMeasured},
    {"no-git", '\0', ValueForm::Nothing, "", "add no labels from git",
     set<&OutputOptions::takes_labels_from_git, false>, kOfMeasured},
    {"title", '\0', ValueForm::Value, "TEXT", "set the title of the page that --export-html writes",
     put<read_nonempty_text, &Presentation::title>, kOfSession},
    {"description", '\0', ValueForm::Value, "TEXT",
     "put a paragraph below the title of the page that --export-html writes",
     put<read_nonempty_text, &Presentation::description>, kOfSession},
    {"table", '\0', ValueForm::Value, "auto|full|compact",
     "show a table for each command (full) or one with a row for each command (compact)",
     set_choice<&Presentation::table, TableChoice::Auto, TableChoice::Full, TableChoice::Compact>,
     kOfSession},
    {"sort", '\0', ValueForm::Value, "command|time",
     "show the commands as given (command, the default) or the fastest first (time)",
     put<read_sort_order, &Presentation::sort>, brief("show the fastest first (time)", kOfSession)},
    {"marks", '\0', ValueForm::Value, "emoji|text",
     "mark gains and losses with emoji, or with the words better and worse",
     set_choice<&Presentation::marks, MarksChoice::Emoji, MarksChoice::Text>, kOfSession},
    {"time-unit", 'u', ValueForm::Value, "ns|us|ms|s|min",
     "show all times in this unit (default: a suitable one for each)",
     put<read_time_unit, &Presentation::time_unit>, kOfSession},
    {"functions", '\0', ValueForm::OptionalText, "ROWS",
     "show which functions became faster or slower",
     put<read_function_choice, &Presentation::functions>, kOfSession},
    {"paths", '\0', ValueForm::OptionalNumber, "N",
     "show the call paths that became faster or slower, in at most N lines (default 40)",
     put<read_line_count, &Presentation::paths>, kOfSession},
    {"histogram", '\0', ValueForm::Nothing, "",
     "draw the distribution of wall time under each table",
     set<&OutputOptions::shows_histogram, true>, kOfSession},
    {"color", '\0', ValueForm::Value, "auto|always|never",
     "use colour always, never, or where the output supports it (default auto)",
     set_choice<&OutputOptions::color, ColorChoice::Auto, ColorChoice::Always, ColorChoice::Never>,
     kOfSession},
    {"style", '\0', ValueForm::Value, "auto|basic|full|nocolor|color|none",
     "set the colours and the progress bar, as hyperfine's --style does", set_style, kOfSession},
    {"quiet", 'q', ValueForm::Nothing, "", "show only errors and gates",
     set<&OutputOptions::verbosity, Verbosity::Quiet>, sets("verbose", kOfSession)},
    {"verbose", 'v', ValueForm::Nothing, "",
     "show more rows and all warnings, and explain each difference in wall time",
     set<&OutputOptions::verbosity, Verbosity::Verbose>, kOfSession},
    {"no-progress", '\0', ValueForm::Nothing, "", "show no progress bar",
     set<&OutputOptions::shows_progress, false>, kOfSession},
    {"check", '\0', ValueForm::Nothing, "",
     "show what can be measured on this machine and what makes times vary, and run nothing",
     ask<InquiryKind::Check>, brief("show what can be measured here, and how well", kOfCall)},
    {"help", '\0', ValueForm::OptionalText, "TOPIC",
     "show all options, or explain the options of TOPIC", ask<InquiryKind::Help>, kOfCall},
    {"", 'h', ValueForm::Nothing, "", "show the options that most people need",
     ask<InquiryKind::BriefHelp>, kOfCall},
    {"version", 'V', ValueForm::Nothing, "", "show the version", ask<InquiryKind::Version>,
     kOfCall},
});

struct BuiltText {
  std::array<char, 80> bytes{};
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

constexpr std::size_t kOptionCount = kRuns.size() + kCommands.size() + kHookKinds.size() +
                                     kAroundCommands.size() + kMeasured.size() + kGate.size() +
                                     kExports.size() + kOutput.size();

constexpr OptionInfo make_hook_option(const HookRow& row) {
  return {.name = row.name,
          .letter = row.letter,
          .value_form = ValueForm::Value,
          .value_placeholder = "CMD",
          .help = row.help,
          .apply = add_hook,
          .rules = brief(row.brief)};
}

constexpr OptionInfo make_export_option(const ExportRow& row) {
  return {.name = row.option,
          .letter = '\0',
          .value_form = ValueForm::Value,
          .value_placeholder = "FILE",
          .help = row.help,
          .apply = add_export,
          .rules = brief(row.brief, kOfSession)};
}

/// Joins the options of all sections into one table, in the order in which --help shows them. The
/// kinds of hooks and of exports have tables of their own, from which their options are made.
constexpr std::array<OptionInfo, kOptionCount> make_table() {
  std::array<OptionInfo, kOptionCount> table{};
  std::size_t next_row = 0;

  const auto add_option = [&](OptionSection section, const OptionInfo& option) {
    table.at(next_row) = option;
    table.at(next_row).group = section;
    ++next_row;
  };
  const auto add_options = [&](OptionSection section, const auto& options) {
    for (const OptionInfo& option : options) add_option(section, option);
  };

  add_options(OptionSection::Runs, kRuns);
  add_options(OptionSection::Commands, kCommands);
  for (const HookRow& hook : kHookKinds)
    add_option(OptionSection::Commands, make_hook_option(hook));
  add_options(OptionSection::Commands, kAroundCommands);
  add_options(OptionSection::Measured, kMeasured);
  add_options(OptionSection::Gate, kGate);
  for (const ExportRow& row : kExports) add_option(OptionSection::Output, make_export_option(row));
  add_options(OptionSection::Output, kOutput);

  // The placeholder of --engine lists the names of the engines, which are in another table.
  OptionInfo& engine = *std::ranges::find(table, "engine", &OptionInfo::name);
  engine.value_placeholder = kEngineNames.text();

  return table;
}

constexpr std::array<OptionInfo, kOptionCount> kTable = make_table();

template <typename Is>
const OptionInfo* find_row_if(const Is& is) {
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
  return find_row_if([&](const OptionInfo& row) { return !name.empty() && row.name == name; });
}

const OptionInfo* find_option(char letter) {
  return find_row_if([&](const OptionInfo& row) { return letter != '\0' && row.letter == letter; });
}

std::string key_of(const OptionInfo& option) {
  return option.name.empty() ? option.spelling() : std::string(option.name);
}

const OptionInfo* option_of_key(std::string_view key) {
  return key.size() == 2 && key.front() == '-' ? find_option(key.back()) : find_option(key);
}

std::size_t count_words_if_several(const OptionInfo& option) {
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
