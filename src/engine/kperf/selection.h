#pragma once

#include "core/event.h"
#include "core/result.h"
#include "engine/accounting.h"
#include "engine/engine.h"
#include "engine/kperf/kpep.h"
#include "engine/kperf/placement.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::engine::kperf {

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
