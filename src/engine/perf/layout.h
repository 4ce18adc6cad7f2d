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

/// Additional events in a PMU's group that occupy all free counters of the PMU. Needed if the PMU
/// has dead counters, which seem to run but count nothing.
struct Fillers {
  std::size_t leader = 0;
  std::vector<std::size_t> counters{};
  std::size_t dead_counters_to_cover = 0;

  /// True if at least `dead_counters_to_cover` fillers counted almost nothing, so that no other
  /// event was on a dead counter. `values`: counts of the fillers; `ns`: nanoseconds for which the
  /// group ran.
  bool have_covered_dead_counters(std::span<const std::uint64_t> values, std::uint64_t ns) const;
};

/// The counters of one pass, in the order in which they are opened. The counters of one PMU form a
/// group, which the kernel schedules as a whole or not at all.
struct CounterGroups {
  std::vector<Counter> counters{};
  /// Index of the leader of each counter's group.
  std::vector<std::size_t> leader_of_counter{};
  std::vector<std::size_t> group_leaders{};  ///< index of the leader of each group
  std::vector<Fillers> fillers{};
  /// Indices of the counters whose counts are added, for each chosen event; empty for an
  /// accounted event.
  std::vector<std::vector<std::size_t>> counters_by_event{};
};

/// Returns the counters of the chosen events, in one group for each PMU. `witnesses`: counters of
/// cycles, one for each kind of cores, which show how long a run was on each kind; may be empty. If
/// any chosen event is on cores, adds the witnesses of PMUs without a chosen event.
CounterGroups group_counters_by_pmu(std::span<const EventCountSource> sources,
                                    std::span<const std::size_t> chosen_source_indices,
                                    std::span<const Counter> witnesses);

/// True if the kernel accepts the groups, and seems to have room for them now. Returns an error if
/// a counter cannot be opened for a reason other than a lack of room.
Result<bool> fits_at_once(const CounterGroups& groups, const os::LinuxCalls& calls,
                          const PerfConditions& conditions);

/// The result of opening one event several times as a group and counting a known loop with it.
struct CounterTrial {
  /// Size of the largest group that the kernel accepts; `running_group_size` if the kernel accepts
  /// every tried group.
  std::size_t accepted_size = 0;
  /// Size of the largest group that ran all the time; 0: none ran.
  std::size_t running_group_size = 0;
  /// Number of counters that really counted in the largest group that ran all the time.
  std::size_t live_counters = 0;
  /// Size of the largest group in which all counters counted; 0: none.
  std::size_t usable_size = 0;

  std::size_t dead_counter_count() const { return running_group_size - live_counters; }
  bool operator==(const CounterTrial&) const = default;
};

/// The counters of a core PMU, some of which may be dead on a virtual machine.
struct PmuCounters {
  std::string pmu{};
  CounterTrial instructions_trial{};  ///< result for the event instructions

  /// Result for branches (for instructions, if branches cannot be counted); all zeros unless
  /// `instructions_trial` has dead counters.
  CounterTrial branches_trial{};
  bool has_own_cycles_counter = false;  ///< true if cycles are known to have a counter of their own
  bool has_own_instructions_counter = false;
  Counter filler{};

  bool has_dead() const { return branches_trial.dead_counter_count() > 0; }
};

/// Tries the counters of each core PMU; empty if instructions cannot be counted. If there are
/// several PMUs, binds this thread to the CPUs of each PMU in turn, and leaves out a PMU if the
/// binding fails.
std::vector<PmuCounters> try_pmus(const Prober& prober);

/// True if enough counters for the groups really count. Checks only PMUs with dead counters.
bool has_room(const CounterGroups& groups, std::span<const PmuCounters> pmus);

/// Adds fillers to the groups on PMUs with dead counters.
void add_fillers(CounterGroups& groups, std::span<const PmuCounters> pmus);

/// Returns an error if counters in `now` do not run although the kernel accepts them, or died since
/// the earlier trial `before`. While the NMI watchdog is on, one counter of each PMU may be
/// unusable.
std::optional<Error> find_lost_counters(std::span<const PmuCounters> now,
                                        const PerfConditions& conditions_now,
                                        std::span<const PmuCounters> before,
                                        const PerfConditions& conditions_before);

}  // namespace lauka::engine::perf
