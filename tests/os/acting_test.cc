#include "os/users.h"
#include "skip.h"

#include <algorithm>
#include <cerrno>
#include <vector>

#include <doctest/doctest.h>

#include <unistd.h>

namespace lauka::os {
namespace {

// A table of calls has plain functions, so globals decide what they refuse.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
int refused = 0;  // which of the calls, counted from 1; 0: no call
int refused_with = 0;
int calls_made = 0;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

template <typename... Arguments>
int unless_refused(int (*call)(Arguments...), Arguments... arguments) {
  if (++calls_made != refused) return call(arguments...);
  errno = refused_with;
  return -1;
}

constexpr IdentityCalls kRefusing{
    [](const User& user) {
      return ++calls_made == refused ? (errno = refused_with, -1)
                                     : identity_calls().join_groups(user);
    },
    [](const std::vector<gid_t>& groups) {
      return ++calls_made == refused ? (errno = refused_with, -1)
                                     : identity_calls().setgroups(groups);
    },
    [](gid_t group) { return unless_refused(identity_calls().setegid, group); },
    [](uid_t user) { return unless_refused(identity_calls().seteuid, user); },
};

std::vector<gid_t> rights() {
  std::vector<gid_t> all(static_cast<std::size_t>(std::max(getgroups(0, nullptr), 0)));
  getgroups(static_cast<int>(all.size()), all.data());
  all.push_back(geteuid());
  all.push_back(getegid());
  return all;
}

}  // namespace

TEST_CASE(
    "who acts as a user, and is refused half-way, is root again with root's groups (needs root)") {
  if (geteuid() != 0) return skip("only root can become another user");
  const User user{54321, 54322, {54322, 7}, "somebody", "/nowhere"};
  const std::vector<gid_t> before = rights();
  for (const int error : {EPERM, EINVAL, ENOMEM, EAGAIN}) {
    for (refused = 0; refused <= 3; ++refused) {
      CAPTURE(refused);
      calls_made = 0;
      refused_with = error;
      {
        const ActAs acting(user, kRefusing);
        CHECK(acting.error().has_value() == (refused != 0));
        CHECK(geteuid() == (refused == 0 ? 54321 : 0));
        CHECK((refused == 0 || rights() == before));
      }
      CHECK(rights() == before);
    }
  }
}

}  // namespace lauka::os
