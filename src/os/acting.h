#pragma once

#include "core/user.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lauka::os {

/// While it lives, files are looked for, opened and made with the rights of `user` (none: nothing
/// is changed), so that root's hand is not led into places that the user could not reach. lauka
/// stays root by its real and saved ids.
class ActAs {
 public:
  explicit ActAs(const std::optional<User>& user);
  ActAs(const ActAs&) = delete;
  ActAs& operator=(const ActAs&) = delete;
  ~ActAs();

  /// Why it could not be done; empty: it was.
  const std::string& error() const { return error_; }

 private:
  bool acting_ = false;
  std::string error_;
  std::uint32_t group_ = 0;
  std::vector<std::uint32_t> groups_;
};

}  // namespace lauka::os
