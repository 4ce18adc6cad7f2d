#include "os/launcher_files.h"

#include "os/platform.h"

#include <cerrno>

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lauka::os {
namespace {

/// Root opens a file for the user as the user, or a link would lead it to what only root may touch.
class Rights {
 public:
  explicit Rights(const SharedUser* user) : changed_(user != nullptr) {
    if (user == nullptr) return;
    allowed_ = setgroups(user->group_count, user->groups) == 0 && setegid(user->group) == 0 &&
               seteuid(user->id) == 0;
    if (!allowed_) error_ = errno;
  }
  Rights(const Rights&) = delete;
  Rights& operator=(const Rights&) = delete;
  ~Rights() {
    if (!changed_) return;
    const int saved = errno;
    // Without a group list this process needs none: it is root again.
    if (seteuid(0) != 0 || setegid(0) != 0) _exit(0);
    become_reaper(kPokeSignal);  // the change of user undoes half of it
    errno = saved;
  }
  int error() const { return allowed_ ? 0 : error_; }

 private:
  bool changed_;
  bool allowed_ = true;
  int error_ = 0;
};

/// A named pipe opens when its other end does; the housekeeping alarm must not end that wait.
int open_unless_cancelled(const char* path, int flags, const LauncherSetup& setup) {
  int fd = -1;
  do {
    fd = open(path, flags, 0666);
  } while (fd < 0 && errno == EINTR && !setup.state->cancel);
  return fd;
}

OpenFailure open_paths(const SharedProgram& program, const LauncherSetup& setup,
                       StandardFiles& files) {
  if (program.input_path != nullptr) files.input = -1;
  const Rights rights(program.user);
  if (rights.error() != 0) return {LaunchStep::BecomeUser, rights.error()};
  if (program.input_path != nullptr) {
    files.input = open_unless_cancelled(program.input_path, O_RDONLY | O_CLOEXEC, setup);
    if (files.input < 0) return {LaunchStep::OpenInput, errno};
  }
  if (program.sink == Sink::File) {
    files.output =
        open_unless_cancelled(program.output_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, setup);
    files.error = files.output;
    if (files.output < 0) return {LaunchStep::OpenOutput, errno};
  }
  return {};
}

}  // namespace

OpenFailure open_standard_files(const SharedProgram& program, const LauncherSetup& setup,
                                StandardFiles& files) {
  files.input = setup.null_input;
  switch (program.sink) {
    case Sink::Null:
      files.output = setup.null_output;
      files.error = setup.error_file;
      break;
    case Sink::Pipe:
      files.output = setup.output_pipe;
      files.error = setup.error_pipe;
      break;
    case Sink::Capture:
      files.output = setup.error_file;
      files.error = setup.error_file;
      break;
    case Sink::Inherit:
    case Sink::File:
      break;
  }
  const bool has_paths = program.input_path != nullptr || program.sink == Sink::File;
  return has_paths ? open_paths(program, setup, files) : OpenFailure{};
}

void close_standard_files(const SharedProgram& program, const StandardFiles& files) {
  if (program.input_path != nullptr && files.input >= 0) close(files.input);
  if (program.sink == Sink::File && files.output >= 0) close(files.output);
}

void forget_error_output(int error_file) {
  struct stat file {};
  if (fstat(error_file, &file) == 0 && file.st_size > 0) {
    while (ftruncate(error_file, 0) != 0 && errno == EINTR) {
    }
  }
}

}  // namespace lauka::os
