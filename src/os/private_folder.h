#pragma once

#include "core/result.h"
#include "core/user.h"
#include "os/descriptor.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lauka::os {

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

}  // namespace lauka::os
