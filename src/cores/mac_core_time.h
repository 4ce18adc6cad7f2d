#pragma once

#include "cores/cores.h"
#include "cores/run_poll.h"
#include "engine/engine.h"
#include "os/darwin_calls.h"
#include "os/process.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace lauka::cores {

/// The times of one run by kind of core on macOS.
struct MacTimes {
  LevelTimes ns{};               ///< one per kind; empty: the kernel does not tell
  std::uint64_t unsplit_ns = 0;  ///< of what ended between two looks: the kind is not known
};

/// From what the kernel says of the ended command, which decides, and what was seen of its
/// descendants. `reaped_ns`: CPU time of the command and the descendants it waited for.
MacTimes mac_times(const std::optional<os::KernelTotals>& totals, const Polled& polled,
                   std::uint64_t reaped_ns);

/// As with_core_time of Linux: an engine that adds to each pass of `engine` the times by kind of
/// core, and behind these the time whose kind is not known (CoreUse::has_unsplit).
std::unique_ptr<engine::CounterEngine> with_mac_core_time(
    std::unique_ptr<engine::CounterEngine> engine, const Decided& decided,
    const os::DarwinCalls& calls);

}  // namespace lauka::cores
