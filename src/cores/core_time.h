#pragma once

#include "core/result.h"
#include "cores/cores.h"
#include "engine/engine.h"
#include "os/darwin_calls.h"
#include "os/linux_calls.h"

#include <memory>
#include <optional>

namespace lauka::cores {

/// Why the time by kind of core cannot be measured on this Linux; none where it can.
std::optional<Unavailable> why_no_core_time(const os::LinuxCalls& calls);

/// An engine that counts what `engine` counts and, behind that in each pass, the time that a run
/// that is not simulated spent on each kind of core (EventSet::core_times), exactly and without
/// looking while it goes on. Where the counters of all kinds of core are in use anyway, it is the
/// time that they ran; else a task-clock counter for each CPU of all kinds but the largest, and one
/// for all CPUs, are opened with every run. On macOS it is what the kernel says of the ended
/// command, and what was seen of its descendants. A run that spent too little of its time on the
/// first kind (CoreUse::min_share) is asked to be run again, at most three times. The engine itself
/// where no times are wanted.
std::unique_ptr<engine::CounterEngine> with_core_time(std::unique_ptr<engine::CounterEngine> engine,
                                                      const Decided& decided,
                                                      const os::LinuxCalls* linux,
                                                      const os::DarwinCalls* darwin = nullptr);

}  // namespace lauka::cores
