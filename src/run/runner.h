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

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lauka {

/// Everything a session needs besides its plan.
struct RunContext {
  os::Launcher& launcher;
  engine::CounterEngine& engine;
  const os::Clock& clock;
  std::reference_wrapper<Observer> observer;
  std::function<int()> interrupt;           ///< returns the signal that asked lauka to end, or 0
  std::optional<User> user{};               ///< the commands' user; nullopt: lauka's own
  os::MetricFiles* metric_files = nullptr;  ///< for LAUKA_METRICS; or null
  os::MemoryGroups* groups = nullptr;  ///< measure tree_peak_memory; null if it is not measured
  bool identifies = false;             ///< Session::programs is needed, of every command
  RoundKeeper* rounds = nullptr;       ///< keeps rounds for --resume; null if it does not apply
  std::uint32_t* order = nullptr;  ///< number of the latest run of all benchmarks; null if alone

  // These may be empty.
  std::function<void()> let_others{};  ///< lets other plans go on; called before timed rounds
  /// Called before the first run of a command that loses its counters (Command::uncounted).
  std::function<void(std::size_t command, const UncountedFile&)> counts_lost{};
  std::function<bool()> was_throttled{};  ///< true if the processor was since the last call
  std::function<void(bool on)> tune{};    ///< tunes the machine, or restores it (--tune=compare)
};

/// The runs of a plan, and the findings made while they came in.
struct SessionResult {
  Session session;
  gate::Findings findings;
  std::vector<OwnMetric> discovered{};  ///< that runs reported unannounced, after Plan::reported
};

/// A benchmark to measure. The context's objects are shared by all benchmarks, except the engine,
/// which has selected the plan's events.
struct BenchmarkRun {
  std::string name;  ///< empty if it is the only one: progress is then shown as its own
  const Plan& plan;
  RunContext context;
};

/// Carries out one plan: warm-up rounds, then counted rounds until its stop rule is satisfied or
/// the precision it wants is reached, a run fails or the user interrupts. Gates look there first;
/// without an exact number of runs, rounds go on to each of gate::look_rounds, until every gate is
/// decided or four times the budget is used. In sequential order each look continues with the
/// reference, then with the other commands, without new warm-up runs; setups and cleanups, which
/// surround all runs of a command, forbid that. A command's cleanup always follows its setup.
///
/// Several plans take turns of a batch of timed rounds each, in an order that `seed` shuffles in
/// each lap, so that a drift of the machine hits all alike. One in sequential order has its one
/// turn from its first run to its last. If a run fails, the other plans go on.
///
/// An error means that no run was begun: a command or a hook cannot be started, or the counters
/// cannot be armed.
Result<std::vector<SessionResult>> carry_out(std::span<BenchmarkRun> runs, std::uint64_t seed);

}  // namespace lauka
