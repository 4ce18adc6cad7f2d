#pragma once

#include "core/result.h"
#include "engine/kperf/assign.h"
#include "engine/kperf/kpep.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lauka::engine::kperf {

/// An event on its counter in one pass.
struct PlacedEvent {
  std::size_t event = 0;   ///< index into the wanted events
  unsigned counter = 0;    ///< PMCn
  std::uint64_t word = 0;  ///< its configuration word; 0: fixed
};

/// The events of one pass, ascending by counter: the order in which to add them.
using PlacedPass = std::vector<PlacedEvent>;

/// Divides `wanted` (no event twice) into the fewest passes. Fixed events are in every pass, as
/// they have counters of their own. `available`: the configurable counters that can be used;
/// `together`: see divide_into_passes; `user_only`: leaves the kernel out, which fixed counters
/// cannot. Refused where an event has no counter.
Result<std::vector<PlacedPass>> place(std::span<const KpepEvent> wanted, CounterMask available,
                                      std::span<const EventPair> together, bool user_only);

/// Which of `wanted` compete for which counters, so that they need more than one pass; none where
/// they do not.
std::optional<Competition> competition_among(std::span<const KpepEvent> wanted,
                                             CounterMask available);

/// The configuration words of a pass as the kernel takes them: one for each of the `available`
/// counters, 0 where it is idle; none where only fixed counters count.
std::vector<std::uint64_t> configuration_words(const PlacedPass& pass, CounterMask available);

}  // namespace lauka::engine::kperf
