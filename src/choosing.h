#pragma once

#include "cli/options.h"
#include "core/core_kind.h"
#include "core/observer.h"
#include "core/result.h"
#include "core/user.h"
#include "cores/cores.h"
#include "engine/choose.h"
#include "os/process.h"
#include "plan/plan.h"

#include <memory>
#include <optional>

namespace lauka {

// Part of main: what the options choose.

/// The engine that the options ask for. An inquiry takes nothing of the system. `kinds`: how the
/// kinds of core are called here. `user`: whom the commands are run as, where that is not lauka's
/// own.
Result<engine::Chosen> choose_engine(const Options& options, const CoreKinds& kinds,
                                     const std::optional<User>& user, os::Launcher& launcher);

/// What is asked of the kinds of core. What a question that runs nothing does not ask for is not
/// refused.
cores::Wanted wanted_cores(const Options& options);

/// Who is told how far the session is: the progress bar, or nobody.
std::unique_ptr<Observer> choose_observer(const Options& options, const Plan& plan);

}  // namespace lauka
