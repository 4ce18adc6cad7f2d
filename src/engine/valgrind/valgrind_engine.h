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

/// Returns the events of all tools, in the order in which they are selected by default.
std::span<const SimulatedEvent> simulated_events();

/// Finds an event by name, ignoring case; null if missing.
const SimulatedEvent* find_simulated(std::string_view name);

/// Makes an engine that runs commands under Cachegrind, DHAT or both, depending on `choice`.
/// `valgrind`: path of the program valgrind. `user`: owner of the tools' files; nullopt: lauka's
/// own user.
std::unique_ptr<CounterEngine> make_valgrind_engine(EngineChoice choice, std::string valgrind,
                                                    std::optional<User> user = std::nullopt);

/// Returns the command line that runs `words` under the tool that counts `wanted` (not empty, all
/// of one tool). The tool's files go to `folder`.
std::vector<std::string> valgrind_words(const std::string& valgrind, const std::string& folder,
                                        std::span<const WantedEvent> wanted,
                                        const std::vector<std::string>& words);

}  // namespace lauka::engine::valgrind
