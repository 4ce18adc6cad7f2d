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

namespace lauka::engine::kperf {

struct PlacedEvent {
  std::size_t event_index = 0;  ///< index among the events that were to be placed
  unsigned counter = 0;
  std::uint64_t word = 0;  ///< configuration word; 0 on a fixed counter, or if not known yet

  bool operator==(const PlacedEvent&) const = default;
};

/// The events of one pass on their counters.
using PlacedPass = std::vector<PlacedEvent>;

using EventPair = std::pair<std::size_t, std::size_t>;

/// Events that outnumber their counters, so that they cannot be counted at the same time.
struct CompetingEvents {
  /// Indices of events, ascending. Their number is the number of counters in `counters`, plus one.
  std::vector<std::size_t> events;
  CounterMask counters = 0;           ///< all counters that `events` may use
  std::size_t other_competitors = 0;  ///< number of further events that may use only `counters`
};

/// True if events with these `masks` can be counted at the same time.
bool fits_at_once(std::span<const CounterMask> masks);

/// Places events with these `masks` in one pass; nullopt if impossible.
std::optional<PlacedPass> place_all(std::span<const CounterMask> masks);

/// Divides events with these `masks`, none of them 0, into few passes: into the fewest if there are
/// at most ten events. `together`: pairs of events that should share a pass, the most important
/// pair first.
std::vector<PlacedPass> divide_into_passes(std::span<const CounterMask> masks,
                                           std::span<const EventPair> together);

/// Finds a smallest set of events that cannot be counted at the same time; nullopt if all events
/// can be counted at the same time.
std::optional<CompetingEvents> smallest_competition(std::span<const CounterMask> masks);

/// Returns the configuration words of a pass: a word for each of the `available` counters,
/// ascending; 0 for an idle counter. Empty if only fixed counters count.
std::vector<std::uint64_t> configuration_words(const PlacedPass& pass, CounterMask available);

struct SelectedEvent {
  std::string name;
  KpepEvent hardware_event{};  ///< event on a counter; empty if `accounted_event` is set
  const AccountedEvent* accounted_event = nullptr;

  bool is_on_counter() const { return accounted_event == nullptr; }
  bool is_energy() const;
};

struct Selection {
  std::vector<SelectedEvent> events;
  /// The passes, in which PlacedEvent::event_index is an index into `events`. Fixed events are in
  /// every pass, accounted events in none.
  std::vector<PlacedPass> passes;
  /// Events that make several passes necessary; CompetingEvents::events are indices into `events`.
  /// nullopt if one pass is enough.
  std::optional<CompetingEvents> competition{};
  std::vector<Note> notes{};
};

struct CounterLimits {
  CounterMask available = 0;
  bool user_only = false;  ///< true: configurable counters do not count in the kernel
};

/// Finds an event by any of its names, ignoring case.
Result<SelectedEvent> find_event_by_any_name(const KpepDatabase& database, std::string_view name);

/// Finds the wanted events (without names: the default events) and divides them into passes. Leaves
/// out default events that cannot be counted, with a note. Refuses named events that cannot be
/// counted, and several passes if EventRequest::single_pass is set.
Result<Selection> select_events(const KpepDatabase& database, const EventRequest& wanted,
                                const CounterLimits& limits);

/// Converts a selection to an EventSet. `configurable_are_user_only`: true if configurable counters
/// do not count in the kernel.
EventSet make_event_set(const Selection& selection, bool configurable_are_user_only);

/// Returns the database's events that have a fixed or `available` counter, even events that the
/// kernel refuses, then the accounted_events().
Catalog make_catalog(const KpepDatabase& database, CounterMask available);

/// Explains which event each counter would count in each pass. Without `names`: the default events.
Result<Explanation> explain_wanted(const KpepDatabase& database, std::vector<std::string> names,
                                   const CounterLimits& limits);

}  // namespace lauka::engine::kperf
