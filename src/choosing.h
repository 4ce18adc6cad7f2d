#pragma once

#include "cli/options.h"
#include "core/core_kind.h"
#include "core/result.h"
#include "core/user.h"
#include "engine/choose.h"
#include "os/process.h"

#include <optional>

namespace lauka {

/// The engine that the options ask for. An inquiry takes nothing of the system. `kinds`: how the
/// kinds of core are called here. `user`: whom the commands are run as, where that is not lauka's
/// own.
Result<engine::Chosen> choose_engine(const Options& options, const CoreKinds& kinds,
                                     const std::optional<User>& user, os::Launcher& launcher);

}  // namespace lauka
