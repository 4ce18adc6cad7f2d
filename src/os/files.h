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

/// A path without symbolic links; as typed if its links cannot be resolved.
struct ResolvedPath {
  std::string path;
  /// A symbolic link in the path that another user, not the folder's owner, made in a folder such
  /// as /tmp (sticky, writable for all). It may be a trap. Empty: the path has no such link.
  std::string foreign_link{};
  /// The descriptor of this process that the path names, such as 1 for /dev/stdout; nullopt if it
  /// names none.
  std::optional<int> descriptor{};
};
ResolvedPath resolve(const std::string& path);

bool is_standard_output(const std::string& target);

/// Reads a whole file of at most `most_bytes` bytes (a device: at most 1 MiB). The error has no
/// subject: "cannot be read: No such file or directory".
Result<std::string> read_file(const std::string& path, std::size_t most_bytes);

/// Returns the error of a failed system call: `what`, a colon, and the system's text for errno
/// `error`.
Error system_error(std::string what, int error, std::string remedy = "");

Error cannot_write(const std::string& target, int error,
                   const std::string& remedy = "name another file");

Error cannot_follow(const std::string& target, const std::string& foreign_link);

bool is_there(const std::string& path);

bool is_regular_file(const std::string& path);

/// Refuses a file that runs cannot read as standard input, and an unnamed pipe, because only the
/// first run could read it.
Result<void> check_input(const std::string& path);
/// Refuses a file to which runs cannot write standard output, and a path with a
/// ResolvedPath::foreign_link.
Result<void> check_output(const std::string& path);

Result<void> check_folder(const std::string& path);

Result<void> write_to(Stream stream, std::string_view text);

/// Returns false if `stream` is a pipe whose reader has closed it.
bool has_reader(Stream stream);

/// Returns the value of an environment variable of lauka; nullopt if it is not set.
std::optional<std::string> variable(const char* name);

/// Creates the empty file `mark` in lauka's state folder. Returns true if this call created the
/// file, and thus at most once per user and `mark`.
bool create_mark_once(const char* mark);

class TextFile {
 public:
  /// Opens a regular file for reading, with the rights of `user` (nullopt: lauka's own).
  static Result<TextFile> open(const std::string& path, const std::optional<User>& user);

  static Result<TextFile> make();

  std::size_t read(std::uint64_t from, std::span<char> into) const {
    return read_at(file_.get(), from, into);
  }

  bool append(std::string_view bytes) { return write_all(file_.get(), bytes); }

 private:
  explicit TextFile(Descriptor file) : file_(std::move(file)) {}

  Descriptor file_;
};

/// Files to which runs may append metrics, one file per run.
class MetricFiles : NonCopyable {
 public:
  struct RunFile {
    std::size_t place = 0;
    std::string text{};
    bool is_whole = true;  ///< false if the file is not regular, over 1 MiB or cannot be opened
  };

  virtual ~MetricFiles() = default;

  /// Returns the path for the run with index `place` in a batch. The path differs from those of all
  /// other runs. All paths have the same length, because the size of the environment affects times.
  virtual std::string path(std::size_t place) const = 0;

  /// Returns the files that runs of the latest batch have written, in the order of the runs.
  /// Removes all files and begins the next batch.
  virtual std::vector<RunFile> collect() = 0;
};

Result<std::unique_ptr<MetricFiles>> open_metric_files(const std::optional<User>& user);

/// A temporary folder that other users cannot enter. The destructor removes it with its contents.
/// If the process is killed first, a later process of the user removes the folder if possible.
class PrivateFolder {
 public:
  /// Creates a folder below TMPDIR (default: /dev/shm, else /tmp) that belongs to `user` (nullopt:
  /// lauka's own).
  static Result<PrivateFolder> create(const std::optional<User>& user = std::nullopt);

  PrivateFolder(PrivateFolder&& other) noexcept = default;
  PrivateFolder& operator=(PrivateFolder&& other) = delete;
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder();

  const std::string& path() const { return path_; }

  std::vector<std::string> names() const;

  /// Opens a file of the folder for reading, with the owner's rights. Follows no symbolic link and
  /// does not wait for a pipe's writer. Returns an empty Descriptor on failure.
  Descriptor open_file(const std::string& name) const;

  void clear() const;

 private:
  PrivateFolder(std::string path, Descriptor lock, std::optional<User> user)
      : path_(std::move(path)), lock_(std::move(lock)), user_(std::move(user)) {}

  std::string path_;
  Descriptor lock_;
  std::optional<User> user_;
};

/// A file to which lines are added. Lines are written at once; the file is forced to disk at most
/// once a second.
class AppendLog {
 public:
  /// Opens or creates `path`, and reads it. Refuses a file that another user may have made, that
  /// another process has open as a log, or that has more than `most_bytes` bytes.
  static Result<std::unique_ptr<AppendLog>> open(const std::string& path, std::size_t most_bytes);

  /// Reads the log `path`, which another process may have open; empty if the file does not exist.
  static Result<std::string> read(const std::string& path, std::size_t most_bytes);

  AppendLog(Descriptor file, std::string path, std::string text)
      : file_(std::move(file)), path_(std::move(path)), text_(std::move(text)) {}

  const std::string& text() const { return text_; }

  Result<void> cut(std::size_t bytes);

  /// Adds a line. A line that cannot be written is kept for the next append() or flush().
  void append(std::string_view line);

  /// Writes the lines that could not be written before. Returns false on failure.
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

std::size_t terminal_width(Stream stream, std::size_t otherwise);

/// True if lauka may draw and erase lines on `stream`: it is a terminal, TERM is not "dumb", and
/// NO_COLOR is unset or empty.
bool wants_drawing(Stream stream);

/// Returns false if the locale (LC_ALL, else LC_CTYPE, else LANG) is C or POSIX, or has a character
/// set other than UTF-8; else true, also without a locale.
bool locale_uses_utf8();

/// True if output to `stream` is coloured by default. Depends on NO_COLOR, CLICOLOR_FORCE and
/// wants_drawing().
bool wants_color(Stream stream);

struct FileCalls {
  /// Opens a file without a name in `folder`, which vanishes if lauka is killed. Returns -1 with
  /// errno on failure.
  int (*open_unnamed)(const char* folder);
  /// Gives an unnamed file the name `path`. Returns -1 with errno on failure: EEXIST if `path`
  /// exists.
  int (*name)(int fd, const char* path);
  ssize_t (*write)(int fd, const void* bytes, std::size_t count);
  int (*close)(int fd);
  int (*rename)(const char* from, const char* to);
  bool (*is_mount_point)(const char* path);
};

const FileCalls& file_calls();

/// A file for an export. Its old contents stay until the new contents are complete, if the system
/// lets lauka replace the file.
class ExportFile : NonCopyable {
 public:
  /// Prepares writing to `target` ("-": standard output), without changing it yet. Refuses a target
  /// that cannot be written.
  static Result<std::unique_ptr<ExportFile>> open(const std::string& target,
                                                  const FileCalls& calls = file_calls());

  ~ExportFile() { discard(); }

  /// Returns a message if the target is a regular file whose bytes must be overwritten, because it
  /// cannot be replaced; else empty.
  const std::string& note() const { return note_; }

  void write(std::string_view bytes);

  /// Moves the complete file to the target. If only this step fails, saves the complete file under
  /// another name if possible; the error names it.
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
  std::string temporary_{};
  Descriptor place_{};
  std::string note_{};
  std::string waiting_{};
  int error_ = 0;
};

struct OpenExport {
  ExportKind kind;
  std::unique_ptr<ExportFile> file;
};

/// Opens `targets`, and returns them in the order of writing. Refuses a target that is the same
/// file as another target or as one of the commands' output files `outputs`.
Result<std::vector<OpenExport>> open_exports(std::span<const ExportTarget> targets,
                                             std::span<const std::string> outputs);

}  // namespace lauka::os
