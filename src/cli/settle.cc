#include "cli/option_table.h"
#include "core/foreign_text.h"
#include "core/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace lauka::cli {

namespace {

/// What "slower" is about.
std::string time_of(const Options& options) {
  return std::string(options.region ? kRegionTime : metric_name_of(Role::WallTime));
}

bool is_typed(const Draft& draft, const OptionInfo& option) {
  return std::ranges::find(draft.typed, &option) != draft.typed.end();
}

Result<void> settle_contradictions(Draft& draft) {
  for (const OptionInfo& option : option_table()) {
    const OptionInfo* other = find_option(option.traits.contradicts);
    if (other != nullptr && is_typed(draft, option) && is_typed(draft, *other))
      return Error{
          fmt::format("{} and {} contradict each other", other->spelling(), option.spelling()),
          "use only one of them"};
  }
  return {};
}

Result<void> settle_numbers_of_runs(Draft& draft) {
  Options& options = draft.options;
  if (draft.min_runs && options.max_runs && *draft.min_runs > *options.max_runs) {
    return Error{
        fmt::format("--min-runs {} is more than --max-runs {}", *draft.min_runs, *options.max_runs),
        "lower --min-runs or raise --max-runs"};
  }
  if (options.precision_metric.empty()) options.precision_metric = time_of(options);
  options.min_runs = draft.min_runs.value_or(options.min_runs);
  if (options.max_runs) options.min_runs = std::min(options.min_runs, *options.max_runs);
  return {};
}

/// A gate that is given twice is one: each more makes the others stricter.
Result<void> settle_gates(Draft& draft) {
  Options& options = draft.options;
  if (draft.slower_percent) {
    options.gates.insert(options.gates.begin(), Condition{.metric = time_of(options),
                                                          .limit_percent = *draft.slower_percent});
  }
  std::vector<Condition> gates;
  for (Condition& gate : options.gates) {
    const bool is_known =
        std::ranges::any_of(gates, [&](const Condition& known) { return known == gate; });
    if (!is_known) gates.push_back(std::move(gate));
  }
  options.gates = std::move(gates);
  // A saved session may have gates of its own.
  if (options.fail_if_inconclusive && options.gates.empty() && options.from.empty()) {
    return Error{"--fail-if-inconclusive without a gate",
                 "add --fail-if-slower=PCT or --fail-if 'METRIC > PCT'"};
  }
  return {};
}

/// Names go to the commands in order; the reference has an option of its own for its name, as in
/// hyperfine, so that the names of the others do not shift when a reference is put before them.
Result<void> settle_commands(Draft& draft) {
  // With parameters there may be a name for each of their values: the plan counts them.
  if (draft.names.size() > draft.commands.size() && draft.options.parameters.empty()) {
    return Error{fmt::format("{} names (-n) for {}", draft.names.size(),
                             plural(draft.commands.size(), "command")),
                 draft.reference ? "name the reference with --reference-name"
                                 : "give -n at most once per command"};
  }
  if (draft.reference && draft.options.baseline) {
    return Error{"--reference and --baseline contradict each other", "use only one of them"};
  }
  if (draft.reference_name && !draft.reference) {
    return Error{"--reference-name without --reference", "name the first command with -n"};
  }
  Options& options = draft.options;
  options.commands = std::move(draft.commands);
  options.names = std::move(draft.names);
  if (draft.reference) {
    options.commands.insert(options.commands.begin(), *std::move(draft.reference));
    options.names.insert(options.names.begin(), draft.reference_name.value_or(""));
  }
  if (options.commands.empty()) {
    return Error{"no command to measure",
                 "write lauka -- COMMAND [COMMAND ...], or see lauka --help"};
  }
  return {};
}

/// With --from nothing is run either: words are files, and what says how to run or measure is
/// refused.
Result<void> settle_saved(Draft& draft) {
  for (const OptionInfo* option : draft.typed) {
    if (option->traits.fits_saved) continue;
    return Error{fmt::format("--from runs nothing, so {} has no effect", option->spelling()),
                 "leave it out"};
  }
  Options& options = draft.options;
  for (std::string& file : draft.commands) options.from.push_back(std::move(file));
  options.names = std::move(draft.names);
  if (!draft.reference) return {};
  if (options.baseline)
    return Error{"--reference and --baseline contradict each other", "use only one of them"};
  options.from_reference = *std::move(draft.reference);
  return {};
}

/// With -l no commands are run, so that a word after it is the text to look for.
Result<void> settle_list_events(Draft& draft) {
  auto& filter = draft.options.inquiry->text;
  if (draft.commands.empty()) {
    return {};
  }
  if (!filter.empty() || draft.commands.size() > 1) {
    return Error{fmt::format("--list-events runs nothing, so {} has no effect",
                             cited(draft.commands.back())),
                 "leave it out"};
  }
  filter = draft.commands.front();
  return {};
}

/// With --check no commands are run, and of what could be exported there is the report only.
Result<void> settle_check(const Draft& draft) {
  if (!draft.commands.empty()) {
    return Error{
        fmt::format("--check runs nothing, so {} has no effect", cited(draft.commands.front())),
        "leave it out"};
  }
  const Options& options = draft.options;
  const bool has_others = std::ranges::any_of(
      options.exports, [](const ExportTarget& one) { return one.kind != ExportKind::Json; });
  if (has_others) {
    return Error{"--check exports nothing but --export-json", "leave out the other exports"};
  }
  if (options.kpep) {
    return Error{"--check looks at this machine, so --kpep has no effect", "leave it out"};
  }
  return {};
}

/// One step serves all scans, or each has its own.
Result<void> settle_steps(Draft& draft) {
  std::vector<ParameterOption*> scans;
  for (ParameterOption& parameter : draft.options.parameters) {
    if (parameter.is_scan) scans.push_back(&parameter);
  }
  const std::vector<std::string>& steps = draft.steps;
  if (!steps.empty() && scans.empty()) {
    return Error{"--parameter-step-size without --parameter-scan", "leave it out"};
  }
  if (steps.size() > 1 && steps.size() != scans.size()) {
    return Error{fmt::format("{} steps (-D) for {} scans (-P)", steps.size(), scans.size()),
                 "give -D once, or once per scan"};
  }
  for (std::size_t i = 0; i < scans.size() && !steps.empty(); ++i)
    scans[i]->step = steps.size() == 1 ? steps.front() : steps[i];
  return {};
}

/// One file cannot hold two exports.
Result<void> settle_exports(const Options& options) {
  const auto& exports = options.exports;
  for (std::size_t i = 0; i < exports.size(); ++i) {
    for (std::size_t k = i + 1; k < exports.size(); ++k) {
      if (exports[i].file == exports[k].file) {
        return Error{fmt::format("--{} and --{} have the same target {}", exports[i].option,
                                 exports[k].option, cited(exports[i].file)),
                     "write two files"};
      }
    }
  }
  return {};
}

/// With --threads nothing is run, and --duration is how long to look.
Result<void> settle_threads(Draft& draft) {
  if (!draft.commands.empty()) {
    return Error{
        fmt::format("--threads runs nothing, so {} has no effect", cited(draft.commands.front())),
        "leave it out"};
  }
  Inquiry& inquiry = *draft.options.inquiry;
  if (inquiry.processes.size() > 1 && !draft.interval)
    return Error{"--threads shows the table of one process",
                 "name one, or add --interval 10ms for a line of JSON per thread and interval"};
  inquiry.during = draft.duration;
  inquiry.interval = draft.interval;
  return {};
}

bool is_about_lauka(InquiryKind kind) {
  return kind == InquiryKind::Help || kind == InquiryKind::BriefHelp ||
         kind == InquiryKind::Version;
}

/// What is asked for along with a question.
Result<void> settle_inquiry(Draft& draft) {
  switch (draft.options.inquiry->kind) {
    case InquiryKind::ListEvents:
      return settle_list_events(draft);
    case InquiryKind::Check:
      return settle_check(draft);
    case InquiryKind::Threads:
      return settle_threads(draft);
    case InquiryKind::Help:
    case InquiryKind::BriefHelp:
    case InquiryKind::Version:
    case InquiryKind::ExplainEvents:
      break;
  }
  return {};
}

}  // namespace

Result<Options> settle(Draft draft) {
  Options& options = draft.options;
  options.duration = draft.duration.value_or(options.duration);
  const bool watches = options.inquiry && options.inquiry->kind == InquiryKind::Threads;
  if (draft.interval && !watches)
    return Error{"--interval without --threads", "add --threads PID, or leave it out"};
  if (options.inquiry) {
    const Result<void> settled = settle_inquiry(draft);
    if (!settled) return settled.error();
    return std::move(options);
  }
  if (options.kpep) {
    return Error{fmt::format("--kpep {} works only with --list-events and --explain-events",
                             cited(*options.kpep)),
                 "add one of them, or leave --kpep out"};
  }
  const bool is_saved = !options.from.empty();
  const std::vector<Result<void> (*)(Draft&)> parts =
      is_saved ? std::vector{settle_gates, settle_saved}
               : std::vector{settle_contradictions, settle_numbers_of_runs, settle_gates,
                             settle_commands, settle_steps};
  for (const auto settle_part : parts) {
    const Result<void> settled = settle_part(draft);
    if (!settled) return settled.error();
  }
  if (options.region && options.engine == EngineChoice::Cachegrind) {
    return Error{"--engine cachegrind simulates whole runs, not the region of --region",
                 "use only one of them"};
  }
  if (options.engine == EngineChoice::None && !options.events.empty()) {
    return Error{fmt::format("--engine none counts nothing, so --event {} cannot be counted",
                             cited(options.events.front())),
                 "use only one of them"};
  }
  const Result<void> targets = settle_exports(options);
  if (!targets) return targets.error();
  return std::move(options);
}

Result<Options> settle_beside_suite(Draft draft) {
  if (auto targets = settle_exports(draft.options); !targets) return targets.error();
  return std::move(draft.options);
}

Result<void> fits_suite(const Draft& draft) {
  const Options& options = draft.options;
  if (options.inquiry && options.suite && is_about_lauka(options.inquiry->kind)) return {};
  if (options.suite) {
    if (!draft.commands.empty())
      return Error{fmt::format("--suite has its commands in its file, so {} has no effect",
                               cited(draft.commands.front())),
                   "leave it out"};
    if (!options.from.empty())
      return Error{"--suite and --from contradict each other", "use only one of them"};
    if (options.inquiry)
      return Error{"--suite measures, and a question runs nothing", "use only one of them"};
    return {};
  }
  for (const OptionInfo& option : option_table()) {
    const bool may_be_saved = option.traits.fits_saved && !options.from.empty();
    if (option.traits.needs_suite && !may_be_saved && is_typed(draft, option))
      return Error{option.spelling() + " without --suite", "add --suite FILE, or leave it out"};
  }
  return {};
}

}  // namespace lauka::cli
