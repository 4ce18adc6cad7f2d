#pragma once

#include "cli/options.h"
#include "core/metric.h"
#include "core/recording.h"
#include "core/result.h"
#include "gate/verdict.h"
#include "plan/plan.h"

#include <vector>

namespace lauka {

/// Makes a plan for saved sessions: all their commands, metrics and events, and the gates of
/// `options`. Refuses sessions that cannot be joined, and options that do not fit the sessions.
Result<Plan> plan_of_saved(const Options& options, const std::vector<Recording>& sessions);

/// Joins `sessions` as `plan` (from plan_of_saved) describes: all runs, one session after the
/// other, with their values of the plan's metrics. Takes the runs out of `sessions`.
Recording join(std::vector<Recording>& sessions, const Plan& plan);

/// Converts the findings' metrics from indices into `from` to indices into `to`, which has metrics
/// of the same names.
gate::Findings convert_metric_indices(gate::Findings findings, const std::vector<Metric>& from,
                                      const std::vector<Metric>& to);

}  // namespace lauka
