#pragma once

#include "plan/plan.h"
#include "results/results.h"

#include <cstddef>
#include <vector>

namespace lauka {

/// Enters the median coverage of every command.
void enter_coverage(const std::vector<const RunRecord*>& runs, Results& results);

/// Whether a metric's event may be one that its counter cannot count: 0 in every run of a command
/// of which instructions were counted.
bool is_doubtful(const Metric& metric, const Plan& plan, const CommandResult& command,
                 const std::vector<double>& values);

/// Of coverage, and of events that were never counted.
std::vector<Warning> warnings_of_coverage(const Results& results);

}  // namespace lauka
