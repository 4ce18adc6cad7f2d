#pragma once

#include "engine/engine.h"

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace lauka::engine::cachegrind {

/// Which of Cachegrind's models an event needs beside the instructions, which are always counted.
enum class Model : unsigned char { Instructions, Caches, Branches };

/// An event that Cachegrind simulates.
struct SimulatedEvent {
  std::string_view name;
  std::string_view meaning;
  /// Its own names for the counts that make it up; empty: no more of them.
  std::array<std::string_view, 3> parts;
  Model model;
};

/// All there are, in the order in which they are counted by default.
std::span<const SimulatedEvent> simulated_events();

/// The one of that name, in any case; null where there is none.
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

/// The sum of `events` over all processes of a run, from what is written of them. Exact, but for
/// two things that Cachegrind does. It forgets what a process counted before an execve, so a sum is
/// that of the programs that ended, each from its own execve on. And a process that was forked and
/// never called execve begins with its parent's counts, which are in the parent's own file too:
/// where they could be more than 1% of the sum, there is none; where they are less, a note tells.
/// There is none either where a process left no counts: killed, or run without Valgrind.
Counted sum_of(std::span<const OutputFile> files, std::span<const SimulatedEvent* const> events);

}  // namespace lauka::engine::cachegrind
