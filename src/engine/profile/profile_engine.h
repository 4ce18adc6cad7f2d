#pragma once

#include "engine/engine.h"
#include "os/linux_calls.h"

#include <chrono>
#include <memory>

namespace lauka::engine::profile {

/// Adds the event sampled_time: CPU time with its functions, by samples of the CPU clock in runs of
/// their own, on average one each `period` of CPU time. A selection is refused where runs cannot be
/// sampled. `calls` null: this is not Linux. `user_only`: without the kernel's part.
std::unique_ptr<CounterEngine> with_profile(std::unique_ptr<CounterEngine> engine,
                                            std::chrono::nanoseconds period, bool user_only,
                                            const os::LinuxCalls* calls);

}  // namespace lauka::engine::profile
