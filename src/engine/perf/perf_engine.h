#pragma once

#include "core/machine.h"
#include "core/result.h"
#include "engine/engine.h"
#include "os/linux_calls.h"

#include <memory>
#include <vector>

namespace lauka::engine::perf {

/// Whether this kernel counts anything at all for this user: the reason where it does not.
Result<void> can_count(const os::LinuxCalls& calls);

/// Whether this kernel has perf_event_open.
bool is_there(const os::LinuxCalls& calls);

/// The counters of the cores, tried; none where there are none.
std::vector<CounterFacts> counters_here(const os::LinuxCalls& calls, bool user_only);

/// Counts with Linux' perf_event_open. `calls` has to outlive it.
/// `kinds`: how the kinds of core are called; those that are not there go by their PMU's name.
std::unique_ptr<CounterEngine> make_perf_engine(const os::LinuxCalls& calls, bool user_only,
                                                CoreKinds kinds = {});

}  // namespace lauka::engine::perf
