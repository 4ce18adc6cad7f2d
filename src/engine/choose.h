#pragma once

#include "core/choices.h"
#include "core/machine.h"
#include "core/result.h"
#include "engine/engine.h"
#include "os/darwin_calls.h"
#include "os/linux_calls.h"
#include "os/process.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lauka::engine {

using Choice = EngineChoice;

/// The engine of a session, and in one line what is missing if `Auto` had to do without hardware
/// counters.
struct Chosen {
  std::unique_ptr<CounterEngine> engine;
  std::optional<std::string> note;
};

/// The options that matter on macOS.
struct OnMacos {
  const os::DarwinCalls* calls = os::darwin_calls();  ///< null: this is not macOS
  os::Launcher* launcher = nullptr;  ///< null: nothing will be counted, only asked about
  StrategyChoice strategy = StrategyChoice::Auto;
  std::chrono::nanoseconds period = std::chrono::milliseconds(1);
  bool takes_turns = false;  ///< other engines of this process count in turns with it
};

/// Makes the engine. `Auto` takes the best that works here and reports what is missing; a named
/// engine that does not work is an error with its remedy. `calls`: null if this is not Linux.
/// `kinds`: the names of the kinds of core here. `user`: the commands' user, if not lauka's own.
Result<Chosen> choose(Choice choice, bool user_only,
                      const os::LinuxCalls* calls = os::linux_calls(), const CoreKinds& kinds = {},
                      const std::optional<User>& user = std::nullopt,
                      const OnMacos& macos = OnMacos{});

/// Tries each engine that is meant for this system, for --check.
std::vector<EngineFacts> try_engines(bool user_only,
                                     const os::LinuxCalls* calls = os::linux_calls(),
                                     const OnMacos& macos = OnMacos{});

/// Keeps the counting of `engine` out of the timed runs: passes in which something is counted
/// become counting passes, and before them comes a timed one, in which no counter is open. It has
/// the events that the kernel keeps for every process anyway (CounterEngine::free_reader).
std::unique_ptr<CounterEngine> separate_counting(std::unique_ptr<CounterEngine> engine);

/// Counts in a region what macOS shows each thread of itself: cycles and instructions, without
/// root, of the threads that call into it (lauka/region.h). `engine` counts the whole runs.
std::unique_ptr<CounterEngine> count_calling_threads(std::unique_ptr<CounterEngine> engine);

/// Replaces an engine that counts whole runs only if a region must be counted: it counts nothing,
/// and refuses events that the user named.
std::unique_ptr<CounterEngine> without_regions(std::unique_ptr<CounterEngine> engine);

}  // namespace lauka::engine
