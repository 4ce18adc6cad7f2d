#pragma once

#include "core/result.h"

#include <csignal>
#include <string>

namespace lauka::os {

/// Makes a write beyond the file size limit (ulimit -f) fail, instead of ending this process.
void ignore_file_size_signal();

/// From now on, records the first signal that asks lauka to end (Ctrl-C, Ctrl-\, SIGTERM or
/// SIGHUP), for first_interrupt_signal(). Another such signal ends lauka at once if it arrives at
/// least half a second later. Ignored signals stay ignored. Also lets SignalHold delay Ctrl-Z,
/// makes a write to a closed pipe fail, and calls ignore_file_size_signal().
void watch_for_interrupts();

/// Makes a signal that ends lauka at once (see watch_for_interrupts()) call `give_back` first.
/// `give_back` may only make system calls.
void set_forced_end_action(void (*give_back)());

/// Returns the first signal that asked lauka to end; 0 if none.
int first_interrupt_signal();

/// True if `signal_number`, which killed a program, is one of the signals that ask lauka to end,
/// and lauka has received such a signal, too.
bool was_meant_for_lauka(int signal_number);

/// Waits a moment for the signal that asks lauka to end, if `signal_number`, which killed a
/// program, may have been meant for lauka, too.
void await_signal_like(int signal_number);

bool is_ignored(int signal_number);

/// Returns a name such as "SIGSEGV"; "signal 64" for a signal without a name.
std::string signal_name(int signal_number);

/// While an object exists, the signals that ask lauka to end and Ctrl-Z are blocked, except during
/// let_through() and while the caller sets mask_for_waiting(). Ctrl-Z suspends lauka in the
/// destructor at the earliest.
class SignalHold : NonCopyable {
 public:
  SignalHold();
  ~SignalHold();

  const sigset_t& mask_for_waiting() const { return saved_; }

  /// Lets blocked signals arrive now.
  void let_through() const;

  /// True if Ctrl-Z waits for the destructor, and report_suspension() was not called.
  bool must_report_suspension() const;

  void report_suspension();

 private:
  sigset_t saved_{};
  bool has_reported_ = false;
};

}  // namespace lauka::os
