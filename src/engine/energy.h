#pragma once

#include "engine/engine.h"
#include "os/linux_calls.h"

#include <memory>

namespace lauka::engine {

/// An engine around another that adds what the power PMU of Linux (RAPL) tells: energy-pkg,
/// energy-cores and what else it has. That counts for whole processor packages, whoever uses them,
/// in runs of its own. `calls` null: this system has none, and nothing is added.
std::unique_ptr<CounterEngine> with_energy(std::unique_ptr<CounterEngine> engine,
                                           const os::LinuxCalls* calls);

}  // namespace lauka::engine
