#include "os/signals.h"

#include "core/text.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/platform.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include <poll.h>

namespace lauka::os {

bool is_ignored(int signal_number) {
  struct sigaction action {};
  return sigaction(signal_number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

namespace {

// The first signal that asked lauka to end; 0: none.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
volatile std::sig_atomic_t interrupted_by = 0;

// The argument of set_forced_end_action(); null: not called.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<void (*)()> give_back_before_end = nullptr;

// Time of the first signal that asked lauka to end, in ns of CLOCK_MONOTONIC; 0: none.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<std::int64_t> interrupted_at = 0;

// While suspension_is_held is 1, SIGTSTP only sets suspension_is_due to 1.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
volatile std::sig_atomic_t suspension_is_held = 0;
volatile std::sig_atomic_t suspension_is_due = 0;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

constexpr int kSignalDelayMs = 50;
constexpr std::string_view kSuspensionWaits =
    "the session will be suspended after this run, so that the pause is not measured; press Ctrl-C "
    "to end the session now";

constexpr std::initializer_list<int> kInterrupts = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// Signals that arrive less than this time after the first signal belong to the same request:
// timeout(1) signals its child, and then the whole process group.
constexpr std::int64_t kRequestNs = 500'000'000;

struct NamedSignal {
  int number;
  std::string_view name;
};

constexpr auto kSignals = std::to_array<NamedSignal>({
    {SIGABRT, "SIGABRT"},     {SIGALRM, "SIGALRM"},     {SIGBUS, "SIGBUS"},   {SIGCHLD, "SIGCHLD"},
    {SIGCONT, "SIGCONT"},     {SIGFPE, "SIGFPE"},       {SIGHUP, "SIGHUP"},   {SIGILL, "SIGILL"},
    {SIGINT, "SIGINT"},       {SIGIO, "SIGIO"},         {SIGKILL, "SIGKILL"}, {SIGPIPE, "SIGPIPE"},
    {SIGPROF, "SIGPROF"},     {SIGQUIT, "SIGQUIT"},     {SIGSEGV, "SIGSEGV"}, {SIGSTOP, "SIGSTOP"},
    {SIGSYS, "SIGSYS"},       {SIGTERM, "SIGTERM"},     {SIGTRAP, "SIGTRAP"}, {SIGTSTP, "SIGTSTP"},
    {SIGTTIN, "SIGTTIN"},     {SIGTTOU, "SIGTTOU"},     {SIGURG, "SIGURG"},   {SIGUSR1, "SIGUSR1"},
    {SIGUSR2, "SIGUSR2"},     {SIGVTALRM, "SIGVTALRM"}, {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"},
    {SIGWINCH, "SIGWINCH"},
#ifdef SIGPWR
    {SIGPWR, "SIGPWR"},
#endif
#ifdef SIGSTKFLT
    {SIGSTKFLT, "SIGSTKFLT"},
#endif
#ifdef SIGEMT
    {SIGEMT, "SIGEMT"},
#endif
#ifdef SIGINFO
    {SIGINFO, "SIGINFO"},
#endif
});

void note_interrupt(int signal_number) {
  if (interrupted_by != 0) {
    if (now_ns() - interrupted_at < kRequestNs) return;
    void (*const give_back)() = give_back_before_end;
    if (give_back != nullptr) give_back();
    std::signal(signal_number, SIG_DFL);
    std::raise(signal_number);
    return;
  }
  interrupted_at = now_ns();
  interrupted_by = signal_number;
}

void suspend_now() {
  const sigset_t suspension = signal_set({SIGTSTP});
  sigset_t saved;
  sigprocmask(SIG_BLOCK, &suspension, &saved);
  struct sigaction plain {};
  struct sigaction ours {};
  plain.sa_handler = SIG_DFL;
  sigaction(SIGTSTP, &plain, &ours);
  std::raise(SIGTSTP);
  sigprocmask(SIG_UNBLOCK, &suspension, nullptr);
  sigaction(SIGTSTP, &ours, nullptr);
  sigprocmask(SIG_SETMASK, &saved, nullptr);
}

void note_suspension(int /*signal_number*/) {
  const int saved = errno;
  if (suspension_is_held != 0) {
    suspension_is_due = 1;
  } else {
    suspend_now();
  }
  errno = saved;
}

void note_resumption(int /*signal_number*/) {
  suspension_is_due = 0;
}

void set_handler(int signal_number, void (*handler)(int), int flags) {
  if (is_ignored(signal_number)) return;
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  action.sa_mask = signal_set(kInterrupts);
  sigaction(signal_number, &action, nullptr);
}

bool asks_to_end(int signal_number) {
  return std::ranges::find(kInterrupts, signal_number) != kInterrupts.end();
}

}  // namespace

void ignore_file_size_signal() {
  std::signal(SIGXFSZ, SIG_IGN);
}

void watch_for_interrupts() {
  for (const int signal_number : kInterrupts) set_handler(signal_number, &note_interrupt, 0);
  set_handler(SIGTSTP, &note_suspension, SA_RESTART);
  set_handler(SIGCONT, &note_resumption, SA_RESTART);
  std::signal(SIGPIPE, SIG_IGN);
  ignore_file_size_signal();
}

void set_forced_end_action(void (*give_back)()) {
  give_back_before_end = give_back;
}

int first_interrupt_signal() {
  return interrupted_by;
}

bool was_meant_for_lauka(int signal_number) {
  return asks_to_end(signal_number) && first_interrupt_signal() != 0;
}

void await_signal_like(int signal_number) {
  if (asks_to_end(signal_number) && first_interrupt_signal() == 0) poll(nullptr, 0, kSignalDelayMs);
}

SignalHold::SignalHold() {
  sigset_t held = signal_set(kInterrupts);
  sigaddset(&held, SIGTSTP);
  sigprocmask(SIG_BLOCK, &held, &saved_);
  suspension_is_held = 1;
}

void SignalHold::let_through() const {
  sigset_t held;
  sigprocmask(SIG_SETMASK, &saved_, &held);
  sigprocmask(SIG_SETMASK, &held, nullptr);
}

SignalHold::~SignalHold() {
  const sigset_t suspension = signal_set({SIGTSTP});
  sigprocmask(SIG_BLOCK, &suspension, nullptr);
  suspension_is_held = 0;
  const bool is_due = suspension_is_due != 0 && first_interrupt_signal() == 0;
  suspension_is_due = 0;
  sigprocmask(SIG_SETMASK, &saved_, nullptr);
  if (is_due) suspend_now();
}

bool SignalHold::must_report_suspension() const {
  return suspension_is_due != 0 && !has_reported_;
}

void SignalHold::report_suspension() {
  has_reported_ = true;
  const std::string_view erase_line = is_terminal(StandardStream::Error) ? "\r\x1b[K" : "";
  static_cast<void>(
      write_to(StandardStream::Error, std::string(erase_line) + message_line(kSuspensionWaits)));
}

std::string signal_name(int signal_number) {
  const auto* const named = std::ranges::find(kSignals, signal_number, &NamedSignal::number);
  return named == kSignals.end() ? fmt::format("signal {}", signal_number)
                                 : std::string(named->name);
}

}  // namespace lauka::os
