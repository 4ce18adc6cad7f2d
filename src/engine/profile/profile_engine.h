#pragma once

#include "core/command.h"
#include "core/result.h"
#include "engine/engine.h"
#include "os/linux_calls.h"

#include <chrono>
#include <optional>
#include <string>

namespace lauka::engine {

struct ProfileRequest {
  std::chrono::nanoseconds period = std::chrono::milliseconds(1);  ///< CPU time for each sample
  CallGraphChoice call_graph = CallGraphChoice::FramePointers;
  bool user_only = false;
  /// User with whose rights files with symbols are opened; nullopt: lauka's own rights.
  std::optional<User> user{};
};

/// Adds the event sampled_time to an engine: CPU time by function, from samples in separate runs.
/// The engine also counts "sampled_time@FUNCTION". `calls`: null if this is not Linux.
OwnedEngine with_profile(OwnedEngine engine, const ProfileRequest& request,
                         const os::LinuxCalls* calls);

/// Returns the clock that --profile would sample here ("the CPU clock"); an error if --profile
/// cannot sample.
Result<std::string> find_profile_clock(bool user_only, const os::LinuxCalls* calls);

}  // namespace lauka::engine
