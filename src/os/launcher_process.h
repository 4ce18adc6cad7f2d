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

// Memory shared by lauka and its launcher process. It is mapped before the launcher is forked, so
// that a pointer into it is valid in both: a program's argv is written once by lauka and handed to
// execve by the launcher.

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

/// A ProgramSpec in the form for execve; all pointers are into the shared memory.
struct SharedProgram {
  const char* path = nullptr;
  char* const* argv = nullptr;
  char** environment = nullptr;       ///< null: lauka's own
  char** variable = nullptr;          ///< the launch variable in it; null if missing
  char** region = nullptr;            ///< the place of kRegionVariable; null without a region
  const SharedUser* user = nullptr;   ///< null: lauka's own
  const char* input_path = nullptr;   ///< null: /dev/null
  const char* output_path = nullptr;  ///< file of Sink::File
  const char* folder = nullptr;       ///< null: lauka's own
  Sink sink = Sink::Null;
  bool is_kept = false;                 ///< Output::kept
  std::uint32_t jobs = 1;               ///< copies that are one run
  bool jobs_outlive_failure = false;    ///< true: a copy's failure does not end its fellow copies
  char* job_digits = nullptr;           ///< the number of each copy in its environment
  std::int64_t timeout_ns = 0;          ///< 0: none
  const unsigned long* cpus = nullptr;  ///< a bit for each CPU it may run on; null: as it is
  std::size_t cpus_bytes = 0;
};

// The launcher writes it where lauka reads it.
static_assert(std::is_trivially_copyable_v<Outcome>);

/// The result of the copies of a program that were one run.
struct SharedJobs {
  bool are_all_over = false;  ///< true if this struct is complete
  bool has_failed = false;    ///< they were killed because of this one:
  Outcome outcome{};
  std::int64_t exec_ns = 0;  ///< CLOCK_MONOTONIC when the first copy began
  std::int64_t end_ns = 0;   ///< end of the last job
  Usage usage{};             ///< sum over the jobs, without wall time
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
  Outcome outcome{};  ///< outcome without survivors
  Usage usage;
  std::int64_t whole_ns = 0;
  std::int64_t began_ns = 0;  ///< CLOCK_MONOTONIC, before anything was done for this run
  std::int64_t exec_ns = 0;   ///< CLOCK_MONOTONIC, where the wall time begins
  std::size_t readings = 0;   ///< first of its readings in SharedState::readings
  std::size_t reading_count = 0;
  int counter_error = 0;
  int optional_error = 0;
  int survivor = 0;          ///< the process that could not be killed; 0 if none
  std::size_t orphans = 0;   ///< they ended before the run did, or with it
  std::size_t outlived = 0;  ///< processes of the run, also of a killed one, that went on after it
  InputRead input = InputRead::Unknown;
  RegionUse region;
};

struct SharedState {
  /// Set to end the current batch: the running command is killed, no other is started.
  std::atomic<bool> cancel{false};

  /// The current run has done its part, and must end.
  std::atomic<bool> enough{false};

  SharedJobs jobs{};
  /// The file by which the next run joins a control group; empty without.
  std::array<char, 4096> group{};
  /// The same for programs with CPUs of their own, if the other is empty.
  std::array<char, 4096> group_on_own_cpus{};
  bool ignores_own_cpus =
      false;  ///< true: programs' own CPUs are not set; false is how this memory begins

  bool go_on_after_failure = false;
  std::size_t launch_count = 0;
  std::size_t ended_count = 0;
  std::array<SharedLaunch, Launcher::kMaxBatch> launches;
  std::array<SharedEnded, Launcher::kMaxBatch> ended;
  // Packed: only pages that are used become resident.
  std::array<Reading, Launcher::kMaxBatch * kMaxCounters> readings;
};

// The launcher process: forked first thing in main, while lauka is still small, because the kernel
// never shows a child's peak memory below that of the process that started it. It allocates
// nothing. Internal to os/.

/// Signal dispositions and mask that lauka was started with, for every command.
struct StartedWith {
  sigset_t mask;
  bool ignored_child;
};

/// Everything the launcher process is given when it is forked.
struct LauncherSetup {
  SharedState* state = nullptr;
  const LinuxCalls* counters = nullptr;  ///< null: this system has none
  StartedWith started_with{};
  pid_t parent = 0;
  int socket = -1;  ///< a byte in: run the batch; a byte out: it is done
  const RunFiles* files = nullptr;
  AfterLauka after_lauka = nullptr;  ///< null: nothing
};

inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// Makes lauka's launcher look at SharedState::cancel; it also comes when lauka dies.
inline constexpr int kPokeSignal = SIGUSR1;

/// Runs batches until the socket ends. All signals are blocked when it is called.
[[noreturn]] void serve_as_launcher(const LauncherSetup& setup);

/// The kernel counters of the launcher process: opened again on itself for each run, inherited by
/// the command, started by its execve. Counters that stay open from run to run go silent after two
/// or three, because the kernel swaps the launcher's events with the clones its child got; what
/// keeps that from happening also makes opening cheap: one event of each kind that is not inherited
/// is held for the whole session.
class LauncherCounters {
 public:
  /// `calls` null: this system has no counters.
  explicit LauncherCounters(const LinuxCalls* calls) : calls_(calls) {}

  /// Opens the counters of `set` (may be null). Returns 0, or the errno of the first refusal.
  int open(SharedCounters* set);

  /// Returns the errno of the optional counter that the last open lacked; 0: it had them all.
  int optional_error() const { return optional_error_; }

  /// Fills one reading per counter of `set`. 0 or errno.
  int read(const SharedCounters& set, Reading* readings) const;

  void close(SharedCounters* set) const;

  /// Returns the limit of descriptors for commands if it had to be raised for counters; else null.
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
