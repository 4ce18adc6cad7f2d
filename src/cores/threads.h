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

/// What one thread did on the cores of one kind, or on all; what is not known is none.
struct ThreadPart {
  std::optional<double> user_seconds{};
  std::optional<double> system_seconds{};
  std::optional<double> cpu_seconds{};  ///< where user and system are not told apart
  std::optional<std::uint64_t> cycles{};
  std::optional<std::uint64_t> instructions{};
};

struct ThreadLine {
  std::uint64_t id = 0;
  std::string name{};               ///< may be empty
  double cpu_seconds = 0.0;         ///< in all
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

/// Whose threads, and for how long they are looked at.
struct ThreadsWanted {
  std::int32_t process = 0;
  std::optional<std::chrono::nanoseconds> during{};  ///< none: since each thread's birth
};

/// Waits; may come back earlier, when the user wants an end.
using Wait = std::function<void(std::chrono::nanoseconds)>;

/// As this system tells them. Both null: refused.
Result<Threads> threads_of(const ThreadsWanted& wanted, const CoreKinds& kinds, const Wait& wait,
                           const os::LinuxCalls* linux, const os::DarwinCalls* darwin);

/// On Linux: user and system time come from /proc, in hundredths of a second. With `during`,
/// counters are attached to every thread there is, so that cycles and instructions, and the time by
/// kind of core, are those of that time; threads born meanwhile have their times only. Refused
/// where there is no such process, and where it is another user's.
Result<Threads> linux_threads(const ThreadsWanted& wanted, const CoreKinds& kinds, const Wait& wait,
                              const os::LinuxCalls& calls);

/// On macOS: everything by kind of core, from the kernel's accounting of each thread, in all or,
/// with `during`, the difference over that time. Refused likewise.
Result<Threads> darwin_threads(const ThreadsWanted& wanted, const Wait& wait,
                               const os::DarwinCalls& calls);

/// Refused where there is no such process, and where it is another user's (Linux).
Result<void> check_process(const os::LinuxCalls& calls, std::int32_t process);

/// What a thread did on the cores of one kind, or on all; what is not known is none.
struct SampledPart {
  std::optional<double> cpu_seconds{};
  std::optional<double> user_seconds{};
  std::optional<double> system_seconds{};
  std::optional<std::uint64_t> cycles{};
  std::optional<std::uint64_t> instructions{};
  std::optional<double> joules{};
};

/// What a thread did since it was read before.
struct ThreadSample {
  std::int32_t process = 0;
  std::uint64_t thread = 0;
  std::string name{};
  std::chrono::nanoseconds interval{};     ///< since it, or the process, was read before
  bool is_new = false;                     ///< was not there then: since its birth
  bool has_ended = false;                  ///< since then: what is still known of its end
  std::optional<std::uint64_t> moves{};    ///< between kinds of core, as seen (SeenMoves)
  std::optional<double> waited_seconds{};  ///< it could have run, and had no CPU
  SampledPart all{};
  std::vector<SampledPart> by_kind{};  ///< as ThreadStream::kinds; empty: there is one
};

/// Reads the threads of running processes again and again.
class ThreadStream : NonCopyable {
 public:
  explicit ThreadStream(std::size_t processes) : are_there_(processes, true) {}
  virtual ~ThreadStream() = default;

  /// The kinds of core, the fastest first; one or none: they are not told apart.
  virtual const std::vector<std::string>& kinds() const = 0;

  /// One line each: what is missing and why.
  virtual std::vector<std::string> notes() const = 0;

  /// What every thread did since the last call, by process; the first call gives none.
  /// `now`: on any clock that does not stop.
  std::vector<ThreadSample> read(std::chrono::nanoseconds now) {
    std::vector<ThreadSample> samples;
    for (std::size_t i = 0; i < are_there_.size(); ++i)
      if (are_there_[i]) are_there_[i] = read_process(i, now, samples);
    read_before_ = now;
    return samples;
  }

  /// Whether a process is left.
  bool goes_on() const { return std::ranges::find(are_there_, true) != are_there_.end(); }

 protected:
  /// Adds the samples of a process; false: it is not there any more.
  virtual bool read_process(std::size_t process, std::chrono::nanoseconds now,
                            std::vector<ThreadSample>& samples) = 0;

  /// When the last call of read was; none: this is the first.
  const std::optional<std::chrono::nanoseconds>& read_before() const { return read_before_; }

 private:
  std::vector<bool> are_there_;
  std::optional<std::chrono::nanoseconds> read_before_{};
};

/// As this system tells them. Both null: refused, as is a process that is not there, or another
/// user's.
Result<std::unique_ptr<ThreadStream>> stream_threads(const std::vector<std::int32_t>& processes,
                                                     const CoreKinds& kinds,
                                                     const os::LinuxCalls* linux,
                                                     const os::DarwinCalls* darwin);

/// On Linux: CPU time and waiting from the scheduler's own clock, cycles and instructions from
/// counters that are attached to each thread as it is seen first. `calls` outlives it.
Result<std::unique_ptr<ThreadStream>> stream_linux_threads(
    const std::vector<std::int32_t>& processes, const CoreKinds& kinds,
    const os::LinuxCalls& calls);

/// On macOS: all by kind of core, energy too, from the kernel's accounts of each thread.
Result<std::unique_ptr<ThreadStream>> stream_darwin_threads(
    const std::vector<std::int32_t>& processes, const os::DarwinCalls& calls);

/// How often a thread moved between kinds of core, as far as can be seen: the fewest moves that
/// explain on which kinds it was. No system counts them; a thread that left and came back between
/// two looks, without being seen there, is taken for one that stayed.
class SeenMoves {
 public:
  /// `kinds`: a bit for each that it was on since the last call. The moves that this takes.
  std::uint64_t see(std::uint32_t kinds) {
    if (kinds == 0) return 0;
    const auto count = static_cast<std::uint64_t>(std::popcount(kinds));
    const std::uint32_t began_on = where_ & kinds;
    const bool came_from_elsewhere = where_ != 0 && began_on == 0;
    // Of several it ends on another than it began on.
    const bool is_elsewhere = count > 1 && std::popcount(began_on) == 1;
    where_ = is_elsewhere ? kinds & ~began_on : kinds;
    return count - 1 + (came_from_elsewhere ? 1 : 0);
  }

 private:
  std::uint32_t where_ = 0;  // may be there now; 0: nothing is known
};

}  // namespace lauka::cores
