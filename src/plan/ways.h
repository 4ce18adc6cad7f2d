#pragma once

#include "core/result.h"
#include "plan/plan.h"

namespace lauka {

/// With the metric that --jobs brings along.
Options with_throughput(Options options);

/// Refuses ways of running that do not go together, such as an output to be compared of runs that
/// are ended early.
Result<void> check_ways_of_running(const Options& options, const Plan& plan);

}  // namespace lauka
