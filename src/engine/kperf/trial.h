#pragma once

#include "core/result.h"
#include "engine/kperf/configure.h"
#include "engine/kperf/kernel.h"
#include "engine/kperf/kperf_engine.h"
#include "engine/kperf/strategy.h"
#include "engine/kperf/trace.h"
#include "os/process.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lauka::engine::kperf {

/// Passes a run on to the strategy that counts it.
class StrategyWatch final : public os::RunWatch {
 public:
  StrategyWatch(Strategy& strategy, std::vector<std::uint64_t> words)
      : strategy_(strategy), words_(std::move(words)) {}

  void before_start() override { strategy_.before_start(words_); }
  void made(int pid) override { strategy_.made(pid); }
  void running(int /*pid*/) override { strategy_.running(); }
  /// So often that the trace's buffer holds what comes meanwhile, so seldom that reading it takes
  /// no noticeable part of the machine.
  std::chrono::nanoseconds interval() const override { return std::chrono::milliseconds(20); }

 private:
  Strategy& strategy_;
  std::vector<std::uint64_t> words_;
};

/// A strategy that works here, and what has to be told about its being taken.
struct Tried {
  std::unique_ptr<Strategy> strategy;
  bool counts_machine = false;  ///< everything that runs meanwhile, not the command alone
  std::vector<std::string> notes;
};

/// Tries strategies on a command whose total the kernel knows, the best first, and takes the first
/// that saw it whole. Refused where none does, or where the one asked for does not.
Result<Tried> try_strategies(StrategyChoice choice, std::chrono::nanoseconds period, Claim& claim,
                             const Kernel& kernel, Trace& trace, os::Launcher& launcher);

}  // namespace lauka::engine::kperf
