#pragma once

#include "core/record.h"
#include "core/result.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lauka {

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

/// Returns the role of the portable event `name`; Other if there is no such event.
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

using EventNamePair = std::pair<std::string, std::string>;

enum class CountedPart : unsigned char {
  WholeRun,
  Region,  ///< the part of a run that the program marks with lauka/region.h
  RegionAndWhole,
};

enum class CountedPrivilegeLevels : unsigned char {
  Unknown,
  UserAndKernel,
  UserOnly,
  KernelOnly,
  HypervisorOnly,
};

inline constexpr std::string_view kWholeRunSuffix = " (whole run)";

struct EventRequest {
  std::vector<std::string> names;  ///< empty: the engine's default events
  bool single_pass = false;
  /// Pairs of events that should be counted in the same pass, the most important pair first.
  std::vector<EventNamePair> pairs_for_one_pass = {{"instructions", "cycles"},
                                                   {"cache-misses", "cache-references"},
                                                   {"branch-misses", "branches"}};
  CountedPart counted_part = CountedPart::WholeRun;
};

/// How time is sampled.
struct SampledClock {
  std::string clock{};  ///< what is sampled: "cycles" or "the CPU clock"
  std::chrono::nanoseconds period{};

  bool operator==(const SampledClock&) const = default;
};

/// What counts an event.
struct CountingMethod {
  std::string engine{};                   ///< name of the engine, such as "perf"; may be empty
  std::optional<SampledClock> sampled{};  ///< nullopt if unknown, or if nothing is sampled

  bool operator==(const CountingMethod&) const = default;
};

/// A thing that is counted in runs. The events of a saved session have only name, meaning and
/// zero_is_doubtful.
struct Event {
  std::string name;
  std::string meaning;
  bool is_time = false;  ///< true if the count is in nanoseconds
  bool simulated = false;
  /// True if 0 in every run may mean that the counter does not work.
  bool zero_is_doubtful = false;
  bool is_energy = false;  ///< true if the count is in nanojoules
  bool is_bytes = false;
  CountedPrivilegeLevels privilege_levels = CountedPrivilegeLevels::Unknown;
  bool of_region = false;  ///< true if the event is counted only in the region (lauka/region.h)
  std::string name_suffix{};
  /// Index of the whole event, if this event is its part on one core kind; else nullopt.
  std::optional<std::size_t> index_for_all_core_kinds{};
  Role role = Role::Other;
  std::string core_kind{};  ///< core kind ("P") if `role` is CoreTime; else empty
  CountingMethod method{};
  std::string only_function{};  ///< normalized name of the only function in which the event is
                                ///< counted; empty: all functions
};

/// Events that are counted in the same runs.
struct Pass {
  std::vector<std::size_t> event_indices;  ///< indices into EventSet::events
  RoundKind kind = RoundKind::Timed;
};

struct EventSet {
  std::vector<Event> events;
  std::vector<Pass> passes;
  std::vector<Note> notes;
  std::optional<Error> why_empty{};  ///< reason why the engine counts no event by default; nullopt
                                     ///< if it counts some, or if the reason is unknown

  RoundKind kind_of(std::size_t pass) const {
    return pass < passes.size() ? passes[pass].kind : RoundKind::Timed;
  }

  std::size_t count_passes(RoundKind kind) const {
    return static_cast<std::size_t>(std::ranges::count(passes, kind, &Pass::kind));
  }

  /// Returns the indices of the events that are CPU times on one core kind, usually the fastest
  /// kind first.
  std::vector<std::size_t> core_time_indices() const {
    std::vector<std::size_t> times;
    for (std::size_t i = 0; i < events.size(); ++i)
      if (events[i].role == Role::CoreTime) times.push_back(i);
    return times;
  }
};

struct ExplainedCounter {
  std::string counter;  ///< name of the counter ("PMC7"), of its PMU, or "kernel"; may be empty
  std::string event;    ///< name of the event; empty: the counter is unused
  std::string explanation{};
};

struct Explanation {
  std::vector<std::vector<ExplainedCounter>> passes;
  std::optional<std::string> competition{};  ///< reason why one pass is not enough; nullopt if one
                                             ///< pass is enough, or if the reason is unknown
  std::vector<Note> notes{};
};

struct CatalogEntry {
  std::string name;
  std::string alias;
  std::string counters_text;
  std::string description;
};

using Catalog = std::vector<CatalogEntry>;

}  // namespace lauka
