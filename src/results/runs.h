#pragma once

#include "plan/plan.h"
#include "plan/recording.h"
#include "plan/told.h"

namespace lauka {

/// The session that carried out `plan`, as data. `timers` are those of the machine that ran it.
/// `session` has to outlive the runs.
Recording recording_of(const Plan& plan, const Session& session, const Timers& timers,
                       Circumstances circumstances, const Discovered& discovered = {});

}  // namespace lauka
