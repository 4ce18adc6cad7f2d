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

/// The engine of a session, and in one line what is missing where `Auto` had to do without hardware
/// counters.
struct Chosen {
  std::unique_ptr<CounterEngine> engine;
  std::optional<std::string> note;
};

/// What the choice depends on where this is macOS.
struct OnMacos {
  const os::DarwinCalls* calls = os::darwin_calls();  ///< null: this is not macOS
  os::Launcher* launcher = nullptr;  ///< null: nothing will be counted, only asked about
  StrategyChoice strategy = StrategyChoice::Auto;
  std::chrono::nanoseconds period = std::chrono::milliseconds(1);
  bool takes_turns = false;  ///< other engines of this process count in turns with it
};

/// `Auto` takes the best engine that works here and says what is missing; one asked for by name
/// that does not work is an error with its remedy. `calls`: how to reach Linux; null where this is
/// not Linux. `kinds`: how the kinds of core are called here. `user`: whom the commands are run as,
/// where that is not lauka's own.
Result<Chosen> choose(Choice choice, bool user_only,
                      const os::LinuxCalls* calls = os::linux_calls(), const CoreKinds& kinds = {},
                      const std::optional<User>& user = std::nullopt,
                      const OnMacos& macos = OnMacos{});

/// `choose` where `here.calls` is not null. Without root, or where the counters cannot be had,
/// `Auto` takes what the kernel accounts to each process by itself.
Result<Chosen> choose_on_macos(Choice choice, bool user_only, const OnMacos& here);

/// Tries each engine that is meant for this system, as --check tells it.
std::vector<EngineFacts> try_engines(bool user_only,
                                     const os::LinuxCalls* calls = os::linux_calls(),
                                     const OnMacos& macos = OnMacos{});

/// `engine`, with its counting kept out of the timed runs: passes in which something is counted
/// become counting passes, and in front of them stands a timed one, in which no counter is open. It
/// has the events that the kernel keeps for every process anyway (CounterEngine::free_reader).
std::unique_ptr<CounterEngine> keep_apart(std::unique_ptr<CounterEngine> engine);

/// What macOS tells each thread of itself, for a region: cycles and instructions, without root, of
/// the threads that call into it (lauka/region.h). `engine` counts the whole runs.
std::unique_ptr<CounterEngine> of_calling_threads(std::unique_ptr<CounterEngine> engine);

/// An engine that counts whole runs only, where a region is to be counted: it counts nothing, and
/// refuses what is asked for by name.
std::unique_ptr<CounterEngine> without_regions(std::unique_ptr<CounterEngine> engine);

}  // namespace lauka::engine
