#pragma once

#include "core/command.h"
#include "engine/cachegrind/output_files.h"
#include "engine/engine.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lauka::engine::cachegrind {

/// Counts by simulation, with Valgrind's Cachegrind, in runs of their own: a pass is simulated, and
/// the timed runs have none of it. `valgrind`: its file.
std::unique_ptr<CounterEngine> make_cachegrind_engine(std::string valgrind,
                                                      std::optional<User> user = std::nullopt);

/// The words that run `words` under it: only the models that `events` need, the caches of a fixed
/// size, so that the counts of two machines compare. Files go into `folder`.
std::vector<std::string> valgrind_words(const std::string& valgrind, const std::string& folder,
                                        std::span<const SimulatedEvent* const> events,
                                        const std::vector<std::string>& words);

}  // namespace lauka::engine::cachegrind
