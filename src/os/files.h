#pragma once

#include "core/choices.h"
#include "core/command.h"
#include "core/result.h"
#include "os/descriptor.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lauka::os {

enum class Stream : unsigned char { Output, Error };

/// An absolute path without symbolic links, of a file that may not exist yet; the path as typed if
/// its links cannot be resolved.
struct ResolvedPath {
  std::string path;
  /// A symbolic link on the way that another user, not the folder's owner, made in a sticky folder
  /// that everyone can write to (such as /tmp), possibly as a trap; empty if missing.
  std::string foreign_link{};
  /// The number of this process's descriptor that the path names: 1 for /dev/stdout and
  /// /proc/self/fd/1; nullopt if it names none.
  std::optional<int> descriptor{};
};
/// Resolves the links of `path`, as typed.
ResolvedPath resolve(const std::string& path);

/// True if `target` names standard output: "-", /dev/stdout or a similar path.
bool is_standard_output(const std::string& target);

/// Reads a whole file of at most `most_bytes` bytes; from a device at most 1 MiB. The error is a
/// predicate ("cannot be read: No such file or directory"); the caller adds the subject.
Result<std::string> read_file(const std::string& path, std::size_t most_bytes);

/// Returns the error of a failed system call: `what`, a colon, and the system's text for errno
/// `error`.
Error system_error(std::string what, int error, std::string remedy = "");

/// Returns the error that `target` cannot be written because of errno `error`.
Error cannot_write(const std::string& target, int error,
                   const std::string& remedy = "name another file");

/// Returns the error that `target` is refused because the symbolic link `foreign_link` is in its
/// path (ResolvedPath::foreign_link).
Error cannot_follow(const std::string& target, const std::string& foreign_link);

/// True if `path` exists and can be reached; follows symbolic links.
bool is_there(const std::string& path);

/// True if `path` leads to a regular file, not to a folder, pipe or device.
bool is_regular_file(const std::string& path);

/// Refuses a file that commands could not read as standard input, and a pipe without a name, which
/// only the first run could read.
Result<void> check_input(const std::string& path);
/// Refuses a file to which commands could not write standard output, and a path with a
/// ResolvedPath::foreign_link.
Result<void> check_output(const std::string& path);

/// Refuses a folder in which commands could not run; accepts an empty path, lauka's own folder.
Result<void> check_folder(const std::string& path);

/// Writes all of `text` to standard output or error, or returns why that failed.
Result<void> say(Stream stream, std::string_view text);

/// Returns false if `stream` is a pipe whose reader has closed it.
bool has_reader(Stream stream);

/// Returns the value of an environment variable of lauka; nullopt if it is not set.
std::optional<std::string> variable(const char* name);

/// Creates the empty file `mark` in lauka's state folder ($XDG_STATE_HOME/lauka, else
/// ~/.local/state/lauka). True if this call created it: at most once per `mark` and user.
bool is_first_time(const char* mark);

/// A text that is kept in a file, not in lauka's memory.
class TextFile {
 public:
  /// Opens an existing regular file for reading, with the rights of `user` (nullopt: lauka's own).
  /// The error is a predicate ("cannot be read: ..."), to which the caller adds the subject; a
  /// sentence if lauka cannot act as `user`.
  static Result<TextFile> open(const std::string& path, const std::optional<User>& user);

  /// Creates an empty file without a name.
  static Result<TextFile> make();

  /// Reads from offset `from` until `into` is full, the file ends or reading fails. Returns the
  /// number of bytes.
  std::size_t read(std::uint64_t from, std::span<char> into) const {
    return read_at(file_.get(), from, into);
  }

  /// Appends `bytes`. Returns false with errno on failure, such as on a full disk.
  bool append(std::string_view bytes) { return write_all(file_.get(), bytes); }

 private:
  explicit TextFile(Descriptor file) : file_(std::move(file)) {}

  Descriptor file_;
};

/// Files to which runs may append metrics, one file per run. A file exists once its run has
/// written.
class MetricFiles : NonCopyable {
 public:
  /// The contents of one run's file.
  struct RunFile {
    std::size_t place = 0;  ///< index of the run in its batch
    std::string text{};     ///< contents of the file; empty unless `is_whole`
    bool is_whole = true;   ///< false if the file is not regular, larger than 1 MB or unreadable
  };

  virtual ~MetricFiles() = default;

  /// Returns the path for the run with index `place` in a batch. No other run gets the same path,
  /// so that a process that outlives its run cannot write to a later run's file. All paths have the
  /// same length, because the size of the environment affects times.
  virtual std::string path(std::size_t place) const = 0;

  /// Returns what the runs of the latest batch wrote, in their order, removes all files, and begins
  /// the next batch.
  virtual std::vector<RunFile> collect() = 0;
};

/// Makes a folder for metric files that belongs to `user` (nullopt: lauka's own user).
Result<std::unique_ptr<MetricFiles>> open_metric_files(const std::optional<User>& user);

/// A folder for another program's files, closed to other users. It is made below TMPDIR (default:
/// in memory, else in /tmp) and removed with its contents by the destructor. If the process is
/// killed before, the next process of this user that makes such a folder there removes the old one,
/// unless everyone may rename folders there. The folder is held open, so that a symbolic link put
/// in its place is neither read nor emptied.
class PrivateFolder {
 public:
  /// Makes a folder that belongs to `user` (nullopt: lauka's own user).
  static Result<PrivateFolder> create(const std::optional<User>& user = std::nullopt);

  PrivateFolder(PrivateFolder&& other) noexcept = default;
  PrivateFolder& operator=(PrivateFolder&& other) = delete;
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder();

  const std::string& path() const { return path_; }

  /// Returns the names of the files in the folder, sorted.
  std::vector<std::string> names() const;

  /// Opens a file of the folder with the user's rights. Follows no symbolic link and does not wait
  /// for the other end of a pipe. Returns an empty Descriptor on failure.
  Descriptor open_file(const std::string& name) const;

  /// Removes all files in the folder.
  void clear() const;

 private:
  PrivateFolder(std::string path, Descriptor lock, std::optional<User> user)
      : path_(std::move(path)), lock_(std::move(lock)), user_(std::move(user)) {}

  std::string path_;
  Descriptor lock_;  // held while the folder is in use; empty: moved to another object
  std::optional<User> user_;
};

/// A file to which lines are added. Lines survive the end of this process; a line also survives a
/// power cut once another is added a second later.
class AppendLog {
 public:
  /// Opens or creates `path` for writing, and reads it. Refuses links, special files, files of
  /// another user or with a second name, files larger than `most_bytes`, and files that another
  /// process has open as a log.
  static Result<std::unique_ptr<AppendLog>> open(const std::string& path, std::size_t most_bytes);

  /// Reads `path`; empty if the file does not exist. Refuses the same files as open(), except those
  /// that another process has open or that cannot be written.
  static Result<std::string> read(const std::string& path, std::size_t most_bytes);

  AppendLog(Descriptor file, std::string path, std::string text)
      : file_(std::move(file)), path_(std::move(path)), text_(std::move(text)) {}

  /// Returns the contents at the time of opening.
  const std::string& text() const { return text_; }

  /// Truncates the file to `bytes` bytes.
  Result<void> cut(std::size_t bytes);

  /// Adds a line. A line that cannot be written, such as on a full disk, is kept for the next
  /// append() or flush().
  void append(std::string_view line);

  /// Writes the lines that could not be written before. Returns false if that fails again, or if
  /// they were written but not forced to disk.
  bool flush();

  void remove() { unlink(path_.c_str()); }

 private:
  Descriptor file_;
  std::string path_;
  std::string text_;
  std::chrono::nanoseconds synced_{};
  std::string waiting_{};
};

bool is_terminal(Stream stream);

/// True if standard input is a pipe or regular file with data to read.
bool has_waiting_input();

/// Returns the terminal's width in columns; `otherwise` if unknown.
std::size_t terminal_width(Stream stream, std::size_t otherwise);

/// True if lauka may draw and erase lines on `stream`: it is a terminal, TERM is not "dumb", and
/// NO_COLOR is unset or empty.
bool wants_drawing(Stream stream);

/// True unless the locale (LC_ALL, else LC_CTYPE, else LANG) is C or POSIX, or names a character
/// set other than UTF-8.
bool speaks_utf8();

/// True if output is coloured by default. Depends on NO_COLOR, then on CLICOLOR_FORCE, then on
/// wants_drawing.
bool wants_color(Stream stream);

/// The system calls with which exports are written.
struct FileCalls {
  /// Opens a file without a name in `folder`; `name` can name it later. If lauka is killed, the
  /// file vanishes. Returns -1 with errno on failure, such as on a file system without such files.
  int (*open_unnamed)(const char* folder);
  /// Gives an unnamed file the name `path`. Returns -1 with errno on failure: EEXIST if that name
  /// is taken.
  int (*name)(int fd, const char* path);
  ssize_t (*write)(int fd, const void* bytes, std::size_t count);
  int (*close)(int fd);
  int (*rename)(const char* from, const char* to);
  /// True if `path` is a mount point, so that no other file can be renamed to it.
  bool (*is_mount_point)(const char* path);
};

const FileCalls& file_calls();

/// A file that is written completely or not at all, if it can be replaced: the old contents stay
/// until the new contents are complete.
class ExportFile : NonCopyable {
 public:
  /// Creates a temporary file next to `target`, and removes those that killed laukas left for it.
  /// Writes directly to "-" (standard output), other open files (/dev/stderr, /dev/fd/3), special
  /// files, and files in whose folder none can be created. Refuses a target that cannot be written
  /// or has a ResolvedPath::foreign_link. Does not change the target yet.
  static Result<std::unique_ptr<ExportFile>> open(const std::string& target,
                                                  const FileCalls& calls = file_calls());

  ~ExportFile() { discard(); }

  /// Returns a message if the target is a regular file that no other file can replace, so that its
  /// bytes will be overwritten; else empty.
  const std::string& note() const { return note_; }

  /// Adds `bytes`. Errors are reported by commit().
  void write(std::string_view bytes);

  /// Moves the complete file to the target. An error names the target, and the place of a complete
  /// file if it could be kept; an incomplete file is removed, to free its space.
  Result<void> commit();

 private:
  ExportFile(std::string target, const FileCalls& calls)
      : calls_(calls), target_(std::move(target)) {}

  int adopt_duplicate_of(int descriptor);
  void open_temporary();
  void flush();
  int error_at_close() const;
  Error failure(int error) const;
  bool replace_bytes();
  bool take_place();
  void discard();
  Result<void> keep(int error);

  const FileCalls& calls_;
  std::string target_;
  Descriptor file_;
  bool is_temporary_ = false;
  std::string temporary_{};  // name of the temporary file; empty if it has none
  Descriptor place_{};       // the open target, if its bytes must be overwritten
  std::string note_{};
  std::string waiting_{};  // bytes not yet written, to join many small pieces
  int error_ = 0;          // errno of the first failed write; 0: no error
};

/// An export that was opened for writing.
struct OpenExport {
  ExportKind kind;
  std::unique_ptr<ExportFile> file;
};

/// Opens `targets`, and returns them in the order of writing. Refuses what ExportFile::open
/// refuses, two targets that are the same file, and one of the commands' output files `outputs`.
Result<std::vector<OpenExport>> open_exports(std::span<const ExportTarget> targets,
                                             std::span<const std::string> outputs);

}  // namespace lauka::os
