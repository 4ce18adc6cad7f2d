#pragma once

#include "core/command.h"
#include "plan/plan.h"
#include "run/runner.h"

#include <cstddef>
#include <vector>

namespace lauka {

/// Some commands of a plan that stand beside each other.
struct CommandRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// Enters what these commands run, as their setup has left it, into `programs`, one per command of
/// the plan. Empty with a shell, whose file says nothing, and where the file cannot be read or
/// somebody interrupts.
void identify(const Plan& plan, const RunContext& context, CommandRange commands,
              std::vector<Fingerprint>& programs);

}  // namespace lauka
