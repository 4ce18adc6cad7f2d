#pragma once

#include "cli/options.h"
#include "core/result.h"
#include "gate/verdict.h"
#include "plan/plan.h"
#include "session/recording.h"

#include <vector>

namespace lauka {

/// Makes a plan of saved sessions: the commands of all, one after the other, their metrics and
/// events, each once, and the gates typed. Files tell apart commands of the same name. The
/// reference is the first session's, or the command that `--reference` names. Refuses metrics of
/// one name in several units, and what make_plan refuses.
Result<Plan> plan_of_saved(const Options& options, const std::vector<Recording>& sessions);

/// The session that `plan` (plan_of_saved) makes of `sessions`: their runs one after the other,
/// each with its values of the plan's metrics.
Recording join(const std::vector<Recording>& sessions, const Plan& plan);

/// Moves the findings of a session with the metrics `from` to the places of these metrics in `to`.
gate::Findings moved(gate::Findings findings, const std::vector<Metric>& from,
                     const std::vector<Metric>& to);

}  // namespace lauka
