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

/// The meaning of a metric or event, for decisions of the program.
enum class Role : unsigned char {
  Other,
  WallTime,
  CpuTime,
  UserTime,
  SystemTime,
  PeakRss,
  VoluntarySwitches,
  InvoluntarySwitches,
  Cycles,
  Instructions,
  CacheReferences,
  CacheMisses,
  Branches,
  BranchMisses,
  CoreTime,
  CoreShare,
  Ipc,
  Throughput,
  Clock,
  SampledTime,
};

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

/// Returns a portable event's role; Other for any other name.
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

using EventNames = std::pair<std::string, std::string>;

enum class CountedPart : unsigned char {
  WholeRun,
  Region,          ///< the part of a run that the program marks with lauka/region.h
  RegionAndWhole,  ///< the region, and in separate passes the whole run
};

enum class CountedLevels : unsigned char {
  Unknown,
  UserAndKernel,
  UserOnly,
  KernelOnly,
  Neither,  ///< only the hypervisor's work is counted
};

/// Suffix that marks the whole run's count of an event that is also counted in the region.
inline constexpr std::string_view kWholeRunSuffix = " (whole run)";

struct EventRequest {
  std::vector<std::string> names;  ///< empty: the engine's default events
  bool single_pass = false;
  /// Pairs of events whose counts users divide, the most important first. A pair should share a
  /// pass.
  std::vector<EventNames> together = {{"instructions", "cycles"},
                                      {"cache-misses", "cache-references"},
                                      {"branch-misses", "branches"}};
  CountedPart counted_in = CountedPart::WholeRun;
};

struct Event {
  std::string name;
  std::string meaning;
  bool is_time = false;  ///< true if the count is in nanoseconds
  bool simulated = false;
  bool zero_is_doubtful =
      false;               ///< true if 0 in every run may mean that the counter does not work
  bool is_energy = false;  ///< true if the count is in nanojoules
  bool is_bytes = false;
  CountedLevels levels = CountedLevels::Unknown;
  bool of_region = false;  ///< true if counted only in the program's region (lauka/region.h)
  std::string note{};
  std::optional<std::size_t>
      part_of{};  ///< for a part on one core kind: index of the whole event; else nullopt
  Role role = Role::Other;
  std::string core_kind{};  ///< core kind of a CoreTime ("P"); else empty
  std::string function{};   ///< normalized name of the function in which the event is counted;
                            ///< empty: all functions
};

/// Events that are counted in the same runs.
struct Pass {
  std::vector<std::size_t> events;  ///< indices into EventSet::events
  RoundKind kind = RoundKind::Timed;
};

struct EventSet {
  std::vector<Event> events;
  std::vector<Pass> passes;
  std::vector<Note> notes;
  std::optional<Error> why_empty{};  ///< reason why no default event can be counted, if known

  RoundKind kind_of(std::size_t pass) const {
    return pass < passes.size() ? passes[pass].kind : RoundKind::Timed;
  }

  /// Returns the number of passes that rounds of `kind` count.
  std::size_t passes_of(RoundKind kind) const {
    return static_cast<std::size_t>(std::ranges::count(passes, kind, &Pass::kind));
  }

  /// Returns the indices of the times by core kind, the fastest kind first.
  std::vector<std::size_t> core_times() const {
    std::vector<std::size_t> times;
    for (std::size_t i = 0; i < events.size(); ++i)
      if (events[i].role == Role::CoreTime) times.push_back(i);
    return times;
  }
};

struct ExplainedCounter {
  std::string counter;  ///< "PMC7", or what counts instead: a PMU, the kernel; may be empty
  std::string event;    ///< empty: the counter is idle
  std::string explanation{};
};

struct Explanation {
  std::vector<std::vector<ExplainedCounter>> passes;
  std::optional<std::string> competition{};  ///< reason why one pass is not enough, if known
  std::vector<Note> notes{};
};

struct CatalogEntry {
  std::string name;
  std::string alias;
  std::string counters;
  std::string description;
};

using Catalog = std::vector<CatalogEntry>;

}  // namespace lauka
