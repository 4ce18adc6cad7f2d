#pragma once

#include "core/result.h"

#include <csignal>
#include <string>

namespace lauka::os {

/// Makes a write beyond the file size limit (ulimit -f) fail, instead of ending this process.
void report_large_files();

/// From now on records the signals that ask lauka to end (Ctrl-C, Ctrl-\, SIGTERM, SIGHUP), for
/// interrupt(), and Ctrl-Z, for SignalHold. Another signal at least half a second later ends lauka
/// at once. Ignored signals stay ignored. Also makes a write to a closed pipe fail, and calls
/// report_large_files().
void watch_for_interrupts();

/// Makes a second signal call `give_back` before it ends lauka. `give_back` may make system calls
/// only.
void on_sudden_end(void (*give_back)());

/// Returns the first signal that asked lauka to end; 0 if none.
int interrupt();

/// True if the signal that killed a process asks lauka to end, and lauka was asked to end, too (as
/// by killall). `may_wait`: waits a moment for lauka's own signal.
bool was_meant_for_lauka(int signal_number, bool may_wait);

bool is_ignored(int signal_number);

/// Returns a name such as "SIGSEGV"; "signal 64" for a signal without a name.
std::string signal_name(int signal_number);

/// While an object exists, signals that ask lauka to end arrive only during waits, and Ctrl-Z
/// suspends lauka only at the end of the object's life.
class SignalHold : NonCopyable {
 public:
  SignalHold();
  ~SignalHold();

  const sigset_t& mask_for_waiting() const { return saved_; }

  /// Lets waiting signals arrive now.
  void let_through() const;

  /// True if the user has pressed Ctrl-Z, and report_suspension() was not called.
  bool must_report_suspension() const;

  void report_suspension();

 private:
  sigset_t saved_{};
  bool has_reported_ = false;
};

}  // namespace lauka::os
