#include "cli/option_table.h"

#include "cli/setters.h"
#include "cli/values.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace lauka::cli {

namespace {

constexpr std::string_view kEngineOption = "engine";
constexpr std::uint64_t kMostJobs = 1000;
constexpr auto kAnyWholeNumber = std::numeric_limits<std::uint64_t>::max();

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

template <typename T>
T& target(Draft& draft, T Options::*member) {
  return draft.options.*member;
}
template <typename T>
T& target(Draft& draft, T Presentation::*member) {
  return draft.options.presentation.*member;
}

/// The one of `values` that stands where the word does among the choices of the option's row.
template <auto member, auto... values>
Result<void> set_choice(Draft& draft, const Given& given) {
  return keep(choice(given, std::array{values...}), target(draft, member));
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
     "untimed runs of each command before the timed ones (default 1)",
     [](Draft& d, const Given& g) { return keep(whole_number(g, 0, kMaxRuns), d.options.warmup); }},
    {"order", '\0', Takes::Value, Group::Runs, "random|interleaved|sequential",
     "random: one run of each command per round, shuffled in each round (default); interleaved: "
     "the "
     "same, not shuffled; sequential: all runs of one command, then the next",
     set_choice<&Options::order, Order::Random, Order::Interleaved, Order::Sequential>},
    {"seed", '\0', Takes::Value, Group::Runs, "N",
     "seed of the shuffle; reuse it to repeat an order (default: from the clock)",
     [](Draft& d, const Given& g) {
       return keep(whole_number(g, 0, kAnyWholeNumber), d.options.seed);
     }},
    {"precision", '\0', Takes::Value, Group::Runs, "[METRIC:]PCT",
     "stop as soon as the interval of every delta of wall time, or of METRIC, is no wider than "
     "+-PCT percent (with one command: the interval of its mean), within --max-runs and --duration",
     set_precision},
    {"timeout", '\0', Takes::Value, Group::Runs, "TIME",
     "kill a run that takes longer, with everything it started, and report it as failed",
     [](Draft& d, const Given& g) { return keep(duration(g), d.options.timeout); }},

    {"jobs", '\0', Takes::Value, Group::Runs, "N",
     "run N copies of a command at once, as one run (Linux): wall time is that of all of them, CPU "
     "time their sum, throughput is N / wall time. Each finds its number, from 0, in LAUKA_JOB; "
     "where one fails, the run has failed and the others are killed",
     [](Draft& d, const Given& g) { return keep(whole_number(g, 1, kMostJobs), d.options.jobs); }},
    {"until", '\0', Takes::Value, Group::Runs, "REGEX",
     "a run is over when a line of its output matches (a server that is ready): its wall time is up "
     "to that line. Then its process group gets SIGTERM and, 2 s later, SIGKILL, which is no "
     "failure; to end before that line is one",
     [](Draft& d, const Given& g) { return keep(line_pattern(g), d.options.until); }},

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
     "ignore failures: go on when a run exits with a non-zero status (or only with one of these), "
     "and include such runs",
     set_ignore_failure},
    {"setup", 's', Takes::Value, Group::Commands, "CMD",
     "run CMD with sh -c once before all runs of a command. Give this one and the seven below once "
     "for "
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
    {"cwd", '\0', Takes::Value, Group::Commands, "DIR",
     "run the command and its hooks in this folder, where relative paths in them begin; FILE of "
     "--input and --output stays relative to lauka's own",
     [](Draft& d, const Given& g) { return add(text(g), d.options.folders); }},
    {"output", '\0', Takes::Value, Group::Commands, "null|pipe|inherit|FILE",
     "where standard output and error of the commands go (default null, the quietest; but GNU grep "
     "stops at its first match there, and pipe makes it do all of its work)",
     [](Draft& d, const Given& g) { return add(output(g), d.options.outputs); }},
    {"show-output", '\0', Takes::Nothing, Group::Commands, "", "the same as --output inherit",
     [](Draft& d, const Given&) {
       d.options.outputs.push_back(OutputChoice{OutputKind::Inherit});
       return Done{};
     }},
    {"expect-output", '\0', Takes::Value, Group::Commands, "same|FILE|sha256:HEX",
     "before anything is timed, compare what each command writes to standard output in its first "
     "run with what the reference writes (same), with a file, or with a hash; exit with 1 and the "
     "first difference where it is another",
     [](Draft& d, const Given& g) { return add(expected_output(g), d.options.expected); }},
    {"parameter-list", 'L', Takes::TwoWords, Group::Commands, "VAR a,b,c",
     "measure with each value in place of {VAR} in the command, its name and the eight options "
     "above; "
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
    {kEngineOption, '\0', Takes::Value, Group::Measured, "", "", set_engine},
    {"user-only", '\0', Takes::Nothing, Group::Measured, "", "count events in user space only",
     set<&Options::user_only, true>},
    {"counting", '\0', Takes::Value, Group::Measured, "apart|together",
     "apart: times come from runs that count nothing, counts from runs of their own (default); "
     "together: time and count the same runs",
     set_choice<&Options::counting, CountingChoice::Apart, CountingChoice::Together>},
    {"single-pass", '\0', Takes::Nothing, Group::Measured, "",
     "refuse events that do not fit the counters at once (default: runs take turns)",
     set<&Options::single_pass, true>},
    {"strategy", '\0', Takes::Value, Group::Measured, "auto|exit|pet|cpu",
     "macOS: sample each thread as it ends (exit), sample running threads (pet), or count the whole "
     "machine (cpu); auto (default) takes the first that counts a known command completely",
     set_choice<&Options::strategy, StrategyChoice::Auto, StrategyChoice::AtExit, StrategyChoice::Pet, StrategyChoice::Machine>},
    {"period", '\0', Takes::Value, Group::Measured, "TIME",
     "macOS: how often running threads are sampled (default 1ms, the shortest that the kernel "
     "allows)",
     [](Draft& d, const Given& g) { return keep(duration(g), d.options.period); }},
    {"metrics", '\0', Takes::Value, Group::Measured, "LIST",
     "rows of the table: default, time, all, or names in the order wanted, each with a unit if you "
     "like "
     "(wall_time:ms,peak_rss:MiB,instructions). Exports always have everything that is measured; "
     "events are counted if one is shown or asked for",
     set_metrics},
    {"scrape", '\0', Takes::Value, Group::Measured, "'NAME[:UNIT][:higher|lower]=REGEX'",
     "a metric that the program prints: the first group of the last match in standard output, or "
     "else in standard error, of each run ('rate:higher=([0-9.]+) requests/s'). May be repeated. A "
     "program can also write its metrics to the file that LAUKA_METRICS names",
     [](Draft& d, const Given& g) { return add(scraped_metric(g), d.options.scraped); }},
    {"region", '\0', Takes::Nothing, Group::Measured, "",
     "measure the part of the program that it marks with lauka_region_begin() and "
     "lauka_region_end() of lauka/region.h: region_time, and events of that part only; --metrics "
     "all has those of the whole run, too",
     set<&Options::region, true>},
    {"derive", '\0', Takes::Value, Group::Measured, "'NAME[:UNIT][:higher|lower]=FORMULA'",
     "a metric made of others with + - * / ( ) and numbers, in each run that has all its parts: "
     "'mpki=1000*cache-misses/instructions'; its events are counted without -e. May be repeated. "
     "mpki, branch_miss_rate, cache_miss_rate, cpu_utilization, clock and, on Intel, topdown_retiring "
     "and its like are there by name, and with --metrics all",
     [](Draft& d, const Given& g) {
       if (d.options.derived.size() == kMostDerived)
         return Done(refused(g, {"is one --derive too many", "use 1,000 at most"}));
       return add(derived_metric(g), d.options.derived);
     }},
    {"percentiles", '\0', Takes::Value, Group::Measured, "50,90,99",
     "rows wall_time.p50, wall_time.p90, ...: the time that so many percent of the runs do not "
     "exceed, with its interval. A gate can be on them ('wall_time.p99 > 5'). p90 takes at least 36 "
     "runs, p99 368",
     set_percentiles},
    {"core-kinds", '\0', Takes::Value, Group::Measured, "NAME=CPUS,...",
     "name the kinds of core by hand, the fastest first (P=0-3,E=4-7; Linux)",
     [](Draft& d, const Given& g) { return keep(core_kinds(g), d.options.core_kinds); }},
    {"cores", '\0', Takes::Value, Group::Measured, "p|e|any",
     "prefer one kind of core: performance, efficiency (Linux: by affinity; macOS: by the "
     "quality-of-service class)",
     set_choice<&Options::cores, CorePreference::Performance, CorePreference::Efficiency, CorePreference::Any>},
    {"min-p-share", '\0', Takes::Value, Group::Measured, "PCT",
     "repeat (at most 3 times, then warn) a run that spent less than this share of its CPU time on "
     "performance cores",
     [](Draft& d, const Given& g) {
       return keep(fraction(g, {0.0, false}, {100.0, true}), d.options.min_p_share);
     }},
    {"threads", '\0', Takes::Value, Group::Measured, "PID,...",
     "print times, cycles, instructions and IPC of each thread of a running process by kind of "
     "core, since it started or, with -d TIME, during that time, and run nothing",
     set_threads},
    {"interval", '\0', Takes::Value, Group::Measured, "TIME",
     "with --threads: print a line of JSON for each thread of these processes and interval (10ms) "
     "instead, until they end, for -d TIME, or until Ctrl-C",
     set_interval},
    {"list-events", 'l', Takes::OptionalText, Group::Measured, "TEXT",
     "list the events that can be counted here (those with TEXT in them), and run nothing",
     ask<InquiryKind::ListEvents>},
    {"explain-events", '\0', Takes::Nothing, Group::Measured, "",
     "show which counter each event (of -e) gets, in how many passes, and which events compete for "
     "which counters, and run nothing",
     ask<InquiryKind::ExplainEvents>},
    {"kpep", '\0', Takes::Value, Group::Measured, "FILE",
     "with the two above: use Apple's event database FILE instead of this machine's events; works "
     "on "
     "any system, without root",
     [](Draft& d, const Given& g) { return keep(text(g), d.options.kpep); }},

    {"from", '\0', Takes::Value, Group::Measured, "FILE",
     "run nothing: show, gate and export the sessions in these files, which --export-json or "
     "hyperfine wrote (words after it are files, too). Commands of one session are compared within "
     "rounds, those of different sessions as independent samples; --reference NAME chooses which is "
     "compared with",
     [](Draft& d, const Given& g) { return add(text(g), d.options.from); }},

    // Deltas and the gate
    {"fail-if-slower", '\0', Takes::OptionalNumber, Group::Gate, "PCT",
     "exit with 3 when a command is, with confidence, more than PCT percent slower than the "
     "reference (default 0, but 1 or more is better)",
     set_fail_if_slower},
    {"fail-if", '\0', Takes::Value, Group::Gate, "'METRIC > LIMIT'",
     "the same for any metric; may be repeated. 'instructions > 0.5' is a change in percent, 'ipc "
     "< "
     "-5' a drop; with a unit the limit is the value's own ('wall_time > 200ms', 'peak_rss > "
     "64MiB'), and needs no reference. An event is counted for it without -e. Without -r, runs go "
     "on until every gate is decided (at least 10 to fail, 57 to pass), for at most four times "
     "--duration; to catch slow runs rarer than one in 20, raise --min-runs",
     add_fail_if},
    {"fail-if-inconclusive", '\0', Takes::OptionalNumber, Group::Gate, "STATUS",
     "exit with 4, or with STATUS (125 for git bisect run), when a gate could not be decided and "
     "none failed",
     set_fail_if_inconclusive},
    {"confidence", '\0', Takes::Value, Group::Gate, "PCT",
     "confidence of every interval and gate (default 95). A delta is that of the typical round; "
     "with "
     "fewer than six rounds, or values of 0, that of the mean",
     [](Draft& d, const Given& g) {
       return keep(fraction(g, {50.0, true}, {100.0, false}), d.options.confidence);
     }},
    {"baseline", '\0', Takes::Value, Group::Gate, "FILE",
     "compare each command with the one of the same name (else, in the same place) in an earlier "
     "--export-json, or in hyperfine's JSON (wall time only)",
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
    {"label", '\0', Takes::Value, Group::Output, "KEY=VALUE",
     "keep this with the session, in the JSON and on the page; may be repeated. In a git repository "
     "commit, branch and dirty (yes, no) are there without it",
     add_label},
    {"no-git", '\0', Takes::Nothing, Group::Output, "", "take no labels from git",
     set<&Options::asks_git, false>},
    {"title", '\0', Takes::Value, Group::Output, "TEXT",
     "title of the page that --export-html writes (default: the commands' names)",
     [](Draft& d, const Given& g) { return keep(text(g), d.options.presentation.title); }},
    {"description", '\0', Takes::Value, Group::Output, "TEXT", "a paragraph below that title",
     [](Draft& d, const Given& g) { return keep(text(g), d.options.presentation.description); }},
    {"table", '\0', Takes::Value, Group::Output, "auto|full|compact",
     "full: a table for each command; compact: one table with a row for each command; auto "
     "(default): compact for five commands or more",
     set_choice<&Presentation::table, TableChoice::Auto, TableChoice::Full, TableChoice::Compact>},
    {"sort", '\0', Takes::Value, Group::Output, "command|time",
     "order of the commands in tables: as given (default), or the fastest first",
     set_choice<&Presentation::sort, SortChoice::Command, SortChoice::Time>},
    {"time-unit", 'u', Takes::Value, Group::Output, "ns|us|ms|s|min",
     "show all times in this unit (default: the one that fits each)",
     [](Draft& d, const Given& g) { return keep(time_unit(g), d.options.presentation.time_unit); }},
    {"histogram", '\0', Takes::Nothing, Group::Output, "",
     "draw the distribution of wall time under each table",
     set<&Options::histogram, true>},
    {"color", '\0', Takes::Value, Group::Output, "auto|always|never",
     "auto (default) follows NO_COLOR, CLICOLOR_FORCE and whether the output is a terminal",
     set_choice<&Options::color, ColorChoice::Auto, ColorChoice::Always, ColorChoice::Never>},
    {"quiet", 'q', Takes::Nothing, Group::Output, "", "show errors and gates only",
     set<&Options::verbosity, Verbosity::Quiet>},
    {"verbose", 'v', Takes::Nothing, Group::Output, "", "show everything, and what makes up the difference in wall time",
     set<&Options::verbosity, Verbosity::Verbose>},
    {"no-progress", '\0', Takes::Nothing, Group::Output, "", "show no progress bar",
     set<&Options::progress, false>},
    {"check", '\0', Takes::Nothing, Group::Output, "",
     "say what can be measured on this machine, what cannot and why, what makes it noisy, and "
     "which "
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
  static const EngineWords kWords = engine_words();
  static const auto kTable = [] {
    std::vector<OptionInfo> options(kOptions.begin(), kOptions.end());
    for (OptionInfo& option : options) {
      if (option.name != kEngineOption) continue;
      option.value = kWords.names;
      option.help = kWords.help;
    }
    for (const OptionInfo& row : suite_options()) {
      const auto next = std::find_if(options.begin(), options.end(), [&](const OptionInfo& option) {
        return option.group > row.group;
      });
      options.insert(next, row);
    }
    return options;
  }();
  return kTable;
}

}  // namespace lauka::cli
