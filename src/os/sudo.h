#pragma once

#include "core/result.h"
#include "core/user.h"

#include <optional>

namespace lauka::os {

/// The user who called sudo, with that user's groups and home; none where root is to be kept, where
/// lauka is not root or was not started by sudo, and where root itself called it. Refused where
/// what sudo left behind (SUDO_UID, SUDO_GID) is no user.
Result<std::optional<User>> user_behind_sudo(bool keep_root);

}  // namespace lauka::os
