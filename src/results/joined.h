#pragma once

#include "gate/verdict.h"
#include "plan/plan.h"
#include "plan/recording.h"

#include <vector>

namespace lauka {

/// The session that `plan` (plan_of_saved) makes of `sessions`: their runs one after the other,
/// each with its values of the plan's metrics.
Recording join(const std::vector<Recording>& sessions, const Plan& plan);

/// What was decided while a session went on that had the metrics `from`, of the same at their
/// places in `to`.
gate::Findings moved(gate::Findings findings, const std::vector<Metric>& from,
                     const std::vector<Metric>& to);

}  // namespace lauka
