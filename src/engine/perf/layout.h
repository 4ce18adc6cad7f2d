#pragma once

// Which counters the events of a pass take.

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

/// Counters that are opened for no event: they occupy the free ones of a PMU with dead counters.
struct Fillers {
  std::size_t leader = 0;               ///< index of the leader whose group is filled up
  std::vector<std::size_t> counters{};  ///< indices, after those of events
  std::size_t dead = 0;                 ///< number of fillers that must count nothing

  /// True if the fillers have taken all dead counters, so that every event is on a live one.
  /// `values`: the fillers', in their order, after `ns` on.
  bool have_dead_ones(std::span<const std::uint64_t> values, std::uint64_t ns) const;
};

/// The counters of one pass, in the order in which they are opened. Those of one PMU are a group,
/// which the kernel schedules whole or not at all.
struct Layout {
  std::vector<Counter> counters{};
  std::vector<std::size_t> leaders{};  ///< one per counter: the index of its group's leader
  std::vector<std::size_t> groups{};   ///< the index of each one's leader; its members follow it
  std::vector<Fillers> fillers{};
  std::vector<std::vector<std::size_t>> of_event{};  ///< one per event: the counters to be summed
};

/// Places the events `chosen` (indices into `sources`) in groups. A group never mixes PMUs: the
/// kernel refuses it, and a kernel's count in a group of one kind of core would stop on the others.
/// `witnesses` holds one counter for each kind of core if there are several: a kind without events
/// gets its witness, so that the times of all kinds add up to the run's.
Layout lay_out(std::span<const Source> sources, std::span<const std::size_t> chosen,
               std::span<const Counter> witnesses);

/// Asks whether the kernel takes the layout and has counters for all of it now, live ones for its
/// events. Refused if it fails for another reason than too many events.
Result<bool> fits_at_once(const Layout& layout, const os::LinuxCalls& calls,
                          const Situation& situation);

/// The counters that one event found, opened several times as a group around a known loop.
struct Trial {
  std::size_t listed = 0;   ///< the largest group that the kernel takes; 0: nothing is known
  std::size_t running = 0;  ///< the largest number that fit: other programs have the rest
  std::size_t alive = 0;    ///< number of these counters that counted
  std::size_t usable = 0;   ///< the largest that counted whole

  std::size_t dead() const { return running - alive; }
  bool operator==(const Trial&) const = default;
};

/// The counters of one PMU of the cores.
///
/// A virtual machine may list dead counters, which its host holds: they run all the time and count
/// nothing. Then a pass is filled up with counters of its own (fillers) until nothing is free, and
/// each run must show as many dead fillers as there are dead counters: then no event was on one.
struct PmuCounters {
  std::string pmu{};
  Trial trial{};  ///< a trial that counts instructions

  /// Trial of counters that take any event, if some are dead.
  Trial general{};
  bool own_cycles = false;  ///< cycles (instructions) have a counter of their own in addition
  bool own_instructions = false;
  Counter filler{};

  bool has_dead() const { return general.dead() > 0; }
};

/// Tries the counters of each PMU of the cores. If there are several PMUs, this thread is bound to
/// the CPUs of each in turn. Takes 50 to 100 microseconds if all counters are alive.
std::vector<PmuCounters> try_pmus(const Prober& prober);

/// True if the counters that are alive are enough for the layout.
bool has_room(const Layout& layout, std::span<const PmuCounters> pmus);

/// Fills up the layout's groups on PMUs with dead counters. There must be room.
void fill_up(Layout& layout, std::span<const PmuCounters> pmus);

/// Names the program that holds counters of `now`, or says how many are unusable; nullopt if all
/// are usable, except the NMI watchdog's. `before`: the same PMUs, earlier in the session.
std::optional<Error> find_counter_holder(std::span<const PmuCounters> now,
                                         const Situation& situation_now,
                                         std::span<const PmuCounters> before,
                                         const Situation& situation_before);

}  // namespace lauka::engine::perf
