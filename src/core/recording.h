#pragma once

#include "core/choices.h"
#include "core/command.h"
#include "core/decision.h"
#include "core/function_table.h"
#include "core/machine.h"
#include "core/metric.h"
#include "core/numbers.h"
#include "core/record.h"
#include "core/reference.h"
#include "core/result.h"
#include "core/runs.h"
#include "core/session_setting.h"
#include "core/settings.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lauka {

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

/// Counts the endings of a command's runs.
Endings count_endings(const Runs& runs, std::size_t command);

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

/// The place of a session in its series.
struct SeriesPlace {
  std::string file{};
  std::size_t number = 0;  ///< of the candidate, from 1
  double level = 0.0;
  /// Decision that the file has; nullopt if none could be written.
  std::optional<Decision> decision{};
  bool has_other_reference = false;
  std::size_t kept = 0;  ///< number of candidates kept so far, this one included
};

/// A session as data: everything that results are computed from, except gate::Findings.
struct Recording {
  /// File of the session, or of the first joined session; empty if the session was just run.
  std::string file{};
  std::vector<Metric> metrics;
  std::vector<Command> commands{};
  Reference reference{};
  Runs runs{};
  Runs discarded_runs{};  ///< runs that were repeated
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
  /// `runs` nor in `discarded_runs`.
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
  /// Place in the series of candidates that the session belongs to; nullopt without --series.
  std::optional<SeriesPlace> series{};
  /// Values by function, for each command; may be empty.
  std::vector<FunctionTable> function_tables{};
};

}  // namespace lauka
