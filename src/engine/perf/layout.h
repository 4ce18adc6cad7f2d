#pragma once

#include "core/event.h"
#include "core/result.h"
#include "engine/perf/opening.h"
#include "engine/perf/source.h"
#include "os/linux_calls.h"
#include "os/process.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace lauka::engine::perf {

/// Counters that the kernel schedules whole or not at all: those of one PMU.
struct Group {
  std::size_t leader = 0;  ///< index of its first counter; the members follow it
  bool core = false;
};

/// Counters that are opened for no event: they take what is free on a PMU some of whose counters
/// are dead (seats.h).
struct Filling {
  std::size_t leader = 0;               ///< of the group that is filled up
  std::vector<std::size_t> counters{};  ///< indices, behind those of events
  std::size_t dead =
      0;  ///< so many of them count nothing: where fewer do, an event is on a dead one
};

/// The counters of one pass, in the order in which they are opened.
struct Layout {
  std::vector<Counter> counters{};
  std::vector<std::size_t> leaders{};  ///< one per counter: the index of its group's leader
  std::vector<Group> groups{};
  std::vector<Filling> fillings{};
  std::vector<std::vector<std::size_t>> of_event{};  ///< one per event: the counters to be summed
};

/// Places the events `chosen` (indices into `sources`) in groups. A group never mixes PMUs: the
/// kernel refuses it, and a kernel's count in a group of one kind of core would stop on the others.
/// `witnesses` holds one counter for each kind of core where there are several: a kind that none of
/// the events is counted on gets its witness, so that the times of all kinds add up to the run's.
Layout lay_out(std::span<const Source> sources, std::span<const std::size_t> chosen,
               std::span<const Counter> witnesses);

/// What the launcher is asked to open: counters that execve starts, or, `of_region`, the program.
std::vector<os::CounterRequest> requests_of(const Layout& layout, bool of_region = false);

/// Whether a filler that was on for `ns` counted nothing, but for what processors add on the way.
bool is_dead(std::uint64_t value, std::uint64_t ns);

/// Whether the kernel takes the layout and has counters for all of it now, live ones for its
/// events. An error where it fails for another reason than too many events.
Result<bool> fits_at_once(const Layout& layout, const os::LinuxCalls& calls,
                          const Situation& situation);

}  // namespace lauka::engine::perf
