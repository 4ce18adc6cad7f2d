#pragma once

#include "core/machine.h"
#include "core/result.h"
#include "os/darwin_calls.h"
#include "os/linux_calls.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lauka::cores {

/// The work of one thread on the cores of one kind, or on all cores; nullopt: unknown.
struct ThreadPart {
  std::optional<double> user_seconds{};
  std::optional<double> system_seconds{};
  std::optional<double>
      cpu_seconds{};  ///< sum of user and system time, which may be known without the two
  std::optional<std::uint64_t> cycles{};
  std::optional<std::uint64_t> instructions{};
  std::optional<double> joules{};

  /// Adds the known values of `other`.
  void add(const ThreadPart& other) {
    const auto add_to = [](auto& sum, const auto& value) {
      if (value) sum = sum ? *sum + *value : *value;
    };
    add_to(user_seconds, other.user_seconds);
    add_to(system_seconds, other.system_seconds);
    add_to(cpu_seconds, other.cpu_seconds);
    add_to(cycles, other.cycles);
    add_to(instructions, other.instructions);
    add_to(joules, other.joules);
  }
};

struct ThreadLine {
  std::uint64_t id = 0;
  std::string name{};               ///< may be empty
  double cpu_seconds = 0.0;         ///< CPU time on all cores
  std::vector<ThreadPart> parts{};  ///< values of each group of columns (Threads::columns)
};

/// A group of columns: the cores of one kind, or all cores.
struct ThreadColumns {
  std::string title;        ///< "PERFORMANCE"; may be empty
  bool has_split = false;   ///< has columns for user and system time
  bool has_cpu = false;     ///< has a column for the sum of both
  bool has_counts = false;  ///< has columns for cycles, instructions and IPC
};

/// The threads of a process, by CPU time in descending order.
struct Threads {
  std::vector<ThreadColumns> columns{};
  std::vector<ThreadLine> lines{};
  std::vector<std::string> notes{};  ///< what is missing and why, one line each
};

/// A function that waits; may return early if the user wants to end.
using Wait = std::function<void(std::chrono::nanoseconds)>;

/// Reads the work of a process's threads during some time, or (nullopt) since their start. Refuses
/// a process that does not exist or that lauka may not read or count, and any process if `linux`
/// and `darwin` are both null, or on a Mac without core kinds. On Linux, user and system time are
/// from /proc, in hundredths of a second; cycles, instructions and times by core kind are from
/// counters attached to all existing threads, only if `during` has a value. On macOS, everything is
/// by core kind, from the kernel's accounting of each thread.
Result<Threads> sample_threads(std::int32_t process, std::optional<std::chrono::nanoseconds> during,
                               const CoreKinds& kinds, const Wait& wait,
                               const os::LinuxCalls* linux, const os::DarwinCalls* darwin);

/// The work of a thread since the previous reading.
struct ThreadSample {
  std::int32_t process = 0;
  std::uint64_t thread = 0;
  std::string name{};
  std::chrono::nanoseconds interval{};  ///< time since the previous reading of the thread, or of
                                        ///< its process if the thread is new
  bool is_new = false;     ///< true if the thread did not exist at the previous reading; values are
                           ///< since its start
  bool has_ended = false;  ///< true if the thread ended since the previous reading; values are what
                           ///< is known of the time since then
  std::optional<std::uint64_t>
      moves{};  ///< moves between core kinds that were seen (CoreMoveCounter); nullopt: unknown, or
                ///< there is one kind
  std::optional<double> waited_seconds{};  ///< seconds for which the thread was runnable without a
                                           ///< CPU; nullopt: unknown
  ThreadPart all{};
  std::vector<ThreadPart> by_kind{};  ///< values of each of ThreadStream::kinds
};

/// Reads the threads of running processes repeatedly.
class ThreadStream : NonCopyable {
 public:
  ThreadStream(std::size_t processes, std::vector<std::string> kinds)
      : are_there_(processes, true), kinds_(std::move(kinds)) {}
  virtual ~ThreadStream() = default;

  /// Returns the core kinds, the fastest first; at most one if kinds are not distinguished.
  const std::vector<std::string>& kinds() const { return kinds_; }

  /// Returns what is missing and why, one line each.
  virtual std::vector<std::string> notes() const = 0;

  /// Returns the work of every thread since the previous call, grouped by process; nothing at the
  /// first call, unless a subclass begins with the work since their start. `now` is the time of any
  /// clock that does not stop.
  std::vector<ThreadSample> read(std::chrono::nanoseconds now) {
    std::vector<ThreadSample> samples;
    for (std::size_t i = 0; i < are_there_.size(); ++i)
      if (are_there_[i]) are_there_[i] = read_process(i, now, samples);
    read_before_ = now;
    return samples;
  }

  /// True if at least one process existed at the last read(), or if there was none.
  bool goes_on() const { return std::ranges::find(are_there_, true) != are_there_.end(); }

 protected:
  /// Adds the samples of a process. Returns false if the process no longer exists.
  virtual bool read_process(std::size_t process, std::chrono::nanoseconds now,
                            std::vector<ThreadSample>& samples) = 0;

  /// Returns the time of the previous read(); nullopt during the first.
  const std::optional<std::chrono::nanoseconds>& read_before() const { return read_before_; }

  /// Returns a sample of a thread, without its work.
  ThreadSample begin_sample(std::int32_t process, std::uint64_t thread, const std::string& name,
                            std::chrono::nanoseconds now) const {
    ThreadSample sample{.process = process,
                        .thread = thread,
                        .name = name,
                        .interval = now - read_before_.value_or(now)};
    sample.by_kind.resize(kinds_.size());
    return sample;
  }

 private:
  std::vector<bool> are_there_;
  std::vector<std::string> kinds_;
  std::optional<std::chrono::nanoseconds> read_before_{};
};

/// Watches the threads of processes. Refuses processes that do not exist or that lauka may not
/// read, and any if the system does not tell the CPU time of each thread. `linux` and `darwin` must
/// outlive it. On Linux, CPU time and waiting are from the scheduler's own clock; cycles and
/// instructions are from counters attached to each thread when it is first seen. On macOS
/// everything, including energy, is from the kernel's accounting.
Result<std::unique_ptr<ThreadStream>> stream_threads(const std::vector<std::int32_t>& processes,
                                                     const CoreKinds& kinds,
                                                     const os::LinuxCalls* linux,
                                                     const os::DarwinCalls* darwin);

/// Counts a thread's moves between core kinds: the fewest moves that explain where it was seen. A
/// thread that leaves and returns between two readings seems to have stayed.
class CoreMoveCounter {
 public:
  /// Returns the number of moves. `kinds` has a bit for each core kind on which the thread was
  /// since the previous call.
  std::uint64_t see(std::uint32_t kinds) {
    if (kinds == 0) return 0;
    const auto count = static_cast<std::uint64_t>(std::popcount(kinds));
    const std::uint32_t began_on = where_ & kinds;
    const bool came_from_another = where_ != 0 && began_on == 0;
    // true if the thread ended on a kind other than the one where it began
    const bool is_on_another = count > 1 && std::popcount(began_on) == 1;
    where_ = is_on_another ? kinds & ~began_on : kinds;
    return count - 1 + (came_from_another ? 1 : 0);
  }

 private:
  std::uint32_t where_ = 0;  // core kinds where the thread may be now; 0: unknown
};

// The threads of a process on macOS. Source: XNU bsd/kern/proc_info.c, osfmk/kern/recount.c.

/// Returns the names of the performance levels, the fastest first ("Performance", "Efficiency");
/// empty if the system does not report them.
std::vector<std::string> level_names(const os::DarwinCalls& calls);

/// The unique ids of a process's threads (not the addresses that PROC_PIDLISTTHREADS gives).
struct ThreadIds {
  std::vector<std::uint64_t> ids{};
  int error = 0;  ///< errno; 0: no error
};
/// Lists the threads of a process.
ThreadIds thread_ids(const os::DarwinCalls& calls, int process);

/// The counts of each performance level.
using LevelCounts = std::vector<os::ThreadCounts>;

/// The counts of one thread since its start; a running thread's lag by up to a time slice.
struct CountsOfThread {
  LevelCounts levels{};
  int error = 0;  ///< errno; 0: no error; ESRCH: the thread has ended
};
/// Reads the counts of a thread at `levels` performance levels.
CountsOfThread thread_counts(const os::DarwinCalls& calls, int process, std::uint64_t thread,
                             std::size_t levels);

/// Implement sample_threads and stream_threads on macOS.
Result<Threads> darwin_threads(std::int32_t process, std::optional<std::chrono::nanoseconds> during,
                               const Wait& wait, const os::DarwinCalls& calls);
Result<std::unique_ptr<ThreadStream>> stream_darwin_threads(
    const std::vector<std::int32_t>& processes, const os::DarwinCalls& calls);

}  // namespace lauka::cores
