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

/// The count of an event.
struct NamedCount {
  std::string event;
  std::uint64_t count = 0;

  bool operator==(const NamedCount&) const = default;
};

/// The facts about a run besides its values.
struct RunRow {
  std::size_t command = 0;
  std::size_t round = 0;
  std::size_t pass = 0;
  std::optional<int>
      status{};  ///< exit status by shell_status; nullopt if the file does not say it
  Ending ending = Ending::Unknown;
  RoundKind kind = RoundKind::Timed;
  std::optional<double> coverage{};  ///< the same as RunRecord's
  std::vector<NamedCount>
      own_process_counts{};  ///< counts of the process alone, if descendants are counted, too
  RedoReason reason = RedoReason::Other;  ///< why a run was run again
  std::string_view why{};                 ///< the same for users; empty: it was not run again
  double wall_seconds = 0.0;              ///< wall time of a run of any kind, killed runs included
  bool below_overhead = false;            ///< the same as RunRecord's
  std::uint32_t order = 0;                ///< the same as RunRecord's
  std::uint32_t outlived = 0;             ///< the same as RunRecord's
  std::uint32_t layout = 0;               ///< the same as Step's

  bool operator==(const RunRow&) const = default;
};

/// Runs of a command that failed in the same way.
struct FailedRuns {
  Ending ending = Ending::Failed;
  int status = 0;  ///< the same as RunRow's
  std::size_t runs = 0;

  bool operator==(const FailedRuns&) const = default;
};

/// The endings of a command's kept runs of all kinds: timed, counting and simulated.
struct Endings {
  std::size_t runs = 0;  ///< runs whose ending is known
  std::vector<FailedRuns> failed{};

  void add(const RunRow& run);
  void add(const Endings& others);
  std::size_t failed_runs() const;
  /// True if the command never succeeded.
  bool all_failed() const { return runs > 0 && failed_runs() == runs; }
};

/// Runs in the order run, each read on request: there may be a million of them. This table is
/// empty.
class RunTable : NonCopyable {
 public:
  virtual ~RunTable() = default;

  virtual std::size_t size() const { return 0; }
  virtual RunRow row(std::size_t /*run*/) const { return {}; }

  /// Returns the round of a run, which needs less than its row.
  virtual std::size_t round(std::size_t run) const { return row(run).round; }

  /// Returns its value of a metric (an index into Recording::metrics); nullopt if not measured in
  /// this run.
  virtual std::optional<double> value(std::size_t /*run*/, std::size_t /*metric*/) const {
    return std::nullopt;
  }

  /// Returns an upper bound of its value, if only that is known.
  virtual std::optional<double> bound(std::size_t /*run*/, std::size_t /*metric*/) const {
    return std::nullopt;
  }

  /// The runs of a command.
  virtual std::span<const std::uint32_t> of_command(std::size_t /*command*/) const { return {}; }
};

/// Counts the endings of the runs of a command.
Endings count_endings(const RunTable& runs, std::size_t command);

/// The place, time, machine and subject of the numbers.
struct Circumstances {
  std::string version{};  ///< version of lauka
  TimeOfDay began{};
  Machine machine{};
  TimeOfDay ended{};
  std::string session_id{};                ///< no other session has it; empty: not known
  std::vector<Label> labels{};             ///< each key once
  std::optional<Tuning> tuning{};          ///< changes by --tune; nullopt without --tune
  std::optional<Throttling> throttling{};  ///< during the session; nullopt: no quota, or unknown
};

/// The resolution of the clocks.
struct Timers {
  std::chrono::nanoseconds clock_step{1};          ///< step of the clock of wall time
  std::optional<std::chrono::nanoseconds> tick{};  ///< tick of the scheduler; nullopt: unknown
};

/// A session that was joined with others.
struct Origin {
  std::string file{};        ///< file as typed
  std::size_t commands = 0;  ///< commands of the joined session, after those of the origins before
  Order order = Order::Random;
  Circumstances circumstances{};
};

/// The mean of a metric of a command whose single values are not in the file.
struct KnownMean {
  std::size_t command = 0;
  std::size_t metric = 0;  ///< index into Recording::metrics
  double value = 0.0;
};

/// A session as data: all that results are made from, except the findings made while it ran,
/// whether it was just run or read from a file.
struct Recording {
  std::string file{};  ///< file that the session was read from; empty: it was just run
  std::vector<Metric> metrics;
  std::vector<Command> commands{};
  Reference reference{};  ///< command that the deltas compare with
  /// The kept runs, and those that were repeated and are in no statistics.
  std::shared_ptr<const RunTable> runs = std::make_shared<RunTable>();
  std::shared_ptr<const RunTable> redone = std::make_shared<RunTable>();
  std::vector<KnownMean> means{};  ///< values of which hyperfine 1.x keeps the mean
  double confidence = kConfidence;
  std::vector<Note> notes{};      ///< notes about what was left out, and why
  Setting setting{.warmup = 0};   ///< the plan's; 0 warm-up runs where they are not known
  Circumstances circumstances{};  ///< circumstances of the first origin, if there are several
  std::vector<Origin> origins{};  ///< the sessions that were joined; empty: it is one
  Timers timers{};
  bool complete = true;                    ///< false: the session was cut short
  std::optional<RunRow> ended_by{};        ///< the run whose failure ended it; in no table
  bool by_lauka = true;                    ///< else by hyperfine, which has less
  std::vector<std::string> shell{};        ///< argv of the shell, without -c; empty: none
  std::vector<ShellOverhead> overheads{};  ///< one per command, subtracted from its times
  std::optional<double> process_start{};   ///< seconds that running `true` takes; nullopt: unknown
  std::vector<FunctionTable> functions{};  ///< one per command; empty if not known
};

/// Values that programs reported without being asked; they follow Plan::reported's.
struct Discovered {
  std::vector<OwnMetric> metrics{};
  bool is_shown = true;  ///< no rows were listed
};

/// Returns the session that carried out `plan`, as data; takes the runs out of `session`. `timers`
/// are of the machine that ran it.
Recording make_recording(const Plan& plan, Session&& session, const Timers& timers,
                         Circumstances circumstances, const Discovered& discovered = {});

}  // namespace lauka
