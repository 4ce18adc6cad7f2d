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

/// The meaning of a metric or an event to the program; their names are for the user.
enum class Role : unsigned char {
  Other,
  // of the kernel's accounts (kBuiltInMetrics)
  WallTime,
  CpuTime,
  UserTime,
  SystemTime,
  PeakRss,
  VoluntarySwitches,
  InvoluntarySwitches,
  // counted (kPortableEvents)
  Cycles,
  Instructions,
  CacheReferences,
  CacheMisses,
  Branches,
  BranchMisses,
  // by kind of core
  CoreTime,
  CoreShare,
  // computed from events (kDerivedMetrics)
  Ipc,
  // of --jobs
  Throughput,
  // computed by a built-in formula
  Clock,
  // of --profile
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

/// Returns the role of a portable name, and the name of such a role.
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

/// Two events by name; the user may have typed another name of either.
using EventNames = std::pair<std::string, std::string>;

/// The part of a run in which events are counted.
enum class CountedIn : unsigned char {
  WholeRun,
  Region,          ///< the part of a run that the program marks with lauka/region.h
  RegionAndWhole,  ///< the region, and in passes of their own the whole run
};

/// The part of a program's work that is in a count, by the processor's privilege levels. Times have
/// user space and kernel in them.
enum class CountedLevels : unsigned char {
  Unknown,  ///< the file does not tell, or it is no count of a program's work
  UserAndKernel,
  UserOnly,
  KernelOnly,
  Neither,  ///< the hypervisor's alone
};

/// Appended to an event of the whole run if the region has one of that name.
inline constexpr std::string_view kOfWholeRun = " (whole run)";

/// The events the user wants: names as typed, or the engine's default ones.
struct EventRequest {
  std::vector<std::string> names;  ///< empty: the default events
  bool single_pass = false;        ///< refuse a set that needs more than one
  /// Pairs to count in one pass if both are selected, the most important first: users divide the
  /// first by the second.
  std::vector<EventNames> together = {{"instructions", "cycles"},
                                      {"cache-misses", "cache-references"},
                                      {"branch-misses", "branches"}};
  CountedIn counted_in = CountedIn::WholeRun;
};

/// A thing that is counted in this session, as the engine resolved it.
struct Event {
  std::string name;     ///< name as shown and exported: what the user typed, or the portable alias
  std::string meaning;  ///< explanation for users of what is really counted ("perf LLC-load-misses,
                        ///< user space only")
  bool is_time = false;           ///< counts nanoseconds
  bool simulated = false;         ///< counted in runs of a simulated pass
  bool zero_is_doubtful = false;  ///< 0 in every run may mean that its counter cannot count it
  bool is_energy = false;         ///< counts nanojoules
  bool is_bytes = false;          ///< counts bytes
  CountedLevels levels = CountedLevels::Unknown;
  bool of_region = false;                ///< counted in the program's region (lauka/region.h)
  std::string note{};                    ///< shown next to its row: "(P only)"; mostly empty
  std::optional<std::size_t> part_of{};  ///< index of the whole, if it is one core kind's part
  Role role = Role::Other;               ///< a part has the role of its whole
  std::string core_kind{};               ///< "P": of a CoreTime
  std::string function{};  ///< normalized name of the only function counted; empty: all
};

/// Events that fit the counters at once, as indices into the session's events. Each run serves one
/// pass.
struct Pass {
  std::vector<std::size_t> events;
  RoundKind kind = RoundKind::Timed;  ///< kind of the rounds that serve this pass; Counting and
                                      ///< Simulated give counts only, never times
};

/// The events of a session and their division into the fewest passes.
struct EventSet {
  std::vector<Event> events;
  std::vector<Pass> passes;  ///< the timed ones first, then counting, then simulated ones
  std::vector<Note> notes;
  std::optional<Error> why_empty{};  ///< why no default event can be counted, if that is known

  RoundKind kind_of(std::size_t pass) const {
    return pass < passes.size() ? passes[pass].kind : RoundKind::Timed;
  }

  /// Returns the number of passes that rounds of `kind` rotate through.
  std::size_t passes_of(RoundKind kind) const {
    return static_cast<std::size_t>(std::ranges::count(passes, kind, &Pass::kind));
  }

  /// Returns the events that are times by kind of core, the fastest kind first.
  std::vector<std::size_t> core_times() const {
    std::vector<std::size_t> times;
    for (std::size_t i = 0; i < events.size(); ++i)
      if (events[i].role == Role::CoreTime) times.push_back(i);
    return times;
  }
};

/// A counter in one pass, as --explain-events shows it.
struct ExplainedCounter {
  std::string counter;  ///< "PMC7"; empty: the engine does not choose it
  std::string event;    ///< event's name as shown; empty: the counter is idle
  /// Explanation of what is really counted, and of the counters that could count it.
  std::string explanation{};
};

/// The division of a session's events into passes, with reasons.
struct Explanation {
  std::vector<std::vector<ExplainedCounter>> passes;
  std::optional<std::string> competition{};  ///< why one pass is not enough: one line
  std::vector<Note> notes{};                 ///< the same as EventSet's
};

/// An event that can be counted here, as --list-events shows it.
struct CatalogEntry {
  std::string name;
  std::string alias;     ///< the portable name that resolves to it; may be empty
  std::string counters;  ///< counters that the event may use, in words; may be empty
  std::string description;
};

using Catalog = std::vector<CatalogEntry>;

}  // namespace lauka
