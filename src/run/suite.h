#pragma once

#include "plan/plan.h"
#include "run/runner.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lauka {

/// What is measured, with all that it takes. What the context names is shared by all benchmarks,
/// but for the engine, which has selected the plan's events.
struct BenchmarkRun {
  std::string name;  ///< empty if it is the only one: progress is then shown as its own
  const Plan& plan;
  RunContext context;
};

/// Carries out one benchmark (carry_out of runner.h), or several with their rounds interleaved:
/// they take turns of a batch of timed rounds each, in an order that is shuffled in each lap, so
/// that a drift of the machine hits all alike. Each keeps its own stop rule, gates and precision.
/// One in sequential order, which sets up and cleans up, or wants to be alone, has its one turn
/// from its first run to its last. Where one ends because a run failed, the others go on. An error
/// means that no run of any was begun.
Result<std::vector<SessionResult>> carry_out(std::span<BenchmarkRun> runs, std::uint64_t seed);

}  // namespace lauka
