#pragma once

#include "cores/cores.h"
#include "engine/accounting.h"
#include "engine/engine.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lauka::cores {

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
