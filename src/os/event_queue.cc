#include "os/event_queue.h"

#include <array>
#include <cerrno>
#include <csignal>

namespace lauka::os {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

}  // namespace

bool EventQueue::add(const Kevent& event) {
  return calls_.kevent(queue_.get(), &event, 1, nullptr, 0, nullptr) == 0;
}

bool EventQueue::open(std::span<const int> readable) {
  queue_ = Descriptor(calls_.kqueue());
  if (!queue_) return false;
  for (const int fd : readable) {
    if (!add({static_cast<std::uint64_t>(fd), kFilterRead, kEventAdd})) return false;
  }
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) {
    const auto ident = static_cast<std::uint64_t>(signal_number);
    if (!add({ident, kFilterSignal, static_cast<std::uint16_t>(kEventAdd | kEventClear)}))
      return false;
  }
  return true;
}

void EventQueue::expect_end_of(pid_t pid) {
  expected_ = pid;
  const auto flags = static_cast<std::uint16_t>(kEventAdd | kEventOneShot);
  // Refused with ESRCH where it has ended already: somebody killed it before it was resumed.
  has_ended_ = !add({static_cast<std::uint64_t>(pid), kFilterProcess, flags, kNoteExit});
}

EventQueue::Happened EventQueue::wait(std::chrono::nanoseconds at_most) {
  Happened happened{has_ended_, false, false};
  if (has_ended_) return happened;
  const std::int64_t ns = at_most.count() > 0 ? at_most.count() : 0;
  const timespec timeout{static_cast<time_t>(ns / kNsPerSecond),
                         static_cast<long>(ns % kNsPerSecond)};
  std::array<Kevent, 8> events;
  const int count = calls_.kevent(queue_.get(), nullptr, 0, events.data(),
                                  static_cast<int>(events.size()), &timeout);
  for (int i = 0; i < count; ++i) {
    const Kevent& event = events.at(static_cast<std::size_t>(i));
    // The end of an earlier run that was killed may still be told.
    happened.ended |=
        event.filter == kFilterProcess && event.ident == static_cast<std::uint64_t>(expected_);
    happened.readable |= event.filter == kFilterRead;
    happened.child_signal |= event.filter == kFilterSignal && event.ident == SIGCHLD;
  }
  return happened;
}

}  // namespace lauka::os
