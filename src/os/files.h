#pragma once

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

/// One name for a file, whatever it was called: absolute, without links, also where it is not there
/// yet.
struct ResolvedPath {
  std::string path;
  /// A link on the way that somebody else made in a sticky folder open to all, where anybody may
  /// have laid it out; empty: none.
  std::string foreign_link{};
};
ResolvedPath resolve(const std::string& path);

/// All of a file of at most `most_bytes`, of a device at most 1 MiB. The error is a predicate of
/// the file ("cannot be read: No such file or directory").
Result<std::string> read_file(const std::string& path, std::size_t most_bytes);

/// That a system call failed with `error`: `what`, a colon and the system's words.
Error system_error(std::string what, int error, std::string remedy = "");

/// That `target` cannot be written, and why.
Error cannot_write(const std::string& target, int error,
                   const std::string& remedy = "name another file");

/// That `target` is not written, as ResolvedPath::foreign_link stands on its way.
Error cannot_follow(const std::string& target, const std::string& foreign_link);

/// Whether anything is at `path`.
bool is_there(const std::string& path);

/// Whether a file with contents of its own is there: no folder, pipe or device.
bool is_regular_file(const std::string& path);

/// Refuses a file that commands could not read as their input, or could not write their output to;
/// nothing is changed.
Result<void> check_input(const std::string& path);
Result<void> check_output(const std::string& path);

/// Refuses a folder that commands could not be run in.
Result<void> check_folder(const std::string& path);

/// Writes all of `text` to standard output or error. The error says why it cannot be written.
Result<void> say(Stream stream, std::string_view text);

/// False: it is a pipe whose reader has gone.
bool has_reader(Stream stream);

/// A variable of lauka's own environment; none: it is not set.
std::optional<std::string> variable(const char* name);

/// A text that is not held in lauka's own memory.
class TextFile : NonCopyable {
 public:
  virtual ~TextFile() = default;

  virtual std::uint64_t bytes() const = 0;

  /// A part of it, as many bytes as there are.
  virtual std::size_t read(std::uint64_t from, std::span<char> into) const = 0;

  /// Adds to its end. False: there is no room for it.
  virtual bool append(std::string_view bytes) = 0;
};

/// Where such texts come from.
class TextFiles : NonCopyable {
 public:
  virtual ~TextFiles() = default;

  /// A file that is there, to be read. The error is a predicate ("cannot be read: ...").
  virtual Result<std::unique_ptr<TextFile>> open(const std::string& path) = 0;

  /// A new one without a name, empty.
  virtual Result<std::unique_ptr<TextFile>> make() = 0;
};

/// Files are opened with the rights of `user`, where there is one.
std::unique_ptr<TextFiles> text_files(const std::optional<User>& user);

/// Files that runs are told the names of and may append to, each its own. They are not there until
/// a run writes to them.
class ToldFiles : NonCopyable {
 public:
  /// What runs wrote to one of them.
  struct Told {
    std::size_t place = 0;  ///< of the run in its batch
    std::string text{};
    bool is_whole = true;  ///< false: it is no file, or larger than 1 MB
  };

  virtual ~ToldFiles() = default;

  /// That of the run at `place` of a batch; all are equally long, as the size of an environment
  /// shifts times.
  virtual std::string path(std::size_t place) const = 0;

  /// What the runs of the latest batch wrote; no file is there afterwards.
  virtual std::vector<Told> take() = 0;
};

/// In a folder of their own, which belongs to `user` where there is one.
Result<std::unique_ptr<ToldFiles>> open_told_files(const std::optional<User>& user);

/// A folder of this process's own for the files of another program, below TMPDIR (default: in
/// memory, else in /tmp); nobody else may look into it, and it goes with all that is in it. Where
/// the process is killed before that, the next one that makes such a folder removes it, unless
/// anybody may rename folders there. It is held open: a link that somebody puts in its place is
/// neither read nor emptied.
class PrivateFolder {
 public:
  /// Of `user`, where there is one, as the program that writes into it.
  static Result<PrivateFolder> create(const std::optional<User>& user = std::nullopt);

  PrivateFolder(PrivateFolder&& other) noexcept;
  PrivateFolder& operator=(PrivateFolder&& other) noexcept;
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder();

  /// Absolute.
  const std::string& path() const { return path_; }

  /// The names of the files in it, sorted; none where it cannot be read.
  std::vector<std::string> names() const;

  /// Opens one of them, never through a link and without waiting for the other end of a pipe; none
  /// with errno where it cannot be.
  Descriptor open_file(const std::string& name) const;

  /// What is in one of them.
  Result<std::string> read(const std::string& name) const;

  /// Removes the files in it.
  void clear() const;

 private:
  PrivateFolder(std::string path, Descriptor lock, std::optional<User> user)
      : path_(std::move(path)), lock_(std::move(lock)), user_(std::move(user)) {}

  std::string path_;  ///< empty: given to another one
  Descriptor lock_;   ///< held while the folder is in use
  std::optional<User> user_;
};

/// A file of lines that is only ever added to: what was added is in it when this process is killed,
/// and but for the last second when the machine is switched off.
class AppendLog {
 public:
  /// Opens `path`, made where it is not there, and reads what is in it. Refused: a link, what is no
  /// regular file, what does not belong to the effective user or has another name, and one that
  /// another process has open so.
  static Result<std::unique_ptr<AppendLog>> open(const std::string& path, std::size_t most_bytes);

  /// Reads what is in `path`, with the same refusals; empty if it is not there.
  static Result<std::string> read(const std::string& path, std::size_t most_bytes);

  /// Whether a log may stand beside `target`: not beside a device or a pipe.
  static bool may_stand_beside(const std::string& target);

  AppendLog(Descriptor file, std::string path, std::string text)
      : file_(std::move(file)), path_(std::move(path)), text_(std::move(text)) {}

  /// What was there when it was opened.
  const std::string& text() const { return text_; }

  /// Leaves the first `bytes` only.
  Result<void> cut(std::size_t bytes);

  /// Adds a line. What cannot be written, as on a full disk, waits for the next line or flush().
  void append(std::string_view line);

  /// Writes what waits; false if it still cannot be written.
  bool flush();

  /// Removes the file.
  void remove();

 private:
  Descriptor file_;
  std::string path_;
  std::string text_;
  std::chrono::nanoseconds synced_{};
  std::string waiting_{};
};

bool is_terminal(Stream stream);

/// Columns of the terminal; `otherwise` where it is none or does not say.
std::size_t terminal_width(Stream stream, std::size_t otherwise);

/// Whether something may be drawn and erased there: a terminal that can, and no NO_COLOR.
bool wants_drawing(Stream stream);

/// Whether the locale's characters are UTF-8: LC_ALL, else LC_CTYPE, else LANG names another
/// charset (or C, which is ASCII) where they are not. Where none of them is set, they most likely
/// are.
bool speaks_utf8();

/// Whether colours are wanted where the user did not say: NO_COLOR, then CLICOLOR_FORCE, then
/// whether it is a terminal that can (TERM is not "dumb").
bool wants_color(Stream stream);

}  // namespace lauka::os
