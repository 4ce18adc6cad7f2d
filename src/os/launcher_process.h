#pragma once

#include "os/linux_calls.h"
#include "os/process.h"
#include "os/run_files.h"

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include <sys/resource.h>
#include <sys/types.h>

// Memory that lauka and its launcher process share. It is mapped before lauka forks the launcher,
// so pointers into the memory are valid in both processes.

namespace lauka::os {

/// The largest number of digits in a copy's number (--jobs).
inline constexpr std::size_t kJobDigits = 4;

struct SharedUser {
  std::uint32_t id = 0;
  std::uint32_t group = 0;
  std::size_t group_count = 0;
  const std::uint32_t* groups = nullptr;
};

struct SharedEnvironment {
  char** variables = nullptr;  ///< null: lauka's own environment
  char** launch_entry = nullptr;
  char** region_entry = nullptr;
  /// Place of the value in the variable kJobEntryPrefix; null for a single copy.
  char* job_digits = nullptr;
};

/// A ProgramSpec in shared memory.
struct SharedProgram {
  const char* path = nullptr;
  char* const* argv = nullptr;
  SharedEnvironment environment{};
  const SharedUser* user = nullptr;
  const char* input_path = nullptr;  ///< null: /dev/null
  const char* output_path = nullptr;
  const char* folder = nullptr;
  OutputKind sink = OutputKind::Null;
  bool is_output_stored = false;
  std::uint32_t jobs = 1;
  bool jobs_outlive_failure = false;
  std::int64_t timeout_ns = 0;
  const unsigned long* cpus = nullptr;  ///< bit mask; null: the CPUs that lauka was started with
  std::size_t cpus_bytes = 0;
};

// The launcher writes an Outcome into shared memory.
static_assert(std::is_trivially_copyable_v<Outcome>);

struct SharedJobs {
  bool are_all_over = false;
  bool were_killed = false;  ///< true if all copies were killed because of one copy's outcome
  Outcome outcome{};
  std::uint32_t started_count = 0;
  std::int64_t first_executed_at_ns = 0;
  std::int64_t ended_at_ns = 0;
  Usage usage{};  ///< sums over the copies, but the largest peak_rss_bytes; no wall time
};

struct SharedCounters {
  std::size_t count = 0;
  const CounterRequest* requests = nullptr;
  /// Descriptors of guard events (see LauncherCounters); negative: not open.
  int* guard_descriptors = nullptr;
  int* descriptors = nullptr;  ///< descriptors of the current run's counters; negative: not open
};

struct SharedLaunch {
  const SharedProgram* program = nullptr;
  SharedCounters* counters = nullptr;
  char* variable_entry = nullptr;
  std::int64_t latest_start_ns = 0;  ///< Launch::latest_start; 0: no limit
  bool reads_end_state = false;
};

/// What the kernel says of a process. Numbers and masks are those of its system calls.
struct SharedProcessState {
  bool is_known = false;
  int nice = 0;
  long scheduling_policy = -1;  ///< negative: unknown
  std::array<unsigned long, 128> cpus{};
  std::size_t cpus_bytes = 0;  ///< size of the mask in `cpus`; 0: unknown
  bool has_limits = false;
  std::array<rlimit, RLIMIT_NLIMITS> limits{};
};

/// Reads the state of a process that has not been waited for, even if it has ended. Allocates no
/// memory.
void read_process_state(pid_t pid, SharedProcessState& state);

/// Returns a state as others see it; nullopt if it is not known.
std::optional<ProcessState> make_process_state(const SharedProcessState& state);

/// Returns the name of a scheduling policy of the kernel, as in Priority; empty if unknown.
std::string scheduling_policy_name(long policy);

struct SharedEnded {
  Outcome outcome{};
  Usage usage;  ///< usage without wall time
  std::chrono::nanoseconds time_with_preparation{};
  std::int64_t began_ns = 0;        ///< CLOCK_MONOTONIC before any work for the run; 0: not begun
  std::int64_t executed_at_ns = 0;  ///< CLOCK_MONOTONIC before the program is executed; 0: unknown
  std::int64_t ended_at_ns = 0;     ///< CLOCK_MONOTONIC after the program's end; 0: unknown
  /// Index of the run's first reading in SharedState::readings.
  std::size_t first_reading_index = 0;
  std::size_t reading_count = 0;
  int counter_error = 0;
  int optional_counter_error = 0;
  int surviving_pid = 0;
  std::uint32_t started_count = 1;
  std::size_t unawaited_processes = 0;
  /// Number of processes known to outlive the run, even a killed run.
  std::size_t outlived = 0;
  InputRead input = InputRead::Unknown;
  RegionUse region;
};

struct SharedState {
  /// True: the launcher kills the running command and ends the batch. Set by lauka, or by the
  /// launcher if lauka has died.
  std::atomic<bool> cancel{false};

  /// True: the launcher ends the current run, because the run's listener wants no more output.
  std::atomic<bool> listener_ended_run{false};

  SharedJobs jobs{};
  /// Path of the file with which the batch's runs join a control group; may be empty.
  std::array<char, 4096> control_group_file{};
  /// Path used in place of `control_group_file`, if that is empty, by programs with
  /// SharedProgram::cpus. May be empty.
  std::array<char, 4096> control_group_file_on_program_cpus{};
  bool ignores_program_cpus = false;

  AfterFailure after_failure = AfterFailure::Stop;
  std::size_t launch_count = 0;
  std::size_t ended_count = 0;
  std::array<SharedLaunch, Launcher::kMaxBatch> launches;
  std::array<SharedEnded, Launcher::kMaxBatch> ended;
  /// States of launches with SharedLaunch::reads_end_state. The others are never touched, so that
  /// they do not become resident.
  std::array<SharedProcessState, Launcher::kMaxBatch> end_states;
  // Readings of all runs are consecutive, so that only pages in use become resident.
  std::array<Reading, Launcher::kMaxBatch * kMaxCounters> readings;
};

// The launcher process. lauka starts it early, while lauka is small, because the kernel reports for
// a child at least the peak memory of its parent. Internal to os/.

/// Signal settings with which lauka was started. Commands get the same settings.
struct InitialSignals {
  sigset_t mask;
  bool ignored_sigchld;
};

struct LauncherSetup {
  SharedState* state = nullptr;
  const LinuxCalls* counter_calls = nullptr;
  InitialSignals started_with{};
  pid_t parent = 0;
  int socket = -1;  ///< a byte from lauka starts a batch; a byte to lauka reports the batch's end
  const RunFiles* files = nullptr;
  ExitHandler after_lauka = nullptr;
};

inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// The signal that makes the launcher check SharedState::cancel and
/// SharedState::listener_ended_run. The kernel also sends it when lauka dies.
inline constexpr int kWakeSignal = SIGUSR1;

/// Runs batches until the other end of the socket closes or lauka dies. All signals must be
/// blocked.
[[noreturn]] void serve_as_launcher(const LauncherSetup& setup);

/// The kernel counters that the launcher opens for each run. Guard events, which children do not
/// inherit, stay open for the whole session, so that the kernel does not swap counters with a
/// child's clones.
class LauncherCounters {
 public:
  explicit LauncherCounters(const LinuxCalls* calls) : calls_(calls) {}

  /// Opens the counters of `set`, which may be null. Returns 0, or errno if a required counter
  /// cannot be opened.
  int open(SharedCounters* set);

  /// Returns the errno because of which the last open() left all optional counters closed; 0: no
  /// error.
  int optional_counter_error() const { return optional_counter_error_; }

  /// Writes one reading per counter of `set` to `readings`. Returns 0 or errno.
  int read(const SharedCounters& set, Reading* readings) const;

  void close(SharedCounters* set) const;
  void close_optional(SharedCounters& set) const;

  /// Returns the launcher's original limit of descriptors; null if the launcher has not raised the
  /// limit.
  const rlimit* original_limit() const { return limit_was_raised_ ? &original_limit_ : nullptr; }

 private:
  int read_group(const SharedCounters& set, std::size_t leader, Reading* readings) const;
  void close_one(SharedCounters& set, std::size_t index) const;
  int open_request(SharedCounters& set, std::size_t index);
  int open_one(const PerfEventAttr& attributes, const CounterPlace& place, int leader);

  const LinuxCalls* calls_;
  int optional_counter_error_ = 0;
  bool limit_was_raised_ = false;
  rlimit original_limit_{};
};

}  // namespace lauka::os
