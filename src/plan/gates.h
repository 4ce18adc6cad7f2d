#pragma once

#include "core/condition.h"
#include "core/metric.h"
#include "core/reference.h"
#include "core/result.h"
#include "plan/plan.h"

#include <cstddef>
#include <vector>

namespace lauka {

/// Adds gates to a plan that already has metrics, commands and their references. Refuses a gate
/// whose candidates have no reference, or more than one.
Result<void> add_gates(const std::vector<Condition>& gates, bool has_baseline, Plan& plan);

/// True if a gate applies to `command`. `commands`: number of commands. A gate whose limit needs no
/// reference also applies to the only command of a plan, and to each value of the only typed
/// command.
bool is_gated(const Condition& condition, const Reference& reference, std::size_t command,
              std::size_t commands);

/// Returns the number of gate decisions: one for each gate and each command to which the gate
/// applies.
std::size_t count_decisions(const Plan& plan);

}  // namespace lauka
