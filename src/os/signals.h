#pragma once

#include "core/result.h"

#include <csignal>
#include <string>

namespace lauka::os {

/// Makes a write to a file that may not grow (ulimit -f) fail, instead of a
/// signal that ends this process without a word.
void report_large_files();

/// Notes Ctrl-C, Ctrl-\, SIGTERM and SIGHUP from now on, to be looked at between runs. A second
/// one, half a second later or more, ends lauka at once. Signals that were ignored from the start
/// stay ignored. A reader that goes away becomes an error of the write, and report_large_files()
/// holds: what was measured must still be exported.
void watch_for_interrupts();

/// Calls `give_back` before a second signal ends lauka: it may use only system calls.
void on_sudden_end(void (*give_back)());

/// Returns the signal that asked lauka to end; 0 if none.
int interrupt();

/// True if the signal that killed a process was sent to lauka, too (killall), so that the process
/// did not fail. Waits a moment for lauka's own if that may still be on its way.
bool was_meant_for_lauka(int signal_number, bool may_wait);

/// True if the process was started with that signal ignored.
bool is_ignored(int signal_number);

/// Returns "SIGSEGV"; "signal 64" for one without a name of its own.
std::string signal_name(int signal_number);

/// While it lives, signals that ask lauka to end come only in waits, and suspension (Ctrl-Z),
/// during which a command's time would go on, is delayed.
class HoldSignals : NonCopyable {
 public:
  HoldSignals();
  ~HoldSignals();

  /// Returns the signal mask for a wait that a request may cut short.
  const sigset_t& mask_for_waiting() const { return saved_; }

  /// Lets delayed signals come now.
  void let_through() const;

  /// True if the user wants lauka suspended and has not yet been informed.
  bool must_report_suspension() const;

  /// Informs the user, on standard error.
  void report_suspension();

 private:
  sigset_t saved_{};
  bool has_reported_ = false;
};

}  // namespace lauka::os
