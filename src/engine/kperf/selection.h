#pragma once

#include "core/event.h"
#include "core/result.h"
#include "engine/accounting.h"
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

/// Divides the events into the fewest sets in which all can be counted. The two of a pair of
/// `together` share a set where that needs no further one; earlier pairs are served first.
std::vector<Seating> divide_into_passes(std::span<const CounterMask> masks,
                                        std::span<const EventPair> together);

/// The smallest group of events that cannot be counted at once; none where all can.
std::optional<Competition> smallest_competition(std::span<const CounterMask> masks);

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

/// An event that was found for a name.
struct SelectedEvent {
  std::string name;     ///< as shown: the portable alias, or the chip's name in lower case
  KpepEvent counted{};  ///< without a name: not on a counter
  const AccountedEvent* accounted = nullptr;  ///< where it is the kernel's own count

  bool is_on_counter() const { return accounted == nullptr; }
};

/// What is counted in a session, and how.
struct Selection {
  std::vector<SelectedEvent> events;
  /// The fewest; what needs no configurable counter (fixed ones, the kernel's own counts) is served
  /// by every run. PlacedEvent::event is an index into `events`.
  std::vector<PlacedPass> passes;
  /// Where there are several passes: why one is not enough. By index into `events`.
  std::optional<Competition> competition{};
  std::vector<std::string> notes{};  ///< default events left out, an event that was named twice
};

/// What the counters of this session can do.
struct CounterRoom {
  CounterMask available = 0;  ///< configurable counters that can be used
  bool user_only = false;
};

/// The chip's event that the portable name `alias` stands for, one that is refused only where there
/// is no other; null where the alias is none, or the chip has no such event.
const KpepEvent* find_portable(const KpepDatabase& database, std::string_view alias);

/// The portable name of an event; empty where it has none.
std::string_view portable_name_of(const KpepDatabase& database, const KpepEvent& event);

/// The event that the user calls `name`: a portable alias, the database's alias or the chip's own
/// name, in any case, or one of the kernel's own counts. Refused with the nearest names.
Result<SelectedEvent> find_wanted(const KpepDatabase& database, std::string_view name);

/// Finds the wanted events, or the default ones, and divides them into the fewest passes. A default
/// event that the chip has not is left out with a note. Refused: an unknown event, one that has no
/// counter, and with EventRequest::single_pass what needs several passes.
Result<Selection> select_events(const KpepDatabase& database, const EventRequest& wanted,
                                const CounterRoom& room);

/// What of a selection the rest of lauka has to know. `counted_space` is added to the meaning of
/// events on configurable counters (", user space only"; may be empty).
EventSet event_set_of(const Selection& selection, std::string_view counted_space);

/// All events of the database that can be counted, and the kernel's own counts.
Catalog catalog_of(const KpepDatabase& database, CounterMask available);

/// The selection as --explain-events shows it. `counters`: all that there are, idle ones too.
Explanation explanation_of(const Selection& selection, CounterMask counters);

/// Where the wanted events, or the default ones, would be counted. Energy is among those that can
/// be: it needs no counter.
Result<Explanation> explain_wanted(const KpepDatabase& database, std::vector<std::string> names,
                                   const CounterRoom& room);

}  // namespace lauka::engine::kperf
