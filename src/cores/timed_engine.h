#pragma once

#include "core/machine.h"
#include "core/result.h"
#include "cores/cores.h"
#include "engine/accounting.h"
#include "engine/engine.h"
#include "engine/perf/reasons.h"
#include "os/process.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lauka::cores {

/// The times of one run by kind of core, or the reason why they are not known.
struct CoreTimes {
  std::vector<std::uint64_t> ns{};  ///< one per kind; empty: not known
  std::optional<Error> missing{};
};

/// Clocks that tell a run's time by kind of core: one of its CPU time wherever it is spent, and one
/// for each CPU of all kinds but that with the most CPUs, which gets what is left. They count a
/// process with its threads and descendants, however short-lived, and need no right beyond those of
/// perf_event_paranoid 2: a clock goes on in the kernel whether or not that is excluded.
class Clocks {
 public:
  explicit Clocks(const CoreKinds& kinds);

  /// What the launcher is asked to open behind `others` counters.
  std::vector<os::CounterRequest> requests(std::size_t others) const;

  /// What they showed for one run. `readings`: one per request, in their order.
  CoreTimes times(std::span<const os::Reading> readings, const Usage& usage, int error,
                  const engine::perf::Situation& situation) const;

 private:
  struct OnCpu {
    std::size_t kind = 0;
    std::uint32_t cpu = 0;
  };
  std::size_t kinds_;
  std::size_t largest_ = 0;      ///< the kind whose CPUs have no clocks
  std::vector<OnCpu> clocks_{};  ///< in the order of the requests, behind the one for all CPUs
};

/// Of its CPU time, what a run is to spend on the first kind of core.
struct LeastShare {
  double share = 0.0;
  std::string why;  ///< a run with less is run again
};

/// What --min-p-share asks for; none where it was not given.
std::optional<LeastShare> least_of(const Decided& decided);

/// Has a run with less run again, at most three times; then it enters as it is, and the results
/// warn of it. `ns`: its times by kind; empty: not known.
void ask_for_redo(engine::Counted& counted, const std::vector<std::uint64_t>& ns,
                  const std::optional<LeastShare>& least);

/// Another engine, to whose counts a derived one adds the times by kind of core.
class TimedEngine : public engine::EngineAround {
 public:
  Result<EventSet> select(const EventRequest& wanted) override {
    auto set = other().select(wanted);
    passes_.clear();
    if (set) passes_ = set->passes;
    return set;
  }

  Result<std::unique_ptr<engine::Counting>> arm(std::size_t pass) override {
    const bool is_timed = pass >= passes_.size() || passes_[pass].kind == RoundKind::Timed;
    const bool is_for_times = apart_ ? pass == core_time_pass_of(passes_.size()) : is_timed;
    if (is_for_times) return arm_timed(pass);
    auto counting = arm_inner(pass);
    return counting && !*counting ? engine::count_free({}) : std::move(counting);
  }

 protected:
  TimedEngine(std::unique_ptr<CounterEngine> inner, const Decided& decided)
      : EngineAround(std::move(inner)), least_(least_of(decided)), apart_(decided.use.apart) {}

  virtual Result<std::unique_ptr<engine::Counting>> arm_timed(std::size_t pass) = 0;

  /// The other engine's counts of a pass; null where it counts nothing.
  Result<std::unique_ptr<engine::Counting>> arm_inner(std::size_t pass) {
    if (pass >= passes_.size()) return std::unique_ptr<engine::Counting>{};
    return other().arm(pass);
  }

  const std::optional<LeastShare>& least() const { return least_; }

 private:
  std::optional<LeastShare> least_;
  bool apart_;
  std::vector<Pass> passes_{};  // what the other engine selected last
};

}  // namespace lauka::cores
