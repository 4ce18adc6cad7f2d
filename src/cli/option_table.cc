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
  const bool beside_defaults = given.value.starts_with('+');
  const std::string list = beside_defaults ? given.value.substr(1) : given.value;
  const auto names = event_names(Given{given.option, list});
  if (!names) return names.error();
  draft.options.with_default_events = draft.options.with_default_events || beside_defaults;
  auto& events = draft.options.events;
  for (const std::string& name : *names) {
    if (std::find(events.begin(), events.end(), name) == events.end()) events.push_back(name);
  }
  return {};
}

Result<void> set_ignore_failure(Draft& draft, const Given& given) {
  if (given.value.empty()) {
    draft.options.ignore_failure = IgnoreFailure{.any = true};
    return {};
  }
  auto statuses = exit_statuses(given);
  if (!statuses) return statuses.error();
  draft.options.ignore_failure = IgnoreFailure{.any = false, .statuses = *std::move(statuses)};
  return {};
}

Result<void> set_fail_if_slower(Draft& draft, const Given& given) {
  double limit_percent = 0.0;
  if (!given.value.empty()) {
    const auto percent = percentage(given, kLimits.low, kLimits.high);
    if (!percent) return percent.error();
    limit_percent = *percent;
  }
  draft.slower_percent = limit_percent;
  return {};
}

Result<void> add_fail_if(Draft& draft, const Given& given) {
  auto gate = condition(given, kLimits);
  if (!gate) return gate.error();
  draft.options.gates.push_back(*std::move(gate));
  return {};
}

/// Of exports of one kind the last counts.
template <ExportKind kind>
Result<void> add_export(Draft& draft, const Given& given) {
  auto& exports = draft.options.exports;
  std::erase_if(exports, [](const ExportTarget& one) { return one.kind == kind; });
  auto file = text(given);
  if (!file) return file.error();
  exports.push_back({kind, *std::move(file), given.option.name});
  return {};
}

/// An event's own name may have colons too: the last one counts.
Result<void> set_precision(Draft& draft, const Given& given) {
  const std::size_t colon = given.value.rfind(':');
  const bool names_metric = colon != std::string::npos && colon > 0;
  draft.options.precision_metric =
      names_metric ? given.value.substr(0, colon) : std::string(metric_name_of(Role::WallTime));
  const std::string number = names_metric ? given.value.substr(colon + 1) : given.value;
  return keep(fraction(Given{given.option, number}, {0.0, false}, {1000.0, true}),
              draft.options.precision);
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

Result<void> set_threads(Draft& draft, const Given& given) {
  const auto process = whole_number(given, 1, std::numeric_limits<std::int32_t>::max());
  if (!process) return process.error();
  draft.options.inquiry = {.kind = InquiryKind::Threads,
                           .process = static_cast<std::int32_t>(*process)};
  return {};
}

/// A question of which nothing more is to be said, or the text that goes with it.
template <InquiryKind kind>
Result<void> ask(Draft& draft, const Given& given) {
  draft.options.inquiry = {.kind = kind, .text = given.value};
  return {};
}

/// An option without a value stands for one.
template <auto member, auto value>
Result<void> set(Draft& draft, const Given& /*given*/) {
  draft.options.*member = value;
  return {};
}

using Done = Result<void>;

constexpr auto kOptions = std::to_array<OptionInfo>({
    // Runs
    {"runs", 'r', Takes::Value, Group::Runs, "N", "exactly N timed runs of each command",
     [](Draft& d, const Given& g) { return keep(whole_number(g, 1, kMaxRuns), d.options.runs); }},
    {"min-runs", 'm', Takes::Value, Group::Runs, "N", "at least N timed runs (default 10)",
     [](Draft& d, const Given& g) { return keep(whole_number(g, 1, kMaxRuns), d.min_runs); }},
    {"max-runs", 'M', Takes::Value, Group::Runs, "N", "at most N timed runs",
     [](Draft& d, const Given& g) {
       return keep(whole_number(g, 1, kMaxRuns), d.options.max_runs);
     }},
    {"duration", 'd', Takes::Value, Group::Runs, "TIME",
     "time for each command: 5s, 500ms, 2m; a bare number is seconds (default 5s)",
     [](Draft& d, const Given& g) { return keep(duration(g), d.duration); }},
    {"warmup", 'w', Takes::Value, Group::Runs, "N",
     "extra runs of each command first that are not timed (default 1)",
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
     "seed of the shuffle; reuse it to repeat an order (default: from the clock)",
     [](Draft& d, const Given& g) {
       return keep(whole_number(g, 0, kAnyWholeNumber), d.options.seed);
     }},
    {"precision", '\0', Takes::Value, Group::Runs, "[METRIC:]PCT",
     "stop as soon as the interval of every delta of wall time, or of METRIC, is no wider than "
     "+-PCT percent (of one command: that of its mean), within --max-runs and --duration",
     set_precision},
    {"timeout", '\0', Takes::Value, Group::Runs, "TIME",
     "kill a run that takes longer, with everything it started, and report it as failed",
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
     "ignore failures: go on when a run exits with a non-zero status (or only with one of these), and "
     "count such runs",
     set_ignore_failure},
    {"setup", 's', Takes::Value, Group::Commands, "CMD",
     "run CMD with sh -c once before all runs of a command. Give this one and the five below once for "
     "all commands, or once per command",
     [](Draft& d, const Given& g) { return add(text(g), d.options.setup); }},
    {"prepare", 'p', Takes::Value, Group::Commands, "CMD",
     "run CMD before every run, warm-up runs included; LAUKA_ITERATION says which",
     [](Draft& d, const Given& g) { return add(text(g), d.options.prepare); }},
    {"conclude", 'C', Takes::Value, Group::Commands, "CMD", "run CMD after every run, likewise",
     [](Draft& d, const Given& g) { return add(text(g), d.options.conclude); }},
    {"cleanup", 'c', Takes::Value, Group::Commands, "CMD",
     "run CMD once after all runs of a command, also when one failed or you pressed Ctrl-C",
     [](Draft& d, const Given& g) { return add(text(g), d.options.cleanup); }},
    {"env", '\0', Takes::Value, Group::Commands, "'A=1 B=2'",
     "set environment variables for the command and its hooks",
     [](Draft& d, const Given& g) { return add(environment(g), d.options.environment); }},
    {"output", '\0', Takes::Value, Group::Commands, "null|pipe|inherit|FILE",
     "standard output and error of the commands (default null, which is the quietest; but GNU grep "
     "stops at its first match there: pipe has programs do all of their work)",
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
     "step of a scan (default 1)",
     [](Draft& d, const Given& g) { return add(text(g), d.steps); }},
    {"input", '\0', Takes::Value, Group::Commands, "null|FILE",
     "standard input of the commands, opened anew for each run (default null)",
     [](Draft& d, const Given& g) { return keep(input(g), d.options.input); }},
    {"as-root", '\0', Takes::Nothing, Group::Commands, "",
     "under sudo: run the commands as root too (default: as the user who called sudo)",
     set<&Options::as_root, true>},

    // What is measured
    {"event", 'e', Takes::Value, Group::Measured, "[+]EVENT,...",
     "count these events instead of the default ones, or with + besides them; may be repeated; -l "
     "lists them",
     add_events},
    {"engine", '\0', Takes::Value, Group::Measured, "auto|kperf|perf|cachegrind|none",
     "what counts events; auto takes the best that works here (default); cachegrind simulates them "
     "with Valgrind, in a few extra runs that are not timed",
     [](Draft& d, const Given& g) {
       return keep(choice(g, std::array{EngineChoice::Auto, EngineChoice::Kperf, EngineChoice::Perf,
                                        EngineChoice::Cachegrind, EngineChoice::None}),
                   d.options.engine);
     }},
    {"user-only", '\0', Takes::Nothing, Group::Measured, "", "count events in user space only",
     set<&Options::user_only, true>},
    {"counting", '\0', Takes::Value, Group::Measured, "apart|together",
     "apart: times come from runs that count nothing, counts from runs of their own (default); "
     "together: time and count the same runs",
     [](Draft& d, const Given& g) {
       return keep(choice(g, std::array{CountingChoice::Apart, CountingChoice::Together}),
                   d.options.counting);
     }},
    {"single-pass", '\0', Takes::Nothing, Group::Measured, "",
     "refuse events that do not fit the counters at once (default: runs take turns)",
     set<&Options::single_pass, true>},
    {"strategy", '\0', Takes::Value, Group::Measured, "auto|exit|pet|cpu",
     "macOS: sample each thread as it ends (exit), sample running threads (pet), or count the whole "
     "machine (cpu); auto (default) takes the first that sees a known command whole",
     [](Draft& d, const Given& g) {
       return keep(choice(g, std::array{StrategyChoice::Auto, StrategyChoice::AtExit,
                                        StrategyChoice::Pet, StrategyChoice::Machine}),
                   d.options.strategy);
     }},
    {"period", '\0', Takes::Value, Group::Measured, "TIME",
     "macOS: how often running threads are sampled (default 1ms, the shortest that the kernel "
     "allows)",
     [](Draft& d, const Given& g) { return keep(duration(g), d.options.period); }},
    {"metrics", '\0', Takes::Value, Group::Measured, "LIST",
     "rows of the table: default, time, all, or names in the order wanted, each with a unit if you like "
     "(wall_time:ms,peak_rss:MiB,instructions). Exports always have everything that is measured; "
     "events are counted if one is shown or asked for",
     set_metrics},
    {"scrape", '\0', Takes::Value, Group::Measured, "'NAME[:UNIT][:higher|lower]=REGEX'",
     "a metric that the program prints: the first group of the last match in standard output, or "
     "else in standard error, of each run ('rate:higher=([0-9.]+) requests/s'). May be repeated. A "
     "program can also write its metrics to the file that LAUKA_METRICS names",
     [](Draft& d, const Given& g) { return add(scraped_metric(g), d.options.scraped); }},
    {"derive", '\0', Takes::Value, Group::Measured, "'NAME[:UNIT][:higher|lower]=FORMULA'",
     "a metric made of others with + - * / ( ) and numbers, in each run that has all its parts: "
     "'mpki=1000*cache-misses/instructions'; its events are counted without -e. May be repeated. "
     "mpki, branch_miss_rate, cache_miss_rate, cpu_utilization and clock are there by name, and with "
     "--metrics all",
     [](Draft& d, const Given& g) { return add(derived_metric(g), d.options.derived); }},
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
     [](Draft& d, const Given& g) {
       return keep(fraction(g, {0.0, false}, {100.0, true}), d.options.min_p_share);
     }},
    {"threads", '\0', Takes::Value, Group::Measured, "PID",
     "print times, cycles, instructions and IPC of each thread of a running process by kind of "
     "core, since its birth or (-d TIME) during that time, and run nothing",
     set_threads},
    {"list-events", 'l', Takes::OptionalText, Group::Measured, "TEXT",
     "list the events that can be counted here (with TEXT in them), and run nothing",
     ask<InquiryKind::ListEvents>},
    {"explain-events", '\0', Takes::Nothing, Group::Measured, "",
     "show which counter each event (of -e) gets, in how many passes, and which events compete for "
     "which counters, and run nothing",
     ask<InquiryKind::ExplainEvents>},
    {"kpep", '\0', Takes::Value, Group::Measured, "FILE",
     "with the two above: use Apple's event database FILE instead of this machine's events; works on "
     "any system, without root",
     [](Draft& d, const Given& g) { return keep(text(g), d.options.kpep); }},

    // Deltas and the gate
    {"fail-if-slower", '\0', Takes::OptionalNumber, Group::Gate, "PCT",
     "exit with 3 when a command is, with confidence, more than PCT percent slower than the "
     "reference (default 0; 1 or more is wise)",
     set_fail_if_slower},
    {"fail-if", '\0', Takes::Value, Group::Gate, "'METRIC > LIMIT'",
     "the same for any metric; may be repeated. 'instructions > 0.5' is a change in percent, 'ipc < "
     "-5' a drop; with a unit the limit is the value's own ('wall_time > 200ms', 'peak_rss > "
     "64MiB'), and needs no reference. An event is counted for it without -e. Without -r, runs end "
     "when each gate is decided, from 10 on (to pass, from 29 on, which says nothing about runs "
     "rarer than one in ten: ask for more with --min-runs), or at four times --duration",
     add_fail_if},
    {"fail-if-inconclusive", '\0', Takes::Nothing, Group::Gate, "",
     "exit with 4 when a gate could not be decided and none failed",
     set<&Options::fail_if_inconclusive, true>},
    {"confidence", '\0', Takes::Value, Group::Gate, "PCT",
     "confidence of every interval and gate (default 95). A delta is that of the typical round; with "
     "fewer than six rounds, or values of 0, that of the mean",
     [](Draft& d, const Given& g) {
       return keep(fraction(g, {50.0, true}, {100.0, false}), d.options.confidence);
     }},
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
     "write all results as JSON, which programs made for hyperfine can read (docs/schema.json)",
     add_export<ExportKind::Json>},
    {"export-markdown", '\0', Takes::Value, Group::Output, "FILE",
     "write a table for a pull request",
     add_export<ExportKind::Markdown>},
    {"export-html", '\0', Takes::Value, Group::Output, "FILE",
     "write a page with charts and tables, in one file",
     add_export<ExportKind::Html>},
    {"title", '\0', Takes::Value, Group::Output, "TEXT",
     "title of the page that --export-html writes (default: the commands' names)",
     [](Draft& d, const Given& g) { return keep(text(g), d.options.presentation.title); }},
    {"description", '\0', Takes::Value, Group::Output, "TEXT", "a paragraph below that title",
     [](Draft& d, const Given& g) { return keep(text(g), d.options.presentation.description); }},
    {"table", '\0', Takes::Value, Group::Output, "auto|full|compact",
     "full: a table for each command; compact: one table with a row for each command; auto "
     "(default): compact for five commands or more",
     [](Draft& d, const Given& g) {
       return keep(choice(g, std::array{TableChoice::Auto, TableChoice::Full, TableChoice::Compact}),
                   d.options.presentation.table);
     }},
    {"sort", '\0', Takes::Value, Group::Output, "command|time",
     "order of the commands in tables: as given (default), or the fastest first",
     [](Draft& d, const Given& g) {
       return keep(choice(g, std::array{SortChoice::Command, SortChoice::Time}),
                   d.options.presentation.sort);
     }},
    {"time-unit", 'u', Takes::Value, Group::Output, "ns|us|ms|s|min",
     "show all times in this unit (default: the one that fits each)",
     [](Draft& d, const Given& g) { return keep(time_unit(g), d.options.presentation.time_unit); }},
    {"histogram", '\0', Takes::Nothing, Group::Output, "",
     "draw the distribution of wall time under each table",
     set<&Options::histogram, true>},
    {"color", '\0', Takes::Value, Group::Output, "auto|always|never",
     "auto (default) follows NO_COLOR, CLICOLOR_FORCE and whether the output is a terminal",
     [](Draft& d, const Given& g) {
       return keep(
           choice(g, std::array{ColorChoice::Auto, ColorChoice::Always, ColorChoice::Never}),
           d.options.color);
     }},
    {"quiet", 'q', Takes::Nothing, Group::Output, "", "show errors and gates only",
     set<&Options::verbosity, Verbosity::Quiet>},
    {"verbose", 'v', Takes::Nothing, Group::Output, "", "show everything",
     set<&Options::verbosity, Verbosity::Verbose>},
    {"no-progress", '\0', Takes::Nothing, Group::Output, "", "show no progress bar",
     set<&Options::progress, false>},
    {"check", '\0', Takes::Nothing, Group::Output, "",
     "say what can be measured on this machine, what cannot and why, what makes it noisy, and which "
     "command helps; with --export-json also for programs. Runs nothing",
     ask<InquiryKind::Check>},
    {"help", '\0', Takes::Nothing, Group::Output, "", "show all options", ask<InquiryKind::Help>},
    {"", 'h', Takes::Nothing, Group::Output, "", "show the options that most people need",
     ask<InquiryKind::BriefHelp>},
    {"version", 'V', Takes::Nothing, Group::Output, "", "show the version",
     ask<InquiryKind::Version>},
});

}  // namespace

std::span<const OptionInfo> option_table() {
  return kOptions;
}

}  // namespace lauka::cli
