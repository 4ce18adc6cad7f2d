#pragma once

#include "core/result.h"
#include "engine/engine.h"
#include "engine/kperf/kpep.h"
#include "os/darwin_calls.h"
#include "os/process.h"

#include <chrono>
#include <memory>
#include <optional>

namespace lauka::engine::kperf {

/// How counts are had: StrategyChoice::Auto takes the best that sees a known command whole here.
enum class StrategyChoice : unsigned char {
  Auto,
  AtExit,   ///< each thread's counters as it ends
  Pet,      ///< samples of running threads
  Machine,  ///< everything that runs meanwhile
};

/// What an engine of this kind is made with.
struct Setting {
  const os::DarwinCalls& calls;
  os::Launcher* launcher = nullptr;  ///< for the trial of a strategy; null: nothing will be counted
  bool user_only = false;
  StrategyChoice strategy = StrategyChoice::Auto;
  std::chrono::nanoseconds period = std::chrono::milliseconds(1);
};

/// The engine for the processor of `database`, with the counters taken from the system until it is
/// destroyed (where Setting::launcher is not null). Refused where they cannot be had.
Result<std::unique_ptr<CounterEngine>> make_kperf_engine(const Setting& setting,
                                                         KpepDatabase database);

}  // namespace lauka::engine::kperf
