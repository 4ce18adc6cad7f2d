#include "core/foreign_text.h"
#include "os/descriptor.h"
#include "os/files.h"
#include "os/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lauka::os {
namespace {

constexpr std::size_t kMostOfDevice = std::size_t{1} << 20U;

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

/// `path` as a process in `folder` means it.
std::string seen_from(const std::string& folder, const std::string& path) {
  return folder.empty() || path.starts_with('/') ? path : folder + "/" + path;
}

Result<std::string> if_runnable(const std::string& word, const std::string& path,
                                const std::string& folder) {
  const std::string why = why_not_runnable(seen_from(folder, path));
  if (!why.empty()) return Error{word + ": " + why, ""};
  const std::string interpreter = missing_interpreter(seen_from(folder, path));
  if (!interpreter.empty()) {
    return Error{word + ": bad interpreter: " + interpreter + ": No such file or directory", ""};
  }
  return path;
}

}  // namespace

Error cannot_write(const std::string& target, int error, const std::string& remedy) {
  return {"cannot write " + cited(target) + ": " + std::generic_category().message(error), remedy};
}

Error cannot_follow(const std::string& target, const std::string& foreign_link) {
  return {"cannot write " + cited(target) + ": " + cited(foreign_link) +
              " is a link of another user in a folder that everybody can write to",
          "name another file"};
}

bool write_all(int fd, std::string_view bytes, WriteCall call) {
  while (!bytes.empty()) {
    const ssize_t written = call(fd, bytes.data(), bytes.size());
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

std::size_t read_at(int fd, std::uint64_t from, std::span<char> into) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    const ssize_t got =
        pread(fd, into.data() + filled, into.size() - filled, static_cast<off_t>(from + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

Result<std::string> find_program(const std::string& word, const std::optional<std::string>& own,
                                 const std::string& in) {
  if (word.find('/') != std::string::npos) return if_runnable(word, word, in);
  const std::string path = own ? *own : variable("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  std::string unusable;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string folder = path.substr(begin, end - begin);
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + word;
    const std::string from_here = seen_from(in, candidate);
    if (!word.empty() && may(from_here, F_OK) == 0 && !is_directory(from_here)) {
      if (may(from_here, X_OK) == 0) return if_runnable(word, candidate, in);
      unusable = candidate;
    }
    begin = end + 1;
  }
  if (!unusable.empty()) return Error{unusable + ": Permission denied", ""};
  return Error{word + ": command not found",
               "name a program in PATH, or use -S for the shell's own commands"};
}

ResolvedPath resolve(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr int most_links = 40;  // as the kernel follows
  std::error_code error;
  ResolvedPath resolved{path};
  fs::path done;
  std::vector<fs::path> left;  // the next part last
  const auto go_by = [&](const fs::path& parts) {
    const std::vector<fs::path> all(parts.begin(), parts.end());
    left.insert(left.end(), all.rbegin(), all.rend());
  };
  go_by(fs::absolute(path, error));
  for (int links = 0; !left.empty() && links <= most_links;) {
    const fs::path part = std::move(left.back());
    left.pop_back();
    if (part == "..") done = done.parent_path();
    if (part.empty() || part == "." || part == "..") continue;
    const fs::path next = part.is_absolute() ? part : done / part;
    struct stat link {};
    if (lstat(next.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) {
      done = next;
      continue;
    }
    ++links;
    struct stat folder {};
    const bool open_to_all = stat(done.c_str(), &folder) == 0 &&
                             (folder.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH);
    if (open_to_all && link.st_uid != geteuid() && link.st_uid != folder.st_uid)
      resolved.foreign_link = next.string();
    go_by(fs::read_symlink(next, error));
  }
  if (!error && left.empty()) resolved.path = done.string();
  return resolved;
}

bool is_there(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

bool is_regular_file(const std::string& path) {
  struct stat there {};
  return stat(path.c_str(), &there) == 0 && S_ISREG(there.st_mode);
}

Result<std::string> read_file(const std::string& path, std::size_t most_bytes) {
  const auto cannot_read = [](int error) {
    return Error{"cannot be read: " + std::generic_category().message(error), ""};
  };
  if (is_directory(path)) return cannot_read(EISDIR);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return cannot_read(errno);
  const Error too_large{"is too large to be read", ""};
  struct stat there {};
  if (fstat(file.get(), &there) != 0) return cannot_read(errno);
  if (S_ISREG(there.st_mode) && static_cast<std::uintmax_t>(there.st_size) > most_bytes)
    return too_large;
  // What is typed is short, and /dev/zero has no end.
  const bool is_device = S_ISCHR(there.st_mode) || S_ISBLK(there.st_mode);
  const std::size_t most = is_device ? std::min(most_bytes, kMostOfDevice) : most_bytes;
  std::string bytes;
  std::array<char, 16384> piece{};
  for (;;) {
    const ssize_t got = read(file.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot_read(errno);
    if (got == 0) return bytes;
    bytes.append(piece.data(), static_cast<std::size_t>(got));
    if (bytes.size() > most) return too_large;
  }
}

Result<void> check_input(const std::string& path) {
  if (may(path, R_OK) == 0 && !is_directory(path)) return {};
  const int error = is_directory(path) ? EISDIR : errno;
  return Error{"cannot read " + cited(path) + ": " + std::generic_category().message(error),
               "name a file for --input"};
}

Result<void> check_output(const std::string& path) {
  const ResolvedPath resolved = resolve(path);
  if (!resolved.foreign_link.empty()) return cannot_follow(path, resolved.foreign_link);
  if (is_directory(path)) return cannot_write(path, EISDIR);
  if (may(path, F_OK) == 0)
    return may(path, W_OK) == 0 ? Result<void>{} : cannot_write(path, errno);
  const std::string folder = std::filesystem::path(resolved.path).parent_path().string();
  return may(folder, W_OK) == 0 ? Result<void>{} : cannot_write(path, errno);
}

Result<void> check_folder(const std::string& path) {
  if (path.empty()) return {};
  int error = may(path, F_OK) == 0 ? 0 : errno;
  if (error == 0 && !is_directory(path)) error = ENOTDIR;
  if (error == 0 && may(path, X_OK) != 0) error = errno;
  if (error == 0) return {};
  return Error{
      "--cwd " + cited(path) + " cannot be entered: " + std::generic_category().message(error),
      "name a folder that is there before the first run; hooks are run in it, too"};
}

Result<void> say(Stream stream, std::string_view text) {
  if (write_all(stream == Stream::Output ? STDOUT_FILENO : STDERR_FILENO, text)) return {};
  return Error{std::string("cannot write standard ") +
                   (stream == Stream::Output ? "output: " : "error: ") +
                   std::generic_category().message(errno),
               ""};
}

bool has_reader(Stream stream) {
  pollfd wanted{stream == Stream::Output ? STDOUT_FILENO : STDERR_FILENO, POLLOUT, 0};
  return poll(&wanted, 1, 0) <= 0 || (wanted.revents & POLLERR) == 0;
}

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace lauka::os
