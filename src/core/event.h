#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace lauka {

/// A thing that is counted in this session, as the engine resolved it.
struct Event {
  std::string name;      ///< as shown and exported: what the user typed, or the portable alias
  std::string meaning;   ///< what is really counted ("perf LLC-load-misses, user space only"); may
                         ///< equal the name
  bool is_time = false;  ///< counts nanoseconds
  bool simulated = false;         ///< counted in runs of a simulated pass
  bool zero_is_doubtful = false;  ///< 0 in every run may mean that its counter cannot count it
  bool is_energy = false;         ///< counts nanojoules
  std::string note{};             ///< shown beside its row: "(P only)"; mostly empty
  std::optional<std::size_t>
      part_of{};  ///< the event (its index) whose part on one kind of core it is
};

/// Events that fit the counters at once, as indices into the session's events. Each run serves one
/// pass.
struct Pass {
  std::vector<std::size_t> events;
  bool simulated = false;  ///< its runs are simulated: they give counts only, never times
};

/// The events of a session and their division into the fewest passes.
struct EventSet {
  std::vector<Event> events;
  std::vector<Pass> passes;        ///< none where there are no events; simulated ones come last
  std::vector<std::string> notes;  ///< one line each: default events left out, user space only

  bool is_simulated(std::size_t pass) const {
    return pass < passes.size() && passes[pass].simulated;
  }

  /// Passes that the timed runs take turns through.
  std::size_t timed_passes() const {
    std::size_t count = 0;
    while (count < passes.size() && !passes[count].simulated) ++count;
    return count;
  }
  std::vector<std::size_t>
      core_times{};  ///< the events that are times by kind of core, the fastest
                     ///< kind first; in every pass, behind what else it counts
};

/// A counter in one pass, as --explain-events shows it.
struct ExplainedSeat {
  std::string counter;   ///< "PMC7"; empty: the engine does not choose it
  std::string event;     ///< as shown; empty: the counter is idle
  std::string detail{};  ///< what is really counted, and where else it could be
};

/// How the events of a session are divided into passes, and why.
struct Explanation {
  std::vector<std::vector<ExplainedSeat>> passes;
  std::optional<std::string> competition{};  ///< why one pass is not enough: one line
  std::vector<std::string> notes{};          ///< as EventSet's
};

/// An event that can be counted here, as --list-events shows it.
struct CatalogEntry {
  std::string name;
  std::string alias;     ///< the portable name that resolves to it; may be empty
  std::string counters;  ///< which counters it may use, in words; may be empty
  std::string description;
};

using Catalog = std::vector<CatalogEntry>;

}  // namespace lauka
