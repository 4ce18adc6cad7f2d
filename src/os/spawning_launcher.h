#pragma once

#include "core/result.h"
#include "os/darwin_calls.h"
#include "os/process.h"

#include <memory>

namespace lauka::os {

/// Starts the launcher of macOS, which calls posix_spawn in lauka's own process. Must be called
/// before lauka changes its signals. `calls` must outlive the launcher.
Result<std::unique_ptr<Launcher>> start_spawning_launcher(const DarwinCalls& calls);

}  // namespace lauka::os
