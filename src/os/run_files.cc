#include "os/run_files.h"

#include "os/acting.h"
#include "os/platform.h"
#include "os/signals.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lauka::os {
namespace {

constexpr off_t kErrorFileLimit = 1 << 20;
constexpr off_t kErrorFileKept = 1 << 16;

/// A named pipe opens when its other end does; a signal that is not the user's must not end that
/// wait.
Descriptor open_unless_interrupted(const std::string& path, int flags) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  } while (fd < 0 && errno == EINTR && interrupt() == 0);
  return Descriptor(fd);
}

}  // namespace

bool RunFiles::Pipe::open() {
  std::array ends = {-1, -1};
  if (pipe(ends.data()) != 0) return false;
  read_end = Descriptor(ends[0]);
  write_end = Descriptor(ends[1]);
  for (const int fd : ends) fcntl(fd, F_SETFD, FD_CLOEXEC);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return true;
}

bool RunFiles::open_all() {
  null_input_ = Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  null_output_ = Descriptor(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  error_file_ = Descriptor(open_anonymous_file());
  return null_input_ && null_output_ && error_file_ && output_.open() && error_.open();
}

bool RunFiles::hand_pipes_to(const User& user) const {
  return fchown(output_.write_end.get(), user.id, user.group) == 0 &&
         fchown(error_.write_end.get(), user.id, user.group) == 0;
}

RunFiles::Opened RunFiles::open(const ProgramSpec& program) {
  sink_ = program.output.sink;
  tail_.clear();
  while (ftruncate(error_file_.get(), 0) != 0 && errno == EINTR) {
  }
  Opened opened{null_input_.get(), -1, -1, std::nullopt};
  const bool has_paths = program.input.path || sink_ == Sink::File;
  const ActAs user(has_paths ? program.user : std::nullopt);  // see Rights in launcher_files.cc
  if (!user.error().empty()) {
    opened.failed = NotStarted{LaunchStep::BecomeUser, EPERM};
    return opened;
  }
  if (program.input.path) {
    run_input_ = open_unless_interrupted(*program.input.path, O_RDONLY);
    if (!run_input_) opened.failed = NotStarted{LaunchStep::OpenInput, errno};
    opened.input = run_input_.get();
  }
  switch (sink_) {
    case Sink::Null:
      opened.output = null_output_.get();
      opened.error = error_file_.get();
      break;
    case Sink::Pipe:
      opened.output = output_.write_end.get();
      opened.error = error_.write_end.get();
      break;
    case Sink::Capture:
      opened.output = error_file_.get();
      opened.error = error_file_.get();
      break;
    case Sink::Inherit:
      break;
    case Sink::File:
      if (opened.failed) break;
      run_output_ = open_unless_interrupted(program.output.path, O_WRONLY | O_CREAT | O_TRUNC);
      if (!run_output_) opened.failed = NotStarted{LaunchStep::OpenOutput, errno};
      opened.output = run_output_.get();
      opened.error = run_output_.get();
      break;
  }
  return opened;
}

void RunFiles::close() {
  run_input_ = Descriptor();
  run_output_ = Descriptor();
  drain();
}

void RunFiles::drain() {
  std::array<char, 65536> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): read fills it
  while (read(output_.read_end.get(), bytes.data(), bytes.size()) > 0) {
  }
  for (;;) {
    const ssize_t got = read(error_.read_end.get(), bytes.data(), bytes.size());
    if (got <= 0) return;
    tail_.add(bytes.data(), static_cast<std::size_t>(got));
  }
}

void RunFiles::keep_small() const {
  struct stat file {};
  if (fstat(error_file_.get(), &file) == 0 && file.st_blocks * 512 > kErrorFileLimit)
    drop_front(error_file_.get(), file.st_size, kErrorFileKept);
}

std::string RunFiles::error_output_end() const {
  if (sink_ == Sink::Pipe) return tail_.last_lines();
  const bool is_kept = sink_ == Sink::Null || sink_ == Sink::Capture;
  return is_kept ? last_lines_of_file(error_file_.get()) : "";
}

}  // namespace lauka::os
