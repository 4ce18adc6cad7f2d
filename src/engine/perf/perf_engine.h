#pragma once

#include "core/machine.h"
#include "engine/engine.h"
#include "os/linux_calls.h"

#include <vector>

namespace lauka::engine::perf {

/// Tries the counters of each core PMU, for --check. Leaves out a PMU that cannot be tried.
std::vector<CounterFacts> counters_here(const os::LinuxCalls& calls, bool user_only);

/// Makes an engine that counts with Linux's perf_event_open. `calls` must outlive the engine.
/// `kinds`: core kinds, whose names are shown in place of their PMUs' names; may be empty.
OwnedEngine make_perf_engine(const os::LinuxCalls& calls, bool user_only, CoreKinds kinds = {});

}  // namespace lauka::engine::perf
