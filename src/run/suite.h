#pragma once

#include "plan/plan.h"
#include "run/runner.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lauka {

/// A benchmark of a suite, ready to be measured. What its context names is shared by all, but for
/// the engine, which has selected the plan's events.
struct SuitePart {
  std::string name;
  const Plan& plan;
  RunContext context;
};

/// Carries out the parts with their rounds interleaved: they take turns of a batch of timed rounds
/// each, in an order that is shuffled in each lap, so that a drift of the machine hits all alike.
/// Each keeps its own stop rule, gates and precision. One in sequential order, which sets up and
/// cleans up, or wants to be alone, has its one turn from its first run to its last. Where one ends
/// because a run failed, the others go on. An error means that no run of any was begun.
Result<std::vector<SessionResult>> carry_out_in_turns(std::vector<SuitePart>& parts,
                                                      std::uint64_t seed);

}  // namespace lauka
