#include "core/numbers.h"
#include "os/accounts.h"
#include "os/sudo.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>

#include <unistd.h>

namespace lauka::os {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return value == nullptr ? "" : value;
}

Result<std::uint32_t> id_of(const char* name) {
  const std::string text = variable(name);
  // The highest one means "no change" to the system.
  const auto id = parse_whole_number(text, 0, std::numeric_limits<std::uint32_t>::max() - 1);
  if (id) return static_cast<std::uint32_t>(*id);
  return Error{std::string(name) + "='" + text + "' is no id, so that the user who called sudo " +
                   "is not known",
               "use --as-root to run the commands as root"};
}

}  // namespace

Result<std::optional<User>> user_behind_sudo(bool keep_root) {
  if (keep_root || geteuid() != 0 || variable("SUDO_UID").empty()) return std::optional<User>{};
  const auto id = id_of("SUDO_UID");
  if (!id) return id.error();
  if (*id == 0) return std::optional<User>{};
  const auto group = id_of("SUDO_GID");
  if (!group) return group.error();
  User user{*id, *group, {}, variable("SUDO_USER"), "/"};
  if (user.name.empty()) user.name = std::to_string(*id);
  if (const auto account = account_of(*id)) {
    user.name = account->name;
    user.home = account->home;
    user.groups = groups_of(user.name);
  }
  if (std::find(user.groups.begin(), user.groups.end(), *group) == user.groups.end())
    user.groups.insert(user.groups.begin(), *group);
  return std::optional<User>{std::move(user)};
}

}  // namespace lauka::os
