#include "os/export_files.h"

#include "core/text.h"
#include "os/files.h"
#include "os/platform.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lauka::os {
namespace {

/// Part of a temporary file's name that follows the target's name.
constexpr const char* kTemporarySuffix = ".lauka-";
constexpr const char* kKeptSuffix = ".kept-";
constexpr std::string_view kStandardOutput = "-";
constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

std::string parent_folder(const std::string& path) {
  return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
}

/// Returns the permissions of the file at `target`, or a new file's permissions if there is no such
/// file. Leaves out set-user-id, which was granted to the old contents.
mode_t mode_for(const std::string& target) {
  struct stat there {};
  if (stat(target.c_str(), &there) == 0) return there.st_mode & 0777;
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

/// Returns why a new file cannot take the place of `file`, which is at `path`; "" if it can.
std::string why_not_replaceable(const std::string& path, const struct stat& file,
                                const FileCalls& calls) {
  if (calls.is_mount_point(path.c_str())) return "it is a mount point";
  struct stat folder {};
  if (stat(parent_folder(path).c_str(), &folder) != 0) return "";
  const uid_t user = geteuid();
  const bool is_sticky = (folder.st_mode & S_ISVTX) != 0;
  if (is_sticky && user != 0 && user != file.st_uid && user != folder.st_uid)
    return "it belongs to another user, and only owners may replace files in its folder";
  return faccessat(AT_FDCWD, parent_folder(path).c_str(), W_OK, AT_EACCESS) == 0
             ? ""
             : "its folder is not writable";
}

/// Removes the temporary files for `target` of laukas that ended early: nothing locks these.
void remove_leftovers_of(const std::string& target) {
  const std::string folder = parent_folder(target);
  const std::string begin = target.substr(target.rfind('/') + 1) + kTemporarySuffix;
  for (const std::string& name : names_in(Descriptor(open(folder.c_str(), kFolder)))) {
    if (!name.starts_with(begin)) continue;
    std::string path = folder;
    path.append("/").append(name);
    const Descriptor file(open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat there {};
    if (file && fstat(file.get(), &there) == 0 && S_ISREG(there.st_mode) &&
        there.st_uid == geteuid() && flock(file.get(), LOCK_EX | LOCK_NB) == 0)
      unlink(path.c_str());
  }
}

/// Tries names that begin with `path`, until take() has made a file of one. Returns that name; ""
/// with errno if none could be taken.
template <typename Take>
std::string take_free_name(const std::string& path, const Take& take) {
  constexpr int most = 100;
  for (int i = 0; i < most; ++i) {
    std::string name = path + std::to_string(getpid()) + "-" + std::to_string(i);
    if (take(name)) return name;
    if (errno != EEXIST) break;
  }
  return "";
}

bool is_same_file(const std::string& path, const struct stat& file) {
  struct stat there {};
  return stat(path.c_str(), &there) == 0 && there.st_dev == file.st_dev &&
         there.st_ino == file.st_ino;
}

/// Opens `path` for writing. A named pipe without a reader is an error.
int open_target(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd >= 0) fcntl(fd, F_SETFL, 0);
  return fd;
}

/// Returns the errno with which the file at `target` cannot be written; 0 if it can.
int find_write_error(const std::string& target, const struct stat& file) {
  if (S_ISDIR(file.st_mode)) return EISDIR;
  return faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0 ? errno : 0;
}

/// True if a file has contents that are kept until the new ones are complete. Devices and pipes
/// have none. A link in /proc may lead to a file that no longer has a path, so nothing can take the
/// file's place.
bool has_contents_to_keep(const std::string& path, const struct stat& file) {
  return S_ISREG(file.st_mode) && is_same_file(path, file);
}

std::string make_overwrite_note(const std::string& target, const std::string& why) {
  return cited(target) + " cannot be replaced, because " + why +
         "; lauka will overwrite it in place when all runs are done";
}

}  // namespace

const FileCalls& file_calls() {
  static constexpr FileCalls kCalls = {&open_unnamed, &name_unnamed, &::write,
                                       &::close,      &std::rename,  &is_mount_point};
  return kCalls;
}

// A target is written in one of three ways: through a descriptor that lauka has inherited, such as
// standard output; directly into it; or, so that the old contents stay until the new ones are
// complete, into a temporary file, which commit() moves or copies to the target.
Result<std::unique_ptr<ExportFile>> ExportFile::open(const std::string& target,
                                                     const FileCalls& calls) {
  const ResolvedPath resolved = resolve(target);
  if (target == kStandardOutput) return open_inherited(target, STDOUT_FILENO, calls);
  if (resolved.descriptor)  // such as 1 for /dev/stdout
    return open_inherited(target, *resolved.descriptor, calls);

  if (!resolved.foreign_link.empty()) return make_foreign_link_error(target, resolved.foreign_link);
  std::unique_ptr<ExportFile> file(new ExportFile(resolved.path, calls));
  if (auto opened = file->open_path(target); !opened) return opened.error();
  return file;
}

/// Returns an export through a duplicate of a descriptor that lauka has inherited.
Result<std::unique_ptr<ExportFile>> ExportFile::open_inherited(const std::string& target,
                                                               int descriptor,
                                                               const FileCalls& calls) {
  const bool is_output = descriptor == STDOUT_FILENO;
  const std::string shown_name = is_output ? std::string(kStandardOutput) : target;
  std::unique_ptr<ExportFile> output(new ExportFile(shown_name, calls));
  const int error = output->adopt_duplicate_of(descriptor);
  if (error != 0) return output->make_target_error(error);
  return output;
}

/// Opens a temporary file if possible, or else the file at the user's `target`. Opens both if the
/// temporary file cannot take the target's place. target_ is `target` without links.
Result<void> ExportFile::open_path(const std::string& target) {
  struct stat old_file {};
  const bool exists = stat(target.c_str(), &old_file) == 0;
  const int write_error = exists ? find_write_error(target, old_file) : 0;
  if (write_error != 0) return make_write_error(target, write_error);

  const bool wants_temporary = !exists || has_contents_to_keep(target_, old_file);
  if (wants_temporary) open_temporary();  // sets file_, unless this fails

  const bool has_temporary = wants_temporary && bool(file_);
  if (has_temporary) {
    if (exists) return prepare_replacing(target, old_file);
    return {};
  }

  // Where no temporary file can be created, neither can a missing target. Then errno is still the
  // one of open_temporary().
  if (exists) file_ = Descriptor(open_target(target));
  if (!file_) return make_write_error(target, errno);
  if (wants_temporary) note_ = make_overwrite_note(target, "no file can be created in its folder");
  return {};
}

/// Opens the target if the temporary file cannot take its place. It is opened now, so that a
/// failure shows before the runs. commit() copies into it.
Result<void> ExportFile::prepare_replacing(const std::string& target, const struct stat& old_file) {
  const std::string why_in_place = why_not_replaceable(target_, old_file, calls_);
  if (why_in_place.empty()) return {};
  target_descriptor_ = Descriptor(open_target(target));
  if (!target_descriptor_) return make_write_error(target, errno);
  note_ = make_overwrite_note(target, why_in_place);
  return {};
}

/// Takes a duplicate of an inherited descriptor. Returns 0 or errno. Refuses lauka's own
/// descriptors and descriptors that are only for reading.
int ExportFile::adopt_duplicate_of(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFD);
  const int mode = fcntl(descriptor, F_GETFL);
  if (flags < 0 || mode < 0) return errno;
  if (descriptor > STDERR_FILENO && (flags & FD_CLOEXEC) != 0) return EBADF;
  if ((mode & O_ACCMODE) == O_RDONLY) return EBADF;
  file_ = Descriptor(fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  return file_ ? 0 : errno;
}

void ExportFile::open_temporary() {
  remove_leftovers_of(target_);
  file_ = Descriptor(calls_.open_unnamed(parent_folder(target_).c_str()));
  if (!file_) {
    temporary_ = take_free_name(target_ + kTemporarySuffix, [this](const std::string& name) {
      constexpr int new_file = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
      file_ = Descriptor(::open(name.c_str(), new_file, 0600));
      return bool(file_);
    });
  }
  if (!file_) return;
  is_temporary_ = true;
  flock(file_.get(), LOCK_EX | LOCK_NB);
  fchmod(file_.get(), mode_for(target_));
}

void ExportFile::write(std::string_view bytes) {
  constexpr std::size_t piece = 16384;
  if (waiting_.size() + bytes.size() > piece) flush();
  waiting_.reserve(piece);
  waiting_ += bytes;
}

void ExportFile::flush() {
  // A file that is overwritten in place keeps its old contents until the first new bytes. Only such
  // a file has a note, but no temporary one.
  const bool is_overwritten = !is_temporary_ && !note_.empty();
  const bool has_old_contents =
      is_overwritten && error_ == 0 && lseek(file_.get(), 0, SEEK_CUR) == 0;
  if (has_old_contents && ftruncate(file_.get(), 0) != 0) error_ = errno;
  if (error_ == 0 && !write_all(file_.get(), waiting_, calls_.write)) error_ = errno;
  waiting_.clear();
}

Result<void> ExportFile::commit() {
  flush();
  if (error_ == 0 && is_temporary_) error_ = find_error_at_close();
  if (error_ != 0) {
    discard();
    return make_target_error(error_);
  }
  if (!is_temporary_) return {};
  if (target_descriptor_ ? overwrite_target() : rename_to_target()) {
    if (target_descriptor_) discard();
    is_temporary_ = false;
    return {};
  }
  return save_elsewhere(errno);
}

/// Returns the errno of an error that the system reports only at close, as for a full disk; 0: no
/// error. Closes a duplicate, because file_ is still needed.
int ExportFile::find_error_at_close() const {
  for (;;) {
    const int other = dup(file_.get());
    const int closed = other >= 0 ? calls_.close(other) : fsync(file_.get());
    if (closed == 0) return 0;
    if (errno != EINTR) return errno;
  }
}

Error ExportFile::make_target_error(int error) const {
  if (target_ != kStandardOutput) return make_write_error(target_, error);
  return system_error("cannot write to standard output", error, "name a file instead of -");
}

bool ExportFile::overwrite_target() {
  return ftruncate(target_descriptor_.get(), 0) == 0 &&
         copy_all(file_.get(), target_descriptor_.get(), calls_.write);
}

bool ExportFile::rename_to_target() {
  if (temporary_.empty()) {
    if (calls_.name_unnamed_file(file_.get(), target_.c_str()) == 0) return true;
    if (errno != EEXIST) return false;
    temporary_ = take_free_name(target_ + kTemporarySuffix, [&](const std::string& name) {
      return calls_.name_unnamed_file(file_.get(), name.c_str()) == 0;
    });
    if (temporary_.empty()) return false;
  }
  return calls_.rename(temporary_.c_str(), target_.c_str()) == 0;
}

/// Saves the complete file under a name that no later lauka removes. Always returns an error, which
/// names the saved file if saving succeeded.
Result<void> ExportFile::save_elsewhere(int error) {
  const std::string kept = take_free_name(target_ + kKeptSuffix, [&](const std::string& name) {
    return temporary_.empty() ? calls_.name_unnamed_file(file_.get(), name.c_str()) == 0
                              : link(temporary_.c_str(), name.c_str()) == 0;
  });
  discard();
  if (kept.empty()) return make_write_error(target_, error);
  return make_write_error(target_, error, "the export was saved as " + cited(kept));
}

void ExportFile::discard() {
  if (is_temporary_ && !temporary_.empty()) unlink(temporary_.c_str());
  is_temporary_ = false;
  file_ = Descriptor();
}

Result<std::vector<OpenExport>> open_exports(std::span<const ExportTarget> targets,
                                             std::span<const std::string> outputs) {
  std::vector<OpenExport> exports;
  std::vector<std::string> taken;
  for (const std::string& output : outputs) taken.push_back(resolve(output).path);
  for (const ExportTarget& target : targets) {
    std::string path =
        is_standard_output(target.file) ? std::string(kStandardOutput) : resolve(target.file).path;
    if (std::ranges::find(taken, path) != taken.end())
      return Error{cited(target.file) + " would be written by two exports", "name different files"};
    taken.push_back(std::move(path));
    auto file = ExportFile::open(target.file);
    if (!file) return file.error();
    exports.push_back({target, *std::move(file)});
  }
  std::ranges::stable_sort(exports, {}, [](const OpenExport& one) { return one.target.kind; });
  return exports;
}

}  // namespace lauka::os
