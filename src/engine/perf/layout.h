#pragma once

// Arrangement of a pass's events on counters.

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

/// Counters without an event. They occupy the free counters of a PMU that has dead counters.
struct Fillers {
  std::size_t leader = 0;  ///< index of the leader of the group that is filled
  std::vector<std::size_t>
      counters{};        ///< indices into Layout::counters, after the counters of events
  std::size_t dead = 0;  ///< smallest number of fillers that must count nothing

  /// True if the fillers occupied all dead counters, so that every event was on a live one.
  /// `values`: the fillers' values, in their order; `ns`: nanoseconds for which the group was on.
  bool have_dead_ones(std::span<const std::uint64_t> values, std::uint64_t ns) const;
};

/// The counters of one pass, in the order in which they are opened. The counters of one PMU form a
/// group, which the kernel schedules as a whole or not at all.
struct Layout {
  std::vector<Counter> counters{};
  std::vector<std::size_t> leaders{};  ///< index of the group's leader, for each counter
  std::vector<std::size_t> groups{};   ///< index of each group's leader; its members follow, but
                                       ///< fillers come last of all
  std::vector<Fillers> fillers{};
  std::vector<std::vector<std::size_t>>
      of_event{};  ///< indices of the counters whose sum is the event, for each event
};

/// Arranges the events `chosen` (indices into `sources`) in groups. Groups never mix PMUs: the
/// kernel refuses mixtures of core PMUs, and a software event in the group of one core kind would
/// stop on the other kinds. `witnesses` has a counter for each core kind if there are several: if
/// an event is on cores, a kind without events gets its witness, so that the times of all kinds add
/// up to the run's.
Layout lay_out(std::span<const Source> sources, std::span<const std::size_t> chosen,
               std::span<const Counter> witnesses);

/// True if the kernel accepts the layout and has enough counters now, with live counters for all
/// events. Of several core kinds, only one is tried. True, too, if the trial tells nothing. Returns
/// an error for a failure other than too many events.
Result<bool> fits_at_once(const Layout& layout, const os::LinuxCalls& calls,
                          const Situation& situation);

/// The result of opening one event several times as a group and counting a known loop with it.
struct Trial {
  std::size_t listed = 0;   ///< size of the largest group that the kernel accepts (`running` if it
                            ///< accepts any size); 0: nothing is known
  std::size_t running = 0;  ///< size of the largest group that fits; others (programs, the NMI
                            ///< watchdog) hold the rest
  std::size_t alive = 0;    ///< number of counters in that group that counted
  std::size_t usable = 0;   ///< size of the largest group in which all counters counted; 0: none

  std::size_t dead() const { return running - alive; }
  bool operator==(const Trial&) const = default;
};

/// The counters of one PMU of the cores. A virtual machine may offer dead counters, which its host
/// holds: they seem to run but count nothing. lauka then fills a pass up with additional counters
/// (fillers) until none is free. A run is valid if as many fillers are dead as there are dead
/// counters, because then no event was on a dead one.
struct PmuCounters {
  std::string pmu{};
  Trial trial{};  ///< result for the event instructions

  /// Result for counters that can count any event. Set only if some are dead, like what follows.
  Trial general{};
  bool own_cycles = false;        ///< true if cycles have a counter that counts nothing else
  bool own_instructions = false;  ///< true if instructions have a counter that counts nothing else
  Counter filler{};               ///< counter to fill groups with

  bool has_dead() const { return general.dead() > 0; }
};

/// Tries the counters of each PMU of the cores. If there are several PMUs, binds this thread to the
/// CPUs of each in turn; leaves out PMUs on whose CPUs it may not run. Empty if instructions cannot
/// be counted. Takes 50 to 100 microseconds if no counter is dead.
std::vector<PmuCounters> try_pmus(const Prober& prober);

/// True if the live counters are enough for the layout.
bool has_room(const Layout& layout, std::span<const PmuCounters> pmus);

/// Fills the layout's groups on PMUs with dead counters. There must be room (has_room).
void fill_up(Layout& layout, std::span<const PmuCounters> pmus);

/// Returns an error that says how many counters in `now` another program holds, or how many cannot
/// be used or have died since `before`; nullopt if there are none, apart from the NMI watchdog's.
/// `before`: the same PMUs, earlier in the session.
std::optional<Error> find_counter_holder(std::span<const PmuCounters> now,
                                         const Situation& situation_now,
                                         std::span<const PmuCounters> before,
                                         const Situation& situation_before);

}  // namespace lauka::engine::perf
