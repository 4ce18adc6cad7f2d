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
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lauka {

/// An event and its count.
struct NamedCount {
  std::string event;
  std::uint64_t count = 0;

  bool operator==(const NamedCount&) const = default;
};

/// A run without its metrics' values.
struct RunRow {
  std::size_t command = 0;
  std::size_t round = 0;
  std::size_t pass = 0;
  std::optional<int> status{};  ///< exit status by shell_status; nullopt if the file lacks it, or
                                ///< the run was not started
  Ending ending = Ending::Unknown;
  RoundKind kind = RoundKind::Timed;
  std::optional<double> coverage{};              ///< RunRecord::coverage
  std::vector<NamedCount> own_process_counts{};  ///< counts of the command's own process; empty:
                                                 ///< unknown, or equal to the run's counts
  RedoReason reason = RedoReason::Other;         ///< reason why the run was repeated; else Other
  std::string_view why{};       ///< reason as text for users; empty: unknown, or not repeated
  double wall_seconds = 0.0;    ///< wall time of any kind of run, also if it was killed;
                                ///< 0 if the file lacks it
  bool below_overhead = false;  ///< RunRecord::below_overhead
  std::uint32_t order = 0;      ///< RunRecord::order
  std::uint32_t outlived = 0;   ///< RunRecord::outlived
  std::uint32_t layout = 0;     ///< Step::layout

  bool operator==(const RunRow&) const = default;
};

/// A number of runs of a command that failed in the same way.
struct FailedRuns {
  Ending ending = Ending::Failed;
  int status = 0;  ///< RunRow::status; 0 if that is nullopt
  std::size_t runs = 0;

  bool operator==(const FailedRuns&) const = default;
};

/// The endings of a command's runs of all kinds: timed, counting and simulated.
struct Endings {
  std::size_t runs = 0;              ///< number of runs with a known ending
  std::vector<FailedRuns> failed{};  ///< one entry for each ending and status

  void add(const RunRow& run);
  void add(const Endings& others);
  std::size_t failed_runs() const;
  /// True if all runs failed, and there is at least one.
  bool all_failed() const { return runs > 0 && failed_runs() == runs; }
};

/// The runs of a session, in the order run; of joined sessions, one after the other. Each is read
/// on request, because there may be a million. This base class is an empty table.
class RunTable : NonCopyable {
 public:
  virtual ~RunTable() = default;

  virtual std::size_t size() const { return 0; }
  virtual RunRow row(std::size_t /*run*/) const { return {}; }

  /// Returns the round of a run; cheaper than its row.
  virtual std::size_t round(std::size_t run) const { return row(run).round; }

  /// Returns the run's value of a metric (index into Recording::metrics); nullopt if it was not
  /// measured in this run, or only a bound is known.
  virtual std::optional<double> value(std::size_t /*run*/, std::size_t /*metric*/) const {
    return std::nullopt;
  }

  /// Returns an upper bound of the run's value, if the value itself is unknown; else nullopt.
  virtual std::optional<double> bound(std::size_t /*run*/, std::size_t /*metric*/) const {
    return std::nullopt;
  }

  /// Returns the indices of a command's runs, ascending.
  virtual std::span<const std::uint32_t> of_command(std::size_t /*command*/) const { return {}; }
};

/// Counts how the runs of a command ended.
Endings count_endings(const RunTable& runs, std::size_t command);

/// Where, when and of what a session's numbers are.
struct Circumstances {
  std::string version{};  ///< version of lauka
  TimeOfDay began{};
  Machine machine{};
  TimeOfDay ended{};
  std::string session_id{};                ///< unique id; empty: unknown or not needed
  std::vector<Label> labels{};             ///< labels with distinct keys
  std::optional<Tuning> tuning{};          ///< what --tune changed; nullopt without --tune
  std::optional<Throttling> throttling{};  ///< waiting for the CPU quota during the session;
                                           ///< nullopt: no quota, unknown or not needed
};

/// The resolutions of the clocks.
struct Timers {
  std::chrono::nanoseconds clock_step{1};          ///< step of the clock that measures wall time
  std::optional<std::chrono::nanoseconds> tick{};  ///< the scheduler's tick; nullopt: unknown
};

/// A session that was joined with others.
struct Origin {
  std::string file{};  ///< file as typed
  std::size_t commands =
      0;  ///< number of the session's commands, which follow those of earlier origins
  Order order = Order::Random;
  Circumstances circumstances{};
};

/// The mean of a command's metric, for files that lack the values of runs.
struct KnownMean {
  std::size_t command = 0;
  std::size_t metric = 0;  ///< index into Recording::metrics
  double value = 0.0;
};

/// A session as data: everything that results are computed from, except findings made while it ran.
/// The session was just run, or read from a file.
struct Recording {
  std::string file{};  ///< file that the session was read from, or the first of joined ones;
                       ///< empty: just run
  std::vector<Metric> metrics;
  std::vector<Command> commands{};
  Reference reference{};  ///< reference of the deltas
  /// Runs that count.
  std::shared_ptr<const RunTable> runs = std::make_shared<RunTable>();
  /// Runs that were repeated and do not count.
  std::shared_ptr<const RunTable> redone = std::make_shared<RunTable>();
  std::vector<KnownMean> means{};  ///< means without values of runs, as in files of hyperfine 1.x
  double confidence = kConfidence;
  std::vector<Note> notes{};     ///< remarks for users, such as on what was left out, and why
  Setting setting{.warmup = 0};  ///< setting of the plan, or of the first joined session; warmup is
                                 ///< 0 if unknown
  Circumstances circumstances{};  ///< circumstances of the session; of the first origin, if
                                  ///< sessions were joined
  std::vector<Origin> origins{};  ///< sessions that were joined; empty: there is only one
  Timers timers{};
  bool complete = true;              ///< false: the session, or a joined one, was cut short
  std::optional<RunRow> ended_by{};  ///< run whose failure ended the session (the first of joined
                                     ///< ones), in neither table; nullopt if missing
  bool by_lauka =
      true;  ///< false: the session, or a joined one, is by hyperfine, whose files have less
  std::vector<std::string> shell{};  ///< argv of the shell, without -c; empty: no shell, or joined
                                     ///< sessions have different ones
  std::vector<ShellOverhead> overheads{};  ///< time of the shell's start that was subtracted from
                                           ///< each command's runs; empty if `shell` is
  std::optional<double>
      process_start{};  ///< seconds that running `true` takes; nullopt: unknown or not needed
  std::vector<FunctionTable> functions{};  ///< values by function of each command; empty if unknown
                                           ///< for all
};

/// Metrics that programs reported without a request; their values follow the values of
/// Plan::reported.
struct Discovered {
  std::vector<OwnMetric> metrics{};
  bool is_shown = true;  ///< false: the user listed rows, and these are not among them
};

/// Converts a session that carried out `plan`; moves the runs and functions out of `session`.
/// `timers` are the timers of the machine that ran it.
Recording make_recording(const Plan& plan, Session&& session, const Timers& timers,
                         Circumstances circumstances, const Discovered& discovered = {});

}  // namespace lauka
