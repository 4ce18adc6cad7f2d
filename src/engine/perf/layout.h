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

/// The counters of one pass, in the order in which they are opened.
struct Layout {
  std::vector<Counter> counters{};
  std::vector<std::size_t> leaders{};  ///< one per counter: the index of its group's leader
  std::vector<Group> groups{};
  std::vector<std::vector<std::size_t>> of_event{};  ///< one per event: the counters to be summed
};

/// Places the events `chosen` (indices into `sources`) in groups. A group never mixes PMUs: the
/// kernel refuses it, and a kernel's count in a group of one kind of core would stop on the others.
/// `witnesses` holds one counter for each kind of core where there are several: a kind that none of
/// the events is counted on gets its witness, so that the times of all kinds add up to the run's.
Layout lay_out(std::span<const Source> sources, std::span<const std::size_t> chosen,
               std::span<const Counter> witnesses);

/// What the launcher is asked to open.
std::vector<os::CounterRequest> requests_of(const Layout& layout);

/// Whether the kernel takes the layout and has counters for all of it now. An error where it fails
/// for another reason than too many events.
Result<bool> fits_at_once(const Layout& layout, const os::LinuxCalls& calls,
                          const Situation& situation);

}  // namespace lauka::engine::perf
