#pragma once

#include "core/result.h"

#include <csignal>
#include <string>

namespace lauka::os {

/// Makes a write beyond the file size limit (ulimit -f) fail, instead of ending this process by a
/// silent signal.
void report_large_files();

/// From now on records Ctrl-C, Ctrl-\, SIGTERM and SIGHUP, for interrupt(), and Ctrl-Z, for
/// HoldSignals. A later signal, at least half a second after the first, ends lauka at once. Signals
/// that were ignored at the start stay ignored. Also makes a write to a closed pipe fail, and calls
/// report_large_files(), so that measured results can still be exported.
void watch_for_interrupts();

/// Lets `give_back`, which may make system calls only, be called before a second signal ends lauka.
void on_sudden_end(void (*give_back)());

/// Returns the first signal that asked lauka to end; 0 if none.
int interrupt();

/// True if the signal that killed a process asks lauka to end, and lauka was asked to end, too (as
/// by killall), so that the process did not fail. `may_wait`: waits a moment, because lauka's own
/// signal may still arrive.
bool was_meant_for_lauka(int signal_number, bool may_wait);

/// True if the signal is ignored now. Until lauka changes its signals: if it was started so.
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
