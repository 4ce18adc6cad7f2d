#pragma once

#include "engine/cachegrind/events.h"
#include "engine/engine.h"

#include <span>
#include <string>

namespace lauka::engine::cachegrind {

/// How the files of a run are named, in Valgrind's terms: %p is the process, %n a number that each
/// of its files gets in turn, from 1 on. The first file of a program that was started by execve is
/// its log, so a process without a log number 1 goes on in a program that its parent had begun.
inline constexpr std::string_view kLogName = "log.%p.%n";
inline constexpr std::string_view kCountsName = "out.%p.%n";

/// A file that Valgrind wrote during a run.
struct Written {
  std::string name;
  std::string text;
};

/// The sum of `events` over all processes of a run, from what is written of them. Exact, but for
/// two things that Cachegrind does. It forgets what a process counted before an execve, so a sum is
/// that of the programs that ended, each from its own execve on. And a process that was forked and
/// never called execve begins with its parent's counts, which are in the parent's own file too:
/// where they could be more than 1% of the sum, there is none; where they are less, a note tells.
/// There is none either where a process left no counts: killed, or run without Valgrind.
Counted sum_of(std::span<const Written> files, std::span<const SimulatedEvent* const> events);

}  // namespace lauka::engine::cachegrind
