#pragma once

#include "gate/verdict.h"
#include "plan/plan.h"
#include "results/results.h"

#include <vector>

namespace lauka {

/// What a session, whole or cut short, says about its commands; its gates were decided while it
/// went on. Commands without a counted run have 0 runs and rows without values. A row of a run
/// under
/// --ignore-failure counts as any other.
Results analyse(Recording session, gate::Findings findings);

/// The same of a session that was just run: `timers` are those of the machine that ran it, and
/// `circumstances` go with the numbers. `session` has to outlive Results::runs.
Results analyse(const Plan& plan, const Session& session, const gate::Findings& findings,
                const Timers& timers = {}, Circumstances circumstances = {});

/// What lauka ends with: by a signal, by a failure, or as the gates decided.
int exit_status_of(const Session& session, const std::vector<gate::Verdict>& verdicts,
                   bool fail_if_inconclusive);

}  // namespace lauka
