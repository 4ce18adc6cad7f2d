#pragma once

#include "os/linux_calls.h"
#include "os/process.h"
#include "os/run_files.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <sys/resource.h>
#include <sys/types.h>

// Memory that lauka and its launcher process share. It is mapped before the launcher is forked, so
// that pointers into it are valid in both processes: lauka writes a program's argv once, and the
// launcher passes it to execve.

namespace lauka::os {

/// The largest number of digits in the number of a copy (--jobs).
inline constexpr std::size_t kJobDigits = 4;

/// A User in the form that system calls need.
struct SharedUser {
  std::uint32_t id = 0;
  std::uint32_t group = 0;
  std::size_t group_count = 0;
  const std::uint32_t* groups = nullptr;
};

/// The environment of one or more programs. The variables that change are set before each launch.
struct SharedEnvironment {
  char** variables = nullptr;  ///< null: lauka's own environment
  char** of_launch = nullptr;  ///< entry of `variables` that each launch sets; null if missing
  char** of_region = nullptr;  ///< entry of `variables` for kRegionVariable; null without a region
  char* job_digits = nullptr;  ///< digits in `variables` that each copy sets to its number; null
                               ///< without copies
};

/// A ProgramSpec in the form that execve needs; all pointers are into the shared memory.
struct SharedProgram {
  const char* path = nullptr;
  char* const* argv = nullptr;
  SharedEnvironment environment{};
  const SharedUser* user = nullptr;   ///< null: lauka's own user
  const char* input_path = nullptr;   ///< null: /dev/null
  const char* output_path = nullptr;  ///< file for OutputKind::File; else null
  const char* folder = nullptr;       ///< null: lauka's own folder
  OutputKind sink = OutputKind::Null;
  bool is_kept = false;               ///< Output::kept
  std::uint32_t jobs = 1;             ///< number of copies that make up one run
  bool jobs_outlive_failure = false;  ///< true: if one copy fails, the other copies go on
  std::int64_t timeout_ns = 0;        ///< 0: no limit
  const unsigned long* cpus =
      nullptr;  ///< bit mask of CPUs that the program may run on; null: lauka's own
  std::size_t cpus_bytes = 0;
};

// The launcher stores an Outcome in shared memory, from which lauka copies it.
static_assert(std::is_trivially_copyable_v<Outcome>);

/// The result of all copies that make up one run.
struct SharedJobs {
  bool are_all_over = false;  ///< true if this struct is complete, because all copies have ended
  bool has_failed =
      false;  ///< true if `outcome` is of a copy that failed, so that the other copies were killed
  Outcome outcome{};         ///< outcome of a copy that failed; success if none has
  std::int64_t exec_ns = 0;  ///< CLOCK_MONOTONIC at the start of the first copy
  std::int64_t end_ns = 0;   ///< CLOCK_MONOTONIC at the end of the last copy
  Usage usage{};             ///< sum over the copies (of peak memory: the largest), without wall
                             ///< time
};

/// The counters of one pass, with the descriptors that the launcher opened for them.
struct SharedCounters {
  std::size_t count = 0;
  const CounterRequest* requests = nullptr;
  int* guards = nullptr;  ///< descriptor per request, kept open for the whole session; negative:
                          ///< not open yet, or not needed (CounterRequest::cpu)
  int* descriptors = nullptr;  ///< descriptor per request, for the current run; negative: not open
};

struct SharedLaunch {
  const SharedProgram* program = nullptr;
  SharedCounters* counters = nullptr;  ///< null: the launcher opens no counters
  char* variable = nullptr;  ///< NAME=VALUE of the program's launch variable; null if it has none
};

struct SharedEnded {
  Outcome outcome{};  ///< outcome, without its `survivor`
  Usage usage;
  std::int64_t whole_ns = 0;
  std::int64_t began_ns = 0;  ///< CLOCK_MONOTONIC before any work for this run; 0: not begun
  std::int64_t exec_ns = 0;   ///< CLOCK_MONOTONIC at the start of the wall time; 0: not started
  std::size_t readings = 0;   ///< index of the run's first reading in SharedState::readings
  std::size_t reading_count = 0;
  int counter_error = 0;
  int optional_error = 0;
  int survivor = 0;          ///< id of a process that could not be killed; 0 if none
  std::size_t orphans = 0;   ///< Ended::orphans
  std::size_t outlived = 0;  ///< Ended::outlived, but also known if the run was killed
  InputRead input = InputRead::Unknown;
  RegionUse region;
};

struct SharedState {
  /// Set to end the current batch: the launcher kills the running command and starts no more. The
  /// launcher itself sets it if lauka has died.
  std::atomic<bool> cancel{false};

  /// Set to end the current run: its listener is satisfied.
  std::atomic<bool> enough{false};

  SharedJobs jobs{};
  /// Path of the file with which the next run joins a control group; empty if missing.
  std::array<char, 4096> group_file{};
  /// Path of that file for programs with CPUs of their own, if `group_file` is empty.
  std::array<char, 4096> group_file_on_own_cpus{};
  bool ignores_own_cpus =
      false;  ///< true: programs' own CPUs are ignored; false, as in zeroed memory: they are set

  bool go_on_after_failure = false;
  std::size_t launch_count = 0;
  std::size_t ended_count = 0;
  std::array<SharedLaunch, Launcher::kMaxBatch> launches;
  std::array<SharedEnded, Launcher::kMaxBatch> ended;
  // Readings of all runs are consecutive, so that only pages in use become resident.
  std::array<Reading, Launcher::kMaxBatch * kMaxCounters> readings;
};

// The launcher process. It is forked first in main, while lauka is still small, because the kernel
// never reports a child's peak memory below its parent's. It allocates no memory. Internal to os/.

/// The signal state that lauka was started with; every command gets it.
struct StartedWith {
  sigset_t mask;
  bool ignored_child;  ///< true if SIGCHLD was ignored
};

/// The inputs of the launcher process when it is forked.
struct LauncherSetup {
  SharedState* state = nullptr;
  const LinuxCalls* counters = nullptr;  ///< null: this system has no counters
  StartedWith started_with{};
  pid_t parent = 0;  ///< lauka's process id
  int socket = -1;   ///< a byte to the launcher starts a batch; a byte back reports its end
  const RunFiles* files = nullptr;
  AfterLauka after_lauka = nullptr;  ///< null: nothing is left to do
};

/// A time that is never reached.
inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// The signal that makes the launcher check SharedState::cancel and SharedState::enough; the kernel
/// also sends it when lauka dies.
inline constexpr int kPokeSignal = SIGUSR1;

/// Runs batches until the other end of the socket closes or lauka dies. Must be called with all
/// signals blocked.
[[noreturn]] void serve_as_launcher(const LauncherSetup& setup);

/// The launcher process's kernel counters. The launcher opens them on itself for each run; the
/// command inherits them, and its execve starts them. Counters that stay open from run to run stop
/// counting after two or three runs, because the kernel swaps the launcher's events with their
/// clones in the child. To prevent that, one event of each kind that is not inherited stays open
/// for the whole session; it also makes opening cheap.
class LauncherCounters {
 public:
  /// `calls` is null if this system has no counters.
  explicit LauncherCounters(const LinuxCalls* calls) : calls_(calls) {}

  /// Opens the counters of `set`, which may be null. Returns 0, or the errno of the first refusal
  /// of a counter that is not optional.
  int open(SharedCounters* set);

  /// Returns the errno of the optional counter that the last open() did without; 0 if there was
  /// none.
  int optional_error() const { return optional_error_; }

  /// Writes one reading per counter of `set` to `readings`. Returns 0 or errno.
  int read(const SharedCounters& set, Reading* readings) const;

  void close(SharedCounters* set) const;

  /// Returns the original limit of descriptors, for commands, if it was raised for counters; else
  /// null.
  const rlimit* original_limit() const { return limit_was_raised_ ? &original_limit_ : nullptr; }

 private:
  int open_request(SharedCounters& set, std::size_t index);
  int open_one(const PerfEventAttr& attributes, const CounterPlace& place, int leader);
  void close_optional(SharedCounters& set) const;

  const LinuxCalls* calls_;
  int optional_error_ = 0;
  bool limit_was_raised_ = false;
  rlimit original_limit_{};
};

}  // namespace lauka::os
