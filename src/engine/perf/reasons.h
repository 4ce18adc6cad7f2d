#pragma once

#include "core/result.h"
#include "os/linux_calls.h"
#include "os/sysfs.h"

#include <cstddef>
#include <optional>
#include <string_view>

namespace lauka::engine::perf {

/// What decides why a counter cannot be had.
struct Situation {
  std::optional<int> paranoid{};  ///< kernel.perf_event_paranoid; none: no such setting
  bool has_core_pmu = false;
  bool watchdog = false;  ///< the NMI watchdog holds a counter

  bool operator==(const Situation&) const = default;
};

/// Reads it from the system.
Situation situation_of(const os::LinuxCalls& calls);

/// What was asked of perf_event_open.
struct Asked {
  bool core = false;            ///< a counter of the cores, not of the kernel
  bool kernel_excluded = true;  ///< user space only
};

/// Why perf_event_open answered `error` (an errno), and what would help.
Error why_not_opened(int error, const Asked& asked, const Situation& situation);

/// Why a run has no exact count although its counters were there.
Error why_not_all_the_time(const Situation& before, const Situation& now);

/// Who keeps counters from lauka. `of_pmu`: " of cpu_atom", or nothing.
Error why_held(std::size_t held, std::size_t listed, std::string_view of_pmu);

/// Names counters that cannot be used from the first look on; nothing shows who has them.
Error why_fewer(std::size_t running, std::size_t listed, std::string_view of_pmu);

/// Counters that counted before and do so no more.
Error why_died(std::size_t died, std::size_t listed, std::string_view of_pmu);

/// Why a run was not counted whose events were on dead counters.
Error why_on_dead_ones();

/// Why there are no counts of a region.
Error why_not_switched();

/// Why a run's counters stopped at exec.
Error why_lost();

}  // namespace lauka::engine::perf
