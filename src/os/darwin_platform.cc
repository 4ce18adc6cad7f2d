#include "os/platform.h"

#include <array>
#include <cstdlib>
#include <ctime>
#include <string>

#include <fcntl.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lauka::os {
namespace {

/// The folder of this user's temporary files.
std::string temporary_folder() {
  std::array<char, 1024> folder{};
  const std::size_t bytes = confstr(_CS_DARWIN_USER_TEMP_DIR, folder.data(), folder.size());
  return bytes > 0 && bytes <= folder.size() ? folder.data() : "/tmp/";
}

}  // namespace

int open_anonymous_file() {
  std::string path = temporary_folder() + "lauka-standard-error.XXXXXX";
  const int fd = mkostemp(path.data(), O_CLOEXEC | O_APPEND);
  if (fd >= 0) unlink(path.c_str());
  return fd;
}

void drop_front(int fd, off_t size, off_t keep) {
  struct stat file {};
  if (size <= keep || fstat(fd, &file) != 0 || file.st_blksize <= 0) return;
  // Holes are made of whole blocks.
  fpunchhole_t hole{};
  hole.fp_length = (size - keep) / file.st_blksize * file.st_blksize;
  if (hole.fp_length > 0) fcntl(fd, F_PUNCHHOLE, &hole);
}

std::uint64_t rss_bytes(long ru_maxrss) {
  return static_cast<std::uint64_t>(ru_maxrss);
}

// There is no ppoll here; pselect is as good for descriptors below FD_SETSIZE, and lauka has a
// dozen.
int poll_with_mask(pollfd* fds, nfds_t count, int timeout_ms, const sigset_t& mask) {
  fd_set readable;
  FD_ZERO(&readable);
  int highest = -1;
  for (nfds_t i = 0; i < count; ++i) {
    FD_SET(fds[i].fd, &readable);
    highest = fds[i].fd > highest ? fds[i].fd : highest;
  }
  const timespec timeout{timeout_ms / 1000, timeout_ms % 1000 * 1'000'000L};
  const int ready =
      pselect(highest + 1, &readable, nullptr, nullptr, timeout_ms < 0 ? nullptr : &timeout, &mask);
  for (nfds_t i = 0; i < count; ++i) {
    const bool is_ready = ready > 0 && FD_ISSET(fds[i].fd, &readable) != 0;
    fds[i].revents = is_ready ? POLLIN : short{0};
  }
  return ready;
}

}  // namespace lauka::os
