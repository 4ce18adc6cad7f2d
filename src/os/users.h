#pragma once

#include "core/command.h"
#include "core/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

// The system's facts about its users: linux_platform.cc, darwin_platform.cc. Internal to os/.

namespace lauka::os {

struct Account {
  std::string name;
  std::string home;
};

/// Returns nullopt if no user has that id.
std::optional<Account> find_account(std::uint32_t user);

/// Returns the groups of the user called `name`; empty if unknown.
std::vector<std::uint32_t> find_groups(const std::string& name);

/// The calls that change this process's rights: 0, or -1 with errno.
struct IdentityCalls {
  /// Takes the groups of `user`, as many as the system allows.
  int (*join_groups)(const User& user);
  int (*setgroups)(const std::vector<gid_t>& groups);
  int (*setegid)(gid_t group);
  int (*seteuid)(uid_t user);
};

const IdentityCalls& identity_calls();

/// While it lives, files are found, opened and made with the rights of `user` (nullopt: lauka's
/// own), so that root cannot be led into places that the user could not reach. lauka stays root by
/// its real and saved ids.
class ActAs : NonCopyable {
 public:
  explicit ActAs(const std::optional<User>& user, const IdentityCalls& calls = identity_calls());
  ~ActAs();

  /// Why it could not be done; empty: it was.
  const std::string& error() const { return error_; }

 private:
  void give_back() const;

  const IdentityCalls& calls_;
  bool acting_ = false;
  std::string error_;
  gid_t group_ = 0;
  std::vector<gid_t> groups_;
};

/// True if what is at `path` belongs to another than `user` (nullopt: lauka's own).
bool belongs_to_another(const std::string& path, const std::optional<User>& user);

/// True if this process has root's rights.
bool has_root_rights();

/// Returns the user who called sudo, with groups and home; nullopt without sudo, if root is kept,
/// or if root itself called it. Refused if SUDO_UID or SUDO_GID is not a user's.
Result<std::optional<User>> user_behind_sudo(bool keep_root);

}  // namespace lauka::os
