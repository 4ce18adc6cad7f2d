#include "os/users.h"

#include "core/numbers.h"
#include "core/program_name.h"
#include "os/files.h"
#include "os/platform.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <system_error>
#include <utility>

#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lauka::os {

namespace {

/// `Count` is size_t on Linux, int on macOS.
template <typename Count>
int set_first_groups(int (*set)(Count, const gid_t*), const std::vector<gid_t>& groups) {
  const auto most = static_cast<std::size_t>(std::max(sysconf(_SC_NGROUPS_MAX), 0L));
  return set(static_cast<Count>(std::min(groups.size(), most)), groups.data());
}

int set_groups(const std::vector<gid_t>& groups) {
  return set_first_groups(&setgroups, groups);
}

std::vector<gid_t> own_groups() {
  const int count = getgroups(0, nullptr);
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(count, 0)));
  const int got = getgroups(count, groups.data());
  groups.resize(static_cast<std::size_t>(std::max(got, 0)));
  return groups;
}

Result<std::uint32_t> read_id(const char* name) {
  const std::string text = read_variable(name).value_or("");
  // The highest id means "no change" to the system.
  const auto id = parse_whole_number(text, 0, std::numeric_limits<std::uint32_t>::max() - 1);
  if (id) return static_cast<std::uint32_t>(*id);
  return Error{std::string(name) + "='" + text +
                   "' is not a user ID, so lauka does not know who called sudo",
               "use --as-root to run the commands as root"};
}

}  // namespace

const IdentityCalls& identity_calls() {
  static constexpr IdentityCalls kUserCalls{&join_groups, &set_groups, &setegid, &seteuid};
  return kUserCalls;
}

ActAs::ActAs(const std::optional<User>& user, const IdentityCalls& calls)
    : calls_(calls), original_group_(getegid()) {
  if (!user) return;
  errno = EPERM;
  if (geteuid() == 0) {
    original_groups_ = own_groups();
    acting_ = calls_.join_groups(*user) == 0 && calls_.setegid(user->group) == 0 &&
              calls_.seteuid(user->id) == 0;
  }
  if (acting_) return;
  const int error_number = errno;
  if (geteuid() == 0) give_back();
  error_ = Error{"lauka cannot act as the user " + user->name + ": " +
                     std::generic_category().message(error_number),
                 "use --as-root to keep root's rights"};
}

ActAs::~ActAs() {
  if (acting_) give_back();
}

/// Restores root's rights. Ends lauka if that fails.
void ActAs::give_back() const {
  if (calls_.seteuid(0) == 0 && calls_.setegid(original_group_) == 0 &&
      calls_.setgroups(original_groups_) == 0)
    return;
  std::perror((program_name() + ": cannot become root again").c_str());
  _exit(1);
}

bool belongs_to_another(const std::string& path, const std::optional<User>& user) {
  struct stat there {};
  return lstat(path.c_str(), &there) == 0 && there.st_uid != (user ? user->id : geteuid());
}

bool has_root_rights() {
  return geteuid() == 0;
}

Result<std::optional<User>> user_behind_sudo(bool keep_root) {
  if (keep_root || geteuid() != 0 || read_variable("SUDO_UID").value_or("").empty())
    return std::optional<User>{};
  const auto id = read_id("SUDO_UID");
  if (!id) return id.error();
  if (*id == 0) return std::optional<User>{};
  const auto group = read_id("SUDO_GID");
  if (!group) return group.error();
  User user{*id, *group, {}, read_variable("SUDO_USER").value_or(""), "/"};
  if (user.name.empty()) user.name = std::to_string(*id);
  take_account(user);
  std::erase(user.groups, *group);
  user.groups.insert(user.groups.begin(), *group);
  return std::optional<User>{std::move(user)};
}

}  // namespace lauka::os
