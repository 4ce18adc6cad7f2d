#pragma once

#include "engine/kperf/counters.h"

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

// Placing events on counters. An event is its mask: the counters of which it needs one, below
// kMostCounters and at least one. Events are told by their index in the span of masks.

namespace lauka::engine::kperf {

/// An event on its counter.
struct Seat {
  std::size_t event = 0;
  unsigned counter = 0;

  bool operator==(const Seat&) const = default;
};

/// Events that are counted at once, ascending by counter. In this order the framework's rule
/// (add_greedily) puts every event on the very counter that stands here.
using Seating = std::vector<Seat>;

/// Two events, by index.
using EventPair = std::pair<std::size_t, std::size_t>;

/// More events than counters for them: no set that has all of `events` fits.
struct Competition {
  std::vector<std::size_t> events;  ///< one more than there are counters; ascending
  CounterMask counters = 0;         ///< all that these events may use
  std::size_t others = 0;           ///< how many further events are confined to these counters
};

/// kpep_config_add_event's rule: one event after the other, each on the lowest free counter of its
/// mask. The counter of each event; none where one finds no counter.
std::optional<std::vector<unsigned>> add_greedily(std::span<const CounterMask> masks);

/// Whether all events can be counted at once, in whatever order they are asked for.
bool fits_at_once(std::span<const CounterMask> masks);

/// Places all events at once, whatever their order; none where no placing exists.
std::optional<Seating> seat_all(std::span<const CounterMask> masks);

/// The fewest sets in which all events can be counted; 0 for no event.
std::size_t fewest_passes(std::span<const CounterMask> masks);

/// Divides the events into fewest_passes sets. The two of a pair of `together` share a set where
/// that can be had by exchanging events between the sets; earlier pairs are served first and stay
/// together.
std::vector<Seating> divide_into_passes(std::span<const CounterMask> masks,
                                        std::span<const EventPair> together);

/// The smallest group of events that cannot be counted at once; none where all can.
std::optional<Competition> smallest_competition(std::span<const CounterMask> masks);

}  // namespace lauka::engine::kperf
