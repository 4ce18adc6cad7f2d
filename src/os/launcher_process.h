#pragma once

#include "os/linux_calls.h"
#include "os/process.h"
#include "os/run_files.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/types.h>

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
  /// Likewise, of programs with CPUs of their own where that one is empty.
  std::array<char, 4096> group_on_own_cpus{};
  bool ignores_own_cpus = false;  ///< of programs; this memory begins as zeros

  bool go_on_after_failure = false;
  std::size_t launch_count = 0;
  std::size_t ended_count = 0;
  std::array<SharedLaunch, Launcher::kMaxBatch> launches;
  std::array<SharedEnded, Launcher::kMaxBatch> ended;
  // Packed: only pages that are used become resident.
  std::array<Reading, Launcher::kMaxBatch * kMaxCounters> readings;
};

/// Shared memory that is only ever added to; what lies in it has the same address in the launcher.
class Arena {
 public:
  Arena(std::byte* begin, std::size_t bytes) : next_(begin), end_(begin + bytes) {}

  /// Null when it is full.
  template <typename T>
  T* make(std::size_t count) {
    void* place = next_;
    auto left = static_cast<std::size_t>(end_ - next_);
    if (std::align(alignof(T), sizeof(T) * count, place, left) == nullptr) return nullptr;
    auto* first = static_cast<T*>(place);
    for (std::size_t i = 0; i < count; ++i) new (first + i) T{};
    next_ = reinterpret_cast<std::byte*>(first + count);
    return first;
  }

  char* copy(const std::string& text) {
    char* place = make<char>(text.size() + 1);
    if (place != nullptr) std::memcpy(place, text.c_str(), text.size() + 1);
    return place;
  }

 private:
  std::byte* next_;
  std::byte* end_;
};

/// The programs of a session, as the launcher process finds them in shared memory. Internal to os/.
class SharedPrograms {
 public:
  explicit SharedPrograms(Arena& arena) : arena_(arena) {}

  /// See Launcher::add_program.
  Result<ProgramId> add(const ProgramSpec& spec);

  const SharedProgram* at(ProgramId id) const { return programs_.at(id).shared; }

  /// Writes down the variable of the `place`th launch of a batch; null where its program has none.
  /// False when the memory is full.
  bool set_variable(const Launch& launch, std::size_t place, char*& variable);

  static Error too_large();

 private:
  struct Entry {
    SharedProgram* shared;
    std::string launch_variable;
  };
  /// Room for a variable, used again by the same place of the next batch.
  struct Slot {
    char* bytes = nullptr;
    std::size_t size = 0;
  };

  bool copy_words(const ProgramSpec& spec, SharedProgram& program);
  bool copy_environment(const ProgramSpec& spec, SharedProgram& program);
  bool copy_user(const User& user, SharedProgram& program);
  bool copy_cpus(const std::vector<std::uint32_t>& cpus, SharedProgram& program);
  char* copy_once(const std::string& text);

  Arena& arena_;
  std::vector<Entry> programs_;
  std::map<std::string, char*> texts_;  // hundreds of programs have the same variables
  std::array<Slot, Launcher::kMaxBatch> slots_{};
};

// The launcher process: forked as the first thing main does, while lauka is still small, because
// the kernel never shows a child's peak memory below that of the process it was started from. It
// allocates nothing. Internal to os/.

/// Signal dispositions and mask as lauka was started with: what every command gets.
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
  CommonFiles files{};
  AfterLauka after_lauka = nullptr;  ///< null: nothing
};

inline constexpr std::int64_t kNsPerSecond = 1'000'000'000;
inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// CLOCK_MONOTONIC.
inline std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * kNsPerSecond + now.tv_nsec;
}

/// Makes lauka's launcher look at SharedState::cancel; it also comes when lauka dies.
inline constexpr int kPokeSignal = SIGUSR1;

/// Whether the run that goes on is to be killed: lauka has asked for it, or is no more.
bool nobody_wants_it(const LauncherSetup& setup);

/// Runs batches until the socket ends. All signals are blocked when it is called.
[[noreturn]] void serve_as_launcher(const LauncherSetup& setup);

// The process that becomes a command. Internal to os/.

/// What the vfork child uses and reports; it lives in the launcher's frame, which both share until
/// execve.
struct ChildPlan {
  const SharedProgram* program;
  const StartedWith* started_with;
  const sigset_t* all_signals;
  StandardFiles files{};
  int control_group = -1;               // file by which it joins one; -1: none
  pid_t group = 0;                      // that it joins; 0: one of its own
  const rlimit* descriptors = nullptr;  // null: not changed
  bool uses_own_cpus = true;            // the program's, if it has any
  volatile std::int64_t exec_ns = 0;
  volatile int error_number = 0;
  volatile LaunchStep failed_step = LaunchStep::Execute;
};

/// Starts the program. -1 with errno; where the child could not
/// become the program, `plan` says why.
pid_t start_child(ChildPlan& plan);

/// The kernel counters of the launcher process: opened anew on itself for each run, inherited by
/// the command, started by its execve. Counters that stay open from run to run go silent after two
/// or three, because the kernel swaps the launcher's events with the clones its child got; what
/// keeps that from happening also makes opening cheap: one event of each kind that is not inherited
/// is held for the whole session.
class LauncherCounters {
 public:
  /// `calls` null: this system has none.
  explicit LauncherCounters(const LinuxCalls* calls) : calls_(calls) {}

  /// Opens those of `set` (null: none). 0, or the errno of the one that could not be opened.
  int open(SharedCounters* set);

  /// errno of the optional counter that the last open had to do without; 0: it had them all.
  int optional_error() const { return optional_error_; }

  /// Fills one reading per counter of `set`. 0 or errno.
  int read(const SharedCounters& set, Reading* readings) const;

  void close(SharedCounters* set) const;

  /// The limit of descriptors that commands are to get where it had to be raised for counters;
  /// null: it was not.
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

/// Where the program has a region: hands down what this is noted in, and its counters, which are
/// open. 0 or errno.
int share_region(const SharedLaunch& launch, RegionPage& page);

// Several copies of a program at once, as one run (--jobs). Internal to os/.

/// Starts the program of `plan` again until it is there or cannot be: a file that is just being
/// written is waited for.
pid_t start_patiently(ChildPlan& plan);

/// Makes a process that starts SharedProgram::jobs copies of the program in its own process group,
/// waits for all of them and ends; what came of them is in `jobs`. Where one of them fails, the
/// group is killed with it. -1 with errno.
pid_t start_jobs(const ChildPlan& plan, SharedJobs& jobs);

}  // namespace lauka::os
