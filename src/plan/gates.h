#pragma once

#include "core/metric.h"
#include "core/result.h"
#include "plan/plan.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace lauka {

/// Adds the gates of the conditions to the plan, which has its metrics and commands. Refuses a
/// metric that is not measured, a limit in another unit, and a change without a reference.
Result<void> add_gates(const std::vector<Condition>& gates, bool has_baseline, Plan& plan);

/// True if a gate is on `command`, one of `commands`. A bound needs no reference, so that a command
/// on its own is gated, too.
bool is_gated(const Condition& condition, const Reference& reference, std::size_t command,
              std::size_t commands);

/// Returns the number of answers that the plan's gates will give: one for each gate and command.
std::size_t decisions_of(const Plan& plan);

/// A precision needs a value from every round that it may ask for.
Result<void> add_precision(const Options& options, Plan& plan);

}  // namespace lauka
