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
/// Counts in separate runs (Apart) or in timed runs (Together).
enum class CountingChoice : unsigned char { Apart, Together };
enum class MetricSelection : unsigned char { Default, Time, All, Listed };
enum class ColorChoice : unsigned char { Auto, Always, Never };
enum class Verbosity : unsigned char { Quiet, Normal, Verbose };

/// A shell that runs each command with -c.
struct Shell {
  std::vector<std::string> words;  ///< path and arguments of the shell, without -c
};

/// A variable with its values: as typed (-L), or the ends of a range (-P).
struct ParameterOption {
  std::string name;
  std::vector<std::string> values{};
  bool is_scan = false;  ///< true for -P
  std::string min{};     ///< lower end of a range
  std::string max{};     ///< upper end of a range
  std::string step{};    ///< step of a range; empty: not given
};

/// A question that is answered without running commands.
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
  std::string text{};                     ///< filter of ListEvents, or topic of Help
  std::vector<std::int32_t> processes{};  ///< process ids for Threads; several only with `interval`
  std::optional<std::chrono::nanoseconds>
      during{};  ///< time that Threads covers; nullopt: since each process started, or with
                 ///< `interval` until the processes end
  std::optional<std::chrono::nanoseconds>
      interval{};  ///< time between two lines of Threads; nullopt: a single answer
};

/// One of several disjoint parts of a suite.
struct Shard {
  std::uint32_t part = 1;   ///< number of this part, from 1
  std::uint32_t parts = 1;  ///< number of parts
};

/// An option as typed, which is parsed again together with a suite's file.
struct TypedOption {
  std::string key;  ///< name without dashes, or letter with one dash
  std::vector<std::string> words{};
};

/// A command that was probably typed as several words without quotes.
struct UnquotedCommand {
  std::string line{};  ///< correct command line, quoted: 'sort -r f'
  std::string tip{};   ///< message: "if '-r' belongs to 'sort', quote the command: 'sort -r f'";
                       ///< empty after --
  std::string note{};  ///< message before the first run; empty if the words may be right
};

/// The largest number of --derive options in a session.
inline constexpr std::size_t kMaxDerived = 1000;

/// The smallest number of builds per command: two or three say too little about other builds.
inline constexpr std::uint64_t kMinLayouts = 4;
/// The largest number of builds per command.
inline constexpr std::uint64_t kMaxLayouts = 1000;

/// Number and order of runs, and the state of the machine.
struct RunOptions {
  std::optional<std::uint64_t> runs;
  std::uint64_t min_runs = 10;
  std::optional<std::uint64_t> max_runs;  ///< not below min_runs; nullopt: no limit
  std::chrono::nanoseconds duration = std::chrono::seconds(5);
  std::uint64_t warmup = 1;
  std::optional<Order> order;
  std::optional<std::uint64_t> seed;
  std::optional<std::chrono::nanoseconds> timeout;
  std::optional<IgnoreFailure> ignore_failure;
  std::optional<Pattern>
      until;  ///< a run ends at a line of its output that matches; nullopt: by itself
  std::optional<std::uint64_t> jobs;     ///< copies that make up one run, 1 to 1000
  std::optional<std::uint64_t> layouts;  ///< builds of each command, kMinLayouts to kMaxLayouts
  std::uint64_t build_jobs = 1;          ///< number of builds at the same time
  bool as_root = false;
  std::optional<TuneRequest> tune;
};

/// The commands, and the conditions under which they run.
struct CommandOptions {
  std::vector<std::string> texts;  ///< commands; the one of --reference comes first
  std::vector<std::string> names;  ///< at most one per text or, with parameters, per measured
                                   ///< command; an empty name means the text
  std::optional<UnquotedCommand>
      unquoted;  ///< set if quotes around a command were probably forgotten
  std::optional<Shell> shell;
  std::vector<ParameterOption> parameters;  ///< parameters in the order typed
  // Each of the following is given once for all commands, or once per command.
  ByHook<std::vector<std::string>> hooks;
  std::vector<std::string> builds;  ///< command lines that build the programs before the first run
  std::vector<std::vector<std::string>> environment;  ///< NAME=VALUE
  std::vector<std::string> inputs;  ///< paths of --input; an empty path is no input
  std::vector<OutputChoice> outputs;
  std::vector<ExpectedOutput> expected;
  std::vector<std::string> folders;  ///< values of --cwd
};

/// Metrics and events, and how they are counted.
struct CountingOptions {
  MetricSelection metrics = MetricSelection::Default;
  std::vector<std::string> metric_list;  ///< names, or NAME:UNIT; only for Listed
  std::vector<std::string>
      events;  ///< names given with -e, without duplicates; empty: default events
  bool with_default_events = false;  ///< true: count default events in addition to `events`
  std::vector<double>
      percentiles;      ///< percentiles of wall time, without duplicates, above 0 and below 100
  bool region = false;  ///< true: measure only the region that the program marks
  std::vector<OwnMetric> scraped;  ///< metrics of --scrape, with their patterns
  std::vector<OwnMetric>
      derived;  ///< metrics of --derive, at most kMaxDerived, with valid formulas
  EngineChoice engine = EngineChoice::Auto;
  StrategyChoice strategy = StrategyChoice::Auto;
  CountingChoice runs = CountingChoice::Apart;
  bool user_only = false;
  bool single_pass = false;
  CorePreference cores = CorePreference::Any;
  std::chrono::nanoseconds period =
      std::chrono::milliseconds(1);  ///< period of sampling (PET); positive
  std::optional<std::chrono::nanoseconds>
      profile;                      ///< period of --profile; positive; nullopt: no profile
  std::optional<std::string> kpep;  ///< file of a kpep database for questions about another
                                    ///< machine's events; nullopt: this machine's
  CoreKinds core_kinds;  ///< kinds of --core-kinds, in order, without duplicate names or CPUs
  std::optional<double> min_p_share;  ///< a positive fraction; nullopt: no limit
};

/// A suite's file, and the choice of its benchmarks.
struct SuiteOptions {
  std::optional<std::string>
      file;                     ///< file of the suite, which has the commands; nullopt: no suite
  std::optional<Pattern> only;  ///< pattern that names of benchmarks must match; nullopt: all
  std::optional<Shard> shard;
  bool resumes = false;  ///< true: continue a suite that was interrupted
};

/// Baselines, gates and the precision.
struct GateOptions {
  std::vector<Condition> conditions;
  std::optional<int> fail_if_inconclusive;  ///< exit status if a gate is inconclusive and none
                                            ///< fails, 1 to 255; nullopt: 0
  bool controls_fdr = false;         ///< true: a suite's gates control the false discovery rate
  std::optional<double> confidence;  ///< a fraction, at least 0.5 and below 1; nullopt: the default
  std::optional<double> precision;   ///< half width, a positive fraction; not with an exact number
                                     ///< of runs; nullopt if missing
  std::string precision_metric{};
  std::optional<std::string> baseline;  ///< file that provides the references; nullopt if missing
  std::optional<std::string> anchor;    ///< name of the anchor, a command that is neither reference
                                        ///< nor candidate; nullopt if missing
};

/// Output on the terminal, and exports.
struct OutputOptions {
  std::vector<Label> labels;          ///< labels with distinct keys
  bool asks_git = true;               ///< true: git is asked for labels that were not given
  std::vector<ExportTarget> exports;  ///< export targets; at most one of each kind
  Presentation presentation;
  bool histogram = false;
  ColorChoice color = ColorChoice::Auto;
  Verbosity verbosity = Verbosity::Normal;
  bool progress = true;
};

/// The command line as typed, with valid syntax and ranges. Nothing is decided yet.
struct Options {
  std::optional<Inquiry> inquiry;
  std::vector<std::string> from;  ///< files of saved sessions, with which nothing is run; empty:
                                  ///< measure, or answer `inquiry`
  std::string from_reference;     ///< name of the saved command that becomes the reference; empty:
                                  ///< keep the session's
  std::vector<TypedOption>
      typed;  ///< all options in the order typed; empty for a benchmark of a suite
  RunOptions run;
  CommandOptions commands;
  CountingOptions counting;
  SuiteOptions suite;
  GateOptions gates;
  OutputOptions output;
};

}  // namespace lauka
