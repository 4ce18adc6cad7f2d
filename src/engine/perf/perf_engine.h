#pragma once

#include "core/event.h"
#include "core/machine.h"
#include "core/result.h"
#include "engine/engine.h"
#include "engine/perf/counters.h"
#include "os/linux_calls.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
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

/// True if a group of counters saw too little of a run to have been on all the time: it did not
/// survive the exec of the command, or of a child. `enabled_ns`: how long it was on; `counters`:
/// how many were open.
bool was_lost(std::uint64_t enabled_ns, const Usage& usage, std::size_t counters);

/// True if counters of cores held their events all the time that they were on. `running_ns`: summed
/// over the kinds of core.
bool held_all_the_time(std::uint64_t running_ns, std::uint64_t enabled_ns, bool several_kinds);

// Which counters the events of a pass take (layout.cc).

/// Counters that the kernel schedules whole or not at all: those of one PMU.
struct Group {
  std::size_t leader = 0;  ///< index of its first counter; the members follow it
  bool core = false;
};

/// Counters that are opened for no event: they occupy the free ones of a PMU with dead counters.
struct Fillers {
  std::size_t leader = 0;               ///< of the group that is filled up
  std::vector<std::size_t> counters{};  ///< indices, after those of events
  std::size_t dead = 0;  ///< how many must count nothing; if fewer do, an event is on a dead one
};

/// The counters of one pass, in the order in which they are opened.
struct Layout {
  std::vector<Counter> counters{};
  std::vector<std::size_t> leaders{};  ///< one per counter: the index of its group's leader
  std::vector<Group> groups{};
  std::vector<Fillers> fillers{};
  std::vector<std::vector<std::size_t>> of_event{};  ///< one per event: the counters to be summed
};

/// Places the events `chosen` (indices into `sources`) in groups. A group never mixes PMUs: the
/// kernel refuses it, and a kernel's count in a group of one kind of core would stop on the others.
/// `witnesses` holds one counter for each kind of core if there are several: a kind that none of
/// the events is counted on gets its witness, so that the times of all kinds add up to the run's.
Layout lay_out(std::span<const Source> sources, std::span<const std::size_t> chosen,
               std::span<const Counter> witnesses);

/// True if a filler that was on for `ns` counted nothing, except a few events that processors add.
bool is_dead(std::uint64_t value, std::uint64_t ns);

/// Asks whether the kernel takes the layout and has counters for all of it now, live ones for its
/// events. Refused if it fails for another reason than too many events.
Result<bool> fits_at_once(const Layout& layout, const os::LinuxCalls& calls,
                          const Situation& situation);

/// The number of counters that one event found, opened several times as one group around a loop
/// whose counts are known.
struct Trial {
  std::size_t listed = 0;   ///< the largest group that the kernel takes; 0: nothing is known
  std::size_t running = 0;  ///< the largest number that fit: other programs have the rest
  std::size_t alive = 0;    ///< how many of that one counted
  std::size_t usable = 0;   ///< the largest that counted whole

  std::size_t dead() const { return running - alive; }
  bool operator==(const Trial&) const = default;
};

/// The counters of one PMU of the cores.
///
/// A virtual machine may list counters that its host holds: they run all the time and count
/// nothing. If there are such, a pass is filled up with counters of its own (fillers) until nothing
/// is free, so that no program can take one unnoticed, and each run must show as many dead fillers
/// as there are dead counters: then no event was on one.
struct PmuCounters {
  std::string pmu{};
  Trial trial{};  ///< by instructions

  /// For counters that take any event, if some are dead:
  Trial general{};
  bool own_cycles = false;  ///< cycles (instructions) have a counter of their own in addition
  bool own_instructions = false;
  Counter filler{};

  bool has_dead() const { return general.dead() > 0; }
};

/// Tries the counters of each PMU of the cores. If there are several PMUs, this thread is bound to
/// the CPUs of each in turn. Takes 50 to 100 microseconds if all counters are alive.
std::vector<PmuCounters> try_pmus(const Prober& prober, const os::LinuxCalls& calls);

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

/// The remedy if other programs hold counters.
inline constexpr const char* kEndOthers =
    "end it (sudo find /proc/[0-9]*/fd -lname '*perf_event*' finds it), or count fewer events";

}  // namespace lauka::engine::perf
