#pragma once

#include "core/event.h"
#include "core/result.h"
#include "engine/engine.h"
#include "engine/kperf/kpep.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Placing events on counters. An event is its mask: the counters of which it needs one, below
// kMaxCounters and at least one. An event is named by its index in the span of masks.

namespace lauka::engine::kperf {

/// An event on its counter in one pass.
struct PlacedEvent {
  std::size_t event = 0;
  unsigned counter = 0;    ///< PMCn
  std::uint64_t word = 0;  ///< configuration word; 0: a fixed counter, or not yet known

  bool operator==(const PlacedEvent&) const = default;
};

/// The events of one pass, ascending by counter. In this order the framework's rule (each on the
/// lowest free counter of its mask) puts every event on the counter that it has here.
using PlacedPass = std::vector<PlacedEvent>;

/// Two events, by index.
using EventPair = std::pair<std::size_t, std::size_t>;

/// More events than counters for them: no set that has all of `events` fits.
struct Competition {
  std::vector<std::size_t> events;  ///< one more than there are counters; ascending
  CounterMask counters = 0;         ///< all that these events may use
  std::size_t others = 0;  ///< number of further events that are confined to these counters
};

/// True if all events can be counted at once, in whatever order the user names them.
bool fits_at_once(std::span<const CounterMask> masks);

/// Places all events at once, whatever their order; nullopt if that is impossible.
std::optional<PlacedPass> place_all(std::span<const CounterMask> masks);

/// Divides the events into the fewest sets in which all can be counted. The two of a pair of
/// `together` share a set if that needs no further one; earlier pairs are served first.
std::vector<PlacedPass> divide_into_passes(std::span<const CounterMask> masks,
                                           std::span<const EventPair> together);

/// Finds the smallest group of events that cannot be counted at once; nullopt if all can.
std::optional<Competition> smallest_competition(std::span<const CounterMask> masks);

/// Returns the configuration words of a pass in the kernel's order: one for each of the `available`
/// counters, 0 if it is idle; empty if only fixed counters count.
std::vector<std::uint64_t> configuration_words(const PlacedPass& pass, CounterMask available);

/// An event that was found for a name.
struct SelectedEvent {
  std::string name;     ///< name as shown: the portable alias, or the chip's name in lower case
  KpepEvent counted{};  ///< event on the counter; without a name: the event needs no counter
  const AccountedEvent* accounted = nullptr;  ///< if it is the kernel's own count

  bool is_on_counter() const { return accounted == nullptr; }
};

/// The events of a session, and how they are counted.
struct Selection {
  std::vector<SelectedEvent> events;
  /// The fewest possible. Fixed events are in every pass, as they have counters of their own; the
  /// kernel's own counts are in no pass. PlacedEvent::event is an index into `events`.
  std::vector<PlacedPass> passes;
  /// Events that need several passes, by index into `events`; nullopt: one pass is enough.
  std::optional<Competition> competition{};
  std::vector<Note> notes{};  ///< default events left out, an event that was named twice
};

/// The abilities of this session's counters.
struct CounterRoom {
  CounterMask available = 0;  ///< configurable counters that can be used
  bool user_only = false;
};

/// Finds the event that the user calls `name`: a portable alias, the database's alias or the chip's
/// own name, in any case, or one of the kernel's own counts. Refused with the nearest names.
Result<SelectedEvent> find_wanted(const KpepDatabase& database, std::string_view name);

/// Finds the wanted events, or the default ones, and divides them into the fewest passes. A default
/// event that the chip lacks is left out with a note. Refused: an unknown event, one that has no
/// counter, and with EventRequest::single_pass what needs several passes.
Result<Selection> select_events(const KpepDatabase& database, const EventRequest& wanted,
                                const CounterRoom& room);

/// Returns the part of a selection that the rest of lauka needs. `user_space`: configurable
/// counters leave out the kernel.
EventSet make_event_set(const Selection& selection, bool user_space);

/// Lists all events of the database that can be counted, and the kernel's own counts.
Catalog make_catalog(const KpepDatabase& database, CounterMask available);

/// Explains where the wanted or default events would be counted; idle counters are in it too.
Result<Explanation> explain_wanted(const KpepDatabase& database, std::vector<std::string> names,
                                   const CounterRoom& room);

}  // namespace lauka::engine::kperf
