#pragma once

#include "core/command.h"
#include "core/result.h"

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace lauka::os {

/// Sets the name, home folder and groups of `user` from the account `user.id`. Changes nothing if
/// the account does not exist.
void take_account(User& user);

/// Calls that change this process's rights. Each returns 0, or -1 with errno.
struct IdentityCalls {
  /// Joins the groups of `user` (macOS: as many as the system allows).
  int (*join_groups)(const User& user);
  int (*setgroups)(const std::vector<gid_t>& groups);
  int (*setegid)(gid_t group);
  int (*seteuid)(uid_t user);
};

const IdentityCalls& identity_calls();

/// While an object exists, lauka uses files with the rights of `user` (nullopt: lauka's own
/// rights), so that no link can lead root to a file that the user cannot use.
class ActAs : NonCopyable {
 public:
  explicit ActAs(const std::optional<User>& user, const IdentityCalls& calls = identity_calls());
  ~ActAs();

  /// Returns why the rights could not be changed; nullopt if there was no error.
  const std::optional<Error>& error() const { return error_; }

 private:
  void give_back() const;

  const IdentityCalls& calls_;
  bool acting_ = false;
  std::optional<Error> error_;
  gid_t original_group_ = 0;
  std::vector<gid_t> original_groups_;
};

/// True if `path` exists and belongs to another user than `user` (nullopt: the user of lauka). For
/// a symbolic link, the owner of the link counts.
bool belongs_to_another(const std::string& path, const std::optional<User>& user);

bool has_root_rights();

/// Returns the user who called sudo, with groups and home folder; nullopt without sudo or root's
/// rights, if `keep_root`, or if root called sudo. Refuses an invalid SUDO_UID or SUDO_GID.
Result<std::optional<User>> user_behind_sudo(bool keep_root);

}  // namespace lauka::os
