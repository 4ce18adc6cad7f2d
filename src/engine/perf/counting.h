#pragma once

#include "engine/engine.h"
#include "engine/perf/layout.h"
#include "engine/perf/opening.h"
#include "engine/perf/reasons.h"
#include "os/process.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lauka::engine::perf {

/// Whether a group of counters saw too little of a run to have been on all the time: it did not
/// survive the exec of the command, or of a child. `enabled_ns`: how long it was on; `counters`:
/// how many were open.
bool was_lost(std::uint64_t enabled_ns, const Usage& usage, std::size_t counters);

/// Whether counters of cores held their events all the time that they were on. `running_ns`: summed
/// over the kinds of core.
bool held_all_the_time(std::uint64_t running_ns, std::uint64_t enabled_ns, bool several_kinds);

/// One pass, counted by the launcher. The counts of a run are what its counters show when all of
/// them held their events for the whole run.
class PerfCounting final : public Counting {
 public:
  /// `sources`: the events of the pass. `parts`: counters (indices into the layout's) whose own
  /// counts are told behind those of the events. `fastest_clock`: as Judge's. `of_region`: counted
  /// between lauka_region_begin and lauka_region_end.
  PerfCounting(Layout layout, std::vector<Source> sources, std::vector<std::size_t> parts,
               Situation situation, double& fastest_clock, bool of_region = false)
      : layout_(std::move(layout)),
        sources_(std::move(sources)),
        parts_(std::move(parts)),
        situation_(situation),
        judge_(fastest_clock),
        of_region_(of_region),
        several_kinds_(!PerfCounting::timed_pmus().empty()) {}

  std::vector<os::CounterRequest> requests() const override {
    return requests_of(layout_, of_region_);
  }
  std::vector<std::string> timed_pmus() const override;
  std::size_t runs_at_once() const override { return os::Launcher::kMaxBatch; }
  Counted finish(const os::Ended& ended, std::size_t command) override;

 private:
  /// Why a run has no counts, and whether another run may have them.
  struct Absent {
    Error why;
    std::string redo{};  ///< empty: another would have none either
  };

  std::optional<Absent> why_none(const os::Ended& ended) const;
  std::optional<Absent> why_group_is_not_exact(const os::Ended& ended) const;
  bool events_were_on_dead_ones(const os::Ended& ended) const;
  Tally tally_of(std::size_t event, const os::Ended& ended) const;
  void fill(Counted& counted, const os::Ended& ended, std::size_t command);
  void ask_again(Counted& counted, std::string why);

  Layout layout_;
  std::vector<Source> sources_;
  std::vector<std::size_t> parts_;
  Situation situation_;
  Judge judge_;
  unsigned bad_in_a_row_ = 0;  ///< runs whose counts were not good
  bool of_region_;
  bool several_kinds_;
};

}  // namespace lauka::engine::perf
