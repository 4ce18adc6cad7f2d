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

/// The machine's tuning during a session with --tune.
class TunedMachine : NonCopyable {
 public:
  virtual ~TunedMachine() = default;

  /// True if was_throttled() can return true.
  virtual bool watches_throttling() const = 0;
  /// True if the processor was throttled since the previous call.
  virtual bool was_throttled() = 0;

  /// True if some rounds run on the untuned machine (--tune=compare).
  virtual bool can_switch() const = 0;
  /// Tunes the machine, or restores it.
  virtual void tune(bool on) = 0;
};

/// The objects that the benchmarks of a call share.
struct RunContext {
  os::Launcher& launcher;
  const os::Clock& clock;
  Observer& observer;
  std::function<int()> interrupt;           ///< returns the signal that asked lauka to end; 0: none
  const std::optional<User>& user;          ///< user who runs the commands; nullopt: lauka's own
  os::MetricFiles* metric_files = nullptr;  ///< files for LAUKA_METRICS; null if missing
  TunedMachine* machine = nullptr;          ///< null without Call::tuning
};

/// The runs of a plan, and the findings made while they came in.
struct SessionResult {
  Session session;
  gate::Findings findings;
  std::vector<OwnMetric> discovered{};  ///< metrics that runs reported without an announcement;
                                        ///< they follow Plan::reported
};

/// A benchmark to measure.
struct BenchmarkRun {
  std::string
      name;  ///< name in the suite; empty outside suites, where progress is shown without a name
  const Plan& plan;
  engine::CounterEngine& engine;       ///< has already selected the plan's events
  os::MemoryGroups* groups = nullptr;  ///< measures tree_peak_memory; null: not measured
  bool identifies = false;             ///< true if Session::programs is needed for every command
  RoundKeeper* rounds = nullptr;       ///< keeps rounds for --resume; null: rounds are not kept
};

/// Carries out plans; Scheduler decides what happens for each. After a command's setup, its cleanup
/// always runs. Several plans alternate: each turn is a batch of timed rounds (of counting rounds
/// if nothing is timed), in an order that `seed` shuffles in each lap but the first, so that a
/// drift of the machine affects all plans equally. A plan in sequential order has a single turn for
/// all its runs. If a run fails, the other plans go on. An error means that no command was run: a
/// command or hook cannot start, the shell's start cannot be measured, or counters cannot be armed.
Result<std::vector<SessionResult>> carry_out(std::span<const BenchmarkRun> runs,
                                             const RunContext& context, std::uint64_t seed);

}  // namespace lauka
