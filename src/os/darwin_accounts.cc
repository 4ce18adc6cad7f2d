#include "os/users.h"

#include <array>

#include <pwd.h>
#include <unistd.h>

namespace lauka::os {
namespace {

constexpr int kMostGroups = 1024;

}  // namespace

std::optional<Account> account_of(std::uint32_t user) {
  const passwd* entry = getpwuid(user);
  if (entry == nullptr) return std::nullopt;
  return Account{entry->pw_name, entry->pw_dir};
}

std::vector<std::uint32_t> groups_of(const std::string& name) {
  const passwd* entry = getpwnam(name.c_str());
  if (entry == nullptr) return {};
  std::array<int, kMostGroups> groups{};
  int count = kMostGroups;
  if (getgrouplist(name.c_str(), static_cast<int>(entry->pw_gid), groups.data(), &count) < 0)
    return {};
  return {groups.begin(), groups.begin() + count};
}

}  // namespace lauka::os
