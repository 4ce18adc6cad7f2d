#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lauka {

/// The user whom commands are run as, where that is not lauka's own.
struct User {
  std::uint32_t id = 0;
  std::uint32_t group = 0;
  std::vector<std::uint32_t> groups{};  ///< all of them, `group` first
  std::string name{};
  std::string home{};
};

}  // namespace lauka
