#pragma once

#include "core/result.h"
#include "os/descriptor.h"
#include "os/terminal.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace lauka::os {

/// A file that is written whole or not at all: what was there before stays until the new one is
/// complete.
class ExportFile {
 public:
  /// Creates a temporary file beside `target` ("-": standard output; what is not a regular file,
  /// such as /dev/null, is written directly). Refuses a target that cannot be written; nothing is
  /// changed yet.
  static Result<ExportFile> open(const std::string& target);

  ExportFile(ExportFile&& other) noexcept;
  ExportFile& operator=(ExportFile&& other) noexcept;
  ExportFile(const ExportFile&) = delete;
  ExportFile& operator=(const ExportFile&) = delete;
  ~ExportFile();

  /// Writes `bytes` and puts the file in its place. An error names the target.
  Result<void> commit(std::string_view bytes);

 private:
  ExportFile(std::string target, std::string temporary, Descriptor file);

  std::string target_;
  std::string temporary_;  ///< empty: written directly
  Descriptor file_;
};

/// One name for a file, whatever it was called: absolute, without links where it exists.
std::string canonical_path(const std::string& path);

/// All of a file of at most `most_bytes`. The error is a predicate of the file ("cannot be read: No
/// such file or directory").
Result<std::string> read_file(const std::string& path, std::size_t most_bytes);

/// Whether anything is at `path`.
bool is_there(const std::string& path);

/// Refuses a file that commands could not read as their input, or could not write their output to;
/// nothing is changed.
Result<void> check_input(const std::string& path);
Result<void> check_output(const std::string& path);

/// Writes all of `text` to standard output or error. The error says why it cannot be written.
Result<void> say(Stream stream, std::string_view text);

}  // namespace lauka::os
