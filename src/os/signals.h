#pragma once

#include "core/result.h"

#include <csignal>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace lauka::os {

/// Ctrl-C, Ctrl-\, SIGTERM and SIGHUP end a session in good order: they are noted here and looked
/// at between runs. A second one, half a second later or more, ends lauka at once. Signals that
/// were ignored when lauka was started stay ignored. A reader that goes away and a file that grows
/// too large are errors of the write from here on, not lauka's end: what was measured is still to
/// be exported.
void watch_for_interrupts();

/// Has `give_back` called before a second signal ends lauka: it may use nothing but system calls.
void on_sudden_end(void (*give_back)());

/// The signal that asked lauka to end; 0: none.
int interrupt();

/// Whether a process that was killed by `signal_number` got what lauka was sent: killall and the
/// like reach commands too. That is no failure of theirs. Waits a moment for lauka's own where that
/// may still be on its way.
bool was_meant_for_lauka(int signal_number, bool may_wait);

/// Whether the process was started with that signal ignored.
bool is_ignored(int signal_number);

/// "SIGSEGV"; "signal 64" for one without a name of its own.
std::string signal_name(int signal_number);

/// While it lives, the signals that ask lauka to end are held back but for waits, and to be
/// suspended (Ctrl-Z) has to wait: a command's time goes on while it is stopped.
class HoldSignals : NonCopyable {
 public:
  HoldSignals();
  ~HoldSignals();

  /// For a wait that a request may cut short.
  const sigset_t& mask_for_waiting() const { return saved_; }

  /// Lets what was held come now.
  void let_through() const;

  /// Whether the user wants lauka suspended and has not been told that it will be.
  bool owes_a_word() const;

  /// Tells it, on standard error.
  void tell_of_suspension();

 private:
  sigset_t saved_{};
  bool has_told_ = false;
};

/// Lets the others go on; returns when it is one's turn again.
using Yield = std::function<void()>;

/// Carries out activities that take turns, each in a thread of its own, of which one goes on at a
/// time: what they share needs no lock. Each has its first turn in order; then `next` chooses among
/// those that are not over (ascending), until all are. Signals come to whose turn it is. What one
/// throws comes out when the others are over.
void take_turns(const std::vector<std::function<void(const Yield&)>>& activities,
                const std::function<std::size_t(std::span<const std::size_t>)>& next);

}  // namespace lauka::os
