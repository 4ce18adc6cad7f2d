#pragma once

#include "engine/engine.h"
#include "engine/perf/layout.h"
#include "engine/perf/reasons.h"
#include "os/process.h"

#include <cstdint>
#include <vector>

namespace lauka::engine::perf {

/// Whether a group of counters saw too little of a run to have been on all the time: it did not
/// survive the exec. `enabled_ns`: how long it was on; `cpu_ns`: user and system time of the run.
bool was_lost(std::uint64_t enabled_ns, std::uint64_t cpu_ns);

/// Whether counters of cores held their events all the time that they were on. `running_ns`: summed
/// over the kinds of core.
bool held_all_the_time(std::uint64_t running_ns, std::uint64_t enabled_ns, bool several_kinds);

/// One pass, counted by the launcher. The counts of a run are what its counters show when all of
/// them held their events for the whole run.
class PerfCounting final : public Counting {
 public:
  /// `accounted`: one per event of the pass, null where its count comes from counters. `parts`:
  /// counters (indices into the layout's) whose own counts are told behind those of the events.
  PerfCounting(Layout layout, std::vector<UsageCount> accounted, std::vector<std::size_t> parts,
               Situation situation, os::CounterSetId on_launcher)
      : layout_(std::move(layout)),
        accounted_(std::move(accounted)),
        parts_(std::move(parts)),
        situation_(situation),
        on_launcher_(on_launcher),
        several_kinds_(!PerfCounting::timed_pmus().empty()) {}

  os::CounterSetId on_launcher() const override { return on_launcher_; }
  std::vector<std::string> timed_pmus() const override;
  std::size_t runs_at_once() const override { return os::Launcher::kMaxBatch; }
  Counted finish(const os::Ended& ended) override;

 private:
  std::optional<Unavailable> why_none(const os::Ended& ended) const;
  std::optional<Unavailable> why_group_is_not_exact(const os::Ended& ended) const;

  Layout layout_;
  std::vector<UsageCount> accounted_;
  std::vector<std::size_t> parts_;
  Situation situation_;
  os::CounterSetId on_launcher_;
  bool several_kinds_;
};

}  // namespace lauka::engine::perf
