#pragma once

#include "os/darwin_calls.h"
#include "os/process.h"

#include <memory>

namespace lauka::os {

/// The launcher of macOS: runs are started by lauka's own process, with posix_spawn. To be called
/// first in main, before anything changes lauka's signals. What Linux needs a process of its own
/// for, macOS does not: a spawned process does not inherit lauka's size, the kernel's totals of a
/// run are the run's alone, and wall time ends when the kernel tells of the end. A run is spawned
/// suspended, so that counters know it before it has run anything; it belongs to a process group of
/// its own. `calls` outlives the launcher.
Result<std::unique_ptr<Launcher>> start_spawning_launcher(const DarwinCalls& calls);

}  // namespace lauka::os
