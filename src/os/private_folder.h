#pragma once

#include "core/result.h"

#include <string>
#include <utility>
#include <vector>

namespace lauka::os {

/// A folder of this process's own for the files of another program, below TMPDIR or /tmp; nobody
/// else may look into it, and it goes with all that is in it.
class PrivateFolder {
 public:
  static Result<PrivateFolder> create();

  PrivateFolder(PrivateFolder&& other) noexcept;
  PrivateFolder& operator=(PrivateFolder&& other) noexcept;
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder();

  /// Absolute.
  const std::string& path() const { return path_; }

  /// The names of the files in it, sorted; none where it cannot be read.
  std::vector<std::string> names() const;

  /// What is in one of them.
  Result<std::string> read(const std::string& name) const;

  /// Removes the files in it.
  void clear() const;

 private:
  explicit PrivateFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;  ///< empty: given to another one
};

}  // namespace lauka::os
