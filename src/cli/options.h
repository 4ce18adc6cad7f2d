#pragma once

#include "core/choices.h"
#include "core/command.h"
#include "core/condition.h"
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

/// Apart: events are counted in runs that are not timed. Together: in the timed runs.
enum class CountingChoice : unsigned char { Apart, Together };
enum class MetricSelection : unsigned char { Default, Time, All, Listed };
enum class ColorChoice : unsigned char { Auto, Always, Never };
enum class Verbosity : unsigned char { Quiet, Normal, Verbose };

struct Shell {
  std::vector<std::string> words;  ///< the shell and its arguments; -c and the command follow
};

/// A variable with its values (-L) or its range (-P).
struct ParameterOption {
  std::string name;
  std::vector<std::string> values{};
  bool is_scan = false;
  std::string min{};
  std::string max{};
  std::string step{};
};

enum class InquiryKind : unsigned char {
  Help,
  BriefHelp,
  Version,
  Check,
  ListEvents,
  ListMetrics,
  ExplainEvents,
  Threads,
  SeriesState,
  TuneList,
  Untune
};
struct Inquiry {
  InquiryKind kind;
  std::string filter_or_topic{};  ///< filter of ListEvents, or topic of Help; may be empty
  std::vector<std::int32_t> processes{};
  /// Time for which --threads measures; nullopt if --duration is missing.
  std::optional<std::chrono::nanoseconds> measuring_time{};
  /// Time between outputs of --threads; nullopt if --interval is missing.
  std::optional<std::chrono::nanoseconds> output_interval{};
};

/// The part of a suite that --shard selects: number `part`, from 1 to `part_count`.
struct Shard {
  std::uint32_t part = 1;
  std::uint32_t part_count = 1;
};

struct CommandLineOption {
  std::string key;  ///< name without dashes; "-S" for an option that has only a letter
  std::vector<std::string> words{};
};

/// A command that was probably typed as several words without quotes.
struct UnquotedCommand {
  std::string quoted_line{};
  std::string tip{};  ///< "if '-r' belongs to 'sort', quote the command: 'sort -r f'"; empty if the
                      ///< command follows "--"
  std::string note{};
};

inline constexpr std::size_t kMaxDerivedMetrics = 1000;

/// Limit of --race without PCT, as a fraction.
inline constexpr double kDefaultRaceLimit = 0.01;

struct RunOptions {
  std::optional<std::uint64_t> runs;
  std::uint64_t min_runs = 10;
  std::optional<std::uint64_t> max_runs;
  std::chrono::nanoseconds time_per_command = std::chrono::seconds(5);
  std::uint64_t warmup = 1;
  std::optional<Order> order;
  std::optional<std::uint64_t> seed;
  std::optional<std::chrono::nanoseconds> timeout;
  std::optional<IgnoreFailure> ignore_failure;
  std::optional<Pattern> end_pattern;           ///< pattern of an output line that ends a run
  std::optional<std::uint64_t> copies_per_run;  ///< number of copies that make up one run
  std::optional<std::uint64_t> layouts;
  /// Largest difference, as a fraction, between commands that --race counts as equally good;
  /// nullopt without --race.
  std::optional<double> race_limit;
  std::uint64_t build_jobs = 1;
  bool as_root = false;
  std::optional<TuneRequest> tune;
};

struct CommandOptions {
  std::vector<std::string> command_lines;  ///< commands before substitution of parameters, first
                                           ///< the command of --reference if given
  /// Names of the typed commands, or of the measured commands if there are more names than typed
  /// commands; empty: the default name.
  std::vector<std::string> names;
  std::optional<UnquotedCommand> unquoted_command;
  std::optional<Shell> shell;
  std::vector<ParameterOption> parameters;
  // Each of the following options may be set once for all commands, or once per command.
  ByHook<std::vector<std::string>> hooks;
  std::vector<std::string> build_commands;  ///< values of --build: command lines for sh -c
  std::vector<std::vector<std::string>> environment;
  std::vector<std::string> inputs;  ///< paths from --input; an empty path means no input
  std::vector<OutputChoice> outputs;
  std::vector<ExpectedOutput> expected_outputs;
  std::vector<std::string> working_folders;  ///< paths from --cwd
};

struct CountingOptions {
  MetricSelection metric_selection = MetricSelection::Default;
  /// Values of --metrics; empty unless `metric_selection` is Listed.
  std::vector<std::string> listed_metrics;
  std::vector<std::string> events;
  bool adds_default_events = false;
  std::vector<double> percentiles;  ///< percentiles of wall time to show, above 0 and below 100
  bool measures_region = false;
  std::vector<OwnMetric> scraped_metrics;
  std::vector<OwnMetric> derived_metrics;
  EngineChoice engine = EngineChoice::Auto;
  KperfStrategyChoice strategy = KperfStrategyChoice::Auto;
  CountingChoice counting_choice = CountingChoice::Apart;
  bool counts_user_space_only = false;
  bool single_pass = false;
  CorePreference core_preference = CorePreference::Any;
  std::chrono::nanoseconds thread_sampling_period = std::chrono::milliseconds(1);
  /// Sampling period of --profile; nullopt: no profile.
  std::optional<std::chrono::nanoseconds> profiling_period;
  CallGraphChoice call_graph = CallGraphChoice::FramePointers;
  std::optional<std::string> event_database_path;  ///< path of an Apple event database (--kpep);
                                                   ///< nullopt: this machine's events apply
  CoreKinds core_kinds;
  std::optional<double> min_p_share;  ///< smallest wanted share (0..1) of a run's CPU time on the
                                      ///< first core kind; nullopt: no limit
};

struct SuiteOptions {
  std::optional<std::string> suite_path;
  std::optional<Pattern> benchmark_filter;
  std::optional<Shard> shard;
  bool resumes = false;
};

struct GateOptions {
  std::vector<Condition> conditions;
  std::optional<int> inconclusive_status;  ///< exit status for an inconclusive gate, 1 to 255;
                                           ///< nullopt: an inconclusive gate counts as passed
  bool controls_fdr = false;  ///< true: the gates of a suite control the false discovery rate
  /// Confidence as a fraction, at least 0.5 and below 1; nullopt: default.
  std::optional<double> confidence;
  /// Largest wanted half width of an interval, as a positive fraction.
  std::optional<double> max_half_width;
  std::string precision_metric{};
  std::optional<std::string> baseline_file;
  std::optional<std::string> accepted_file;  ///< path of --accept
  std::optional<std::string> anchor_command;
  std::optional<std::string> series_file;  ///< path of the series that the decision belongs to
};

struct OutputOptions {
  std::vector<Label> labels;
  bool takes_labels_from_git = true;
  std::vector<ExportTarget> exports;
  Presentation presentation;
  bool shows_histogram = false;
  ColorChoice color = ColorChoice::Auto;
  Verbosity verbosity = Verbosity::Normal;
  bool shows_progress = true;
};

/// The options of a call, of a suite's whole session, or of one benchmark of a suite.
struct Options {
  std::optional<Inquiry> inquiry;
  std::vector<std::string> saved_session_files;  ///< paths of saved sessions; empty without --from
  std::string saved_reference;  ///< with --from: value of --reference, the name or text of a saved
                                ///< command; empty if --reference is missing
  std::vector<CommandLineOption> command_line_options;
  RunOptions run;
  CommandOptions commands;
  CountingOptions counting;
  SuiteOptions suite;
  GateOptions gates;
  OutputOptions output;
};

}  // namespace lauka
