#pragma once

#include "core/command.h"
#include "core/own_metric.h"
#include "core/record.h"
#include "core/result.h"
#include "core/session.h"
#include "engine/engine.h"
#include "gate/verdict.h"
#include "os/clock.h"
#include "os/control_groups.h"
#include "os/files.h"
#include "os/process.h"
#include "plan/plan.h"
#include "run/kept_rounds.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lauka {

/// Controls the machine's tuning during a session with --tune.
class TunedMachine : NonCopyable {
 public:
  virtual ~TunedMachine() = default;

  virtual bool watches_throttling() const = 0;
  /// True if the processor was throttled since the previous call.
  virtual bool was_throttled() = 0;

  /// True if some rounds run on the untuned machine (--tune=compare).
  virtual bool compares_tuning() const = 0;
  virtual void tune(bool on) = 0;
};

/// The objects that all benchmarks of a process share.
struct RunContext {
  os::Launcher& launcher;
  const os::Clock& clock;
  Observer& observer;
  /// Returns the signal that asked lauka to end; 0: no signal.
  std::function<int()> pending_interrupt;
  const std::optional<User>& user;  ///< user who runs the commands; nullopt: lauka's own user
  os::MetricFiles* metric_files = nullptr;  ///< files for LAUKA_METRICS; may be null
  TunedMachine* machine = nullptr;          ///< null if the machine is not tuned
};

struct SessionResult {
  Session session;
  gate::Findings findings;
  /// Metrics that runs reported but the plan does not announce.
  std::vector<OwnMetric> unannounced_metrics{};
  /// Index of the command whose run succeeded, but lacks a metric or the expected output, and so
  /// ended the session; nullopt without such a command.
  std::optional<std::size_t> command_at_fault{};
};

struct BenchmarkToRun {
  std::string name;  ///< name in the suite; empty outside suites
  const Plan& plan;
  engine::CounterEngine& engine;
  os::MemoryGroups* groups = nullptr;  ///< groups that measure tree_peak_memory; null: not measured
  bool hashes_all_programs = false;    ///< true if Session::programs must cover every command
  RoundKeeper* rounds = nullptr;       ///< rounds and log for --resume; null: rounds are not kept
  /// True if something may compare or store Session::program_settings. False: they stay empty.
  bool reads_program_settings = true;
};

/// Runs benchmarks, and returns their results in order. Several benchmarks take turns, except in
/// sequential order; `seed` determines the order of later turns. If a run fails, the other
/// benchmarks go on. Returns an error only if no command was run.
Result<std::vector<SessionResult>> run_benchmarks(std::span<const BenchmarkToRun> runs,
                                                  const RunContext& context, std::uint64_t seed);

}  // namespace lauka
