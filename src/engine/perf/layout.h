#pragma once

#include "core/result.h"
#include "engine/perf/counters.h"
#include "os/linux_calls.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lauka::engine::perf {

/// Additional counters that occupy all free counters of a PMU. Needed if some are dead: a dead
/// counter seems to run but counts nothing.
struct Fillers {
  std::size_t leader = 0;
  std::vector<std::size_t> counters{};
  std::size_t dead = 0;  ///< number of the PMU's counters that count nothing

  /// True if at least `dead` fillers counted nothing, so that no event was on a dead counter.
  /// `values`: counts of the fillers, in order; `ns`: nanoseconds for which the group was on.
  bool cover_dead_counters(std::span<const std::uint64_t> values, std::uint64_t ns) const;
};

/// The counters of one pass, in the order in which they are opened. The counters of one PMU form a
/// group, which the kernel schedules as a whole or not at all.
struct Layout {
  std::vector<Counter> counters{};
  std::vector<std::size_t> leaders{};  ///< for each counter, the index of its group's leader
  std::vector<std::size_t> groups{};   ///< for each group, the index of its leader
  std::vector<Fillers> fillers{};
  /// For each event, the indices of the counters whose counts are added.
  std::vector<std::vector<std::size_t>> of_event{};
};

/// Arranges the events `chosen` (indices into `sources`) in one group for each PMU. `witnesses`: a
/// counter for each core kind; empty if there is only one kind. If any event is on cores, a core
/// kind without events gets its witness, so that the times of all kinds add up to the run's.
Layout lay_out(std::span<const Source> sources, std::span<const std::size_t> chosen,
               std::span<const Counter> witnesses);

/// True if the kernel accepts the layout and seems to have enough live counters now. Returns an
/// error if a counter cannot be opened for a reason other than a lack of counters.
Result<bool> fits_at_once(const Layout& layout, const os::LinuxCalls& calls,
                          const PerfConditions& situation);

/// The result of opening one event several times as a group and counting a known loop with it.
struct Trial {
  /// Size of the largest group that the kernel accepts, or `running` if it accepts any size; 0:
  /// unknown.
  std::size_t listed = 0;
  std::size_t running = 0;  ///< size of the largest group that was on all the time; 0 if none was
  /// Number of counters that counted in the largest group that was on all the time.
  std::size_t alive = 0;
  std::size_t usable = 0;  ///< size of the largest group in which all counters counted; 0 if none

  std::size_t dead() const { return running - alive; }
  bool operator==(const Trial&) const = default;
};

/// The counters of a core PMU. On a virtual machine, some may be dead: they seem to run but count
/// nothing.
struct PmuCounters {
  std::string pmu{};
  Trial trial{};  ///< result for the event instructions

  /// Result for an event without a counter of its own; set only if `trial` has dead counters.
  Trial general{};
  bool own_cycles = false;  ///< true if a counter is known to count only cycles
  bool own_instructions = false;
  Counter filler{};

  bool has_dead() const { return general.dead() > 0; }
};

/// Tries the counters of each core PMU; empty if instructions cannot be counted. If there are
/// several PMUs, binds this thread to the CPUs of each in turn, and leaves out a PMU on whose CPUs
/// it may not run.
std::vector<PmuCounters> try_pmus(const Prober& prober);

/// True if enough counters for the layout really count. Checks only PMUs with dead counters.
bool has_room(const Layout& layout, std::span<const PmuCounters> pmus);

/// Adds fillers to the layout's groups on PMUs with dead counters; has_room must be true.
void fill_up(Layout& layout, std::span<const PmuCounters> pmus);

/// Returns an error if counters in `now` cannot be used, or have died since `before`, an earlier
/// trial in the session. Ignores one counter of each PMU while the NMI watchdog is on.
std::optional<Error> find_lost_counters(std::span<const PmuCounters> now,
                                        const PerfConditions& situation_now,
                                        std::span<const PmuCounters> before,
                                        const PerfConditions& situation_before);

}  // namespace lauka::engine::perf
