#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

}  // namespace lauka::os
