#pragma once

#include "core/event.h"
#include "core/result.h"
#include "engine/accounting.h"
#include "engine/perf/opening.h"
#include "engine/perf/reasons.h"
#include "engine/perf/resolve.h"

#include <string>
#include <vector>

namespace lauka::engine::perf {

/// Where an event's count comes from: counters to be summed, or the kernel's accounting.
struct Source {
  Event event;
  std::vector<Counter> counters{};
  UsageCount accounted = nullptr;  ///< where there are no counters
  bool kernel_left_out = false;    ///< not because the user wanted it

  /// Whether it needs counters of the cores.
  bool is_on_cores() const;

  /// Whether it is the sum over several kinds of core.
  bool is_of_several_kinds() const { return counters.size() > 1 && is_on_cores(); }
};

/// Whether both count the same.
bool same_source(const Source& left, const Source& right);

/// Turns what a name stands for into counters that this machine was seen to open.
class Prober {
 public:
  Prober(const os::LinuxCalls& calls, bool user_only, Situation situation)
      : calls_(calls), user_only_(user_only), situation_(situation) {}

  /// The error says why it cannot be counted, without naming the event.
  Result<Source> probe(const Resolved& resolved) const;

 private:
  struct Opened {
    Counter counter;
    Rings rings;  ///< what it counts
  };
  Result<Opened> open_part(const Part& part, const Rings& rings, Role role,
                           bool may_leave_kernel_out) const;
  Result<Source> probe_counters(const Resolved& resolved, const Rings& rings,
                                bool may_leave_kernel_out) const;
  Result<Source> probe_kernel_event(const Resolved& resolved) const;

  const os::LinuxCalls& calls_;
  bool user_only_;
  Situation situation_;
};

/// The counters of an event: "cpu_atom, cpu_core", "software", "accounting".
std::string counters_in_words(const Source& source);

/// What can be counted here: events with an alias, generic ones, cache events, events of the PMUs,
/// software events. Each was opened and closed.
Catalog catalog_of(const os::Sysfs& sysfs, const Prober& prober);

}  // namespace lauka::engine::perf
