#pragma once

#include "gate/findings.h"
#include "plan/plan.h"
#include "results/results.h"

#include <vector>

namespace lauka {

/// Whether the results hold every run as well (exports of runs need them, and they cost memory).
enum class Detail : unsigned char { Summaries, Runs };

/// What a session, whole or cut short, says about its plan's commands; its gates were decided while
/// it went on. Commands without a counted
/// run have 0 runs and rows without values. A row of a run under --ignore-failure counts as any
/// other. `timers` are those of the machine that ran it: they decide some of the warnings.
/// `circumstances` go with the numbers.
Results analyse(const Plan& plan, const Session& session, const gate::Findings& findings,
                Detail detail, const Timers& timers = {}, Circumstances circumstances = {});

}  // namespace lauka
