#pragma once

#include "cli/options.h"
#include "core/result.h"
#include "plan/plan.h"

namespace lauka {

/// Adds the race of --race to a plan that already has metrics and commands. Refuses a race of one
/// command, of commands that would run the same program, or by a metric that cannot be raced.
Result<void> add_race(const RunOptions& options, Plan& plan);

}  // namespace lauka
