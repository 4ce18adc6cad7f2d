#include "os/acting.h"

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include <grp.h>
#include <unistd.h>

namespace lauka::os {
namespace {

/// setgroups; how many there are is a size_t on Linux, an int on macOS.
template <typename Count>
bool set_all(int (*set)(Count, const gid_t*), const std::vector<gid_t>& groups) {
  return set(static_cast<Count>(groups.size()), groups.data()) == 0;
}

}  // namespace

ActAs::ActAs(const std::optional<User>& user) : group_(getegid()) {
  if (!user) return;
  const int count = getgroups(0, nullptr);
  groups_.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  const std::vector<gid_t> wanted(user->groups.begin(), user->groups.end());
  acting_ = geteuid() == 0 && getgroups(count, groups_.data()) == count &&
            set_all(&setgroups, wanted) && setegid(user->group) == 0 && seteuid(user->id) == 0;
  if (acting_) return;
  error_ = "lauka cannot act as the user " + user->name + ": " +
           std::generic_category().message(errno == 0 ? EPERM : errno);
}

ActAs::~ActAs() {
  if (!acting_) return;
  // To go on with another's rights than was meant would be worse than to end.
  if (seteuid(0) != 0 || setegid(group_) != 0 || !set_all(&setgroups, groups_)) std::abort();
}

}  // namespace lauka::os
