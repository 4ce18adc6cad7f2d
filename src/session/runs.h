#pragma once

#include "core/own_metric.h"
#include "plan/plan.h"
#include "session/recording.h"

#include <vector>

namespace lauka {

/// What programs reported without being asked for it; the values follow those of Plan::told.
struct Discovered {
  std::vector<OwnMetric> metrics{};
  bool is_shown = true;  ///< no rows were listed
};

/// The session that carried out `plan`, as data. `timers` are those of the machine that ran it.
/// `session` has to outlive the runs.
Recording recording_of(const Plan& plan, const Session& session, const Timers& timers,
                       Circumstances circumstances, const Discovered& discovered = {});

}  // namespace lauka
