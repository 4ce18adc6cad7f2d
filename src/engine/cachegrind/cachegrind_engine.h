#pragma once

#include "core/command.h"
#include "engine/engine.h"

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::engine::cachegrind {

/// The model that an event needs besides the instructions, which are always counted.
enum class Model : unsigned char { Instructions, Caches, Branches };

/// An event that Cachegrind simulates.
struct SimulatedEvent {
  std::string_view name;
  std::string_view meaning;
  /// Its own names for the counts that make it up; empty: no more of them.
  std::array<std::string_view, 3> parts;
  Model model;
};

/// Returns all of them, in the order in which they are counted by default.
std::span<const SimulatedEvent> simulated_events();

/// Finds the event of that name, in any case; null if missing.
const SimulatedEvent* find_simulated(std::string_view name);

/// The names of a run's files, in Valgrind's terms: %p is the process, %n a number that counts its
/// files from 1. The first file of a program that was started by execve is its log, so a process
/// without a log number 1 continues a program that its parent had begun.
inline constexpr std::string_view kLogName = "log.%p.%n";
inline constexpr std::string_view kCountsName = "out.%p.%n";

/// A file that Valgrind wrote during a run.
struct OutputFile {
  std::string name;
  std::string text;
};

/// Sums `events` over all processes of a run, from their files. The sum is exact within two limits.
/// Cachegrind forgets a process's counts at execve, so only programs that ended are counted, each
/// from its execve on. And a forked process that never called execve begins with its parent's
/// counts, which are in the parent's file too: if they could be more than 1% of the sum, it is
/// missing; if less, a note says so. The sum is also missing if a process left no counts: it was
/// killed, or ran without Valgrind.
Counted sum_counts(std::span<const OutputFile> files,
                   std::span<const SimulatedEvent* const> events);

/// Counts by simulation, with Valgrind's Cachegrind, in runs of their own. `valgrind`: its file.
std::unique_ptr<CounterEngine> make_cachegrind_engine(std::string valgrind,
                                                      std::optional<User> user = std::nullopt);

/// Returns the command line for `words` under it: only the models that `events` need, and caches of
/// a fixed size, so that the counts of two machines compare. Files go into `folder`.
std::vector<std::string> valgrind_words(const std::string& valgrind, const std::string& folder,
                                        std::span<const SimulatedEvent* const> events,
                                        const std::vector<std::string>& words);

}  // namespace lauka::engine::cachegrind
