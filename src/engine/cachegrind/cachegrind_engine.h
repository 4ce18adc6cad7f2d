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

/// Which of Cachegrind's models an event needs besides the instructions, which are always counted.
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

/// How the files of a run are named, in Valgrind's terms: %p is the process, %n a number that each
/// of its files gets in turn, from 1 on. The first file of a program that was started by execve is
/// its log, so a process without a log number 1 goes on in a program that its parent had begun.
inline constexpr std::string_view kLogName = "log.%p.%n";
inline constexpr std::string_view kCountsName = "out.%p.%n";

/// A file that Valgrind wrote during a run.
struct OutputFile {
  std::string name;
  std::string text;
};

/// Sums `events` over all processes of a run, from what is written of them. Exact, but for
/// two things that Cachegrind does. It forgets what a process counted before an execve, so a sum is
/// that of the programs that ended, each from its own execve on. And a process that was forked and
/// never called execve begins with its parent's counts, which are in the parent's own file too:
/// if they could be more than 1% of the sum, it is missing; if they are less, a note says so. It is
/// missing too if a process left no counts: killed, or run without Valgrind.
Counted sum_of(std::span<const OutputFile> files, std::span<const SimulatedEvent* const> events);

/// Counts by simulation, with Valgrind's Cachegrind, in runs of their own: a pass is simulated, and
/// the timed runs have none of it. `valgrind`: its file.
std::unique_ptr<CounterEngine> make_cachegrind_engine(std::string valgrind,
                                                      std::optional<User> user = std::nullopt);

/// Returns the words that run `words` under it: only the models that `events` need, the caches of a
/// fixed size, so that the counts of two machines compare. Files go into `folder`.
std::vector<std::string> valgrind_words(const std::string& valgrind, const std::string& folder,
                                        std::span<const SimulatedEvent* const> events,
                                        const std::vector<std::string>& words);

}  // namespace lauka::engine::cachegrind
