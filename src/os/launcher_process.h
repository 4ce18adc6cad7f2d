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
// that pointers into it are valid in both processes.

namespace lauka::os {

/// The largest number of digits in the number of a copy (--jobs).
inline constexpr std::size_t kJobDigits = 4;

struct SharedUser {
  std::uint32_t id = 0;
  std::uint32_t group = 0;
  std::size_t group_count = 0;
  const std::uint32_t* groups = nullptr;
};

struct SharedEnvironment {
  char** variables = nullptr;  ///< null: lauka's own environment
  char** of_launch = nullptr;
  char** of_region = nullptr;
  char* job_digits = nullptr;  ///< digits of kJobVariable's value; null: a single copy
};

/// A ProgramSpec in shared memory, in the form that execve needs.
struct SharedProgram {
  const char* path = nullptr;
  char* const* argv = nullptr;
  SharedEnvironment environment{};
  const SharedUser* user = nullptr;
  const char* input_path = nullptr;  ///< null: /dev/null
  const char* output_path = nullptr;
  const char* folder = nullptr;
  OutputKind sink = OutputKind::Null;
  bool is_kept = false;
  std::uint32_t jobs = 1;
  bool jobs_outlive_failure = false;
  std::int64_t timeout_ns = 0;
  const unsigned long* cpus = nullptr;  ///< bit mask; null: lauka's own
  std::size_t cpus_bytes = 0;
};

// The launcher stores an Outcome in shared memory, from which lauka copies it.
static_assert(std::is_trivially_copyable_v<Outcome>);

struct SharedJobs {
  bool are_all_over = false;
  bool has_failed = false;  ///< true if a copy failed, so that all copies were killed
  Outcome outcome{};
  std::int64_t exec_ns = 0;
  std::int64_t end_ns = 0;
  Usage usage{};  ///< sum over the copies, without wall time
};

struct SharedCounters {
  std::size_t count = 0;
  const CounterRequest* requests = nullptr;
  int* kept_open = nullptr;    ///< counters that stay open (LauncherCounters); negative: not open
  int* descriptors = nullptr;  ///< counters of the current run; negative: not open
};

struct SharedLaunch {
  const SharedProgram* program = nullptr;
  SharedCounters* counters = nullptr;
  char* variable = nullptr;
};

struct SharedEnded {
  Outcome outcome{};
  Usage usage;
  std::int64_t whole_ns = 0;
  std::int64_t began_ns = 0;  ///< CLOCK_MONOTONIC before any work for this run; 0: not begun
  std::int64_t exec_ns = 0;   ///< CLOCK_MONOTONIC at the start of the wall time; 0: not started
  std::size_t readings = 0;   ///< index of the run's first reading in SharedState::readings
  std::size_t reading_count = 0;
  int counter_error = 0;
  int optional_error = 0;
  int survivor = 0;
  std::size_t orphans = 0;
  std::size_t outlived = 0;  ///< Ended::outlived, but also known if the run was killed
  InputRead input = InputRead::Unknown;
  RegionUse region;
};

struct SharedState {
  /// True: the launcher kills the running command and starts no more commands. Set by lauka, or by
  /// the launcher if lauka has died.
  std::atomic<bool> cancel{false};

  /// True: the launcher ends the current run, because the run's listener has received enough.
  std::atomic<bool> enough{false};

  SharedJobs jobs{};
  /// Path of the file with which the next run joins a control group; empty: no group.
  std::array<char, 4096> group_file{};
  /// Path of the file with which programs with CPUs of their own join a control group if
  /// `group_file` is empty; empty: no group.
  std::array<char, 4096> group_file_on_own_cpus{};
  bool ignores_own_cpus = false;

  bool go_on_after_failure = false;
  std::size_t launch_count = 0;
  std::size_t ended_count = 0;
  std::array<SharedLaunch, Launcher::kMaxBatch> launches;
  std::array<SharedEnded, Launcher::kMaxBatch> ended;
  // Readings of all runs are consecutive, so that only pages in use become resident.
  std::array<Reading, Launcher::kMaxBatch * kMaxCounters> readings;
};

// The launcher process. main forks it first, while lauka is small, because the kernel never reports
// a child's peak memory below its parent's. It allocates no memory. Internal to os/.

/// The signal state that lauka was started with; every command gets it.
struct InitialSignals {
  sigset_t mask;
  bool ignored_child;
};

struct LauncherSetup {
  SharedState* state = nullptr;
  const LinuxCalls* counters = nullptr;
  InitialSignals started_with{};
  pid_t parent = 0;
  int socket = -1;  ///< a byte to the launcher starts a batch; a byte back reports its end
  const RunFiles* files = nullptr;
  ExitHandler after_lauka = nullptr;
};

inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// The signal that makes the launcher check SharedState::cancel and SharedState::enough. The kernel
/// also sends it when lauka dies.
inline constexpr int kWakeSignal = SIGUSR1;

/// Runs batches until the other end of the socket closes or lauka dies. All signals must be
/// blocked.
[[noreturn]] void serve_as_launcher(const LauncherSetup& setup);

/// The kernel counters that the launcher opens for each run. They would stop counting after two or
/// three runs, because the kernel swaps the launcher's events with their clones in the child. To
/// prevent this, one event of each kind that is not inherited stays open for the whole session.
class LauncherCounters {
 public:
  explicit LauncherCounters(const LinuxCalls* calls) : calls_(calls) {}

  /// Opens the counters of `set`, which may be null. Returns 0, or the errno of the first refusal
  /// of a counter that is not optional.
  int open(SharedCounters* set);

  /// Returns the errno of the optional counter that the last open() did without; 0: none.
  int optional_error() const { return optional_error_; }

  /// Writes one reading per counter of `set` to `readings`. Returns 0 or errno.
  int read(const SharedCounters& set, Reading* readings) const;

  void close(SharedCounters* set) const;

  /// Returns the limit of descriptors for commands, if the launcher raised its own limit; else
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
