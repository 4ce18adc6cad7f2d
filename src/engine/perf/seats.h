#pragma once

#include "core/machine.h"
#include "core/result.h"
#include "engine/perf/layout.h"
#include "engine/perf/reasons.h"
#include "engine/perf/source.h"
#include "os/linux_calls.h"
#include "os/sysfs.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::engine::perf {

/// How many counters one event found, opened several times as one group around a loop whose counts
/// are known.
struct Trial {
  std::size_t listed = 0;   ///< the largest group that the kernel takes; 0: nothing is known
  std::size_t running = 0;  ///< the largest that it had room for: somebody else has the others
  std::size_t alive = 0;    ///< how many of that one counted
  std::size_t usable = 0;   ///< the largest that counted whole

  std::size_t dead() const { return running - alive; }
};

/// The counters of one PMU of the cores.
///
/// A virtual machine may list counters that its host holds: they run all the time and count
/// nothing. Where there are such, a pass is filled up with counters of its own (fillers) until
/// nothing is free, so that nobody can take one unnoticed, and each run has to show as many dead
/// fillers as there are dead counters: then no event was on one.
struct Seats {
  std::string pmu{};
  Trial trial{};  ///< by instructions

  // Of the counters that take any event, where some are dead:
  Trial general{};
  bool own_cycles = false;  ///< cycles (instructions) have a counter of their own beside them
  bool own_instructions = false;
  Counter filler{};

  bool has_dead() const { return general.dead() > 0; }
};

/// Tries the counters of each PMU of the cores, with this
/// thread bound to the PMU's CPUs where there are several: 50 to 100 microseconds where all are
/// alive.
std::vector<Seats> find_seats(const os::Sysfs& sysfs, const Prober& prober,
                              const os::LinuxCalls& calls);

/// Whether the counters that are alive are enough for the layout.
bool has_room(const Layout& layout, std::span<const Seats> seats);

/// Fills up the layout's groups where there are dead counters. There is room.
void fill_up(Layout& layout, std::span<const Seats> seats);

/// Names who holds counters of `now`, or how many cannot be used; none if all can be, but for the
/// NMI watchdog's. `before`: the same PMUs, earlier in the session; `situation`: as it is now.
std::optional<Error> who_holds(std::span<const Seats> now, std::span<const Seats> before,
                               const Situation& situation);

/// As --check tells it.
std::vector<CounterFacts> facts_of(std::span<const Seats> seats, const Situation& situation);

}  // namespace lauka::engine::perf
