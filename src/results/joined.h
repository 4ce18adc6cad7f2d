#pragma once

#include "plan/plan.h"
#include "plan/recording.h"
#include "results/read_session.h"

#include <vector>

namespace lauka {

/// The session that `plan` (plan_of_saved) makes of `sessions`: their runs one after the other,
/// each with its values of the plan's metrics.
Recording join(const std::vector<Recording>& sessions, const Plan& plan);

/// What was decided while `session` went on, with the metrics at their places in `metrics`.
gate::Findings with_metrics_of(const ReadSession& session, const std::vector<Metric>& metrics);

}  // namespace lauka
