#include "os/files.h"

#include "core/numbers.h"
#include "core/text.h"
#include "os/clock.h"
#include "os/descriptor.h"
#include "os/platform.h"
#include "os/process.h"
#include "os/users.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lauka::os {

namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20U;
constexpr std::size_t kInputPieceBytes = std::size_t{64} << 10U;

std::string metric_file_name(std::uint64_t number) {
  return fmt::format("run-{:010}", number);
}

class FilesInFolder final : public MetricFiles {
 public:
  explicit FilesInFolder(PrivateFolder folder) : folder_(std::move(folder)) {}

  std::string path(std::size_t place) const override {
    return folder_.path() + "/" + metric_file_name(first_ + place);
  }

  std::vector<RunFile> collect() override {
    std::vector<RunFile> all;
    const std::uint64_t first = std::exchange(first_, first_ + Launcher::kMaxBatch);
    const std::vector<std::string> names = folder_.names();
    if (names.empty()) return all;
    for (std::size_t place = 0; place < Launcher::kMaxBatch; ++place) {
      const std::string name = metric_file_name(first + place);
      if (!std::ranges::binary_search(names, name)) continue;
      auto text = read_whole(folder_.open_file(name).get(), kMebibyte);
      all.push_back({place, text.value_or(""), text.has_value()});
    }
    folder_.clear();
    return all;
  }

 private:
  PrivateFolder folder_;
  std::uint64_t first_ = 0;
};

constexpr std::string_view kFolderPrefix = "lauka-private-";
constexpr int kMaxTries = 10;

constexpr int kMaxFolderDepth = 64;

Descriptor open_folder(int parent, const char* name) {
  return Descriptor(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

void empty_folder(int folder, int max_depth = kMaxFolderDepth) {
  for (const std::string& name : names_in(open_folder(folder, "."))) {
    if (unlinkat(folder, name.c_str(), 0) == 0 || max_depth == 0) continue;
    const Descriptor inner = open_folder(folder, name.c_str());
    if (!inner) continue;
    empty_folder(inner.get(), max_depth - 1);
    unlinkat(folder, name.c_str(), AT_REMOVEDIR);
  }
}

/// Opens and locks a folder that lauka has made for itself. Returns an empty Descriptor if it is
/// another user's, is open to others, or is in use.
Descriptor open_and_lock(int parent, const std::string& name) {
  Descriptor folder = open_folder(parent, name.c_str());
  struct stat there {};
  const bool is_ours = folder && flock(folder.get(), LOCK_EX | LOCK_NB) == 0 &&
                       fstat(folder.get(), &there) == 0 && there.st_uid == geteuid() &&
                       there.st_nlink > 0 && (there.st_mode & 0777U) == 0700;
  return is_ours ? std::move(folder) : Descriptor();
}

/// True if others can put another folder in the place of one that is in `folder`, or if unknown.
bool lets_others_rename(int folder) {
  struct stat there {};
  return fstat(folder, &there) != 0 ||
         ((there.st_mode & S_IWOTH) != 0 && (there.st_mode & S_ISVTX) == 0);
}

/// Removes the private folders of laukas that ended without removing them: nothing locks these.
void remove_leftovers(const std::string& below) {
  const Descriptor parent(open(below.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent || lets_others_rename(parent.get())) return;
  for (const std::string& name : names_in(open_folder(parent.get(), "."))) {
    if (!name.starts_with(kFolderPrefix)) continue;
    const Descriptor left = open_and_lock(parent.get(), name);
    if (!left) continue;
    empty_folder(left.get());
    unlinkat(parent.get(), name.c_str(), AT_REMOVEDIR);
  }
}

std::optional<std::pair<std::string, Descriptor>> make_locked_folder(
    const std::filesystem::path& below) {
  // Retries, because between mkdtemp and open_and_lock() another process may remove the folder as a
  // leftover, or put another folder in its place. A new folder is empty.
  for (int i = 0; i < kMaxTries; ++i) {
    std::string path = (below / (std::string(kFolderPrefix) + "XXXXXX")).string();
    if (mkdtemp(path.data()) == nullptr) break;
    auto lock = open_and_lock(AT_FDCWD, path);
    if (lock && names_in(open_folder(lock.get(), ".")).empty())
      return std::pair{std::move(path), std::move(lock)};
    rmdir(path.c_str());
    errno = EBUSY;
  }
  return std::nullopt;
}

/// Opens a log. Refuses a file that is not regular, belongs to another user or has other names.
/// Returns an empty Descriptor if the log does not exist and `flags` lacks O_CREAT.
Result<Descriptor> open_own_log(const std::string& path, int flags) {
  constexpr mode_t written_by_owner = 0644;
  Descriptor file(
      ::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, written_by_owner));
  if (!file && errno == ENOENT && (flags & O_CREAT) == 0) return file;
  struct stat about {};
  if (!file || fstat(file.get(), &about) != 0) return make_write_error(path, errno);
  if (!S_ISREG(about.st_mode)) return make_write_error(path, EINVAL);
  if (about.st_uid != geteuid())
    return Error{cited(path) + " belongs to another user", "name another file"};
  if (about.st_nlink != 1)
    return Error{cited(path) + " has more than one name (hard links)", "name another file"};
  return file;
}

Result<std::string> read_log(const Descriptor& file, const std::string& path,
                             std::size_t most_bytes) {
  auto text = read_whole(file.get(), most_bytes);
  if (!text) return Error{cited(path) + " is too large", "remove it"};
  return *std::move(text);
}

/// A lock on a file, until the end of the block. Other processes wait for it.
class FileLock {
 public:
  /// `kind`: LOCK_SH or LOCK_EX.
  FileLock(int file, int kind) : file_(file) {
    do is_held_ = flock(file, kind) == 0;
    while (!is_held_ && errno == EINTR);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock() {
    if (is_held_) flock(file_, LOCK_UN);
  }

  bool is_held() const { return is_held_; }

 private:
  int file_;
  bool is_held_ = false;
};

int descriptor_of(StandardStream stream) {
  return stream == StandardStream::Output ? STDOUT_FILENO : STDERR_FILENO;
}

bool is_variable_set(const char* name) {
  return !read_variable(name).value_or("").empty();
}

/// Returns the descriptor of this process for which the file `name` of `folder` stands, as in
/// /dev/fd/3; nullopt for any other file.
std::optional<int> find_descriptor_in(const std::filesystem::path& folder,
                                      const std::string& name) {
  constexpr long long most = 1 << 20;
  const auto own = std::filesystem::path("/proc") / std::to_string(getpid());
  const bool is_of_thread =
      folder.filename() == "fd" && folder.parent_path().parent_path() == own / "task";
  if (folder != "/dev/fd" && folder != own / "fd" && !is_of_thread) return std::nullopt;
  const auto number = parse_whole_number(name, 0, most);
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

/// True if `link`, which is in `folder`, may be a trap (ResolvedPath::foreign_link).
bool is_foreign_link(const struct stat& link, const std::filesystem::path& folder) {
  struct stat of_folder {};
  const bool open_to_all = stat(folder.c_str(), &of_folder) == 0 &&
                           (of_folder.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH);
  return open_to_all && link.st_uid != geteuid() && link.st_uid != of_folder.st_uid;
}

/// A walk along a path, part by part.
class PathWalk {
 public:
  explicit PathWalk(const std::string& path) : resolved_{path} {}

  void add_parts_of(const std::filesystem::path& path) {
    const std::vector<std::filesystem::path> parts(path.begin(), path.end());
    parts_left_.insert(parts_left_.end(), parts.rbegin(), parts.rend());
  }

  bool is_over() const { return parts_left_.empty(); }

  /// Walks one part further. Returns the path of the link that this part is, whose target has not
  /// been walked; empty for another part.
  std::filesystem::path take_step();

  /// Returns what was found on the way.
  const ResolvedPath& resolved() const { return resolved_; }
  /// Returns the path so far, without links.
  std::string walked() const { return walked_.string(); }

 private:
  ResolvedPath resolved_;
  std::filesystem::path walked_;
  std::vector<std::filesystem::path> parts_left_;  // in reverse order: the next part is the last
};

// Walks one part further. Returns the path of a link, whose target the caller walks next; empty if
// the part is no link.
std::filesystem::path PathWalk::take_step() {
  const std::filesystem::path part = std::move(parts_left_.back());
  parts_left_.pop_back();
  if (part.empty() || part == ".") return {};
  if (part == "..") {
    walked_ = walked_.parent_path();
    return {};
  }

  // Only the last part can stand for a descriptor, as in /dev/fd/3. It may also be the last part of
  // a link's target.
  const auto descriptor = find_descriptor_in(walked_, part.string());
  if (descriptor && parts_left_.empty()) resolved_.descriptor = descriptor;

  // The first part of an absolute path is "/". The target of a link may be absolute, too.
  std::filesystem::path next = part.is_absolute() ? part : walked_ / part;
  struct stat link {};
  const bool is_link = lstat(next.c_str(), &link) == 0 && S_ISLNK(link.st_mode);
  if (!is_link) {
    walked_ = std::move(next);
    return {};
  }

  // A link of another user, in a folder that everybody can write to, may be a trap. One such link
  // is enough to refuse the path, so it does not matter which one is named.
  if (is_foreign_link(link, walked_)) resolved_.foreign_link = next.string();
  return next;
}

Error make_read_error(int error) {
  return system_error("cannot be read", error);
}

Error make_size_error() {
  return {"is too large to be read", ""};
}

}  // namespace

Error system_error(std::string what, int error, std::string remedy) {
  return {std::move(what) + ": " + std::generic_category().message(error), std::move(remedy)};
}

Error make_write_error(const std::string& target, int error, const std::string& remedy) {
  return system_error("cannot write " + cited(target), error, remedy);
}

Error make_foreign_link_error(const std::string& target, const std::string& foreign_link) {
  return {"cannot write " + cited(target) + ": " + cited(foreign_link) +
              " is a link of another user, in a folder that everybody can write to",
          "name another file"};
}

// Returns the path without links, and what was found on the way: a link that stands for a
// descriptor, or one that may be a trap. With a link in /tmp, another user could make lauka
// overwrite a file of this user. realpath() would not show the links, and would fail for a file
// that does not exist yet.
ResolvedPath resolve(const std::string& path) {
  constexpr int most_links = 40;  // the limit of Linux, which also ends loops

  std::error_code error;
  const std::filesystem::path absolute_path = std::filesystem::absolute(path, error);
  if (error) return {.path = path};

  PathWalk walk(path);
  walk.add_parts_of(absolute_path);

  int followed_links = 0;
  while (!walk.is_over() && followed_links <= most_links) {
    const std::filesystem::path link = walk.take_step();
    if (link.empty()) continue;

    // The parts of the link's target take the place of the link's name.
    ++followed_links;
    walk.add_parts_of(std::filesystem::read_symlink(link, error));
  }

  // If the last link cannot be read, or with too many links, the path stays as it was given.
  ResolvedPath resolved = walk.resolved();
  const bool is_walked_to_end = !error && walk.is_over();
  if (is_walked_to_end) resolved.path = walk.walked();
  return resolved;
}

bool is_standard_output(const std::string& target) {
  return target == "-" || resolve(target).descriptor == STDOUT_FILENO;
}

bool is_there(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

bool is_regular_file(const std::string& path) {
  struct stat there {};
  return stat(path.c_str(), &there) == 0 && S_ISREG(there.st_mode);
}

Result<InputFile> InputFile::open(const std::string& path, std::size_t most_bytes) {
  if (is_directory(path)) return make_read_error(EISDIR);
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return make_read_error(errno);

  struct stat there {};
  if (fstat(file.get(), &there) != 0) return make_read_error(errno);
  if (S_ISREG(there.st_mode) && static_cast<std::uintmax_t>(there.st_size) > most_bytes)
    return make_size_error();
  const bool is_device = S_ISCHR(there.st_mode) || S_ISBLK(there.st_mode);
  return InputFile(std::move(file), is_device ? std::min(most_bytes, kMebibyte) : most_bytes);
}

// Returns the next bytes of the file, or none at its end. If reading fails, sets error_ and returns
// none.
std::string_view InputFile::next() {
  if (error_) return {};
  piece_.resize(kInputPieceBytes);

  ssize_t read_bytes = -1;
  do {
    read_bytes = read(file_.get(), piece_.data(), piece_.size());
  } while (read_bytes < 0 && errno == EINTR);
  if (read_bytes < 0) {
    error_ = make_read_error(errno);
    return {};
  }

  // The limit of the size is enforced here, because a pipe does not tell its size in advance.
  const auto count = static_cast<std::size_t>(read_bytes);
  if (count > bytes_allowed_) {
    error_ = make_size_error();
    return {};
  }
  bytes_allowed_ -= count;
  return {piece_.data(), count};
}

Result<std::string> InputFile::rest() {
  std::string text;
  for (std::string_view bytes = next(); !bytes.empty(); bytes = next()) text += bytes;
  if (error_) return *error_;
  return text;
}

Result<std::string> read_file(const std::string& path, std::size_t most_bytes) {
  auto file = InputFile::open(path, most_bytes);
  if (!file) return file.error();
  return file->rest();
}

bool has_waiting_input() {
  struct stat input {};
  if (fstat(STDIN_FILENO, &input) != 0) return false;
  if (S_ISREG(input.st_mode)) return lseek(STDIN_FILENO, 0, SEEK_CUR) < input.st_size;
  pollfd waiting{STDIN_FILENO, POLLIN, 0};
  return S_ISFIFO(input.st_mode) && poll(&waiting, 1, 0) == 1 && (waiting.revents & POLLIN) != 0;
}

Result<void> check_input(const std::string& path) {
  struct stat input {};
  // Named pipes are accepted, because they may have a new writer for each run.
  const bool is_unnamed = path.starts_with("/dev/") || path.starts_with("/proc/");
  if (is_unnamed && stat(path.c_str(), &input) == 0 && S_ISFIFO(input.st_mode))
    return Error{"--input " + cited(path) + " is a pipe, which would be empty after the first run",
                 "save its contents in a file, and name that file"};
  if (check_access(path, R_OK) == 0 && !is_directory(path)) return {};
  const int error = is_directory(path) ? EISDIR : errno;
  return system_error("cannot read " + cited(path), error, "name a file for --input");
}

Result<void> check_output(const std::string& path) {
  const ResolvedPath resolved = resolve(path);
  if (!resolved.foreign_link.empty()) return make_foreign_link_error(path, resolved.foreign_link);
  if (is_directory(path)) return make_write_error(path, EISDIR);
  if (check_access(path, F_OK) == 0)
    return check_access(path, W_OK) == 0 ? Result<void>{} : make_write_error(path, errno);
  const std::string folder = std::filesystem::path(resolved.path).parent_path().string();
  return check_access(folder, W_OK) == 0 ? Result<void>{} : make_write_error(path, errno);
}

Result<void> check_folder(const std::string& path) {
  const int error = path.empty() ? 0 : why_not_enterable(path);
  if (error == 0) return {};
  return system_error(
      "--cwd " + cited(path) + " cannot be entered", error,
      "name a folder that exists before the first run, because hooks are run in it, too");
}

Result<void> write_to(StandardStream stream, std::string_view text) {
  if (write_all(descriptor_of(stream), text)) return {};
  return system_error(stream == StandardStream::Output ? "cannot write to standard output"
                                                       : "cannot write to standard error",
                      errno);
}

bool has_reader(StandardStream stream) {
  pollfd wanted{descriptor_of(stream), POLLOUT, 0};
  return poll(&wanted, 1, 0) <= 0 || (wanted.revents & POLLERR) == 0;
}

std::optional<std::string> read_variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

bool create_mark_once(const char* mark) {
  std::filesystem::path folder = read_variable("XDG_STATE_HOME").value_or("");
  if (!folder.is_absolute())
    folder = std::filesystem::path(read_variable("HOME").value_or("")) / ".local/state";
  if (!folder.is_absolute()) return false;
  folder /= "lauka";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  constexpr int new_file = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  return static_cast<bool>(Descriptor(open((folder / mark).c_str(), new_file, 0644)));
}

Result<TextFile> TextFile::open(const std::string& path, const std::optional<User>& user) {
  const ActAs reader(user);
  if (reader.error()) return *reader.error();
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about {};
  if (!file || fstat(file.get(), &about) != 0) return system_error("cannot be read", errno);
  if (!S_ISREG(about.st_mode))
    return Error{"is not a regular file", "write its text to a regular file"};
  return TextFile(std::move(file));
}

FileFacts TextFile::facts() const {
  struct stat about {};
  if (fstat(file_.get(), &about) != 0) return {};
  return {static_cast<std::uint64_t>(about.st_size), std::int64_t{about.st_mtime},
          (about.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0};
}

Result<TextFile> TextFile::make() {
  Descriptor file = open_anonymous_file();
  if (!file) return system_error("lauka cannot create a temporary file", errno);
  return TextFile(std::move(file));
}

Result<std::unique_ptr<MetricFiles>> open_metric_files(const std::optional<User>& user) {
  auto folder = PrivateFolder::create(user);
  if (!folder) return folder.error();
  return std::unique_ptr<MetricFiles>(new FilesInFolder(*std::move(folder)));
}

Result<PrivateFolder> PrivateFolder::create(const std::optional<User>& user) {
  const ActAs owner(user);
  if (owner.error()) return *owner.error();
  std::vector<std::string> all = {"/dev/shm", "/tmp"};
  if (const auto chosen = read_variable("TMPDIR"); chosen && !chosen->empty()) all = {*chosen};
  for (const std::string& place : all) {
    std::error_code error;
    const std::filesystem::path below = std::filesystem::absolute(place, error);
    remove_leftovers(below.string());
    if (auto made = make_locked_folder(below))
      return PrivateFolder(std::move(made->first), std::move(made->second), user);
  }
  return system_error("cannot make a temporary folder in '" + all.back() + "'", errno,
                      "set TMPDIR to a writable folder");
}

PrivateFolder::~PrivateFolder() {
  if (!folder_) return;
  const ActAs owner(user_);
  if (rmdir(path_.c_str()) == 0) return;
  empty_folder(folder_.get());
  rmdir(path_.c_str());
}

std::vector<std::string> PrivateFolder::names() const {
  return names_in(open_folder(folder_.get(), "."));
}

Descriptor PrivateFolder::open_file(const std::string& name) const {
  const ActAs owner(user_);
  return Descriptor(
      openat(folder_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
}

void PrivateFolder::clear() const {
  const ActAs owner(user_);
  empty_folder(folder_.get());
}

Result<std::unique_ptr<AppendLog>> AppendLog::open(const std::string& path, std::size_t most_bytes,
                                                   const Error& in_use) {
  auto file = open_own_log(path, O_RDWR | O_CREAT | O_APPEND);
  if (!file) return file.error();
  if (flock(file->get(), LOCK_EX | LOCK_NB) != 0) return in_use;
  auto text = read_log(*file, path, most_bytes);
  if (!text) return text.error();
  return std::make_unique<AppendLog>(*std::move(file), path, *std::move(text));
}

Result<std::string> AppendLog::read(const std::string& path, std::size_t most_bytes) {
  const auto file = open_own_log(path, O_RDONLY);
  if (!file) return file.error();
  if (!*file) return std::string();
  return read_log(*file, path, most_bytes);
}

Result<void> AppendLog::truncate_to(std::size_t bytes) {
  if (ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0) return make_write_error(path_, errno);
  return {};
}

void AppendLog::append(std::string_view line) {
  waiting_ += line;
  waiting_ += '\n';
  flush();
}

/// Writes the waiting lines. If writing fails, tries to remove the part that was written, so that
/// no line follows half a line.
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

  // Forcing each line to disk would take longer than many runs.
  if (now - synced_ < std::chrono::seconds(1)) return true;
  synced_ = now;
  return fsync(file_.get()) == 0;
}

Result<SharedLog> SharedLog::open(const std::string& path, std::size_t most_bytes) {
  auto file = open_own_log(path, O_RDWR | O_CREAT | O_APPEND);
  if (!file) return file.error();

  // The name of a new file must be on disk, too.
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const Descriptor holder(
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (holder) static_cast<void>(fsync(holder.get()));
  return SharedLog(*std::move(file), path, most_bytes);
}

Result<std::string> SharedLog::read(const std::string& path, std::size_t most_bytes) {
  const auto file = open_own_log(path, O_RDONLY);
  if (!file) return file.error();
  if (!*file) return std::string();
  const FileLock lock(file->get(), LOCK_SH);
  if (!lock.is_held()) return system_error("cannot lock " + cited(path), errno);
  return read_log(*file, path, most_bytes);
}

Result<void> SharedLog::add(
    const std::function<Result<LogAddition>(const std::string& text)>& make_addition) {
  const FileLock lock(file_.get(), LOCK_EX);
  if (!lock.is_held()) return system_error("cannot lock " + cited(path_), errno);

  const auto text = read_log(file_, path_, most_bytes_);
  if (!text) return text.error();
  const auto addition = make_addition(*text);
  if (!addition) return addition.error();

  const auto kept = static_cast<off_t>(addition->bytes_to_keep);
  const bool is_cut = addition->bytes_to_keep == text->size() || ftruncate(file_.get(), kept) == 0;
  if (is_cut && write_all(file_.get(), addition->lines) && fsync(file_.get()) == 0) return {};

  // No later line may follow a part of these.
  const int error = errno;
  static_cast<void>(ftruncate(file_.get(), kept) == 0);
  return make_write_error(path_, error);
}

bool is_terminal(StandardStream stream) {
  return isatty(descriptor_of(stream)) == 1;
}

std::size_t terminal_width(StandardStream stream, std::size_t otherwise) {
  winsize size{};
  const bool known = ioctl(descriptor_of(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : otherwise;
}

bool wants_drawing(StandardStream stream) {
  const std::string terminal = read_variable("TERM").value_or("");
  return !is_variable_set("NO_COLOR") && is_terminal(stream) && !terminal.empty() &&
         terminal != "dumb";
}

bool locale_uses_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string locale = lower_case(read_variable(name).value_or(""));
    if (locale.empty()) continue;
    // A locale without a character set counts as UTF-8, except C and POSIX.
    if (locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos)
      return true;
    return locale != "c" && locale != "posix" && locale.find('.') == std::string::npos;
  }
  return true;
}

bool wants_color(StandardStream stream) {
  const bool is_forced = !is_variable_set("NO_COLOR") && is_variable_set("CLICOLOR_FORCE") &&
                         read_variable("CLICOLOR_FORCE") != "0";
  return is_forced || wants_drawing(stream);
}

}  // namespace lauka::os
