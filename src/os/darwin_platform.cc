#include "os/platform.h"

#include <array>
#include <cstdlib>
#include <string>

#include <fcntl.h>
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

}  // namespace lauka::os
