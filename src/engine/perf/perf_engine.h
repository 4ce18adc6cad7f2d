#pragma once

#include "core/machine.h"
#include "core/result.h"
#include "engine/engine.h"
#include "os/linux_calls.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace lauka::engine::perf {

/// Checks that the kernel lets this user open a counter for user space.
Result<void> can_count(const os::LinuxCalls& calls);

/// True if the kernel has perf_event_open.
bool is_there(const os::LinuxCalls& calls);

/// Tries the counters of each core PMU, for --check; leaves out a PMU that cannot be tried.
std::vector<CounterFacts> counters_here(const os::LinuxCalls& calls, bool user_only);

/// Makes an engine that counts with Linux's perf_event_open. `calls` must outlive it. `kinds`:
/// names for core kinds; a core kind without a name is shown by its PMU.
std::unique_ptr<CounterEngine> make_perf_engine(const os::LinuxCalls& calls, bool user_only,
                                                CoreKinds kinds = {});

/// True if counters ran as long as they were enabled. `several_kinds`: `running_ns` is a sum over
/// core kinds, which may fall slightly short.
bool held_all_the_time(std::uint64_t running_ns, std::uint64_t enabled_ns, bool several_kinds);

}  // namespace lauka::engine::perf
