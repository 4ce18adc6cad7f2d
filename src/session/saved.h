#pragma once

#include "cli/options.h"
#include "core/result.h"
#include "gate/verdict.h"
#include "plan/plan.h"
#include "session/recording.h"

#include <vector>

namespace lauka {

/// What the options ask of sessions that were saved: the commands of all, one after the other,
/// their metrics and events, each once, and the gates typed. Commands of the same name in several
/// of them are told apart by their files. The reference is that of the first session, or the
/// command that
/// --reference names. Refuses metrics of one name in several units, and what make_plan refuses,
/// too.
Result<Plan> plan_of_saved(const Options& options, const std::vector<Recording>& sessions);

/// The session that `plan` (plan_of_saved) makes of `sessions`: their runs one after the other,
/// each with its values of the plan's metrics.
Recording join(const std::vector<Recording>& sessions, const Plan& plan);

/// What was decided while a session went on that had the metrics `from`, of the same at their
/// places in `to`.
gate::Findings moved(gate::Findings findings, const std::vector<Metric>& from,
                     const std::vector<Metric>& to);

}  // namespace lauka
