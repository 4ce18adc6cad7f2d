#include "os/append_log.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/platform.h"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lauka::os {

Result<std::unique_ptr<AppendLog>> AppendLog::open(const std::string& path,
                                                   std::size_t most_bytes) {
  constexpr mode_t open_to_all = 0666;  // less the umask
  Descriptor file(::open(path.c_str(),
                         O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                         open_to_all));
  struct stat about {};
  if (!file || fstat(file.get(), &about) != 0) return cannot_write(path, errno);
  if (!S_ISREG(about.st_mode)) return cannot_write(path, EINVAL);
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    return Error{"another lauka is measuring into " + path, "wait for it, or name another file"};
  std::string text;
  if (about.st_size > 0) {
    auto read = read_file(path, most_bytes);
    if (!read) return read.error().of(path);
    text = *std::move(read);
  }
  return std::make_unique<AppendLog>(std::move(file), path, std::move(text));
}

bool AppendLog::may_stand_beside(const std::string& target) {
  struct stat about {};
  return stat(target.c_str(), &about) != 0 || S_ISREG(about.st_mode);
}

Result<void> AppendLog::cut(std::size_t bytes) {
  if (ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0) return cannot_write(path_, errno);
  return {};
}

void AppendLog::append(std::string_view line) {
  if (has_failed_) return;
  std::string whole(line);
  whole += '\n';
  has_failed_ = !write_all(file_.get(), whole);
  const auto now = MonotonicClock().now();
  if (now - synced_ < std::chrono::seconds(1)) return;
  synced_ = now;
  has_failed_ = fsync(file_.get()) != 0 || has_failed_;
}

void AppendLog::remove() {
  unlink(path_.c_str());
}

}  // namespace lauka::os
