#pragma once

#include "core/machine.h"
#include "core/result.h"
#include "engine/engine.h"
#include "os/linux_calls.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace lauka::engine::perf {

/// Checks that this user may count at least one event with this kernel.
Result<void> can_count(const os::LinuxCalls& calls);

/// True if the kernel has perf_event_open.
bool is_there(const os::LinuxCalls& calls);

/// Returns the counters of each core PMU, for --check; empty if they cannot be tried.
std::vector<CounterFacts> counters_here(const os::LinuxCalls& calls, bool user_only);

/// Makes an engine that counts with Linux's perf_event_open. `calls` must outlive it. `kinds`:
/// names of core kinds; other core kinds are called by their PMU.
std::unique_ptr<CounterEngine> make_perf_engine(const os::LinuxCalls& calls, bool user_only,
                                                CoreKinds kinds = {});

/// True if counters counted for the whole time; with `several_kinds`, over which `running_ns` is
/// summed, if they did so for almost the whole time.
bool held_all_the_time(std::uint64_t running_ns, std::uint64_t enabled_ns, bool several_kinds);

}  // namespace lauka::engine::perf
