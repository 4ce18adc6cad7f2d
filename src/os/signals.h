#pragma once

#include "core/result.h"

#include <csignal>
#include <string>

namespace lauka::os {

/// Makes a write beyond the file size limit (ulimit -f) fail, instead of ending this process by a
/// silent signal.
void report_large_files();

/// From now on records Ctrl-C, Ctrl-\, SIGTERM and SIGHUP, for interrupt(). A second signal, at
/// least half a second later, ends lauka at once. Signals that were ignored at the start stay
/// ignored. Also makes a write to a closed pipe fail, and calls report_large_files(), so that
/// measured results can still be exported.
void watch_for_interrupts();

/// Calls `give_back`, which may make system calls only, before a second signal ends lauka.
void on_sudden_end(void (*give_back)());

/// Returns the signal that asked lauka to end; 0 if none.
int interrupt();

/// True if lauka also got the signal that killed a process (as by killall), so that the process did
/// not fail. `may_wait`: waits a moment, because lauka's own signal may still arrive.
bool was_meant_for_lauka(int signal_number, bool may_wait);

/// True if the signal is ignored now. Before watch_for_interrupts(): if lauka was started so.
bool is_ignored(int signal_number);

/// Returns "SIGSEGV", or "signal 64" for a signal without a name.
std::string signal_name(int signal_number);

/// While an object exists, signals that ask lauka to end arrive only during waits, and suspension
/// (Ctrl-Z) is delayed, because a command's time would go on meanwhile.
class HoldSignals : NonCopyable {
 public:
  HoldSignals();
  ~HoldSignals();

  /// Returns the signal mask for a wait that such a signal may end.
  const sigset_t& mask_for_waiting() const { return saved_; }

  /// Lets delayed signals arrive now.
  void let_through() const;

  /// True if the user wants lauka suspended and has not been told of the delay.
  bool must_report_suspension() const;

  /// Tells the user about the delay, on standard error.
  void report_suspension();

 private:
  sigset_t saved_{};
  bool has_reported_ = false;
};

}  // namespace lauka::os
