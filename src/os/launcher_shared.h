#pragma once

#include "os/process.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

// What lauka and its launcher process share. The memory is mapped before the launcher is forked, so
// that a pointer into it means the same in both: a program's argv is written once by lauka and
// handed to execve by the launcher as it stands.

namespace lauka::os {

/// Digits that the number of a copy has at most.
inline constexpr std::size_t kJobDigits = 4;

/// A User as the system calls want it.
struct SharedUser {
  std::uint32_t id = 0;
  std::uint32_t group = 0;
  std::size_t group_count = 0;
  const std::uint32_t* groups = nullptr;
};

/// A ProgramSpec as execve wants it; everything it points to lies in the shared memory.
struct SharedProgram {
  const char* path = nullptr;
  char* const* argv = nullptr;
  char** environment = nullptr;  ///< null: lauka's own
  char** variable = nullptr;     ///< where in it the launch variable stands; null: there is none
  char** region = nullptr;       ///< where kRegionVariable stands; null: there is no region
  const SharedUser* user = nullptr;   ///< null: lauka's own
  const char* input_path = nullptr;   ///< null: /dev/null
  const char* output_path = nullptr;  ///< of Sink::File
  const char* folder = nullptr;       ///< null: lauka's own
  Sink sink = Sink::Null;
  bool is_kept = false;                 ///< Output::kept
  std::uint32_t jobs = 1;               ///< copies that are one run
  bool jobs_outlive_failure = false;    ///< of one of them
  char* job_digits = nullptr;           ///< where the number of each stands in its environment
  std::int64_t timeout_ns = 0;          ///< 0: none
  const unsigned long* cpus = nullptr;  ///< a bit for each CPU it may run on; null: as it is
  std::size_t cpus_bytes = 0;
};

/// How a run ended, in plain numbers.
enum class EndKind : std::uint8_t { Exited, Signalled, TimedOut, Stopped, NotStarted, Cancelled };

/// What came of the copies of a program that were one run.
struct SharedJobs {
  bool are_all_over = false;  ///< and all that stands here is known
  bool has_failed = false;    ///< they were killed because of this one:
  EndKind kind = EndKind::Exited;
  bool core_dumped = false;
  LaunchStep step = LaunchStep::Execute;
  int number = 0;
  std::int64_t exec_ns = 0;  ///< of the first
  std::int64_t end_ns = 0;   ///< of the last
  Usage usage{};             ///< of all, but for the wall time
};

/// The counters of one pass. The launcher keeps its descriptors here.
struct SharedCounters {
  std::size_t count = 0;
  const CounterRequest* requests = nullptr;
  int* guards = nullptr;       ///< one per request, held for the whole session; -1: not open yet
  int* descriptors = nullptr;  ///< one per request, of the run that goes on
};

struct SharedLaunch {
  const SharedProgram* program = nullptr;
  SharedCounters* counters = nullptr;  ///< null: nothing is counted
  char* variable = nullptr;            ///< NAME=VALUE, of a program that has such a one
};

struct SharedEnded {
  EndKind kind = EndKind::Exited;
  bool core_dumped = false;
  LaunchStep step = LaunchStep::Execute;
  int number = 0;  ///< exit status, signal or errno
  Usage usage;
  std::int64_t whole_ns = 0;
  std::int64_t began_ns = 0;  ///< CLOCK_MONOTONIC, before anything was done for this run
  std::int64_t exec_ns = 0;   ///< likewise, where its wall time begins
  std::size_t readings = 0;   ///< first of its readings in SharedState::readings
  std::size_t reading_count = 0;
  int counter_error = 0;
  int optional_error = 0;
  int survivor = 0;         ///< the process that could not be killed; 0: none
  std::size_t orphans = 0;  ///< that ended before the run did, or with it
  InputRead input = InputRead::Unknown;
  RegionUse region;
};

struct SharedState {
  /// Set to end the current batch: the running command is killed, no other is started.
  std::atomic<bool> cancel{false};

  /// The run that goes on has done what is wanted of it, and is to end.
  std::atomic<bool> enough{false};

  SharedJobs jobs{};
  /// The file by which the next run joins a control group; empty: none.
  std::array<char, 4096> group{};

  bool go_on_after_failure = false;
  std::size_t launch_count = 0;
  std::size_t ended_count = 0;
  std::array<SharedLaunch, Launcher::kMaxBatch> launches;
  std::array<SharedEnded, Launcher::kMaxBatch> ended;
  // Packed: only pages that are used become resident.
  std::array<Reading, Launcher::kMaxBatch * kMaxCounters> readings;
};

}  // namespace lauka::os
