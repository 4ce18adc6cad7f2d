#include "os/signals.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace lauka::os {
namespace {

// The one flag that handlers set.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
volatile std::sig_atomic_t interrupted_by = 0;

// What is to be done first by the signal that ends lauka at once.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<void (*)()> give_back_before_end = nullptr;

// When the first one came, in ns of the monotonic clock.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<std::int64_t> interrupted_at = 0;

constexpr std::array kInterrupts = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// One request may come as several signals: timeout(1) signals its child and then the whole group.
constexpr std::int64_t kOneRequestNs = 500'000'000;

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void note_interrupt(int signal_number) {
  if (interrupted_by != 0) {
    if (now_ns() - interrupted_at < kOneRequestNs) return;
    void (*const give_back)() = give_back_before_end;
    if (give_back != nullptr) give_back();
    std::signal(signal_number, SIG_DFL);
    std::raise(signal_number);  // comes once this handler returns
    return;
  }
  interrupted_at = now_ns();
  interrupted_by = signal_number;
}

}  // namespace

void watch_for_interrupts() {
  for (const int signal_number : kInterrupts) {
    struct sigaction before {};
    if (sigaction(signal_number, nullptr, &before) != 0 || before.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = note_interrupt;
    sigemptyset(&action.sa_mask);
    for (const int other : kInterrupts) sigaddset(&action.sa_mask, other);
    sigaction(signal_number, &action, nullptr);
  }
  std::signal(SIGPIPE, SIG_IGN);  // the commands get lauka's own disposition from the launcher
}

void on_sudden_end(void (*give_back)()) {
  give_back_before_end = give_back;
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
