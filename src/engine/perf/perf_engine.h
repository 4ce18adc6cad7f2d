#pragma once

#include "core/machine.h"
#include "core/result.h"
#include "engine/engine.h"
#include "os/linux_calls.h"

#include <cstdint>
#include <vector>

namespace lauka::engine::perf {

/// Returns an error if the kernel refuses even a software event in user space only.
Result<void> can_count(const os::LinuxCalls& calls);

bool has_perf_event_open(const os::LinuxCalls& calls);

/// Tries the counters of each core PMU, for --check. Leaves out a PMU that cannot be tried.
std::vector<CounterFacts> counters_here(const os::LinuxCalls& calls, bool user_only);

/// Makes an engine that counts with Linux's perf_event_open. `calls` must outlive the engine.
/// `kinds`: core kinds, whose names are shown in place of their PMUs' names; may be empty.
OwnedEngine make_perf_engine(const os::LinuxCalls& calls, bool user_only, CoreKinds kinds = {});

/// True if counters ran as long as they were enabled. `several_kinds`: true if `running_ns` is a
/// sum over core kinds; the sum may be slightly too small.
bool ran_all_the_time(std::uint64_t running_ns, std::uint64_t enabled_ns, bool several_kinds);

}  // namespace lauka::engine::perf
