#pragma once

#include "plan/plan.h"
#include "plan/recording.h"

namespace lauka {

/// The session that carried out `plan`, as data. `timers` are those of the machine that ran it.
/// `session` has to outlive the runs.
Recording recording_of(const Plan& plan, const Session& session, const Timers& timers,
                       Circumstances circumstances);

}  // namespace lauka
