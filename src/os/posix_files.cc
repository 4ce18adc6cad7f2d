#include "os/files.h"
#include "os/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lauka::os {
namespace {

Error cannot_write(const std::string& target, int error) {
  return Error{"cannot write '" + target + "': " + std::generic_category().message(error),
               "name another file"};
}

/// False with errno where not all of it can be written.
bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) {  // a command may have made a shared terminal non-blocking
      pollfd ready{fd, POLLOUT, 0};
      poll(&ready, 1, -1);
      continue;
    }
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// The permissions a new file would get, or those of the file that is replaced.
mode_t mode_for(const std::string& target) {
  struct stat there {};
  if (stat(target.c_str(), &there) == 0) return there.st_mode & 07777;
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

/// access(2) for the effective user, who is not the real one under ActAs.
int may(const std::string& path, int mode) {
  return faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS);
}

bool is_directory(const std::string& path) {
  struct stat there {};
  return stat(path.c_str(), &there) == 0 && S_ISDIR(there.st_mode);
}

/// Why the file at `path` cannot be run, as a shell says it; empty: it can.
std::string why_not_runnable(const std::string& path) {
  if (may(path, F_OK) != 0) return std::generic_category().message(errno);
  if (is_directory(path)) return "Is a directory";
  if (may(path, X_OK) != 0) return std::generic_category().message(errno);
  return "";
}

/// execve says "no such file" also when only the interpreter of a script is missing: name it.
std::string missing_interpreter(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 256> head{};
  const ssize_t got = file ? read(file.get(), head.data(), head.size()) : 0;
  if (got < 3 || head[0] != '#' || head[1] != '!') return "";
  std::string line(head.data() + 2, static_cast<std::size_t>(got) - 2);
  line.erase(std::min(line.find('\n'), line.size()));
  line.erase(0, line.find_first_not_of(" \t"));
  const std::string interpreter = line.substr(0, line.find_first_of(" \t\r"));
  return !interpreter.empty() && may(interpreter, F_OK) != 0 ? interpreter : "";
}

Result<std::string> if_runnable(const std::string& word, const std::string& path) {
  const std::string why = why_not_runnable(path);
  if (!why.empty()) return Error{word + ": " + why, ""};
  const std::string interpreter = missing_interpreter(path);
  if (!interpreter.empty()) {
    return Error{word + ": bad interpreter: " + interpreter + ": No such file or directory", ""};
  }
  return path;
}

}  // namespace

Result<std::string> find_program(const std::string& word, const std::optional<std::string>& own) {
  if (word.find('/') != std::string::npos) return if_runnable(word, word);
  const char* variable = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): one thread
  const std::string path = own                   ? *own
                           : variable != nullptr ? variable
                                                 : "/usr/local/bin:/usr/bin:/bin";
  std::string unusable;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string folder = path.substr(begin, end - begin);
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + word;
    if (!word.empty() && may(candidate, F_OK) == 0 && !is_directory(candidate)) {
      if (may(candidate, X_OK) == 0) return if_runnable(word, candidate);
      unusable = candidate;
    }
    begin = end + 1;
  }
  if (!unusable.empty()) return Error{unusable + ": Permission denied", ""};
  return Error{word + ": command not found",
               "name a program in PATH, or use -S for the shell's own commands"};
}

std::string canonical_path(const std::string& path) {
  std::error_code error;
  auto canonical = std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  return error ? path : canonical.string();
}

bool is_there(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

Result<std::string> read_file(const std::string& path, std::size_t most_bytes) {
  const auto cannot_read = [](int error) {
    return Error{"cannot be read: " + std::generic_category().message(error), ""};
  };
  if (is_directory(path)) return cannot_read(EISDIR);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return cannot_read(errno);
  std::string bytes;
  std::array<char, 16384> piece{};
  for (;;) {
    const ssize_t got = read(file.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot_read(errno);
    if (got == 0) return bytes;
    bytes.append(piece.data(), static_cast<std::size_t>(got));
    if (bytes.size() > most_bytes) return Error{"is too large to be read", ""};
  }
}

Result<void> check_input(const std::string& path) {
  if (may(path, R_OK) == 0 && !is_directory(path)) return {};
  const int error = is_directory(path) ? EISDIR : errno;
  return Error{"cannot read '" + path + "': " + std::generic_category().message(error),
               "name a file for --input"};
}

Result<void> check_output(const std::string& path) {
  if (is_directory(path)) return cannot_write(path, EISDIR);
  const bool is_new = may(path, F_OK) != 0;
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (may(is_new ? folder : path, W_OK) != 0) return cannot_write(path, errno);
  return {};
}

Result<void> say(Stream stream, std::string_view text) {
  if (write_all(stream == Stream::Output ? STDOUT_FILENO : STDERR_FILENO, text)) return {};
  return Error{std::string("cannot write standard ") +
                   (stream == Stream::Output ? "output: " : "error: ") +
                   std::generic_category().message(errno),
               ""};
}

ExportFile::ExportFile(std::string target, std::string temporary, Descriptor file)
    : target_(std::move(target)), temporary_(std::move(temporary)), file_(std::move(file)) {}

ExportFile::ExportFile(ExportFile&& other) noexcept
    : target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      file_(std::move(other.file_)) {}

ExportFile& ExportFile::operator=(ExportFile&& other) noexcept {
  std::swap(target_, other.target_);
  std::swap(temporary_, other.temporary_);
  std::swap(file_, other.file_);
  return *this;
}

ExportFile::~ExportFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Result<ExportFile> ExportFile::open(const std::string& target) {
  if (target == "-") return ExportFile(target, "", Descriptor(dup(STDOUT_FILENO)));
  const std::string path = canonical_path(target);
  struct stat there {};
  const bool exists = stat(path.c_str(), &there) == 0;
  if (exists && S_ISDIR(there.st_mode)) return cannot_write(target, EISDIR);
  if (exists && may(path, W_OK) != 0) return cannot_write(target, errno);
  if (exists && !S_ISREG(there.st_mode)) {
    Descriptor direct(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
    if (!direct) return cannot_write(target, errno);
    fcntl(direct.get(), F_SETFL, 0);
    return ExportFile(target, "", std::move(direct));
  }
  std::string temporary = path + ".XXXXXX";
  Descriptor file(mkstemp(temporary.data()));
  if (!file) return cannot_write(target, errno);
  fcntl(file.get(), F_SETFD, FD_CLOEXEC);
  fchmod(file.get(), mode_for(path));
  return ExportFile(path, std::move(temporary), std::move(file));
}

Result<void> ExportFile::commit(std::string_view bytes) {
  if (!write_all(file_.get(), bytes)) return cannot_write(target_, errno);
  if (temporary_.empty()) return {};
  const bool closed = close(file_.release()) == 0;  // a full disk may show only here
  if (!closed || std::rename(temporary_.c_str(), target_.c_str()) != 0)
    return cannot_write(target_, errno);
  temporary_.clear();
  return {};
}

}  // namespace lauka::os
