#pragma once

#include "core/command.h"
#include "core/result.h"
#include "os/descriptor.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lauka::os {

enum class StandardStream : unsigned char { Output, Error };

struct ResolvedPath {
  std::string path;  ///< absolute, without symbolic links; as typed if it cannot be resolved
  /// Path of a symbolic link that may be a trap: neither this user nor the owner of the link's
  /// folder owns the link, and the folder is sticky and writable for all, as /tmp is. Empty without
  /// such a link.
  std::string foreign_link{};
  /// Descriptor of this process that the path names, such as 1 for /dev/stdout; nullopt for any
  /// other path.
  std::optional<int> descriptor{};
};
ResolvedPath resolve(const std::string& path);

bool is_standard_output(const std::string& target);

/// A file that is read once, piece by piece, because it may be large.
class InputFile {
 public:
  /// Opens a file of at most `most_bytes` bytes (a device: at most 1 MiB). The error does not name
  /// the file: "cannot be read: No such file or directory".
  static Result<InputFile> open(const std::string& path, std::size_t most_bytes);

  /// Returns the next bytes, which are valid until the next call. Returns no bytes at the end of
  /// the file, and if the rest cannot be read.
  std::string_view next();

  /// Reads all bytes that next() has not returned.
  Result<std::string> rest();

  /// Returns why the rest cannot be read; nullopt if that has not happened.
  const std::optional<Error>& error() const { return error_; }

 private:
  InputFile(Descriptor file, std::size_t most_bytes)
      : file_(std::move(file)), bytes_allowed_(most_bytes) {}

  Descriptor file_;
  std::size_t bytes_allowed_;
  std::vector<char> piece_{};
  std::optional<Error> error_{};
};

/// Reads a whole file that InputFile could open.
Result<std::string> read_file(const std::string& path, std::size_t most_bytes);

/// Returns an error whose text is `what`, a colon, and the system's text for errno `error`.
Error system_error(std::string what, int error, std::string remedy = "");

Error make_write_error(const std::string& target, int error,
                       const std::string& remedy = "name another file");

Error make_foreign_link_error(const std::string& target, const std::string& foreign_link);

bool is_there(const std::string& path);

bool is_regular_file(const std::string& path);

/// Refuses a folder, a file that cannot be read, and a pipe in /dev or /proc, which would be empty
/// after the first run.
Result<void> check_input(const std::string& path);
/// Refuses a folder, a file that cannot be written or created, and a path with a
/// ResolvedPath::foreign_link.
Result<void> check_output(const std::string& path);

Result<void> check_folder(const std::string& path);

Result<void> write_to(StandardStream stream, std::string_view text);

/// Returns false if `stream` is known to be a pipe without a reader.
bool has_reader(StandardStream stream);

/// Returns the value of an environment variable of lauka; nullopt if it is not set.
std::optional<std::string> read_variable(const char* name);

/// Creates the empty file `mark` in lauka's state folder. Returns false if the file already exists
/// or cannot be created.
bool create_mark_once(const char* mark);

struct FileFacts {
  std::uint64_t size = 0;
  std::int64_t changed_seconds = 0;  ///< time of the last change, in seconds since 1970
  bool is_executable = false;
};

class TextFile {
 public:
  /// Opens a regular file for reading, with the rights of `user` (nullopt: lauka's own rights).
  static Result<TextFile> open(const std::string& path, const std::optional<User>& user);

  static Result<TextFile> make();

  std::size_t read(std::uint64_t from, std::span<char> into) const {
    return read_at(file_.get(), from, into);
  }

  bool append(std::string_view bytes) { return write_all(file_.get(), bytes); }

  /// Returns zeros if the system does not tell.
  FileFacts facts() const;

 private:
  explicit TextFile(Descriptor file) : file_(std::move(file)) {}

  Descriptor file_;
};

/// Files to which runs may append metrics, one file per run.
class MetricFiles : NonCopyable {
 public:
  struct RunFile {
    std::size_t run_index = 0;
    std::string text{};
    /// False if the file cannot be opened, is not a regular file, or is larger than 1 MiB; then
    /// `text` is empty.
    bool is_whole = true;
  };

  virtual ~MetricFiles() = default;

  /// Returns the path of the file for the run with index `place` in the current batch. All paths
  /// have the same length, because the size of the environment affects times.
  virtual std::string path(std::size_t place) const = 0;

  /// Returns the files that runs of the current batch have created, in the order of the runs.
  /// Removes all files and begins the next batch.
  virtual std::vector<RunFile> collect() = 0;
};

Result<std::unique_ptr<MetricFiles>> open_metric_files(const std::optional<User>& user);

/// A temporary folder that only its owner and root can enter. The destructor removes the folder
/// with its contents if possible.
class PrivateFolder {
 public:
  /// Creates a folder in TMPDIR (default: /dev/shm, else /tmp) with the rights of `user` (nullopt:
  /// lauka's own rights).
  static Result<PrivateFolder> create(const std::optional<User>& user = std::nullopt);

  PrivateFolder(PrivateFolder&& other) noexcept = default;
  ~PrivateFolder();

  const std::string& path() const { return path_; }

  std::vector<std::string> names() const;

  /// Opens a file of the folder for reading. Follows no symbolic link and does not wait for a
  /// pipe's writer. Returns an empty Descriptor on failure.
  Descriptor open_file(const std::string& name) const;

  void clear() const;

 private:
  PrivateFolder(std::string path, Descriptor lock, std::optional<User> user)
      : path_(std::move(path)), folder_(std::move(lock)), user_(std::move(user)) {}

  std::string path_;
  Descriptor folder_;
  std::optional<User> user_;
};

/// A file to which lines are added. Lines are written at once, but forced to disk at most once a
/// second.
class AppendLog {
 public:
  /// Opens or creates the log `path`, and reads it. Refuses a file that another user may have put
  /// there, or that has more than `most_bytes` bytes. If another process is writing it, the error
  /// is `in_use`.
  static Result<std::unique_ptr<AppendLog>> open(const std::string& path, std::size_t most_bytes,
                                                 const Error& in_use);

  /// Reads the log `path`, which another lauka may be writing. Returns "" if the file is missing.
  static Result<std::string> read(const std::string& path, std::size_t most_bytes);

  AppendLog(Descriptor file, std::string path, std::string text_at_open)
      : file_(std::move(file)), path_(std::move(path)), text_at_open_(std::move(text_at_open)) {}

  const std::string& text_at_open() const { return text_at_open_; }

  Result<void> truncate_to(std::size_t bytes);

  /// Adds a line. A line that cannot be written is kept for the next append() or flush().
  void append(std::string_view line);

  /// Writes the lines that append() could not write. Returns false on failure.
  bool flush();

  void remove() { unlink(path_.c_str()); }

 private:
  Descriptor file_;
  std::string path_;
  std::string text_at_open_;
  std::chrono::nanoseconds synced_{};
  std::string waiting_{};
};

/// What a process adds to a shared log.
struct LogAddition {
  /// Bytes of the present text that stay: all but an unfinished line.
  std::size_t bytes_to_keep = 0;
  std::string lines{};  ///< whole lines, each with its end
};

/// A log to which several processes add lines. A line that was added is on disk.
class SharedLog {
 public:
  /// Opens or creates the log `path`. Refuses a file that another user may have put there.
  static Result<SharedLog> open(const std::string& path, std::size_t most_bytes);

  /// Reads the log `path` while no other process adds to it. Returns "" if the file is missing.
  static Result<std::string> read(const std::string& path, std::size_t most_bytes);

  /// Adds what `make_addition` makes of the log's text. No other process adds meanwhile. If it
  /// returns an error, or the disk does not take the lines, the log keeps its whole lines.
  Result<void> add(
      const std::function<Result<LogAddition>(const std::string& text)>& make_addition);

 private:
  SharedLog(Descriptor file, std::string path, std::size_t most_bytes)
      : file_(std::move(file)), path_(std::move(path)), most_bytes_(most_bytes) {}

  Descriptor file_;
  std::string path_;
  std::size_t most_bytes_;
};

bool is_terminal(StandardStream stream);

/// True if standard input is a pipe or regular file with data to read.
bool has_waiting_input();

std::size_t terminal_width(StandardStream stream, std::size_t otherwise);

/// True if lauka may draw and erase lines on `stream`: the stream is a terminal, TERM is not
/// "dumb", and NO_COLOR is unset or empty.
bool wants_drawing(StandardStream stream);

/// Returns false if the locale (LC_ALL, else LC_CTYPE, else LANG) is C or POSIX, or names a
/// character set other than UTF-8. Returns true for any other locale, or if none is set.
bool locale_uses_utf8();

/// True if output to `stream` is coloured by default. Depends on NO_COLOR, CLICOLOR_FORCE and
/// wants_drawing().
bool wants_color(StandardStream stream);

}  // namespace lauka::os
