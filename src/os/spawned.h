#pragma once

#include "os/darwin_calls.h"
#include "os/descriptor.h"
#include "os/process.h"

#include <chrono>
#include <optional>
#include <span>
#include <vector>

// What a run is waited for with: kqueue, through which the end of a process, signals, output and
// the time come together without polling. Internal to os/.

namespace lauka::os {

class EventQueue {
 public:
  explicit EventQueue(const DarwinCalls& calls) : calls_(calls) {}

  /// Watches the ends of pipes, the signals that ask lauka to end, and SIGCHLD. False with errno.
  bool open(std::span<const int> readable);

  /// The end of `pid` is among what is waited for from now on.
  void expect_end_of(pid_t pid);

  struct Happened {
    bool ended = false;         ///< the process expected last; it is a zombie in a moment
    bool child_signal = false;  ///< it may have stopped
    bool readable = false;
  };

  /// Waits until something happens, a signal handler has run, or `at_most` has gone by.
  Happened wait(std::chrono::nanoseconds at_most);

 private:
  bool add(const Kevent& event);

  const DarwinCalls& calls_;
  Descriptor queue_;
  pid_t expected_ = 0;
  bool has_ended_ = false;  // before it could be watched
};

/// Kills `leader`, its process group, and its descendants, also those that left the group. What a
/// process of its own started and left behind (init's child by now) is not found.
void kill_with_descendants(const DarwinCalls& calls, pid_t leader);

/// Descriptors that are open now and live on in a program that is started, besides 0, 1 and 2: a
/// make's job server, a shell's <(...).
std::vector<int> inherited_descriptors();

/// Reads what the kernel accounts to a process by itself.
class UsageReader {
 public:
  explicit UsageReader(const DarwinCalls& calls) : calls_(calls), timebase_(timebase_of(calls)) {}

  std::chrono::nanoseconds now() const {
    return std::chrono::nanoseconds(ns(calls_.mach_absolute_time()));
  }

  /// The totals of a process, and times finer than wait4's.
  struct Read {
    std::uint64_t user_ns = 0;  ///< with the processes that it waited for, as the next
    std::uint64_t system_ns = 0;
    KernelTotals totals{};
  };
  /// Of a process that has ended and is not reaped; none where the kernel does not tell.
  std::optional<Read> read(pid_t pid);

 private:
  std::uint64_t ns(std::uint64_t ticks) const { return ns_of_mach(ticks, timebase_); }

  const DarwinCalls& calls_;
  Timebase timebase_;
  bool has_newest_usage_ = true;
};

}  // namespace lauka::os
