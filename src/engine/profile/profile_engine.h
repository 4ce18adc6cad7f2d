#pragma once

#include "engine/engine.h"
#include "os/linux_calls.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace lauka::engine::profile {

/// Adds the event sampled_time to an engine: CPU time by function, from samples in separate runs,
/// on average one sample per `period` of CPU time. A selection may also name
/// "sampled_time@FUNCTION". Samples are taken by cycles, or by the CPU clock if cycles cannot be
/// sampled. Selecting is an error if runs cannot be sampled at all. `calls` is null if this is not
/// Linux. `user_only`: without the kernel's part. `user`: user whose rights open the files with
/// symbols; nullopt: lauka's own.
std::unique_ptr<CounterEngine> with_profile(std::unique_ptr<CounterEngine> engine,
                                            std::chrono::nanoseconds period, bool user_only,
                                            const std::optional<User>& user,
                                            const os::LinuxCalls* calls);

/// Returns what would be sampled here ("the CPU clock"), or why nothing can be.
Result<std::string> try_profile(bool user_only, const os::LinuxCalls* calls);

}  // namespace lauka::engine::profile
