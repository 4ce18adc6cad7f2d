#pragma once

#include "core/choices.h"
#include "core/command.h"
#include "core/machine.h"
#include "core/metric.h"
#include "core/own_metric.h"
#include "core/pattern.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lauka {

enum class Order : unsigned char { Interleaved, Random, Sequential };
/// Counting runs separate from timed runs, or the same runs.
enum class CountingChoice : unsigned char { Apart, Together };
enum class MetricSelection : unsigned char { Default, Time, All, Listed };
enum class ColorChoice : unsigned char { Auto, Always, Never };
enum class Verbosity : unsigned char { Quiet, Normal, Verbose };

/// A shell that runs each command with -c.
struct Shell {
  std::vector<std::string> words;  ///< the shell and its own arguments
};

/// A variable with all its values: as typed (-L), or the ends of a range (-P).
struct ParameterOption {
  std::string name;
  std::vector<std::string> values{};
  bool is_scan = false;
  std::string min{};   ///< lower end of a scan
  std::string max{};   ///< upper end of a scan
  std::string step{};  ///< step of a scan; empty if not given
};

/// A question that is answered without running a command.
enum class InquiryKind : unsigned char {
  Help,
  BriefHelp,
  Version,
  Check,
  ListEvents,
  ListMetrics,
  ExplainEvents,
  Threads,
  TuneList,
  Untune
};
struct Inquiry {
  InquiryKind kind;
  std::string text{};                     ///< text that ListEvents looks for, or topic of Help
  std::vector<std::int32_t> processes{};  ///< processes of Threads; several only with `interval`
  std::optional<std::chrono::nanoseconds>
      during{};  ///< time that Threads covers; nullopt: since each process began, or with
                 ///< `interval` until the processes end
  std::optional<std::chrono::nanoseconds>
      interval{};  ///< time between two lines of Threads; nullopt: one answer
};

/// A disjoint part of a suite: which one, of how many.
struct Shard {
  std::uint32_t part = 1;  ///< number of the shard, from 1
  std::uint32_t parts = 1;
};

/// An option as typed, to be read again with a suite's file.
struct TypedOption {
  std::string key;  ///< option's name without dashes, or its letter with one dash
  std::vector<std::string> words{};
};

/// One command that was most likely typed as several words without quotes around them.
struct Unquoted {
  std::string line{};  ///< corrected command line in quotes: 'sort -r f'
  std::string tip{};   ///< "if '-r' belongs to 'sort', quote the command: 'sort -r f'"
  std::string note{};  ///< printed before the first run; empty if the words are plausible
};

/// The largest number of --derive in a session.
inline constexpr std::size_t kMaxDerived = 1000;

/// The fewest and the most builds of a command: two or three say too little about all others.
inline constexpr std::uint64_t kMinLayouts = 4;
inline constexpr std::uint64_t kMaxLayouts = 1000;

/// Number and order of runs, and the conditions of the machine.
struct RunOptions {
  std::optional<std::uint64_t> runs;
  std::uint64_t min_runs = 10;
  std::optional<std::uint64_t> max_runs;  ///< most runs of a command, not below min_runs
  std::chrono::nanoseconds duration = std::chrono::seconds(5);
  std::uint64_t warmup = 1;
  std::optional<Order> order;
  std::optional<std::uint64_t> seed;
  std::optional<std::chrono::nanoseconds> timeout;
  std::optional<IgnoreFailure> ignore_failure;
  std::optional<Pattern> until;          ///< a run ends at the line that matches
  std::optional<std::uint64_t> jobs;     ///< 1 to 1000
  std::optional<std::uint64_t> layouts;  ///< builds of each command; 4 to kMaxLayouts
  std::uint64_t build_jobs = 1;          ///< builds at a time
  bool as_root = false;
  std::optional<TuneRequest> tune;
};

/// Commands, and what they are run with.
struct CommandOptions {
  std::vector<std::string> texts;    ///< typed texts, the reference first
  std::vector<std::string> names;    ///< no more than texts; empty: the command's text
  std::optional<Unquoted> unquoted;  ///< a command whose quotes were forgotten, it seems
  std::optional<Shell> shell;
  std::vector<ParameterOption> parameters;  ///< parameters in the order typed
  // Each of these is given once for all commands, or once per command.
  ByHook<std::vector<std::string>> hooks;
  std::vector<std::string> builds;                    ///< make the programs, before the first run
  std::vector<std::vector<std::string>> environment;  ///< NAME=VALUE
  std::vector<std::string> inputs;                    ///< files of --input; empty: no input
  std::vector<OutputChoice> outputs;
  std::vector<ExpectedOutput> expected;
  std::vector<std::string> folders;  ///< values of --cwd
};

/// Metrics and events, and how they are counted.
struct CountingOptions {
  MetricSelection metrics = MetricSelection::Default;
  std::vector<std::string> metric_list;  ///< names, with a unit after a colon; of Listed only
  std::vector<std::string> events;       ///< named by -e, each once; empty: the default ones
  bool with_default_events = false;      ///< `events` are counted with the default ones
  std::vector<double> percentiles;       ///< wall time's, each once, above 0 and below 100
  bool region = false;                   ///< measures only what the program marks
  std::vector<OwnMetric> scraped;        ///< metrics of --scrape, with their patterns
  std::vector<OwnMetric> derived;  ///< metrics of --derive, at most kMaxDerived; each can be parsed
  EngineChoice engine = EngineChoice::Auto;
  StrategyChoice strategy = StrategyChoice::Auto;
  CountingChoice runs = CountingChoice::Apart;
  bool user_only = false;
  bool single_pass = false;
  CorePreference cores = CorePreference::Any;
  std::chrono::nanoseconds period =
      std::chrono::milliseconds(1);                 ///< period of sampling (PET); above 0
  std::optional<std::chrono::nanoseconds> profile;  ///< period of --profile; above 0
  std::optional<std::string> kpep;  ///< a kpep database to inquire about, not this machine's
  CoreKinds core_kinds;  ///< kinds of --core-kinds, in order; no CPU and no name occurs twice
  std::optional<double> min_p_share;  ///< a fraction above 0
};

/// A suite's file, and the choice of its benchmarks.
struct SuiteOptions {
  std::optional<std::string> file;  ///< the benchmarks' file; they have the commands
  std::optional<Pattern> only;      ///< the pattern that their names must match
  std::optional<Shard> shard;
  bool resumes = false;  ///< goes on with a suite that was interrupted
};

/// Baselines, gates and the wanted precision.
struct GateOptions {
  std::vector<Condition> conditions;
  std::optional<int> fail_if_inconclusive;  ///< the exit status then, from 1 to 255
  bool controls_fdr = false;                ///< the false discovery rate, of a suite's gates
  std::optional<double> confidence;         ///< a fraction, 0.5 or more and below 1
  std::optional<double> precision;  ///< a fraction above 0; not with an exact number of runs
  std::string precision_metric{};
  std::optional<std::string> baseline;  ///< a file to take the references from
  std::optional<std::string> anchor;    ///< name of a command that is neither base nor candidate
};

/// Output on the terminal, and exports.
struct OutputOptions {
  std::vector<Label> labels;          ///< each key once
  bool asks_git = true;               ///< git is asked for labels that are not given
  std::vector<ExportTarget> exports;  ///< exports, at most one of a kind
  Presentation presentation;
  bool histogram = false;
  ColorChoice color = ColorChoice::Auto;
  Verbosity verbosity = Verbosity::Normal;
  bool progress = true;
};

/// The command line as typed: syntax and ranges are checked, nothing is decided. A function takes
/// the part that it is about.
struct Options {
  std::optional<Inquiry> inquiry;
  std::vector<std::string> from;   ///< files of saved sessions; if not empty, nothing is run
  std::string from_reference;      ///< name of one of their commands; empty: as it was
  std::vector<TypedOption> typed;  ///< all options, in order
  RunOptions run;
  CommandOptions commands;
  CountingOptions counting;
  SuiteOptions suite;
  GateOptions gates;
  OutputOptions output;
};

}  // namespace lauka
