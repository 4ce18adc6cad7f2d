#pragma once

#include "core/choices.h"
#include "core/result.h"
#include "os/descriptor.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lauka::os {

/// The system calls that exports are made with.
struct FileCalls {
  /// Opens an unnamed file that `name` can name later, for reading and writing; -1 if the folder's
  /// file system has no such files. A killed lauka leaves nothing of it.
  int (*open_unnamed)(const char* folder);
  /// 0; -1 with EEXIST where something has that name.
  int (*name)(int fd, const char* path);
  ssize_t (*write)(int fd, const void* bytes, std::size_t count);
  int (*close)(int fd);
  int (*rename)(const char* from, const char* to);
  /// Something is mounted on it, so that no other file can take its name.
  bool (*is_mount_point)(const char* path);
};

const FileCalls& file_calls();

/// A file that is written whole or not at all: the old contents stay until the new ones are
/// complete.
class ExportFile : NonCopyable {
 public:
  /// Makes a temporary file next to `target`, and removes those of a killed lauka. "-" is standard
  /// output; that and other special files (/dev/null) are written directly. Refuses a target that
  /// cannot be written, or is reached through another user's link in a folder open to all; nothing
  /// is changed yet.
  static Result<std::unique_ptr<ExportFile>> open(const std::string& target,
                                                  const FileCalls& calls = file_calls());

  ~ExportFile() { discard(); }

  /// Returns why no other file can replace the target, so that its bytes will be replaced instead,
  /// as a line for the user; empty if one can.
  const std::string& note() const { return note_; }

  /// Adds `bytes`. Failures are reported by commit.
  void write(std::string_view bytes);

  /// Puts the file in its place. An error names the target, and where a complete file is kept that
  /// could not get there; an incomplete one is removed, to free its space.
  Result<void> commit();

 private:
  ExportFile(std::string target, const FileCalls& calls)
      : calls_(calls), target_(std::move(target)) {}

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
  std::string temporary_{};  ///< its name; empty if it has none
  Descriptor place_{};       ///< the target itself, if only its bytes can be replaced
  std::string note_{};
  std::string waiting_{};  ///< bytes to write; there are many small pieces
  int error_ = 0;          ///< errno of the first write that failed
};

/// An export that can be written.
struct OpenExport {
  ExportKind kind;
  std::unique_ptr<ExportFile> file;
};

/// Opens `targets`, in the order of writing. Refused if two of them, or one and one of the
/// `outputs` of commands, are the same file.
Result<std::vector<OpenExport>> open_exports(std::span<const ExportTarget> targets,
                                             std::span<const std::string> outputs);

}  // namespace lauka::os
