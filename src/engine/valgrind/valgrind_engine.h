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

/// Returns the events of all tools, grouped by tool, in the order in which they are counted by
/// default.
std::span<const SimulatedEvent> simulated_events();

/// Finds an event by name, ignoring case; null if missing.
const SimulatedEvent* find_simulated(std::string_view name);

/// Makes an engine that simulates commands with the tools of Valgrind that `choice` names, each
/// tool in separate runs. `valgrind` is the path of Valgrind. `user`: who runs the commands
/// (nullopt: lauka's own user).
std::unique_ptr<CounterEngine> make_valgrind_engine(EngineChoice choice, std::string valgrind,
                                                    std::optional<User> user = std::nullopt);

/// Returns the command line that runs `words` under the tool of the events `wanted`, with files in
/// `folder`. Cachegrind simulates only the needed models, with caches of a fixed size, so that
/// counts of different machines can be compared.
std::vector<std::string> valgrind_words(const std::string& valgrind, const std::string& folder,
                                        std::span<const Wanted> wanted,
                                        const std::vector<std::string>& words);

}  // namespace lauka::engine::valgrind
