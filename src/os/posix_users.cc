#include "core/numbers.h"
#include "os/files.h"
#include "os/platform.h"
#include "os/users.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <system_error>

#include <grp.h>
#include <unistd.h>

namespace lauka::os {
namespace {

/// setgroups, with as many as the system takes; their number is a size_t on Linux, an int on macOS.
template <typename Count>
int set_all(int (*set)(Count, const gid_t*), const std::vector<gid_t>& groups) {
  const auto most = static_cast<std::size_t>(std::max(sysconf(_SC_NGROUPS_MAX), 0L));
  return set(static_cast<Count>(std::min(groups.size(), most)), groups.data());
}

int set_groups(const std::vector<gid_t>& groups) {
  return set_all(&setgroups, groups);
}

constexpr IdentityCalls kUserCalls{&join_groups_of, &set_groups, &setegid, &seteuid};

std::vector<gid_t> own_groups() {
  const int count = getgroups(0, nullptr);
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(count, 0)));
  const int got = getgroups(count, groups.data());
  groups.resize(static_cast<std::size_t>(std::max(got, 0)));
  return groups;
}

/// Reads a variable of sudo's.
std::string left_by_sudo(const char* name) {
  return variable(name).value_or("");
}

Result<std::uint32_t> id_of(const char* name) {
  const std::string text = left_by_sudo(name);
  // The highest one means "no change" to the system.
  const auto id = parse_whole_number(text, 0, std::numeric_limits<std::uint32_t>::max() - 1);
  if (id) return static_cast<std::uint32_t>(*id);
  return Error{std::string(name) + "='" + text +
                   "' is not a user id, so the user who called sudo " + "is not known",
               "use --as-root to run the commands as root"};
}

}  // namespace

const IdentityCalls& identity_calls() {
  return kUserCalls;
}

ActAs::ActAs(const std::optional<User>& user, const IdentityCalls& calls)
    : calls_(calls), group_(getegid()) {
  if (!user) return;
  errno = EPERM;
  if (geteuid() == 0) {
    groups_ = own_groups();
    acting_ = calls_.join_groups_of(*user) == 0 && calls_.setegid(user->group) == 0 &&
              calls_.seteuid(user->id) == 0;
  }
  if (acting_) return;
  const int why = errno;
  if (geteuid() == 0) give_back();
  error_ =
      "lauka cannot act as the user " + user->name + ": " + std::generic_category().message(why);
}

ActAs::~ActAs() {
  if (acting_) give_back();
}

/// Continuing with the wrong user's rights would be worse than ending.
void ActAs::give_back() const {
  if (calls_.seteuid(0) == 0 && calls_.setegid(group_) == 0 && calls_.setgroups(groups_) == 0)
    return;
  std::perror("lauka: cannot become root again");
  _exit(1);
}

bool has_root_rights() {
  return geteuid() == 0;
}

Result<std::optional<User>> user_behind_sudo(bool keep_root) {
  if (keep_root || geteuid() != 0 || left_by_sudo("SUDO_UID").empty()) return std::optional<User>{};
  const auto id = id_of("SUDO_UID");
  if (!id) return id.error();
  if (*id == 0) return std::optional<User>{};
  const auto group = id_of("SUDO_GID");
  if (!group) return group.error();
  User user{*id, *group, {}, left_by_sudo("SUDO_USER"), "/"};
  if (user.name.empty()) user.name = std::to_string(*id);
  if (const auto account = account_of(*id)) {
    user.name = account->name;
    user.home = account->home;
    user.groups = groups_of(user.name);
  }
  std::erase(user.groups, *group);
  user.groups.insert(user.groups.begin(), *group);
  return std::optional<User>{std::move(user)};
}

}  // namespace lauka::os
