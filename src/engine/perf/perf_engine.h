#pragma once

#include "core/machine.h"
#include "core/result.h"
#include "engine/engine.h"
#include "os/linux_calls.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace lauka::engine::perf {

/// Checks that this kernel counts anything at all for this user.
Result<void> can_count(const os::LinuxCalls& calls);

/// True if this kernel has perf_event_open.
bool is_there(const os::LinuxCalls& calls);

/// Tries the counters of the cores, for --check; empty if there are none.
std::vector<CounterFacts> counters_here(const os::LinuxCalls& calls, bool user_only);

/// Counts with Linux' perf_event_open. `calls` must outlive it. `kinds`: how the kinds of core are
/// called; a kind that is not in it goes by its PMU's name.
std::unique_ptr<CounterEngine> make_perf_engine(const os::LinuxCalls& calls, bool user_only,
                                                CoreKinds kinds = {});

/// True if counters of cores held their events all the time. `running_ns`: summed over the kinds of
/// core.
bool held_all_the_time(std::uint64_t running_ns, std::uint64_t enabled_ns, bool several_kinds);

}  // namespace lauka::engine::perf
