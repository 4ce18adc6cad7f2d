#pragma once

#include "plan/plan.h"

#include <vector>

namespace lauka::fakes {

/// Returns gates of a plan that has its metrics.
inline std::vector<Gate> gates_of(const Plan& plan, const std::vector<Condition>& conditions) {
  std::vector<Gate> gates;
  for (const Condition& condition : conditions)
    gates.push_back({condition, find_metric(plan.metrics, condition.metric).value()});
  return gates;
}

}  // namespace lauka::fakes
