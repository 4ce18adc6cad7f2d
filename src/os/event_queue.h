#pragma once

#include "os/darwin_calls.h"
#include "os/descriptor.h"

#include <chrono>
#include <span>

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

}  // namespace lauka::os
