#pragma once

#include "core/command.h"
#include "core/functions.h"
#include "core/machine.h"
#include "core/metric.h"
#include "core/numbers.h"
#include "core/own_metric.h"
#include "core/record.h"
#include "core/result.h"
#include "plan/plan.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lauka {

struct NamedCount {
  std::string event;
  std::uint64_t count = 0;

  bool operator==(const NamedCount&) const = default;
};

/// A run without its values of metrics, except its wall time. Most fields are as in RunRecord and
/// Step.
struct RunRow {
  std::size_t command = 0;
  std::size_t round = 0;
  std::size_t pass = 0;
  /// Exit status as a shell reports it; nullopt if unknown, or if the run was not started.
  std::optional<int> status{};
  Ending ending = Ending::Unknown;
  RoundKind kind = RoundKind::Timed;
  std::optional<double> instruction_coverage{};
  /// Counts of the command's own process, without descendants; may be empty.
  std::vector<NamedCount> own_process_counts{};
  RedoReason reason = RedoReason::Other;
  /// Reason for the repetition in words; empty if unknown, or if the run was not repeated.
  std::string_view redo_text{};
  double wall_seconds = 0.0;  ///< wall time; 0 if unknown
  bool below_overhead = false;
  std::uint32_t number_in_suite = 0;
  /// Number of processes that are known to have run on after the run.
  std::uint32_t outlived = 0;
  std::uint32_t layout = 0;

  bool operator==(const RunRow&) const = default;
};

struct FailureGroup {
  Ending ending = Ending::Failed;
  int status = 0;
  std::size_t runs = 0;
  RoundKind kind = RoundKind::Timed;

  bool operator==(const FailureGroup&) const = default;
};

/// Counts of the endings of a command's runs.
struct Endings {
  std::size_t runs_with_ending = 0;  ///< number of runs with a known ending
  std::vector<FailureGroup> failed_run_groups{};
  /// Part of `runs_with_ending` by kind of round; without Timed, which has the rest.
  std::map<RoundKind, std::size_t> untimed_runs_with_ending{};

  void add(const RunRow& run);
  void add(const Endings& others);
  std::size_t failed_runs() const;
  bool all_failed() const { return runs_with_ending > 0 && failed_runs() == runs_with_ending; }

  /// Returns the endings of the runs of one kind of round.
  Endings of_kind(RoundKind kind) const;

  /// Returns the endings by kind of round, timed runs first; without kinds in which no run failed.
  std::vector<Endings> by_kind_with_failures() const;
};

/// What is needed of each run to compare values.
struct RunFacts {
  std::size_t round = 0;
  std::size_t pass = 0;
  std::uint32_t layout = 0;
  RoundKind kind = RoundKind::Timed;
  Ending ending = Ending::Unknown;
};

/// The runs of a session, or of joined sessions one after the other. Runs are read on request,
/// because there may be a million. This base class has no runs.
class RunTable : NonCopyable {
 public:
  virtual ~RunTable() = default;

  virtual std::size_t size() const { return 0; }
  virtual RunRow row(std::size_t /*run*/) const { return {}; }

  /// Returns a part of row(run); may be faster.
  virtual RunFacts facts(std::size_t run) const {
    const RunRow all = row(run);
    return {all.round, all.pass, all.layout, all.kind, all.ending};
  }

  /// Returns the run's value of a metric (index into Recording::metrics); nullopt if unknown.
  virtual std::optional<double> value(std::size_t /*run*/, std::size_t /*metric*/) const {
    return std::nullopt;
  }

  /// Returns an upper bound of the run's value of a metric, if only a bound is known; else nullopt.
  virtual std::optional<double> bound(std::size_t /*run*/, std::size_t /*metric*/) const {
    return std::nullopt;
  }

  /// Returns the indices of a command's runs, ascending.
  virtual std::span<const std::uint32_t> of_command(std::size_t /*command*/) const { return {}; }
};

Endings count_endings(const RunTable& runs, std::size_t command);

struct Circumstances {
  std::string version{};
  UtcTime began{};
  Machine machine{};
  UtcTime ended{};
  std::string session_id{};
  std::vector<Label> labels{};
  std::optional<Tuning> tuning{};
  /// Waiting for the CPU quota during the session; nullopt if not measured.
  std::optional<QuotaWait> throttling{};
  std::optional<Priority> priority{};  ///< nullopt if unknown
};

struct TimerResolutions {
  std::chrono::nanoseconds clock_step{1};
  std::optional<std::chrono::nanoseconds> kernel_tick{};
};

struct OriginSession {
  std::string file{};
  std::size_t command_count = 0;  ///< number of the session's commands; in a joined recording, they
                                  ///< follow the commands of the joined sessions before
  Order order = Order::Random;
  Circumstances circumstances{};
  std::uint32_t layouts = 1;  ///< number of layouts of each command
  /// How the session measured its metrics, by name.
  std::map<std::string, SettingValues> metric_settings{};
};

/// The mean of a command's metric, from a file without the metric's values of single runs.
struct KnownMean {
  std::size_t command = 0;
  std::size_t metric = 0;
  double value = 0.0;
};

/// A session as data: everything that results are computed from, except gate::Findings.
struct Recording {
  /// File of the session, or of the first joined session; empty if the session was just run.
  std::string file{};
  std::vector<Metric> metrics;
  std::vector<Command> commands{};
  Reference reference{};
  std::shared_ptr<const RunTable> runs = std::make_shared<RunTable>();
  std::shared_ptr<const RunTable> discarded_run_table = std::make_shared<RunTable>();
  std::vector<KnownMean> means_without_runs{};
  double confidence = kDefaultConfidence;
  std::vector<Note> notes{};
  /// Setting of the plan; of joined sessions, the first session's setting with the events of all.
  /// `warmup_runs` is 0 if unknown.
  Setting setting{.warmup_runs = 0};
  Circumstances circumstances{};  ///< circumstances of the first session, if sessions were joined
  /// Sessions that were joined; empty if the recording is of one session.
  std::vector<OriginSession> origins{};
  TimerResolutions timers{};
  bool complete = true;
  /// True if the gates of the session, or of a joined session, were decided before the planned end,
  /// which ended it.
  bool ended_by_gates = false;
  /// Run whose failure ended the session, or the first such run of joined sessions; neither in
  /// `runs` nor in `discarded_run_table`.
  std::optional<RunRow> session_ending_run{};
  /// False if a file of the session, or of a joined session, was written by hyperfine.
  bool was_written_by_lauka = true;
  /// Words of the shell's command line, without -c; empty without a shell, or if joined sessions
  /// have different shells.
  std::vector<std::string> shell{};
  /// Time of the shell's start for each command, which was subtracted from the command's times; may
  /// be empty.
  std::vector<ShellOverhead> overheads{};
  /// Median wall time of the program `true`, in seconds; nullopt if not measured.
  std::optional<double> seconds_of_running_true{};
  /// Values by function, for each command; may be empty.
  std::vector<FunctionTable> function_tables{};
};

/// Metrics that programs reported without a request. In RunRecord::reported, their values follow
/// the values of Plan::reported_metrics.
struct DiscoveredMetrics {
  std::vector<OwnMetric> metrics{};
  bool is_shown = true;  ///< false: the user listed rows without these metrics
};

/// Makes a recording of a session that carried out `plan`.
Recording make_recording(const Plan& plan, Session&& session, const TimerResolutions& timers,
                         Circumstances circumstances, const DiscoveredMetrics& discovered = {});

}  // namespace lauka
