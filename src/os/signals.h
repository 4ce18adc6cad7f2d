#pragma once

#include <csignal>

namespace lauka::os {

/// Ctrl-C, Ctrl-\, SIGTERM and SIGHUP end a session in good order: they are noted here and looked
/// at between runs. A second one, half a second later or more, ends lauka at once. Signals that
/// were ignored when lauka was started stay ignored. A reader that goes away is an error of the
/// write from here on, not lauka's end: what was measured is still to be exported.
void watch_for_interrupts();

/// Has `give_back` called before a second signal ends lauka: it may use nothing but system calls.
void on_sudden_end(void (*give_back)());

/// The signal that asked lauka to end; 0: none.
int interrupt();

/// While it lives, the signals that ask lauka to end or to be suspended are held back.
class HoldSignals {
 public:
  HoldSignals();
  HoldSignals(const HoldSignals&) = delete;
  HoldSignals& operator=(const HoldSignals&) = delete;
  ~HoldSignals();

  /// For a wait that a request to end may cut short; suspension stays held back, since the command
  /// would not be suspended.
  const sigset_t& mask_for_waiting() const { return waiting_; }

 private:
  sigset_t saved_{};
  sigset_t waiting_{};
};

}  // namespace lauka::os
