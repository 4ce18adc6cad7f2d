#pragma once

#include "core/record.h"
#include "core/result.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lauka {

/// The meaning of a metric or event, for decisions of the program; names are for users.
enum class Role : unsigned char {
  Other,
  // kernel accounts (kBuiltInMetrics)
  WallTime,
  CpuTime,
  UserTime,
  SystemTime,
  PeakRss,
  VoluntarySwitches,
  InvoluntarySwitches,
  // hardware counts (kPortableEvents)
  Cycles,
  Instructions,
  CacheReferences,
  CacheMisses,
  Branches,
  BranchMisses,
  // times by core kind
  CoreTime,
  CoreShare,
  // made of two events (kDerivedMetrics)
  Ipc,
  // measured with --jobs
  Throughput,
  // made by a built-in formula
  Clock,
  // sampled with --profile
  SampledTime,
};

/// An event that has the same name on every machine.
struct PortableEvent {
  std::string_view name;
  Role role;
};

inline constexpr auto kPortableEvents = std::to_array<PortableEvent>({
    {"cycles", Role::Cycles},
    {"instructions", Role::Instructions},
    {"cache-references", Role::CacheReferences},
    {"cache-misses", Role::CacheMisses},
    {"branches", Role::Branches},
    {"branch-misses", Role::BranchMisses},
});

/// Returns the role of a portable event; Other for another name.
constexpr Role role_of_event(std::string_view name) {
  for (const PortableEvent& event : kPortableEvents)
    if (event.name == name) return event.role;
  return Role::Other;
}
constexpr std::string_view event_name_of(Role role) {
  for (const PortableEvent& event : kPortableEvents)
    if (event.role == role) return event.name;
  return {};
}

/// The names of two events, each the portable name or another that the user may have typed.
using EventNames = std::pair<std::string, std::string>;

/// The part of a run in which events are counted.
enum class CountedIn : unsigned char {
  WholeRun,
  Region,          ///< the part of a run that the program marks with lauka/region.h
  RegionAndWhole,  ///< the region, and in separate passes the whole run
};

/// The privilege levels at which a count includes the program's work. (Times always include both
/// user space and kernel.)
enum class CountedLevels : unsigned char {
  Unknown,  ///< the session file does not say, or the event does not count a program's work
  UserAndKernel,
  UserOnly,
  KernelOnly,
  Neither,  ///< the count is of the hypervisor alone
};

/// Suffix of an event counted in the whole run, if the region has an event with the same name.
inline constexpr std::string_view kWholeRunSuffix = " (whole run)";

/// The events that the user wants.
struct EventRequest {
  std::vector<std::string> names;  ///< event names as typed; empty: the engine's default events
  bool single_pass = false;        ///< refuse events that need more than one pass
  /// Pairs of events that must share a pass if both are selected, the most important pair first,
  /// because users divide one count of a pair by the other.
  std::vector<EventNames> together = {{"instructions", "cycles"},
                                      {"cache-misses", "cache-references"},
                                      {"branch-misses", "branches"}};
  CountedIn counted_in = CountedIn::WholeRun;
};

/// An event counted in this session, as the engine resolved it.
struct Event {
  std::string name;  ///< name as shown and exported: what the user typed, or the portable alias
  std::string
      meaning;  ///< explains to users what is counted: "perf LLC-load-misses, user space only"
  bool is_time = false;    ///< counts nanoseconds
  bool simulated = false;  ///< counted in runs of simulated passes
  bool zero_is_doubtful =
      false;               ///< true if 0 in every run may mean that the counter does not work
  bool is_energy = false;  ///< counts nanojoules
  bool is_bytes = false;   ///< counts bytes
  CountedLevels levels = CountedLevels::Unknown;
  bool of_region = false;  ///< counted in the program's region (lauka/region.h)
  std::string note{};      ///< shown next to the event's row: "(P only)"; usually empty
  std::optional<std::size_t> part_of{};  ///< index of the event that this one is a part of, on one
                                         ///< core kind; nullopt: not a part
  Role role = Role::Other;  ///< role; a part has the role of the event that it is a part of
  std::string core_kind{};  ///< name of the core kind of a CoreTime ("P"); else empty
  std::string function{};   ///< normalized name of the function in which the event is counted;
                            ///< empty: all functions
};

/// Events that the counters can count at the same time. Each run serves one pass.
struct Pass {
  std::vector<std::size_t> events;    ///< indices into EventSet::events
  RoundKind kind = RoundKind::Timed;  ///< kind of round that serves this pass; Counting and
                                      ///< Simulated rounds give no times
};

/// The events of a session and their division into the fewest passes.
struct EventSet {
  std::vector<Event> events;
  std::vector<Pass> passes;  ///< timed passes first, then counting passes, then simulated passes;
                             ///< so for each of joined sessions
  std::vector<Note> notes;
  std::optional<Error> why_empty{};  ///< reason why no default event can be counted; nullopt if
                                     ///< there are events, none is needed, or the reason is unknown

  RoundKind kind_of(std::size_t pass) const {
    return pass < passes.size() ? passes[pass].kind : RoundKind::Timed;
  }

  /// Returns the number of passes that rounds of `kind` rotate through.
  std::size_t passes_of(RoundKind kind) const {
    return static_cast<std::size_t>(std::ranges::count(passes, kind, &Pass::kind));
  }

  /// Returns the indices of the events that are times on one core kind, the fastest kind first.
  std::vector<std::size_t> core_times() const {
    std::vector<std::size_t> times;
    for (std::size_t i = 0; i < events.size(); ++i)
      if (events[i].role == Role::CoreTime) times.push_back(i);
    return times;
  }
};

/// A counter and its event in one pass, as --explain-events shows them.
struct ExplainedCounter {
  std::string counter;  ///< "PMC7", or what counts instead: a PMU, the kernel; empty: not said
  std::string event;    ///< event name as shown; empty: the counter is idle
  std::string explanation{};  ///< what is counted, and which other counters could count the event
};

/// The division of a session's events into passes, with the reason.
struct Explanation {
  std::vector<std::vector<ExplainedCounter>> passes;
  std::optional<std::string>
      competition{};  ///< one line: why one pass is not enough; nullopt if it is, or unknown
  std::vector<Note> notes{};  ///< notes of the session's EventSet
};

/// An event that can be counted here, as --list-events shows it.
struct CatalogEntry {
  std::string name;
  std::string alias;     ///< portable name that resolves to this event; may be empty
  std::string counters;  ///< counters that can count the event, in words; may be empty
  std::string description;
};

using Catalog = std::vector<CatalogEntry>;

}  // namespace lauka
