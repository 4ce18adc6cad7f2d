#pragma once

#include "core/choices.h"
#include "core/command.h"
#include "engine/engine.h"
#include "engine/valgrind/processes.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::engine::valgrind {

/// Returns the events of all tools, by tool, in the order in which they are counted by default.
std::span<const SimulatedEvent> simulated_events();

/// Finds the event of that name, in any case; null if missing.
const SimulatedEvent* find_simulated(std::string_view name);

/// Counts by simulation with the tools of Valgrind that `choice` names, each in runs of its own.
/// `valgrind`: its file.
std::unique_ptr<CounterEngine> make_valgrind_engine(EngineChoice choice, std::string valgrind,
                                                    std::optional<User> user = std::nullopt);

/// Returns the command line for `words` under the tool of the events `wanted`: of Cachegrind only
/// the models that they need, and caches of a fixed size, so that the counts of two machines
/// compare. Files go into `folder`.
std::vector<std::string> valgrind_words(const std::string& valgrind, const std::string& folder,
                                        std::span<const Wanted> wanted,
                                        const std::vector<std::string>& words);

}  // namespace lauka::engine::valgrind
