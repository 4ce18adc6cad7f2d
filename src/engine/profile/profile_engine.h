#pragma once

#include "core/command.h"
#include "core/result.h"
#include "engine/engine.h"
#include "os/linux_calls.h"

#include <chrono>
#include <optional>
#include <string>

namespace lauka::engine {

/// Adds the event sampled_time to an engine: CPU time by function, from samples in separate runs,
/// about one sample per `period` of CPU time. The engine also counts "sampled_time@FUNCTION".
/// `user`: user with whose rights files with symbols are opened; nullopt: lauka's own rights.
/// `calls`: null if this is not Linux.
OwnedEngine with_profile(OwnedEngine engine, std::chrono::nanoseconds period, bool user_only,
                         const std::optional<User>& user, const os::LinuxCalls* calls);

/// Returns the clock that --profile would sample here ("the CPU clock"); an error if --profile
/// cannot sample.
Result<std::string> find_profile_clock(bool user_only, const os::LinuxCalls* calls);

}  // namespace lauka::engine
