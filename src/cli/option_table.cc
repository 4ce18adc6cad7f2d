#include "cli/option_table.h"

#include "cli/values.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

namespace lauka::cli {

namespace {

/// Of a gate, in percent: at -100 the candidate would have to take no time at all.
constexpr Range kLimits{{-100.0, false}, {1e6, true}};

constexpr auto kAnyWholeNumber = std::numeric_limits<std::uint64_t>::max();

Result<void> add_events(Draft& draft, const Given& given) {
  const auto names = event_names(given);
  if (!names) {
    return names.error();
  }
  auto& events = draft.options.events;
  for (const std::string& name : *names) {
    if (std::find(events.begin(), events.end(), name) == events.end()) {
      events.push_back(name);
    }
  }
  return {};
}

Result<void> set_ignore_failure(Draft& draft, const Given& given) {
  if (given.value.empty()) {
    draft.options.ignore_failure = IgnoreFailure{.any = true};
    return {};
  }
  auto statuses = exit_statuses(given);
  if (!statuses) {
    return statuses.error();
  }
  draft.options.ignore_failure = IgnoreFailure{.any = false, .statuses = *std::move(statuses)};
  return {};
}

Result<void> set_fail_if_slower(Draft& draft, const Given& given) {
  double limit_percent = 0.0;
  if (!given.value.empty()) {
    const auto percent = percentage(given, kLimits.low, kLimits.high);
    if (!percent) {
      return percent.error();
    }
    limit_percent = *percent;
  }
  draft.slower_percent = limit_percent;
  return {};
}

Result<void> add_fail_if(Draft& draft, const Given& given) {
  auto gate = condition(given, kLimits);
  if (!gate) {
    return gate.error();
  }
  draft.options.gates.push_back(*std::move(gate));
  return {};
}

/// Of exports of one kind the last counts.
template <ExportKind kind>
Result<void> add_export(Draft& draft, const Given& given) {
  auto& exports = draft.options.exports;
  std::erase_if(exports, [](const ExportTarget& one) { return one.kind == kind; });
  auto file = text(given);
  if (!file) {
    return file.error();
  }
  exports.push_back({kind, *std::move(file), given.option.name});
  return {};
}

Result<void> set_precision(Draft& draft, const Given& given) {
  const auto percent = percentage(given, {0.0, false}, {1000.0, true});
  if (!percent) {
    return percent.error();
  }
  draft.options.precision = *percent / 100.0;
  return {};
}

Result<void> set_metrics(Draft& draft, const Given& given) {
  Options& options = draft.options;
  options.metric_list.clear();
  if (given.value == "default" || given.value == "time" || given.value == "all") {
    options.metrics = given.value == "time"  ? MetricSelection::Time
                      : given.value == "all" ? MetricSelection::All
                                             : MetricSelection::Default;
    return {};
  }
  options.metrics = MetricSelection::Listed;
  return keep(event_names(given), options.metric_list);
}

Result<void> add_parameter_list(Draft& draft, const Given& given) {
  if (given.words[1].empty()) {
    return Error{fmt::format("{} {} has an empty list", given.option.spelling(), given.words[0]),
                 "write values with commas between them"};
  }
  draft.options.parameters.push_back({.name = given.words[0], .values = list_of(given.words[1])});
  return {};
}

Result<void> set_confidence(Draft& draft, const Given& given) {
  const auto percent = percentage(given, {50.0, true}, {100.0, false});
  if (!percent) {
    return percent.error();
  }
  draft.options.confidence = *percent / 100.0;
  return {};
}

Result<void> set_min_p_share(Draft& draft, const Given& given) {
  const auto percent = percentage(given, {0.0, false}, {100.0, true});
  if (!percent) {
    return percent.error();
  }
  draft.options.min_p_share = *percent / 100.0;
  return {};
}

Result<void> set_threads(Draft& draft, const Given& given) {
  const auto process = whole_number(given, 1, std::numeric_limits<std::int32_t>::max());
  if (!process) {
    return process.error();
  }
  draft.options.inquiry = ShowThreads{.process = static_cast<std::int32_t>(*process)};
  return {};
}

using Done = Result<void>;

constexpr auto kOptions = std::to_array<OptionInfo>({
    // Runs
    {"runs", 'r', Takes::Value, Group::Runs, "N", "exactly N counted runs of each command",
     [](Draft& d, const Given& g) { return keep(whole_number(g, 1, kMaxRuns), d.options.runs); }},
    {"min-runs", 'm', Takes::Value, Group::Runs, "N", "at least N counted runs (default 10)",
     [](Draft& d, const Given& g) { return keep(whole_number(g, 1, kMaxRuns), d.min_runs); }},
    {"max-runs", 'M', Takes::Value, Group::Runs, "N", "at most N counted runs",
     [](Draft& d, const Given& g) {
       return keep(whole_number(g, 1, kMaxRuns), d.options.max_runs);
     }},
    {"duration", 'd', Takes::Value, Group::Runs, "TIME",
     "time for each command: 5s, 500ms, 2m; a bare number is seconds (default 5s)",
     [](Draft& d, const Given& g) { return keep(duration(g), d.duration); }},
    {"warmup", 'w', Takes::Value, Group::Runs, "N",
     "uncounted runs of each command first (default 1)",
     [](Draft& d, const Given& g) { return keep(whole_number(g, 0, kMaxRuns), d.options.warmup); }},
    {"order", '\0', Takes::Value, Group::Runs, "random|interleaved|sequential",
     "random: one run of each command per round, shuffled in each round (default); interleaved: "
     "the "
     "same, not shuffled; sequential: all runs of one command, then the next",
     [](Draft& d, const Given& g) {
       return keep(choice(g, std::array{Order::Random, Order::Interleaved, Order::Sequential}),
                   d.options.order);
     }},
    {"seed", '\0', Takes::Value, Group::Runs, "N",
     "of the shuffling, to repeat an order (default: from the clock)",
     [](Draft& d, const Given& g) {
       return keep(whole_number(g, 0, kAnyWholeNumber), d.options.seed);
     }},
    {"precision", '\0', Takes::Value, Group::Runs, "PCT",
     "stop as soon as the interval of every delta of wall time (of one command: of its mean) is no "
     "wider than +-PCT percent, within --max-runs and --duration",
     set_precision},
    {"timeout", '\0', Takes::Value, Group::Runs, "TIME",
     "kill a run that takes longer, with all it started; it has failed",
     [](Draft& d, const Given& g) { return keep(duration(g), d.options.timeout); }},

    // Commands
    {"command-name", 'n', Takes::Value, Group::Commands, "NAME",
     "name to show for a command; once per command, in order, not counting --reference",
     [](Draft& d, const Given& g) {
       d.names.push_back(g.value);
       return Done{};
     }},
    {"reference", '\0', Takes::Value, Group::Commands, "COMMAND",
     "put COMMAND first, as the one that the others are compared with",
     [](Draft& d, const Given& g) { return keep(text(g), d.reference); }},
    {"reference-name", '\0', Takes::Value, Group::Commands, "NAME", "name to show for --reference",
     [](Draft& d, const Given& g) {
       d.reference_name = g.value;
       return Done{};
     }},
    {"shell", '\0', Takes::Value, Group::Commands, "SHELL",
     "run each command with SHELL -c; 'default' is sh, 'none' (the default) runs it directly",
     [](Draft& d, const Given& g) { return keep(shell(g), d.options.shell); }},
    {"", 'S', Takes::Nothing, Group::Commands, "", "the same as --shell default",
     [](Draft& d, const Given&) {
       d.options.shell = Shell{{"sh"}};
       return Done{};
     }},
    {"", 'N', Takes::Nothing, Group::Commands, "", "the same as --shell none",
     [](Draft& d, const Given&) {
       d.options.shell.reset();
       return Done{};
     }},
    {"ignore-failure", 'i', Takes::OptionalNumber, Group::Commands, "CODE,...",
     "go on when a run ends with a non-zero status (only with one of these), and count such runs",
     set_ignore_failure},
    {"setup", 's', Takes::Value, Group::Commands, "CMD",
     "run CMD by sh -c once before all runs of a command. This one and the five below: once for all "
     "commands, or once per command",
     [](Draft& d, const Given& g) { return add(text(g), d.options.setup); }},
    {"prepare", 'p', Takes::Value, Group::Commands, "CMD",
     "run CMD before every run, warm-up runs included; LAUKA_ITERATION tells it which",
     [](Draft& d, const Given& g) { return add(text(g), d.options.prepare); }},
    {"conclude", 'C', Takes::Value, Group::Commands, "CMD", "run CMD after every run, likewise",
     [](Draft& d, const Given& g) { return add(text(g), d.options.conclude); }},
    {"cleanup", 'c', Takes::Value, Group::Commands, "CMD",
     "run CMD once after all runs of a command, also when one failed or you interrupted",
     [](Draft& d, const Given& g) { return add(text(g), d.options.cleanup); }},
    {"env", '\0', Takes::Value, Group::Commands, "'A=1 B=2'",
     "set variables for the command and what is run around it",
     [](Draft& d, const Given& g) { return add(environment(g), d.options.environment); }},
    {"output", '\0', Takes::Value, Group::Commands, "null|pipe|inherit|FILE",
     "standard output and error of the commands (default null)",
     [](Draft& d, const Given& g) { return add(output(g), d.options.outputs); }},
    {"show-output", '\0', Takes::Nothing, Group::Commands, "", "the same as --output inherit",
     [](Draft& d, const Given&) {
       d.options.outputs.push_back(OutputChoice{OutputKind::Inherit});
       return Done{};
     }},
    {"parameter-list", 'L', Takes::TwoWords, Group::Commands, "VAR a,b,c",
     "measure with each value in place of {VAR} in the command, its name and the six options above; "
     "repeated: all combinations",
     add_parameter_list},
    {"parameter-scan", 'P', Takes::ThreeWords, Group::Commands, "VAR MIN MAX",
     "the same with the numbers from MIN to MAX",
     [](Draft& d, const Given& g) {
       d.options.parameters.push_back({.name = g.words[0],
                                       .is_scan = true,
                                       .min = g.words[1],
                                       .max = g.words[2]});
       return Done{};
     }},
    {"parameter-step-size", 'D', Takes::Value, Group::Commands, "STEP",
     "distance of the numbers of a scan (default 1)",
     [](Draft& d, const Given& g) { return add(text(g), d.steps); }},
    {"input", '\0', Takes::Value, Group::Commands, "null|FILE",
     "standard input of the commands, opened anew for each run (default null)",
     [](Draft& d, const Given& g) { return keep(input(g), d.options.input); }},
    {"as-root", '\0', Takes::Nothing, Group::Commands, "",
     "under sudo: run the commands as root too (default: as the user who called sudo)",
     [](Draft& d, const Given&) {
       d.options.as_root = true;
       return Done{};
     }},

    // What is measured
    {"event", 'e', Takes::Value, Group::Measured, "EVENT,...",
     "count these events instead of the default ones; may be repeated; -l lists them", add_events},
    {"engine", '\0', Takes::Value, Group::Measured, "auto|kperf|perf|cachegrind|none",
     "what counts events; auto takes the best that works here (default); cachegrind simulates them "
     "with Valgrind in a few extra runs of each command, which are in no time",
     [](Draft& d, const Given& g) {
       return keep(choice(g, std::array{EngineChoice::Auto, EngineChoice::Kperf, EngineChoice::Perf,
                                        EngineChoice::Cachegrind, EngineChoice::None}),
                   d.options.engine);
     }},
    {"user-only", '\0', Takes::Nothing, Group::Measured, "", "count events in user space only",
     [](Draft& d, const Given&) {
       d.options.user_only = true;
       return Done{};
     }},
    {"single-pass", '\0', Takes::Nothing, Group::Measured, "",
     "refuse events that do not fit the counters at once (default: runs take turns)",
     [](Draft& d, const Given&) {
       d.options.single_pass = true;
       return Done{};
     }},
    {"strategy", '\0', Takes::Value, Group::Measured, "auto|exit|pet|cpu",
     "macOS: sample each thread as it ends (exit), sample running threads (pet), or count the whole "
     "machine (cpu); auto (default) takes the first that sees a known command whole",
     [](Draft& d, const Given& g) {
       return keep(choice(g, std::array{StrategyChoice::Auto, StrategyChoice::Exit,
                                        StrategyChoice::Pet, StrategyChoice::Cpu}),
                   d.options.strategy);
     }},
    {"period", '\0', Takes::Value, Group::Measured, "TIME",
     "macOS: how often threads that do not end are looked at (default 1ms, which is also the least "
     "that the kernel does)",
     [](Draft& d, const Given& g) { return keep(duration(g), d.options.period); }},
    {"metrics", '\0', Takes::Value, Group::Measured, "LIST",
     "rows of the table: default, time, all, or names in the order wanted, with a unit where one is "
     "wanted (wall_time:ms,peak_rss:MiB,instructions); exports have them all",
     set_metrics},
    {"core-kinds", '\0', Takes::Value, Group::Measured, "NAME=CPUS,...",
     "name the kinds of core by hand, the fastest first (P=0-3,E=4-7; Linux)",
     [](Draft& d, const Given& g) { return keep(core_kinds(g), d.options.core_kinds); }},
    {"cores", '\0', Takes::Value, Group::Measured, "p|e|any",
     "prefer one kind of core: performance, efficiency (Linux: by affinity; macOS: by the "
     "quality-of-service class)",
     [](Draft& d, const Given& g) {
       return keep(choice(g, std::array{CorePreference::Performance, CorePreference::Efficiency,
                                        CorePreference::Any}),
                   d.options.cores);
     }},
    {"min-p-share", '\0', Takes::Value, Group::Measured, "PCT",
     "redo (at most 3 times, then warn) a run that spent less of its CPU time than this on "
     "performance cores",
     set_min_p_share},
    {"threads", '\0', Takes::Value, Group::Measured, "PID",
     "print times, cycles, instructions and IPC of each thread of a running process by kind of "
     "core, since its birth or (-d TIME) during that time, and run nothing",
     set_threads},
    {"list-events", 'l', Takes::OptionalText, Group::Measured, "TEXT",
     "list the events that can be counted here (with TEXT in them), and run nothing",
     [](Draft& d, const Given& g) {
       d.options.inquiry = ListEvents{g.value};
       return Done{};
     }},
    {"explain-events", '\0', Takes::Nothing, Group::Measured, "",
     "show which counter each event (of -e) gets, in how many passes, and which events compete for "
     "which counters, and run nothing",
     [](Draft& d, const Given&) {
       d.options.inquiry = ExplainEvents{};
       return Done{};
     }},
    {"kpep", '\0', Takes::Value, Group::Measured, "FILE",
     "with the two above: take Apple's event database in FILE instead of this machine's events; "
     "works on any system, without root",
     [](Draft& d, const Given& g) { return keep(text(g), d.options.kpep); }},

    // Deltas and the gate
    {"fail-if-slower", '\0', Takes::OptionalNumber, Group::Gate, "PCT",
     "exit with 3 when a command is, with confidence, more than PCT percent slower than the "
     "reference (default 0; 1 or more is wise)",
     set_fail_if_slower},
    {"fail-if", '\0', Takes::Value, Group::Gate, "'METRIC > PCT'",
     "the same for any metric that is measured (instructions > 0.5); may be repeated. Without -r, "
     "runs go on past --duration until each gate is decided or four times the budget is used, "
     "within --max-runs",
     add_fail_if},
    {"fail-if-inconclusive", '\0', Takes::Nothing, Group::Gate, "",
     "exit with 4 when a gate could not be decided and none failed",
     [](Draft& d, const Given&) {
       d.options.fail_if_inconclusive = true;
       return Done{};
     }},
    {"confidence", '\0', Takes::Value, Group::Gate, "PCT",
     "of every interval and gate (default 95)", set_confidence},
    {"baseline", '\0', Takes::Value, Group::Gate, "FILE",
     "take each command's reference from an earlier --export-json (or hyperfine's JSON: wall time "
     "only), by its name, else by its place",
     [](Draft& d, const Given& g) { return keep(text(g), d.options.baseline); }},

    // Output
    {"export-csv", '\0', Takes::Value, Group::Output, "FILE",
     "write a row per command and metric; - is standard output",
     add_export<ExportKind::Csv>},
    {"export-runs", '\0', Takes::Value, Group::Output, "FILE", "write a row per run, likewise",
     add_export<ExportKind::Runs>},
    {"export-json", '\0', Takes::Value, Group::Output, "FILE",
     "write all that is known, readable by what reads hyperfine's JSON (docs/schema.json)",
     add_export<ExportKind::Json>},
    {"export-markdown", '\0', Takes::Value, Group::Output, "FILE",
     "write a table for a pull request",
     add_export<ExportKind::Markdown>},
    {"export-html", '\0', Takes::Value, Group::Output, "FILE",
     "write a page with the tables and every metric drawn, in one file",
     add_export<ExportKind::Html>},
    {"histogram", '\0', Takes::Nothing, Group::Output, "",
     "draw the distribution of wall time under each table",
     [](Draft& d, const Given&) {
       d.options.histogram = true;
       return Done{};
     }},
    {"color", '\0', Takes::Value, Group::Output, "auto|always|never",
     "auto (default) heeds NO_COLOR, CLICOLOR_FORCE and whether it is a terminal",
     [](Draft& d, const Given& g) {
       return keep(
           choice(g, std::array{ColorChoice::Auto, ColorChoice::Always, ColorChoice::Never}),
           d.options.color);
     }},
    {"quiet", 'q', Takes::Nothing, Group::Output, "", "show errors and gates only",
     [](Draft& d, const Given&) {
       d.options.verbosity = Verbosity::Quiet;
       return Done{};
     }},
    {"verbose", 'v', Takes::Nothing, Group::Output, "", "show everything",
     [](Draft& d, const Given&) {
       d.options.verbosity = Verbosity::Verbose;
       return Done{};
     }},
    {"no-progress", '\0', Takes::Nothing, Group::Output, "", "show no progress bar",
     [](Draft& d, const Given&) {
       d.options.progress = false;
       return Done{};
     }},
    {"check", '\0', Takes::Nothing, Group::Output, "",
     "say what can be measured on this machine, what not and why, what makes measurements noisy, and "
     "the command that mends it; with --export-json also for programs. Runs nothing",
     [](Draft& d, const Given&) {
       d.options.inquiry = CheckMachine{};
       return Done{};
     }},
    {"help", 'h', Takes::Nothing, Group::Output, "", "show this text",
     [](Draft& d, const Given&) {
       d.options.inquiry = ShowHelp{};
       return Done{};
     }},
    {"version", 'V', Takes::Nothing, Group::Output, "", "show the version",
     [](Draft& d, const Given&) {
       d.options.inquiry = ShowVersion{};
       return Done{};
     }},
});

}  // namespace

std::string OptionInfo::spelling() const {
  return name.empty() ? std::string{'-', letter} : "--" + std::string(name);
}

std::string OptionInfo::usage() const {
  switch (takes) {
    case Takes::Nothing:
      return spelling();
    case Takes::Value:
    case Takes::TwoWords:
    case Takes::ThreeWords:
      return fmt::format("{} {}", spelling(), value);
    case Takes::OptionalNumber:
    case Takes::OptionalText:
      break;
  }
  return fmt::format("{}[={}]", spelling(), value);
}

std::span<const OptionInfo> option_table() {
  return kOptions;
}

std::string_view title_of(Group group) {
  switch (group) {
    case Group::Runs:
      return "Runs";
    case Group::Commands:
      return "Commands";
    case Group::Measured:
      return "What is measured";
    case Group::Gate:
      return "Deltas and the gate";
    case Group::Output:
      break;
  }
  return "Output";
}

const OptionInfo* find_option(std::string_view name) {
  const auto found = std::find_if(std::begin(kOptions), std::end(kOptions),
                                  [&](const auto& o) { return !name.empty() && o.name == name; });
  return found == kOptions.end() ? nullptr : &*found;
}

const OptionInfo* find_option(char letter) {
  const auto found = std::find_if(kOptions.begin(), kOptions.end(), [&](const auto& o) {
    return letter != '\0' && o.letter == letter;
  });
  return found == kOptions.end() ? nullptr : &*found;
}

}  // namespace lauka::cli
