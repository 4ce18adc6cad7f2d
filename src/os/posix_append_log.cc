#include "core/foreign_text.h"
#include "os/append_log.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/platform.h"

#include <cerrno>
#include <cstdint>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lauka::os {

namespace {

/// Opens a log that nobody else can have put there; no descriptor if it is not there.
Result<Descriptor> open_own_log(const std::string& path, int flags) {
  constexpr mode_t written_by_owner = 0644;  // less the umask
  Descriptor file(
      ::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, written_by_owner));
  if (!file && errno == ENOENT && (flags & O_CREAT) == 0) return file;
  struct stat about {};
  if (!file || fstat(file.get(), &about) != 0) return cannot_write(path, errno);
  if (!S_ISREG(about.st_mode)) return cannot_write(path, EINVAL);
  if (about.st_uid != geteuid())
    return Error{cited(path) + " belongs to another user", "name another file"};
  if (about.st_nlink != 1)
    return Error{cited(path) + " is a file with other names, too", "name another file"};
  return file;
}

Result<std::string> text_of_log(const Descriptor& file, const std::string& path,
                                std::size_t most_bytes) {
  struct stat about {};
  if (fstat(file.get(), &about) != 0) return cannot_write(path, errno);
  if (static_cast<std::uint64_t>(about.st_size) > most_bytes)
    return Error{cited(path) + " is too large", "remove it"};
  std::string text(static_cast<std::size_t>(about.st_size), '\0');
  text.resize(read_at(file.get(), 0, text));
  return text;
}

}  // namespace

Result<std::unique_ptr<AppendLog>> AppendLog::open(const std::string& path,
                                                   std::size_t most_bytes) {
  auto file = open_own_log(path, O_RDWR | O_CREAT | O_APPEND);
  if (!file) return file.error();
  if (flock(file->get(), LOCK_EX | LOCK_NB) != 0)
    return Error{"another lauka is measuring into " + path, "wait for it, or name another file"};
  auto text = text_of_log(*file, path, most_bytes);
  if (!text) return text.error();
  return std::make_unique<AppendLog>(*std::move(file), path, *std::move(text));
}

Result<std::string> AppendLog::read(const std::string& path, std::size_t most_bytes) {
  const auto file = open_own_log(path, O_RDONLY);
  if (!file) return file.error();
  if (!*file) return std::string();
  return text_of_log(*file, path, most_bytes);
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
  waiting_ += line;
  waiting_ += '\n';
  flush();
}

/// What a full disk took of a line is cut off again: nothing may follow half a line.
bool AppendLog::flush() {
  if (waiting_.empty()) return true;
  struct stat about {};
  if (fstat(file_.get(), &about) != 0) return false;
  if (!write_all(file_.get(), waiting_)) {
    static_cast<void>(ftruncate(file_.get(), about.st_size) == 0);
    return false;
  }
  waiting_.clear();
  const auto now = MonotonicClock().now();
  if (now - synced_ < std::chrono::seconds(1)) return true;
  synced_ = now;
  return fsync(file_.get()) == 0;
}

void AppendLog::remove() {
  unlink(path_.c_str());
}

}  // namespace lauka::os
