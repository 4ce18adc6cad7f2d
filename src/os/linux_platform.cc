#include "os/platform.h"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <string>

#include <fcntl.h>
#include <grp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace lauka::os {

int open_anonymous_file() {
  const int fd = memfd_create("lauka-standard-error", MFD_CLOEXEC);
  if (fd >= 0) fcntl(fd, F_SETFL, O_APPEND);  // each run appends, wherever it was emptied to
  return fd;
}

int open_shared_memory(off_t size) {
  const int fd = memfd_create("lauka-region", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return fd;
  // Of a file that was made shorter, lauka would read memory that is no longer there.
  if (ftruncate(fd, size) == 0 &&
      fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
    return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

void drop_front(int fd, off_t size, off_t keep) {
  if (size <= keep) return;
  fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, size - keep);
}

int join_groups_of(const User& user) {
  return setgroups(user.groups.size(), user.groups.data());
}

int open_unnamed(const char* folder) {
  if (access("/proc/self/fd", X_OK) != 0) return -1;  // it could not get a name
  return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

int name_unnamed(int fd, const char* path) {
  const std::string self = "/proc/self/fd/" + std::to_string(fd);
  return linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

bool is_mount_point(const char* path) {
  struct statx file {};
  return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0, &file) == 0 &&
         (file.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

void become_reaper() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void when_parent_dies(int signal_number) {
  prctl(PR_SET_PDEATHSIG, signal_number);
}

int change_user(std::uint32_t user, std::uint32_t group, std::size_t count,
                const std::uint32_t* groups) {
  if (syscall(SYS_setgroups, count, groups) != 0) return -1;
  if (syscall(SYS_setresgid, group, group, group) != 0) return -1;
  return static_cast<int>(syscall(SYS_setresuid, user, user, user));
}

bool run_on_cpus(const unsigned long* bits, std::size_t bytes) {
  // Not glibc's wrapper, whose type has room for 1024 CPUs.
  return syscall(SYS_sched_setaffinity, 0, bytes, bits) == 0;
}

std::uint64_t rss_bytes(long ru_maxrss) {
  return static_cast<std::uint64_t>(ru_maxrss) * 1024;
}

int poll_with_mask(pollfd* fds, nfds_t count, int timeout_ms, const sigset_t& mask) {
  const timespec timeout{timeout_ms / 1000, timeout_ms % 1000 * 1'000'000L};
  return ppoll(fds, count, timeout_ms < 0 ? nullptr : &timeout, &mask);
}

}  // namespace lauka::os
