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

/// The name of a file that may not exist yet, absolute and without links.
struct ResolvedPath {
  std::string path;
  /// A link on the way that another user made in a sticky folder open to all, possibly as a trap;
  /// may be empty.
  std::string foreign_link{};
  /// The open file of this process that the path names: 1 for /dev/stdout and /proc/self/fd/1;
  /// nullopt for other paths.
  std::optional<int> descriptor{};
};
ResolvedPath resolve(const std::string& path);

/// True if an export to `target` goes to standard output: "-" or one of its names, as /dev/stdout.
bool is_standard_output(const std::string& target);

/// Reads all of a file of at most `most_bytes`, of a device at most 1 MiB. The error is a predicate
/// of the file ("cannot be read: No such file or directory").
Result<std::string> read_file(const std::string& path, std::size_t most_bytes);

/// Returns the error of a failed system call: `what`, a colon and the system's words for `error`.
Error system_error(std::string what, int error, std::string remedy = "");

/// Returns the error that `target` cannot be written, and why.
Error cannot_write(const std::string& target, int error,
                   const std::string& remedy = "name another file");

/// Returns the error that `target` is not written because of ResolvedPath::foreign_link on its way.
Error cannot_follow(const std::string& target, const std::string& foreign_link);

/// True if `path`, links followed, leads to something that exists.
bool is_there(const std::string& path);

/// True if a file with contents of its own is there: no folder, pipe or device.
bool is_regular_file(const std::string& path);

/// Refuses a file that commands could not read their input from, or write their output to.
Result<void> check_input(const std::string& path);
Result<void> check_output(const std::string& path);

/// Refuses a folder that commands could not be run in.
Result<void> check_folder(const std::string& path);

/// Writes all of `text` to standard output or error, or returns why it cannot be written.
Result<void> say(Stream stream, std::string_view text);

/// Returns false for a pipe whose reader has gone.
bool has_reader(Stream stream);

/// Returns a variable of lauka's own environment.
std::optional<std::string> variable(const char* name);

/// Makes the empty file `mark` in lauka's folder for state ($XDG_STATE_HOME/lauka, else
/// ~/.local/state/lauka). True if it is new: once for each `mark` and home.
bool is_first_time(const char* mark);

/// A text that is not held in lauka's own memory.
class TextFile {
 public:
  /// Opens a file that is there, to be read, with the rights of `user`, if given. The error is a
  /// predicate ("cannot be read: ...").
  static Result<TextFile> open(const std::string& path, const std::optional<User>& user);

  /// Makes a new one without a name, empty.
  static Result<TextFile> make();

  /// Reads a part of it, as many bytes as there are.
  std::size_t read(std::uint64_t from, std::span<char> into) const {
    return read_at(file_.get(), from, into);
  }

  /// Adds to its end. False if there is no room.
  bool append(std::string_view bytes) { return write_all(file_.get(), bytes); }

 private:
  explicit TextFile(Descriptor file) : file_(std::move(file)) {}

  Descriptor file_;
};

/// Files whose names runs get to append to, one each; they exist once a run has written.
class MetricFiles : NonCopyable {
 public:
  /// The output of runs to one of them.
  struct Written {
    std::size_t place = 0;  ///< place of the run in its batch
    std::string text{};
    bool is_whole = true;  ///< false: it is no file, or larger than 1 MB
  };

  virtual ~MetricFiles() = default;

  /// Returns the path for the run at `place` of a batch. No other run gets the same, so that a
  /// process that outlives its run cannot write to a later one's file. All are equally long, since
  /// the size of the environment shifts times.
  virtual std::string path(std::size_t place) const = 0;

  /// Returns the output of the latest batch, removes all files, and begins the next batch.
  virtual std::vector<Written> collect() = 0;
};

/// Makes a folder for them, which belongs to `user`, if given.
Result<std::unique_ptr<MetricFiles>> open_metric_files(const std::optional<User>& user);

/// A folder for another program's files below TMPDIR (default: in memory, else in /tmp), closed to
/// other users; it goes with its contents. If the process is killed first, the next one that makes
/// such a folder removes it, unless all may rename folders there. It is held open, so that a link
/// put in its place is neither read nor emptied.
class PrivateFolder {
 public:
  /// Makes one that belongs to `user`, if given.
  static Result<PrivateFolder> create(const std::optional<User>& user = std::nullopt);

  PrivateFolder(PrivateFolder&& other) noexcept = default;
  PrivateFolder& operator=(PrivateFolder&& other) = delete;
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder();

  const std::string& path() const { return path_; }

  /// Returns the names of the files in it, sorted.
  std::vector<std::string> names() const;

  /// Opens one of them with the user's rights, never through a link and without waiting for the
  /// other end of a pipe. Returns no descriptor if it fails.
  Descriptor open_file(const std::string& name) const;

  /// Removes the files in it.
  void clear() const;

 private:
  PrivateFolder(std::string path, Descriptor lock, std::optional<User> user)
      : path_(std::move(path)), lock_(std::move(lock)), user_(std::move(user)) {}

  std::string path_;
  Descriptor lock_;  // held while the folder is in use; none: given to another one
  std::optional<User> user_;
};

/// A file of lines that only grows. Lines survive the end of this process; all but the last
/// second's survive a power cut, too.
class AppendLog {
 public:
  /// Opens or makes `path`, and reads it. Refuses links, special files, files of another user or
  /// with a second name, and one that another process has open as a log.
  static Result<std::unique_ptr<AppendLog>> open(const std::string& path, std::size_t most_bytes);

  /// Reads `path`, with the same refusals; empty if it is not there.
  static Result<std::string> read(const std::string& path, std::size_t most_bytes);

  AppendLog(Descriptor file, std::string path, std::string text)
      : file_(std::move(file)), path_(std::move(path)), text_(std::move(text)) {}

  /// The text when it was opened.
  const std::string& text() const { return text_; }

  /// Keeps the first `bytes` only.
  Result<void> cut(std::size_t bytes);

  /// Adds a line. If it cannot be written, as on a full disk, it waits for the next line or
  /// flush().
  void append(std::string_view line);

  /// Writes the waiting lines; false if they still cannot be written.
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

/// True if standard input is a pipe or a file that has something to read.
bool has_waiting_input();

/// Returns the columns of the terminal; `otherwise` if unknown.
std::size_t terminal_width(Stream stream, std::size_t otherwise);

/// True if lines may be drawn and erased there: a terminal that can, and no NO_COLOR.
bool wants_drawing(Stream stream);

/// True unless the locale (LC_ALL, else LC_CTYPE, else LANG) names another charset than UTF-8, or
/// C, which is ASCII.
bool speaks_utf8();

/// True if colours are wanted by default: by NO_COLOR, then CLICOLOR_FORCE, then as
/// wants_drawing.
bool wants_color(Stream stream);

/// The system calls that exports are made with.
struct FileCalls {
  /// Opens a file without a name, which `name` can give; a killed lauka leaves nothing of it. -1 if
  /// the folder's file system has no such files.
  int (*open_unnamed)(const char* folder);
  /// -1 with EEXIST if something has that name.
  int (*name)(int fd, const char* path);
  ssize_t (*write)(int fd, const void* bytes, std::size_t count);
  int (*close)(int fd);
  int (*rename)(const char* from, const char* to);
  /// True if something is mounted on it, so that no other file can take its name.
  bool (*is_mount_point)(const char* path);
};

const FileCalls& file_calls();

/// A file that is written whole or not at all: the old contents stay until the new are complete.
class ExportFile : NonCopyable {
 public:
  /// Makes a temporary file next to `target`, and removes those of a killed lauka. "-" (standard
  /// output), other open files (/dev/stderr, /dev/fd/3) and special files are written directly.
  /// Refuses a target that cannot be written, or is reached through ResolvedPath::foreign_link; it
  /// is not changed yet.
  static Result<std::unique_ptr<ExportFile>> open(const std::string& target,
                                                  const FileCalls& calls = file_calls());

  ~ExportFile() { discard(); }

  /// Returns a line for the user if no file can replace the target, so that its bytes will be
  /// replaced instead; else empty.
  const std::string& note() const { return note_; }

  /// Adds `bytes`. Failures are reported by commit.
  void write(std::string_view bytes);

  /// Puts the file in its place. An error names the target, and where a complete file is kept; an
  /// incomplete one is removed, to free its space.
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
  std::string temporary_{};  // its name; empty if it has none
  Descriptor place_{};       // the target itself, if only its bytes can be replaced
  std::string note_{};
  std::string waiting_{};  // bytes to write; there are many small pieces
  int error_ = 0;          // errno of the first write that failed
};

/// An export that can be written.
struct OpenExport {
  ExportKind kind;
  std::unique_ptr<ExportFile> file;
};

/// Opens `targets`, in the order of writing. Refused if two of them, or one of them and one of the
/// commands' `outputs`, are the same file.
Result<std::vector<OpenExport>> open_exports(std::span<const ExportTarget> targets,
                                             std::span<const std::string> outputs);

}  // namespace lauka::os
