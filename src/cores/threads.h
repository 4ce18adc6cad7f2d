#pragma once

#include "core/machine.h"
#include "core/result.h"
#include "os/darwin_calls.h"
#include "os/linux_calls.h"

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

/// The work of one or more threads, on one core kind or on all cores. A value is nullopt if
/// unknown.
struct ThreadWork {
  std::optional<double> user_seconds{};
  std::optional<double> system_seconds{};
  std::optional<double> cpu_seconds{};  ///< user and system time together
  std::optional<std::uint64_t> cycles{};
  std::optional<std::uint64_t> instructions{};
  std::optional<double> joules{};

  void add(const ThreadWork& other) {
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

struct ThreadRow {
  std::uint64_t id = 0;
  std::string name{};
  double cpu_seconds = 0.0;  ///< CPU time on all cores; 0: none, or unknown
  /// One element for each of ThreadTable::column_groups.
  std::vector<ThreadWork> work_by_column_group{};
};

/// A group of columns of the thread table, for one core kind or for all cores.
struct ColumnGroup {
  std::string title;
  bool has_user_and_system = false;  ///< true: columns for user and for system time
  bool has_cpu_time = false;         ///< true: a column for user and system time together
  bool has_cycle_columns = false;    ///< true: columns for cycles, instructions and IPC
};

struct ThreadTable {
  std::vector<ColumnGroup> column_groups{};
  std::vector<ThreadRow> thread_rows{};
  std::vector<std::string> notes{};
};

/// A function that waits for a time, but may return early.
using WaitFunction = std::function<void(std::chrono::nanoseconds)>;

struct ThreadSampling {
  std::int32_t process = 0;
  /// Time for which the threads are watched; nullopt: since the start of each thread. On Linux,
  /// cycles, instructions and times by core kind need it.
  std::optional<std::chrono::nanoseconds> during{};
  CoreKinds kinds{};
  WaitFunction wait{};  ///< called with `during`; may be empty without it
};

/// Reads the work of a process's threads. Sorts the threads by CPU time, the largest first.
Result<ThreadTable> sample_threads(const ThreadSampling& sampling, const os::LinuxCalls* linux,
                                   const os::DarwinCalls* darwin);

/// The work of a thread since the previous ThreadStream::read().
struct ThreadSample {
  std::int32_t process_id = 0;
  std::uint64_t thread_id = 0;
  std::string name{};
  /// Time since the previous read() that could read the thread; of a new thread, since the previous
  /// read(); 0 at the first read().
  std::chrono::nanoseconds since_previous_read{};
  bool is_new = false;     ///< true if the previous read() did not see the thread; times then count
                           ///< from the thread's start
  bool has_ended = false;  ///< true if the thread has ended; the values may then be incomplete
  /// Number of observed moves between core kinds; nullopt if unknown.
  std::optional<std::uint64_t> core_kind_moves{};
  std::optional<double> runnable_wait_seconds{};  ///< seconds for which the thread was ready to run
                                                  ///< but had no CPU; nullopt if unknown
  ThreadWork work_on_all_kinds{};
  std::vector<ThreadWork> work_by_kind{};  ///< one element for each of ThreadStream::kinds()
};

/// Reads the threads of running processes repeatedly.
class ThreadStream : NonCopyable {
 public:
  ThreadStream(std::size_t processes, std::vector<std::string> kinds)
      : process_exists_(processes, true), kind_names_(std::move(kinds)) {}
  virtual ~ThreadStream() = default;

  /// Returns the names of the core kinds in ThreadSample::work_by_kind; may be empty.
  const std::vector<std::string>& kinds() const { return kind_names_; }

  /// Returns remarks for the user, one line each.
  virtual std::vector<std::string> notes() const = 0;

  /// Returns the work of each thread since the previous call. The first call usually returns
  /// nothing. `now`: time of a monotonic clock.
  std::vector<ThreadSample> read(std::chrono::nanoseconds now) {
    std::vector<ThreadSample> samples;
    for (std::size_t i = 0; i < process_exists_.size(); ++i)
      if (process_exists_[i]) process_exists_[i] = read_process(i, now, samples);
    previous_read_time_ = now;
    return samples;
  }

  /// True until read() has found all processes ended.
  bool has_live_process() const {
    return std::ranges::find(process_exists_, true) != process_exists_.end();
  }

 protected:
  /// Adds the samples of one process, given by its index. Returns false if the process has ended.
  virtual bool read_process(std::size_t process_index, std::chrono::nanoseconds now,
                            std::vector<ThreadSample>& samples) = 0;

  /// Returns the time of the previous read(); nullopt until the first read() has returned.
  const std::optional<std::chrono::nanoseconds>& previous_read_time() const {
    return previous_read_time_;
  }

  ThreadSample begin_sample(std::int32_t process, std::uint64_t thread, const std::string& name,
                            std::chrono::nanoseconds now) const {
    ThreadSample sample{.process_id = process,
                        .thread_id = thread,
                        .name = name,
                        .since_previous_read = now - previous_read_time_.value_or(now)};
    sample.work_by_kind.resize(kind_names_.size());
    return sample;
  }

 private:
  std::vector<bool> process_exists_;
  std::vector<std::string> kind_names_;
  std::optional<std::chrono::nanoseconds> previous_read_time_{};
};

/// Opens a stream of the threads of `processes`. `linux` and `darwin` must outlive the stream.
Result<std::unique_ptr<ThreadStream>> stream_threads(const std::vector<std::int32_t>& processes,
                                                     const CoreKinds& kinds,
                                                     const os::LinuxCalls* linux,
                                                     const os::DarwinCalls* darwin);

/// Counts a thread's moves between core kinds: the fewest that explain where the thread was seen.
class KindMoveCounter {
 public:
  /// Returns the number of moves since the previous call. `kinds`: bit mask of the core kinds where
  /// the thread was seen since the previous call.
  std::uint64_t count_kind_moves(std::uint32_t kinds) {
    if (kinds == 0) return 0;
    const auto count = static_cast<std::uint64_t>(std::popcount(kinds));
    const std::uint32_t began_on = possible_kinds_ & kinds;
    const bool came_from_another = possible_kinds_ != 0 && began_on == 0;
    const bool is_on_another = count > 1 && std::popcount(began_on) == 1;
    possible_kinds_ = is_on_another ? kinds & ~began_on : kinds;
    return count - 1 + (came_from_another ? 1 : 0);
  }

 private:
  std::uint32_t possible_kinds_ =
      0;  // bit mask of the core kinds where the thread may be; 0: unknown
};

}  // namespace lauka::cores
