#include "os/spawned.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace lauka::os {
namespace {

constexpr std::int64_t kNsOfSecond = 1'000'000'000;

/// A longer answer than the room given cannot be told from one that just fits, so it is asked
/// again.
std::vector<pid_t> children_of(const DarwinCalls& calls, pid_t parent) {
  for (std::size_t room = 64;; room *= 2) {
    std::vector<pid_t> children(room);
    const int bytes = static_cast<int>(room * sizeof(pid_t));
    const int count = calls.proc_listchildpids(parent, children.data(), bytes);
    if (count < static_cast<int>(room)) {
      children.resize(static_cast<std::size_t>(std::max(count, 0)));
      return children;
    }
  }
}

std::vector<pid_t> descendants_of(const DarwinCalls& calls, pid_t root) {
  std::vector<pid_t> found = {root};
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const pid_t child : children_of(calls, found[i])) {
      if (std::ranges::find(found, child) == found.end()) found.push_back(child);
    }
  }
  found.erase(found.begin());
  return found;
}

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
  const timespec timeout{static_cast<time_t>(ns / kNsOfSecond),
                         static_cast<long>(ns % kNsOfSecond)};
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

void kill_with_descendants(const DarwinCalls& calls, pid_t leader) {
  // Looked up first: those whose parent is dead are nobody's descendants any more.
  const std::vector<pid_t> descendants = descendants_of(calls, leader);
  calls.kill(-leader, SIGKILL);
  calls.kill(leader, SIGKILL);
  for (const pid_t pid : descendants) calls.kill(pid, SIGKILL);
}

std::vector<int> inherited_descriptors() {
  constexpr int looked_at = 1024;
  std::vector<int> inherited;
  for (int fd = STDERR_FILENO + 1; fd < looked_at; ++fd) {
    const int flags = fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) inherited.push_back(fd);
  }
  return inherited;
}

std::optional<UsageReader::Read> UsageReader::read(pid_t pid) {
  ProcessUsage usage;
  auto** buffer = reinterpret_cast<void**>(&usage);  // how the call is declared
  const auto is_told = [&](int flavour) {
    return calls_.proc_pid_rusage(pid, flavour, buffer) == 0;
  };
  if (has_newest_usage_ && !is_told(kRusageV6)) {
    if (errno != EINVAL) return std::nullopt;
    has_newest_usage_ = false;  // this kernel has an older flavour only
  }
  if (!has_newest_usage_ && !is_told(kRusageV4)) return std::nullopt;
  Read read{ns(usage.user_time + usage.child_user_time),
            ns(usage.system_time + usage.child_system_time)};
  read.totals.pid = pid;
  read.totals.instructions = usage.instructions;
  read.totals.cycles = usage.cycles;
  read.totals.user_ns = ns(usage.user_time);
  read.totals.system_ns = ns(usage.system_time);
  if (!has_newest_usage_) return read;
  read.totals.energy_nj = usage.energy_nj;
  read.totals.on_performance_cores = {usage.p_instructions, usage.p_cycles, ns(usage.p_user_time),
                                      ns(usage.p_system_time), usage.p_energy_nj};
  return read;
}

}  // namespace lauka::os
