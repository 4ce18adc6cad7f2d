#include "os/signals.h"

#include <array>
#include <csignal>

namespace lauka::os {
namespace {

// The one flag that handlers set.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
volatile std::sig_atomic_t interrupted_by = 0;

constexpr std::array kInterrupts = {SIGINT, SIGTERM, SIGHUP};

void note_interrupt(int signal_number) {
  interrupted_by = signal_number;
}

}  // namespace

void watch_for_interrupts() {
  for (const int signal_number : kInterrupts) {
    struct sigaction before {};
    if (sigaction(signal_number, nullptr, &before) != 0 || before.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = note_interrupt;
    action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second one ends lauka at once
    sigemptyset(&action.sa_mask);
    sigaction(signal_number, &action, nullptr);
  }
  std::signal(SIGPIPE, SIG_IGN);  // the commands get lauka's own disposition from the launcher
}

int interrupt() {
  return interrupted_by;
}

HoldSignals::HoldSignals() {
  sigset_t held;
  sigemptyset(&held);
  for (const int signal_number : kInterrupts) sigaddset(&held, signal_number);
  sigaddset(&held, SIGTSTP);
  sigprocmask(SIG_BLOCK, &held, &saved_);
  waiting_ = saved_;
  sigaddset(&waiting_, SIGTSTP);
}

HoldSignals::~HoldSignals() {
  sigprocmask(SIG_SETMASK, &saved_, nullptr);
}

}  // namespace lauka::os
