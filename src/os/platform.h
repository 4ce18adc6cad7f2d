#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string>

#include <poll.h>
#include <sys/types.h>

// Where Linux and macOS differ: linux_platform.cc, darwin_platform.cc; and what only Linux's
// launcher process needs. Internal to os/.

namespace lauka::os {

/// A file without a name that grows by appending; -1 with errno.
int open_anonymous_file();

/// Gives back the space of all but the last `keep` bytes of `fd`, `size` bytes long; its size
/// stays.
void drop_front(int fd, off_t size, off_t keep);

// ---- Linux alone

/// A child of this process gets orphans instead of init, and this process gets `signal_number` when
/// its parent dies.
void become_reaper(int signal_number);

/// The calling process is killed when the one that started it dies. A single system call, for a
/// vfork child.
void die_with_parent();

/// Gives the calling process the ids and groups of a user for good; 0, or -1 with errno. System
/// calls alone, for a vfork child: the C library would change every thread that it finds in the
/// memory.
int change_user(std::uint32_t user, std::uint32_t group, std::size_t count,
                const std::uint32_t* groups);

/// From now on the calling process runs on these CPUs only (a bit for each, the lowest first). A
/// single system call, for a vfork child. False with errno where it cannot be.
bool run_on_cpus(const unsigned long* bits, std::size_t bytes);

/// `ru_maxrss` in bytes.
std::uint64_t rss_bytes(long ru_maxrss);

/// poll(2) with `mask` in force while it waits; `timeout_ms` -1: for ever.
int poll_with_mask(pollfd* fds, nfds_t count, int timeout_ms, const sigset_t& mask);

/// Kills the descendants of `root` (not itself) that were started at or after `since_ns`
/// (CLOCK_MONOTONIC), also those that left its process group, until none is left or two seconds
/// have passed.
void kill_descendants(pid_t root, std::int64_t since_ns);

}  // namespace lauka::os
