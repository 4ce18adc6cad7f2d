#pragma once

#include "core/result.h"
#include "os/descriptor.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace lauka::os {

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

}  // namespace lauka::os
