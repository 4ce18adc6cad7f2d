#pragma once

#include "core/choices.h"
#include "core/result.h"
#include "os/descriptor.h"
#include "os/platform.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lauka::os {

struct FileCalls {
  /// Opens a file without a name on the file system of `folder`. Returns -1 with errno on failure.
  int (*open_unnamed)(const char* folder);
  /// Gives an unnamed file the name `path`. Returns -1 with errno on failure.
  int (*name_unnamed_file)(int fd, const char* path);
  ssize_t (*write)(int fd, const void* bytes, std::size_t count);
  int (*close)(int fd);
  int (*rename)(const char* from, const char* to);
  bool (*is_mount_point)(const char* path);
};

const FileCalls& file_calls();

/// A file for an export. If possible, the bytes go to a temporary file first, so that the target
/// keeps its old contents until the new contents are complete.
class ExportFile : NonCopyable {
 public:
  /// Prepares writing to `target` ("-": standard output), without changing the target. Refuses a
  /// target that cannot be written.
  static Result<std::unique_ptr<ExportFile>> open(const std::string& target,
                                                  const FileCalls& calls = file_calls());

  ~ExportFile() { discard(); }

  /// Returns a message if the target is a regular file that must be overwritten in place, because
  /// lauka cannot replace the file; else empty.
  const std::string& note() const { return note_; }

  void write(std::string_view bytes);

  /// Completes the target. If a complete temporary file cannot take the target's place, saves the
  /// temporary file under another name if possible; the error then gives this name.
  Result<void> commit();

 private:
  ExportFile(std::string target, const FileCalls& calls)
      : calls_(calls), target_(std::move(target)) {}

  static Result<std::unique_ptr<ExportFile>> open_inherited(const std::string& target,
                                                            int descriptor, const FileCalls& calls);
  Result<void> open_path(const std::string& target);
  Result<void> prepare_replacing(const std::string& target, const struct stat& old_file);
  int adopt_duplicate_of(int descriptor);
  void open_temporary();
  void flush();
  int find_error_at_close() const;
  Error make_target_error(int error) const;
  bool overwrite_target();
  bool rename_to_target();
  void discard();
  Result<void> save_elsewhere(int error);

  const FileCalls& calls_;
  std::string target_;
  Descriptor file_;
  bool is_temporary_ = false;
  std::string temporary_{};
  Descriptor target_descriptor_{};
  std::string note_{};
  std::string waiting_{};
  int error_ = 0;
};

struct OpenExport {
  ExportTarget target;
  std::unique_ptr<ExportFile> file;
};

/// Opens `targets`, and returns them in the order of ExportKind. Refuses a target whose path is
/// also the path of another target or of one of the commands' output files `outputs`.
Result<std::vector<OpenExport>> open_exports(std::span<const ExportTarget> targets,
                                             std::span<const std::string> outputs);

}  // namespace lauka::os
