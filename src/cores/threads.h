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

/// The work of one thread on the cores of one kind, or on all; nullopt: unknown.
struct ThreadPart {
  std::optional<double> user_seconds{};
  std::optional<double> system_seconds{};
  std::optional<double>
      cpu_seconds{};  ///< CPU seconds; set by Threads only if user and system time are unknown
  std::optional<std::uint64_t> cycles{};
  std::optional<std::uint64_t> instructions{};
  std::optional<double> joules{};

  /// Adds what is known of `other`.
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
  double cpu_seconds = 0.0;         ///< CPU seconds in all
  std::vector<ThreadPart> parts{};  ///< one per column group
};

/// A group of columns: cores of one kind, or all of them.
struct ThreadColumns {
  std::string title;        ///< "PERFORMANCE"; may be empty
  bool has_split = false;   ///< user and system
  bool has_cpu = false;     ///< their sum
  bool has_counts = false;  ///< cycles, instructions, IPC
};

/// The threads of a process, the one with the most CPU time first.
struct Threads {
  std::vector<ThreadColumns> columns{};
  std::vector<ThreadLine> lines{};
  std::vector<std::string> notes{};  ///< one line each: what is missing and why
};

/// Waits; may return earlier, when the user wants an end.
using Wait = std::function<void(std::chrono::nanoseconds)>;

/// Reads the work of a process's threads: `during` a time, or (nullopt) since their births. Refused
/// if there is no such process, if it is another user's, and if both `linux` and `darwin` are null.
///
/// On Linux user and system time come from /proc, in hundredths of a second; cycles, instructions
/// and time by kind of core from counters attached to all existing threads, with `during` only. On
/// macOS everything is by kind of core, from the kernel's accounting of each thread.
Result<Threads> sample_threads(std::int32_t process, std::optional<std::chrono::nanoseconds> during,
                               const CoreKinds& kinds, const Wait& wait,
                               const os::LinuxCalls* linux, const os::DarwinCalls* darwin);

/// The work of a thread since the last reading.
struct ThreadSample {
  std::int32_t process = 0;
  std::uint64_t thread = 0;
  std::string name{};
  std::chrono::nanoseconds
      interval{};       ///< time since the last reading of the thread, or of its process
  bool is_new = false;  ///< did not exist then: since its birth
  bool has_ended =
      false;  ///< true if the thread ended since the last reading; values are the last known ones
  std::optional<std::uint64_t> moves{};    ///< between kinds of core, as seen (CoreMoveCounter)
  std::optional<double> waited_seconds{};  ///< runnable without a CPU
  ThreadPart all{};
  std::vector<ThreadPart>
      by_kind{};  ///< parts by kind of core, as ThreadStream::kinds; empty with one kind
};

/// Reads the threads of running processes again and again.
class ThreadStream : NonCopyable {
 public:
  ThreadStream(std::size_t processes, std::vector<std::string> kinds)
      : are_there_(processes, true), kinds_(std::move(kinds)) {}
  virtual ~ThreadStream() = default;

  /// Returns the kinds of core, the fastest first; at most one: they are not distinguished.
  const std::vector<std::string>& kinds() const { return kinds_; }

  /// Returns what is missing and why, one line each.
  virtual std::vector<std::string> notes() const = 0;

  /// Returns the work of every thread since the last call, by process; the first call returns
  /// nothing. `now`: on any clock that does not stop.
  std::vector<ThreadSample> read(std::chrono::nanoseconds now) {
    std::vector<ThreadSample> samples;
    for (std::size_t i = 0; i < are_there_.size(); ++i)
      if (are_there_[i]) are_there_[i] = read_process(i, now, samples);
    read_before_ = now;
    return samples;
  }

  /// True if a process is left.
  bool goes_on() const { return std::ranges::find(are_there_, true) != are_there_.end(); }

 protected:
  /// Adds the samples of a process; false if it does not exist any more.
  virtual bool read_process(std::size_t process, std::chrono::nanoseconds now,
                            std::vector<ThreadSample>& samples) = 0;

  /// Returns when read was last called; nullopt: this is the first call.
  const std::optional<std::chrono::nanoseconds>& read_before() const { return read_before_; }

  /// Makes the sample of a thread, without its work.
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

/// Watches the threads of processes; refused as sample_threads is. `linux` and `darwin` outlive it.
///
/// On Linux CPU time and waiting come from the scheduler's own clock, cycles and instructions from
/// counters attached to each thread as it is first seen. On macOS all of it, and energy, comes from
/// the kernel's accounting, as above.
Result<std::unique_ptr<ThreadStream>> stream_threads(const std::vector<std::int32_t>& processes,
                                                     const CoreKinds& kinds,
                                                     const os::LinuxCalls* linux,
                                                     const os::DarwinCalls* darwin);

/// Counts a thread's moves between kinds of core: the fewest that explain where it was seen. One
/// that leaves and comes back between two looks is taken for one that stayed.
class CoreMoveCounter {
 public:
  /// Returns the moves that explain `kinds`: a bit for each that it was on since the last call.
  std::uint64_t see(std::uint32_t kinds) {
    if (kinds == 0) return 0;
    const auto count = static_cast<std::uint64_t>(std::popcount(kinds));
    const std::uint32_t began_on = where_ & kinds;
    const bool came_from_another = where_ != 0 && began_on == 0;
    // One of several kinds, other than at the beginning.
    const bool is_on_another = count > 1 && std::popcount(began_on) == 1;
    where_ = is_on_another ? kinds & ~began_on : kinds;
    return count - 1 + (came_from_another ? 1 : 0);
  }

 private:
  std::uint32_t where_ = 0;  // the kinds that it may be on now; 0: unknown
};

// The threads of a process on macOS. Source: XNU bsd/kern/proc_info.c, osfmk/kern/recount.c.

/// Returns the names of the performance levels, the fastest first ("Performance", "Efficiency");
/// empty if the system does not report them.
std::vector<std::string> level_names(const os::DarwinCalls& calls);

/// Lists the threads of a process. Not the ids of PROC_PIDLISTTHREADS, which are addresses.
struct ThreadIds {
  std::vector<std::uint64_t> ids{};
  int error = 0;  ///< errno
};
ThreadIds thread_ids(const os::DarwinCalls& calls, int process);

/// One per performance level.
using LevelCounts = std::vector<os::ThreadCounts>;

/// Counts of one thread since its birth. A running thread's are late by up to a time slice.
struct CountsOfThread {
  LevelCounts levels{};
  int error = 0;  ///< errno; ESRCH: it has ended
};
CountsOfThread thread_counts(const os::DarwinCalls& calls, int process, std::uint64_t thread,
                             std::size_t levels);

/// sample_threads and stream_threads on macOS.
Result<Threads> darwin_threads(std::int32_t process, std::optional<std::chrono::nanoseconds> during,
                               const Wait& wait, const os::DarwinCalls& calls);
Result<std::unique_ptr<ThreadStream>> stream_darwin_threads(
    const std::vector<std::int32_t>& processes, const os::DarwinCalls& calls);

}  // namespace lauka::cores
