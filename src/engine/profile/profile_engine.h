#pragma once

#include "engine/engine.h"
#include "os/linux_calls.h"

#include <chrono>
#include <memory>

namespace lauka::engine::profile {

/// Adds the event sampled_time to an engine: CPU time by function, from samples of the CPU clock in
/// separate runs, on average one sample per `period` of CPU time. Selecting it is an error if runs
/// cannot be sampled. `calls` is null if this is not Linux. `user_only`: without the kernel's part.
std::unique_ptr<CounterEngine> with_profile(std::unique_ptr<CounterEngine> engine,
                                            std::chrono::nanoseconds period, bool user_only,
                                            const os::LinuxCalls* calls);

}  // namespace lauka::engine::profile
