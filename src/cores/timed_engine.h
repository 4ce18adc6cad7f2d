#pragma once

#include "cores/cores.h"
#include "cores/least_share.h"
#include "engine/engine.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lauka::cores {

/// Another engine, to whose counts a derived one adds the times by kind of core.
class TimedEngine : public engine::CounterEngine {
 public:
  std::string_view name() const override { return inner_->name(); }
  Catalog catalog() const override { return inner_->catalog(); }
  std::vector<std::string> notes() const override { return inner_->notes(); }

  Result<EventSet> select(const engine::Wanted& wanted) override {
    auto set = inner_->select(wanted);
    passes_.clear();
    if (set) passes_ = set->passes;
    return set;
  }

  Result<std::unique_ptr<engine::Counting>> arm(std::size_t pass, os::Launcher& launcher) override {
    // Runs that are simulated have no times.
    if (pass < passes_.size() && passes_[pass].simulated) return inner_->arm(pass, launcher);
    return arm_timed(pass, launcher);
  }

 protected:
  TimedEngine(std::unique_ptr<CounterEngine> inner, const Decided& decided)
      : inner_(std::move(inner)), least_(least_of(decided)) {}

  virtual Result<std::unique_ptr<engine::Counting>> arm_timed(std::size_t pass,
                                                              os::Launcher& launcher) = 0;

  /// The other engine's counts of a pass; null where it counts nothing.
  Result<std::unique_ptr<engine::Counting>> arm_inner(std::size_t pass, os::Launcher& launcher) {
    if (pass >= passes_.size()) return std::unique_ptr<engine::Counting>{};
    return inner_->arm(pass, launcher);
  }

  const std::optional<LeastShare>& least() const { return least_; }

 private:
  std::unique_ptr<CounterEngine> inner_;
  std::optional<LeastShare> least_;
  std::vector<Pass> passes_{};  // what the other engine selected last
};

}  // namespace lauka::cores
