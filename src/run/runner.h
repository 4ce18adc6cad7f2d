#pragma once

#include "core/command.h"
#include "core/own_metric.h"
#include "core/record.h"
#include "core/result.h"
#include "engine/engine.h"
#include "gate/verdict.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/process.h"
#include "os/setting_files.h"
#include "plan/plan.h"
#include "run/kept_rounds.h"
#include "run/stopping.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lauka {

/// The machine as --tune has made it.
class TunedMachine : NonCopyable {
 public:
  virtual ~TunedMachine() = default;

  /// True if was_throttled can be true.
  virtual bool watches_throttling() const = 0;
  /// True if the processor was throttled since the last call.
  virtual bool was_throttled() = 0;

  /// True if some rounds run on the untuned machine (--tune=compare).
  virtual bool can_switch() const = 0;
  /// Tunes the machine, or restores it.
  virtual void tune(bool on) = 0;
};

/// Resources that the benchmarks of a call share.
struct RunContext {
  os::Launcher& launcher;
  const os::Clock& clock;
  Observer& observer;
  std::function<int()> interrupt;           ///< returns the signal that asked lauka to end, or 0
  const std::optional<User>& user;          ///< the commands' user; nullopt: lauka's own
  os::MetricFiles* metric_files = nullptr;  ///< files for LAUKA_METRICS; null: none
  TunedMachine* machine = nullptr;          ///< null without --tune
};

/// The runs of a plan, and the findings made while they came in.
struct SessionResult {
  Session session;
  gate::Findings findings;
  std::vector<OwnMetric>
      discovered{};  ///< metrics that runs reported unannounced, after Plan::reported
};

/// A benchmark to measure.
struct BenchmarkRun {
  std::string name;  ///< empty if it is the only one: progress is then shown as its own
  const Plan& plan;
  engine::CounterEngine& engine;       ///< has selected the plan's events
  os::MemoryGroups* groups = nullptr;  ///< measure tree_peak_memory; null if it is not measured
  bool identifies = false;             ///< Session::programs is needed, of every command
  RoundKeeper* rounds = nullptr;       ///< keeps rounds for --resume; null if it does not apply
};

/// Carries out the plans; Scheduler says what each does. A command's cleanup always follows its
/// setup.
///
/// Several plans take turns of a batch of timed rounds each, in an order that `seed` shuffles in
/// each lap, so that a drift of the machine hits all alike. One in sequential order has its one
/// turn from its first run to its last. If a run fails, the other plans go on.
///
/// An error means that no run was begun: a command or a hook cannot be started, or the counters
/// cannot be armed.
Result<std::vector<SessionResult>> carry_out(std::span<const BenchmarkRun> runs,
                                             const RunContext& context, std::uint64_t seed);

}  // namespace lauka
