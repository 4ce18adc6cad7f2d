#include "cli/settle.h"

#include "cli/option_table.h"
#include "cli/values.h"
#include "core/command.h"
#include "core/function_table.h"
#include "core/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace lauka::cli {
namespace {

Error make_contradiction_error(const std::string& text, const std::string& other) {
  return {fmt::format("{} and {} cannot be combined", text, other), "use only one of them"};
}

bool is_given(const ParsedOptions& draft, std::string_view name) {
  return std::ranges::find(draft.applied_options, name, &OptionInfo::name) !=
         draft.applied_options.end();
}

/// True with --tune=compare.
bool compares_tuning(const RunOptions& options) {
  return options.tune && options.tune->compares;
}

std::string choose_metric_of_slower(const CountingOptions& options) {
  return std::string(options.measures_region ? kRegionTime : metric_name_of(Role::WallTime));
}

Result<void> settle_contradictions(ParsedOptions& draft) {
  for (const OptionInfo& option : option_table()) {
    if (option.rules.contradicted_option.empty() || !is_given(draft, option.name)) continue;
    const OptionInfo* other = find_option(option.rules.contradicted_option);
    if (other != nullptr && is_given(draft, other->name))
      return make_contradiction_error(other->spelling(), option.spelling());
  }
  return {};
}

Result<void> settle_numbers_of_runs(ParsedOptions& draft) {
  RunOptions& run = draft.options.run;
  if (is_given(draft, "min-runs") && run.max_runs && run.min_runs > *run.max_runs)
    return Error{
        fmt::format("--min-runs {} is more than --max-runs {}", run.min_runs, *run.max_runs),
        "lower --min-runs or raise --max-runs"};
  if (draft.options.gates.precision_metric.empty())
    draft.options.gates.precision_metric = choose_metric_of_slower(draft.options.counting);
  if (run.max_runs) run.min_runs = std::min(run.min_runs, *run.max_runs);
  return {};
}

Result<void> refuse_builds_without_layouts(const ParsedOptions& draft) {
  for (const std::string_view name : {"build", "build-jobs"})
    if (is_given(draft, name))
      return Error{fmt::format("--{} has no effect without --layouts", name),
                   "add --layouts N, or use --setup to build a single program"};
  return {};
}

/// Refuses a number of runs of which each layout cannot have the same share.
Result<void> check_runs_of_layouts(std::uint64_t runs, std::uint64_t layouts) {
  if (runs % layouts == 0) return {};
  const std::uint64_t multiple_below = runs / layouts * layouts;
  const std::uint64_t multiple_above = multiple_below + layouts;
  const std::string smaller_choice =
      multiple_below > 0 ? fmt::format("{} or ", multiple_below) : "";
  return Error{fmt::format("--runs {} cannot be divided among {} layouts", runs, layouts),
               fmt::format("give {}{}, because each layout must run equally often", smaller_choice,
                           multiple_above)};
}

/// `fewest_runs`: the smallest multiple of the number of layouts that --min-runs allows.
Error make_no_multiple_error(const RunOptions& run, std::uint64_t fewest_runs) {
  return {fmt::format("no multiple of {}, the number of layouts, lies between --min-runs {} and "
                      "--max-runs {}",
                      *run.layouts, run.min_runs, *run.max_runs),
          fmt::format("raise --max-runs to {}, because each layout must run equally often",
                      fewest_runs)};
}

/// With --layouts, rounds --max-runs down to a multiple of the number of layouts, and lowers
/// --min-runs to it. Returns an error if no such multiple is in the limits. A --min-runs that was
/// not typed is no limit.
Result<void> settle_limits_of_runs(ParsedOptions& draft) {
  RunOptions& run = draft.options.run;
  if (!run.max_runs) return {};

  // A sweep runs each layout once.
  const std::uint64_t runs_per_sweep = *run.layouts;
  const std::uint64_t fewest_sweeps = (run.min_runs + runs_per_sweep - 1) / runs_per_sweep;
  const std::uint64_t fewest_runs = fewest_sweeps * runs_per_sweep;
  const bool is_min_typed = is_given(draft, "min-runs");
  if (is_min_typed && fewest_runs > *run.max_runs) return make_no_multiple_error(run, fewest_runs);

  if (*run.max_runs < runs_per_sweep)
    return Error{fmt::format("--max-runs {} is less than one run of each of {} layouts",
                             *run.max_runs, runs_per_sweep),
                 fmt::format("allow {} or more", runs_per_sweep)};

  // Unlike --runs, --max-runs promises no exact number of runs, so it may be rounded down to whole
  // sweeps.
  *run.max_runs -= *run.max_runs % runs_per_sweep;
  run.min_runs = std::min(run.min_runs, *run.max_runs);
  return {};
}

/// Checks --layouts, which measures several builds (layouts) of each command. Each layout must run
/// equally often.
Result<void> settle_layouts(ParsedOptions& draft) {
  const RunOptions& run = draft.options.run;
  if (!run.layouts) return refuse_builds_without_layouts(draft);
  if (is_given(draft, "build-jobs") && draft.options.commands.build_commands.empty())
    return Error{"--build-jobs has no effect without --build", "add --build CMD, or leave it out"};
  if (compares_tuning(run))
    return Error{
        "--tune=compare cannot be combined with --layouts, because one compares runs and the other "
        "builds",
        "use only one of them"};

  if (run.runs)
    if (auto fits = check_runs_of_layouts(*run.runs, *run.layouts); !fits) return fits;
  return settle_limits_of_runs(draft);
}

/// An option that makes no sense in a race (--race), which drops each command as soon as it is
/// shown to be worse than another one.
struct UnfitForRace {
  std::string_view option{};
  bool (*is_given)(const ParsedOptions& draft);
  std::string_view why{};
  std::string_view remedy{};
};

constexpr std::string_view kWhyNoGateInRace =
    "a race drops commands before a gate on them could be decided";
constexpr std::string_view kRemedyForGateInRace =
    "run the race first, and then measure its winner with the gate";

constexpr auto kUnfitForRace = std::to_array<UnfitForRace>({
    {"--baseline",
     [](const ParsedOptions& draft) { return draft.options.gates.baseline_file.has_value(); },
     "a race compares the commands with each other in common rounds",
     "add the earlier program to the commands"},
    {"--fail-if", [](const ParsedOptions& draft) { return is_given(draft, "fail-if"); },
     kWhyNoGateInRace, kRemedyForGateInRace},
    {"--fail-if-slower",
     [](const ParsedOptions& draft) { return is_given(draft, "fail-if-slower"); }, kWhyNoGateInRace,
     kRemedyForGateInRace},
    {"--keep-if", [](const ParsedOptions& draft) { return is_given(draft, "keep-if"); },
     kWhyNoGateInRace, kRemedyForGateInRace},
    {"--keep-if-faster",
     [](const ParsedOptions& draft) { return is_given(draft, "keep-if-faster"); }, kWhyNoGateInRace,
     kRemedyForGateInRace},
    {"--precision",
     [](const ParsedOptions& draft) { return draft.options.gates.max_half_width.has_value(); },
     "a race ends as soon as its winner is known", "use only one of them"},
    {"--anchor",
     [](const ParsedOptions& draft) { return draft.options.gates.anchor_command.has_value(); },
     "a race may drop the anchor", "use only one of them"},
    {"--runs", [](const ParsedOptions& draft) { return draft.options.run.runs.has_value(); },
     "commands leave a race after different numbers of runs", "limit the rounds with --max-runs N"},
    {"--order sequential",
     [](const ParsedOptions& draft) { return draft.options.run.order == Order::Sequential; },
     "a race compares the commands in common rounds", "use --order random"},
    {"--tune=compare",
     [](const ParsedOptions& draft) { return compares_tuning(draft.options.run); },
     "commands that have left the race have no untuned runs to compare", "use --tune"},
});

/// Refuses options that make no sense in a race.
Result<void> settle_race(ParsedOptions& draft) {
  if (!draft.options.run.race_limit) return {};
  for (const UnfitForRace& unfit : kUnfitForRace)
    if (unfit.is_given(draft))
      return Error{
          fmt::format("--race cannot be combined with {}, because {}", unfit.option, unfit.why),
          std::string(unfit.remedy)};
  return {};
}

/// Keeps the first of equal gates, because all gates share the error rate.
void remove_duplicates(std::vector<Condition>& gates) {
  for (auto gate = gates.begin(); gate != gates.end();) {
    const bool is_first = std::find(gates.begin(), gate, *gate) == gate;
    if (is_first)
      ++gate;
    else
      gate = gates.erase(gate);
  }
}

/// Puts the conditions that --keep-if-faster and --fail-if-slower stand for before the others.
void add_conditions_of_short_options(ParsedOptions& draft) {
  std::vector<Condition>& gates = draft.options.gates.conditions;

  // --keep-if-faster=5 stands for --keep-if 'METRIC < -5'. The number is subtracted from 0.0,
  // because the negative of 0 would be shown as -0.
  if (draft.keep_faster_percent)
    gates.insert(gates.begin(),
                 for_keeping({.metric = choose_metric_of_slower(draft.options.counting),
                              .limit = GateLimit::of_change(0.0 - *draft.keep_faster_percent),
                              .fails_below_limit = true}));
  if (draft.slower_percent)
    gates.insert(gates.begin(), Condition{.metric = choose_metric_of_slower(draft.options.counting),
                                          .limit = GateLimit::of_change(*draft.slower_percent)});
}

/// Refuses --fail-if-inconclusive if there is no gate.
Result<void> check_inconclusive_has_gate(const Options& options) {
  // A session saved earlier may have gates of its own, which are not known yet.
  const bool has_gate =
      std::ranges::any_of(options.gates.conditions,
                          [](const Condition& condition) { return !condition.is_for_keeping(); });
  const bool may_have_saved_gate = !options.saved_session_files.empty();
  if (options.gates.inconclusive_status && !has_gate && !may_have_saved_gate)
    return Error{"--fail-if-inconclusive has no effect without a gate",
                 "add --fail-if-slower=PCT or --fail-if 'METRIC > PCT'"};
  return {};
}

/// Completes the list of gates, and refuses options that need other gates than there are. The list
/// has two kinds of conditions: gates, which fail a call, and conditions for keeping, which decide
/// whether the second command is kept.
Result<void> settle_gates(ParsedOptions& draft) {
  std::vector<Condition>& gates = draft.options.gates.conditions;
  add_conditions_of_short_options(draft);
  remove_duplicates(gates);

  const bool decides_to_keep = std::ranges::any_of(gates, &Condition::is_for_keeping);
  if (decides_to_keep && draft.options.gates.baseline_file)
    return Error{
        "--keep-if and --keep-if-faster compare two commands that run in the same session, but the "
        "runs of --baseline are from an earlier one",
        "leave --baseline out, and give the reference as the first command"};

  if (draft.options.gates.series_file && !decides_to_keep)
    return Error{"--series has no effect without --keep-if-faster or --keep-if",
                 "add --keep-if-faster=PCT or --keep-if 'METRIC < -PCT'"};

  return check_inconclusive_has_gate(draft.options);
}

/// Subcommands of perf and other tools, which some users type before their command, and what to
/// write instead.
constexpr auto kSubcommands = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"stat", "leave it out, because lauka measures every command"},
    {"record", "leave it out, and add --profile to sample every command"},
    {"compare",
     "leave it out, because lauka compares its commands; use --from to compare saved sessions"},
});

/// Refuses a subcommand. A command that is a subcommand's name alone is measured, because it may be
/// a program.
Result<void> refuse_subcommand(std::span<const std::string> words) {
  if (words.size() < 2) return {};
  const auto* const meant =
      std::ranges::find(kSubcommands, words[0], [](const auto& row) { return row.first; });
  if (meant == kSubcommands.end()) return {};
  return Error{fmt::format("there is no subcommand {}", cited(words[0])),
               fmt::format("{}; if it is a program, quote it with its arguments: {}", meant->second,
                           cited(shell_quoted(words)))};
}

/// Refuses a first word that is not needed: the name of a tool's subcommand, or "time".
Result<void> check_first_word(std::span<const std::string> words) {
  if (auto fits = refuse_subcommand(words); !fits) return fits;

  // As the only command, "time" may be a program that is to be measured.
  if (words.size() > 1 && words[0] == "time")
    return Error{"'time' is not needed, because lauka times every command",
                 "write lauka " + shell_quoted(words.subspan(1))};
  return {};
}

/// Refuses more names (-n) than commands.
Result<void> check_number_of_names(const ParsedOptions& draft) {
  // With parameters, each combination may have a name; make_plan() checks the number of names.
  const CommandOptions& commands = draft.options.commands;
  const std::size_t typed = commands.command_lines.size();
  if (commands.names.size() <= typed || !commands.parameters.empty()) return {};
  return Error{fmt::format("there are {} (-n) for {}", plural(commands.names.size(), "name"),
                           plural(typed, "command")),
               draft.reference_command ? "name the reference with --reference-name"
                                       : "give -n at most once per command"};
}

/// Puts the command of --reference before the others.
Result<void> settle_reference(ParsedOptions& draft) {
  // Both would be what the commands are compared with.
  if (draft.reference_command && draft.options.gates.baseline_file)
    return make_contradiction_error("--reference", "--baseline");
  if (draft.reference_name && !draft.reference_command)
    return Error{"--reference-name has no effect without --reference",
                 "name the first command with -n"};

  // -n does not name the reference, so that names do not shift when a reference is added.
  CommandOptions& commands = draft.options.commands;
  if (draft.reference_command) {
    commands.command_lines.insert(commands.command_lines.begin(),
                                  *std::move(draft.reference_command));
    commands.names.insert(commands.names.begin(), draft.reference_name.value_or(""));
  }
  return {};
}

/// Checks the commands and their names, and adds that of --reference.
Result<void> settle_commands(ParsedOptions& draft) {
  const std::vector<std::string>& commands = draft.options.commands.command_lines;
  if (auto fits = check_first_word(commands); !fits) return fits;
  if (auto fits = check_number_of_names(draft); !fits) return fits;
  if (auto settled = settle_reference(draft); !settled) return settled;
  if (commands.empty())
    return Error{"there is no command to measure",
                 "write lauka -- COMMAND [COMMAND ...], or see lauka --help"};
  return {};
}

Result<void> settle_saved(ParsedOptions& draft) {
  for (const OptionInfo* option : draft.applied_options)
    if (!option->rules.works_with_from)
      return Error{fmt::format("--from runs nothing, so {} has no effect", option->spelling()),
                   "leave it out"};
  for (std::string& file : std::exchange(draft.options.commands.command_lines, {}))
    draft.options.saved_session_files.push_back(std::move(file));
  if (!draft.reference_command) return {};
  if (draft.options.gates.baseline_file)
    return make_contradiction_error("--reference", "--baseline");
  draft.options.saved_reference = *std::move(draft.reference_command);
  return {};
}

Result<void> settle_steps(ParsedOptions& draft) {
  std::vector<ParameterOption*> scans;
  for (ParameterOption& parameter : draft.options.commands.parameters)
    if (parameter.is_scan) scans.push_back(&parameter);
  const std::vector<std::string>& steps = draft.scan_steps;
  if (!steps.empty() && scans.empty())
    return Error{"--parameter-step-size has no effect without --parameter-scan", "leave it out"};
  if (steps.size() > 1 && steps.size() != scans.size())
    return Error{fmt::format("there are {} (-D) for {} (-P)", plural(steps.size(), "step"),
                             plural(scans.size(), "scan")),
                 "give -D once, or once per scan"};
  for (std::size_t i = 0; i < scans.size() && !steps.empty(); ++i)
    scans[i]->step = steps.size() == 1 ? steps.front() : steps[i];
  return {};
}

Result<void> settle_exports(const OutputOptions& options) {
  const auto& exports = options.exports;
  for (std::size_t i = 0; i < exports.size(); ++i)
    for (std::size_t k = i + 1; k < exports.size(); ++k)
      if (exports[i].file == exports[k].file)
        return Error{fmt::format("--{} and --{} would both write {}", exports[i].option,
                                 exports[k].option, cited(exports[i].file)),
                     "name two different files"};
  return {};
}

constexpr auto kOptionsThatAsk = std::to_array<std::pair<InquiryKind, std::string_view>>({
    {InquiryKind::ListEvents, "--list-events"},
    {InquiryKind::ListMetrics, "--list-metrics"},
    {InquiryKind::ExplainEvents, "--explain-events"},
    {InquiryKind::Check, "--check"},
    {InquiryKind::Threads, "--threads"},
    {InquiryKind::SeriesState, "--series without commands"},
    {InquiryKind::TuneList, "--tune=list"},
    {InquiryKind::Untune, "--untune"},
});

/// Refuses exports of an answer, except JSON of --check and of the state of a series. `question`:
/// the option that asks.
Result<void> check_exports_of_answer(const Options& options, std::string_view question) {
  const std::vector<ExportTarget>& exports = options.output.exports;
  const InquiryKind kind = options.inquiry->kind;
  const bool can_be_exported = kind == InquiryKind::Check || kind == InquiryKind::SeriesState;
  if (!can_be_exported && !exports.empty())
    return Error{fmt::format("the answer to {} is printed, so --{} has no effect", question,
                             exports.front().option),
                 "leave it out"};

  const bool has_others = std::ranges::any_of(
      exports, [](const ExportTarget& target) { return target.kind != ExportKind::Json; });
  if (has_others)
    return Error{fmt::format("{} can be exported with --export-json only", question),
                 "leave out the other export options"};
  return {};
}

/// Takes the word after --list-events as its filter, and refuses other commands, except for
/// --explain-events, which users add to a whole command line. `question`: the option that asks.
Result<void> settle_commands_of_inquiry(const std::vector<std::string>& commands,
                                        std::string_view question, Inquiry& inquiry) {
  if (commands.empty() || inquiry.kind == InquiryKind::ExplainEvents) return {};
  const bool lists_events = inquiry.kind == InquiryKind::ListEvents;
  if (lists_events && inquiry.filter_or_topic.empty() && commands.size() == 1) {
    inquiry.filter_or_topic = commands.front();
    return {};
  }

  // If there are several words, the first one may be meant as the filter.
  return Error{fmt::format("{} runs nothing, so {} has no effect", question,
                           cited(lists_events ? commands.back() : commands.front())),
               "leave it out"};
}

Result<void> settle_check(const Options& options) {
  if (options.counting.event_database_path)
    return Error{"--check looks at this machine, so --kpep has no effect", "leave it out"};
  return {};
}

Result<void> settle_threads(ParsedOptions& draft) {
  Inquiry& inquiry = *draft.options.inquiry;
  if (inquiry.processes.size() > 1 && !draft.output_interval)
    return Error{"--threads shows the table of one process",
                 "name only one, or add --interval 10ms to print JSON for all of them"};
  if (is_given(draft, "duration")) inquiry.measuring_time = draft.options.run.time_per_command;
  inquiry.output_interval = draft.output_interval;
  return {};
}

/// Checks a call with an option, such as --list-events, that asks lauka a question (an inquiry)
/// instead of measuring. Commands have no effect in such a call, so they are refused, except with
/// --explain-events, which users add to a whole command line. There they are removed.
Result<void> settle_inquiry(ParsedOptions& draft) {
  Inquiry& inquiry = *draft.options.inquiry;
  const std::vector<std::string> commands = std::exchange(draft.options.commands.command_lines, {});

  // The other questions, such as --help, are answered whatever else was typed.
  const auto* const known =
      std::ranges::find(kOptionsThatAsk, inquiry.kind, [](const auto& row) { return row.first; });
  if (known == kOptionsThatAsk.end()) return {};
  const std::string_view question = known->second;

  if (auto settled = settle_commands_of_inquiry(commands, question, inquiry); !settled)
    return settled;
  if (auto fits = check_exports_of_answer(draft.options, question); !fits) return fits;
  if (inquiry.kind == InquiryKind::Check) return settle_check(draft.options);
  if (inquiry.kind == InquiryKind::Threads) return settle_threads(draft);
  return {};
}

/// `at`: offset of the separator in `metric`, a time with a function's name, or with a percentile
/// that was probably meant.
Error make_by_function_error(const std::string& metric, std::size_t at) {
  const std::string name = metric.substr(at + 1);
  const bool may_be_percentile =
      name.starts_with('p') && is_unsigned_decimal(std::string_view(name).substr(1));
  return {
      fmt::format(
          "a gate on {} is not possible, because only sampled_time and total_time are known for "
          "each function",
          cited(metric)),
      may_be_percentile
          ? fmt::format("write {}.{} if you mean the percentile", metric.substr(0, at), name)
          : fmt::format("write {}{} with --profile", kSampledTime, metric.substr(at))};
}

/// `what`: what needs call paths, which `counting` does not ask for.
Error make_no_paths_error(const std::string& what, const CountingOptions& counting) {
  return {what + " needs the call paths of sampled runs",
          counting.profiling_period ? "leave out --call-graph none" : "add --profile"};
}

/// Checks options that show or export call paths.
Result<void> check_uses_of_paths(const Options& options) {
  const CountingOptions& counting = options.counting;
  if (counting.profiling_period && counting.call_graph != CallGraphChoice::None) return {};

  if (options.output.presentation.paths) return make_no_paths_error("--paths", counting);
  for (const ExportTarget& target : options.output.exports)
    if (exports_call_paths(target.kind))
      return make_no_paths_error(fmt::format("--{}", target.option), counting);
  return {};
}

Error make_no_counts_error(std::string_view what, std::string_view remedy,
                           const CountingOptions& counting) {
  return Error{fmt::format("{} needs the counts of each function, which --engine {} does not give",
                           what, row_of(counting.engine).name),
               std::string(remedy)};
}

/// Refuses a gate on a function, "METRIC@FUNCTION", whose metric is not counted or sampled by
/// function.
Result<void> check_gate_on_function(const Condition& gate, const CountingOptions& counting) {
  const std::size_t at = gate.metric.find(kFunctionSeparator);
  if (at == std::string::npos) return {};
  const std::string_view metric = std::string_view(gate.metric).substr(0, at);
  const std::string what = "a gate on " + cited(gate.metric);

  if (metric == kSampledTime || metric == kTotalTime) {
    if (!counting.profiling_period) return Error{what + " needs sampled runs", "add --profile"};
    if (metric == kTotalTime && counting.call_graph == CallGraphChoice::None)
      return make_no_paths_error(what, counting);
    return {};
  }

  if (metric.ends_with("_time")) return make_by_function_error(gate.metric, at);
  if (!counts_functions(counting.engine))
    return make_no_counts_error(what, "add --engine cachegrind", counting);
  return {};
}

/// Checks options that need counts or samples of functions. Does not check saved sessions and
/// suites.
Result<void> settle_functions(const ParsedOptions& draft) {
  const Options& options = draft.options;
  if (!options.saved_session_files.empty() || options.suite.suite_path) return {};

  const bool are_counted = counts_functions(options.counting.engine);
  const bool are_sampled = options.counting.profiling_period.has_value();
  if (is_given(draft, "call-graph") && !are_sampled)
    return Error{"--call-graph has no effect without --profile", "add --profile, or leave it out"};

  for (const Condition& gate : options.gates.conditions)
    if (auto checked = check_gate_on_function(gate, options.counting); !checked) return checked;

  if (options.output.presentation.functions && !are_counted && !are_sampled)
    return make_no_counts_error("--functions", "add --engine cachegrind, or --profile",
                                options.counting);
  return check_uses_of_paths(options);
}

/// True if --series is given with nothing to decide.
bool asks_for_series(const ParsedOptions& draft) {
  const GateOptions& gates = draft.options.gates;
  return gates.series_file && gates.conditions.empty() && !draft.keep_faster_percent &&
         draft.options.commands.command_lines.empty() && !draft.reference_command &&
         draft.options.saved_session_files.empty() && !draft.options.inquiry;
}

/// Refuses an engine that cannot measure what other options ask for.
Result<void> check_engine(const CountingOptions& counting) {
  const EngineRow& engine = row_of(counting.engine);
  if (counting.measures_region && engine.runs_in_valgrind)
    return Error{
        fmt::format("--engine {} simulates whole runs, not the region of --region", engine.name),
        "use only one of them"};
  if (counting.engine == EngineChoice::None && !counting.events.empty())
    return Error{fmt::format("--engine none counts nothing, so --event {} cannot be counted",
                             cited(counting.events.front())),
                 "use only one of them"};
  return {};
}

/// Checks the options of a call that shows saved sessions (--from) or runs commands.
Result<void> settle_session(ParsedOptions& draft) {
  // A later part may use what an earlier one has completed, such as the numbers of runs.
  const bool runs_commands = draft.options.saved_session_files.empty();
  const std::vector<Result<void> (*)(ParsedOptions&)> parts =
      runs_commands ? std::vector{settle_contradictions, settle_race,  settle_numbers_of_runs,
                                  settle_layouts,        settle_gates, settle_commands,
                                  settle_steps}
                    : std::vector{settle_gates, settle_saved};
  for (const auto settle_part : parts)
    if (auto settled = settle_part(draft); !settled) return settled;

  if (auto settled = settle_functions(draft); !settled) return settled;
  return check_engine(draft.options.counting);
}

/// Checks options that depend on each other, and completes them, in a call without a suite or for
/// one benchmark of a suite. A call asks a question, shows saved sessions (--from), or runs
/// commands.
Result<void> settle_call(ParsedOptions& draft) {
  const bool asks_for_threads =
      draft.options.inquiry && draft.options.inquiry->kind == InquiryKind::Threads;
  if (draft.output_interval && !asks_for_threads)
    return Error{"--interval has no effect without --threads",
                 "add --threads PID, or leave it out"};

  if (asks_for_series(draft)) draft.options.inquiry = Inquiry{.kind = InquiryKind::SeriesState};
  if (draft.options.inquiry) return settle_inquiry(draft);
  if (draft.options.counting.event_database_path)
    return Error{fmt::format("--kpep {} works only with --list-events and --explain-events",
                             cited(*draft.options.counting.event_database_path)),
                 "add one of them, or leave --kpep out"};
  return settle_session(draft);
}

/// Refuses options that need --suite, in a call without it. Some of them also work with --from,
/// because the saved session may be that of a suite.
Result<void> refuse_options_of_suite(const ParsedOptions& draft) {
  const bool shows_saved = !draft.options.saved_session_files.empty();
  for (const OptionInfo& option : option_table()) {
    const bool works_with_saved = shows_saved && option.rules.works_with_from;
    const bool lacks_suite = option.rules.needs_suite && !works_with_saved;
    if (lacks_suite && is_given(draft, option.name))
      return Error{option.spelling() + " has no effect without --suite",
                   "add --suite FILE, or leave it out"};
  }
  return {};
}

}  // namespace

bool is_about_lauka(InquiryKind kind) {
  return kind == InquiryKind::Help || kind == InquiryKind::BriefHelp ||
         kind == InquiryKind::Version;
}

Error make_not_in_suite_error(const OptionInfo& option) {
  return {option.spelling() + " decides about one candidate, but a suite has many benchmarks",
          "leave it out, and measure the two commands in a call without --suite"};
}

/// Refuses typed options that have no effect without --suite, or make no sense with it.
Result<void> refuse_if_unfit_for_suite(const ParsedOptions& draft) {
  const Options& options = draft.options;
  const bool has_suite = options.suite.suite_path.has_value();
  if (!has_suite) return refuse_options_of_suite(draft);

  // Help and the version do not need the suite, so they are never refused.
  if (options.inquiry && is_about_lauka(options.inquiry->kind)) return {};

  // Some options decide about a single candidate. A suite has many.
  for (const OptionInfo* option : draft.applied_options) {
    const bool needs_call_without_suite = option->rules.scope == Scope::PlainCall;
    if (needs_call_without_suite) return make_not_in_suite_error(*option);
  }

  if (!options.commands.command_lines.empty())
    return Error{fmt::format("the commands of --suite are in its file, so {} has no effect",
                             cited(options.commands.command_lines.front())),
                 "leave it out"};

  if (!options.saved_session_files.empty()) return make_contradiction_error("--suite", "--from");
  if (options.inquiry)
    return Error{"--suite takes measurements, but options such as --check run nothing",
                 "use only one of them"};

  return {};
}

Result<Options> complete_options(ParsedOptions draft) {
  const bool is_suite = draft.options.suite.suite_path && !draft.options.inquiry;
  if (!is_suite)
    if (auto settled = settle_call(draft); !settled) return settled.error();
  if (!draft.options.inquiry)
    if (auto targets = settle_exports(draft.options.output); !targets) return targets.error();
  return std::move(draft.options);
}

}  // namespace lauka::cli
