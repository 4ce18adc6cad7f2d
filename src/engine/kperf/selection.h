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

// Placing events on counters. Here an event is its mask of possible counters, which is not empty
// and has bits below kMaxChipCounters only. The index of an event is its index among the masks.

namespace lauka::engine::kperf {

/// An event and its counter in one pass.
struct PlacedEvent {
  std::size_t event = 0;
  unsigned counter = 0;    ///< number n of PMCn
  std::uint64_t word = 0;  ///< configuration word; 0: a fixed counter, or not known yet

  bool operator==(const PlacedEvent&) const = default;
};

/// The events of one pass, ascending by counter. In this order, the framework's rule (each event on
/// the lowest free counter of its mask) gives every event the counter that it has here.
using PlacedPass = std::vector<PlacedEvent>;

/// The indices of two events.
using EventPair = std::pair<std::size_t, std::size_t>;

/// Events that cannot be counted at the same time, because they outnumber their counters.
struct CompetingEvents {
  std::vector<std::size_t> events;  ///< indices, ascending; one event more than counters
  CounterMask counters = 0;         ///< all counters that these events may use
  std::size_t others = 0;           ///< number of other events that may use these counters only
};

/// True if all events can be counted at the same time, in whichever order the user names them.
bool fits_at_once(std::span<const CounterMask> masks);

/// Places all events in one pass, in whichever order they are; nullopt if impossible.
std::optional<PlacedPass> place_all(std::span<const CounterMask> masks);

/// Divides the events into the fewest passes. Two events of a pair in `together` share a pass if
/// that needs no additional pass; earlier pairs come first.
std::vector<PlacedPass> divide_into_passes(std::span<const CounterMask> masks,
                                           std::span<const EventPair> together);

/// Finds the smallest group of events that cannot be counted at the same time; nullopt if all can.
std::optional<CompetingEvents> smallest_competition(std::span<const CounterMask> masks);

/// Returns the configuration words of a pass in the kernel's order: one for each of the `available`
/// counters, 0 for an idle counter. Empty if only fixed counters count.
std::vector<std::uint64_t> configuration_words(const PlacedPass& pass, CounterMask available);

/// The event with a given name.
struct SelectedEvent {
  std::string name;     ///< name as shown: as the user typed it, in lower case
  KpepEvent counted{};  ///< event on a counter; its name is empty if the event needs no counter
  const AccountedEvent* accounted =
      nullptr;  ///< set if the kernel itself counts the event; else null

  bool is_on_counter() const { return accounted == nullptr; }
};

/// The events of a session, and how they are counted.
struct Selection {
  std::vector<SelectedEvent> events;
  /// Passes, as few as possible; PlacedEvent::event is an index into `events`. Fixed events are in
  /// every pass, because they have counters of their own. Events that the kernel itself counts are
  /// in no pass; if there are no others, there is one pass, which is empty.
  std::vector<PlacedPass> passes;
  /// Events that make more than one pass necessary, by index into `events`; nullopt: one pass is
  /// enough.
  std::optional<CompetingEvents> competition{};
  std::vector<Note> notes{};  ///< notes on default events left out and on events named twice
};

/// The counters that this session can use.
struct CounterRoom {
  CounterMask available = 0;  ///< configurable counters that can be used
  bool user_only = false;     ///< true: without the kernel's part
};

/// Finds the event that the user calls `name`: a portable alias, the database's alias, the
/// processor's own name (in any case), or an event that the kernel itself counts. The error
/// suggests the nearest names.
Result<SelectedEvent> find_wanted(const KpepDatabase& database, std::string_view name);

/// Finds the wanted events, or the default events, and divides them into the fewest passes. Leaves
/// out default events that cannot be counted here, with a note. Refuses unknown events, events
/// without a counter, and several passes if EventRequest::single_pass is set.
Result<Selection> select_events(const KpepDatabase& database, const EventRequest& wanted,
                                const CounterRoom& room);

/// Returns a selection as other rooms need it. `user_space`: configurable counters exclude the
/// kernel.
EventSet make_event_set(const Selection& selection, bool user_space);

/// Returns all events of the database that have a counter among `available` or a fixed one, even if
/// they are refused, and the accounted_events().
Catalog make_catalog(const KpepDatabase& database, CounterMask available);

/// Explains on which counters the wanted or default events would be counted; lists idle counters,
/// too.
Result<Explanation> explain_wanted(const KpepDatabase& database, std::vector<std::string> names,
                                   const CounterRoom& room);

}  // namespace lauka::engine::kperf
