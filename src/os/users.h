#pragma once

#include "core/command.h"
#include "core/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

// What the system knows of its users: linux_accounts.cc, darwin_accounts.cc. Internal to os/.

namespace lauka::os {

struct Account {
  std::string name;
  std::string home;
};

/// None where nobody has that id.
std::optional<Account> account_of(std::uint32_t user);

/// The groups of the user called `name`; empty where they cannot be told.
std::vector<std::uint32_t> groups_of(const std::string& name);

/// What changes whose rights this process has: 0, or -1 with errno.
struct IdentityCalls {
  /// Takes the groups of `user`, as many as the system allows.
  int (*join_groups_of)(const User& user);
  int (*setgroups)(const std::vector<gid_t>& groups);
  int (*setegid)(gid_t group);
  int (*seteuid)(uid_t user);
};

const IdentityCalls& identity_calls();

/// While it lives, files are looked for, opened and made with the rights of `user` (none: nothing
/// is changed), so that root's hand is not led into places that the user could not reach. lauka
/// stays root by its real and saved ids. Where a part of it is refused, nothing is changed.
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

/// True if this process has root's rights.
bool has_root_rights();

/// The user who called sudo, with that user's groups and home; none where root is to be kept, where
/// lauka is not root or was not started by sudo, and where root itself called it. Refused where
/// what sudo left behind (SUDO_UID, SUDO_GID) is no user.
Result<std::optional<User>> user_behind_sudo(bool keep_root);

}  // namespace lauka::os
