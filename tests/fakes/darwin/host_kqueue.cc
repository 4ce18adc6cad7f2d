#include "fakes/darwin/host.h"

#include <cerrno>
#include <limits>

#include <fcntl.h>
#include <poll.h>

// kqueue: processes that end, signals, descriptors that can be read, and the time.

namespace lauka::darwin {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr int kChildSignal = 20;  // SIGCHLD of macOS

bool can_be_read(int fd) {
  pollfd one{fd, POLLIN, 0};
  return poll(&one, 1, 0) > 0;
}

}  // namespace

int Host::kqueue() {
  const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (fd >= 0) queues_[fd];
  return fd;
}

int Host::change(Queue& queue, const os::Kevent& wanted) {
  const auto key = std::pair{wanted.ident, wanted.filter};
  if ((wanted.flags & os::kEventDelete) != 0) return queue.erase(key) == 0 ? ENOENT : 0;
  if (wanted.filter == os::kFilterProcess) {
    const Process* process = kernel.find(static_cast<Pid>(wanted.ident));
    if (process == nullptr || process->life == Life::Zombie) return ESRCH;
  }
  queue[key] = {wanted, 0};
  return 0;
}

/// A signal that came is told to every queue that watches it.
void Host::note_signals() {
  for (auto& [fd, queue] : queues_) {
    for (auto& [key, watch] : queue) {
      if (key.second != os::kFilterSignal) continue;
      const bool is_child_signal = key.first == SIGCHLD || key.first == kChildSignal;
      if (raised_ && static_cast<int>(key.first) == rules.interrupt_signal) ++watch.pending;
      if (kernel.child_changed && is_child_signal) ++watch.pending;
    }
  }
  raised_ = false;
  kernel.child_changed = false;
}

void Host::note_ends() {
  for (auto& [fd, queue] : queues_) {
    for (auto& [key, watch] : queue) {
      if (key.second != os::kFilterProcess) continue;
      const Process* process = kernel.find(static_cast<Pid>(key.first));
      if (process == nullptr || process->life == Life::Zombie) watch.pending = 1;
    }
  }
}

int Host::collect(Queue& queue, os::Kevent* events, int capacity) {
  note_signals();
  note_ends();
  int count = 0;
  for (auto at = queue.begin(); at != queue.end() && count < capacity;) {
    Watch& watch = at->second;
    if (at->first.second == os::kFilterRead)
      watch.pending = can_be_read(static_cast<int>(at->first.first)) ? 1 : 0;
    if (watch.pending == 0) {
      ++at;
      continue;
    }
    events[count] = watch.wanted;
    events[count].data = watch.pending;
    ++count;
    watch.pending = 0;
    const bool goes = (watch.wanted.flags & os::kEventOneShot) != 0;
    at = goes ? queue.erase(at) : std::next(at);
  }
  return count;
}

int Host::kevent(int fd, const os::Kevent* changes, int change_count, os::Kevent* events,
                 int event_count, const timespec* timeout) {
  const auto found = queues_.find(fd);
  if (found == queues_.end()) {
    errno = EBADF;
    return -1;
  }
  int told = 0;
  for (int i = 0; i < change_count; ++i) {
    const int error = change(found->second, changes[i]);
    if (error == 0) continue;
    if (told == event_count) {
      errno = error;
      return -1;
    }
    events[told] = changes[i];
    events[told].flags = os::kEventError;
    events[told++].data = error;
  }
  if (told > 0 || event_count == 0) return told;
  int count = collect(found->second, events, event_count);
  if (count > 0) return count;
  const std::uint64_t ns =
      timeout == nullptr
          ? kForEver
          : static_cast<std::uint64_t>(timeout->tv_sec * kNsPerSecond + timeout->tv_nsec);
  kernel.wait_until(
      [&] {
        count = collect(found->second, events, event_count);
        return count > 0;
      },
      ns);
  return count;
}

}  // namespace lauka::darwin
