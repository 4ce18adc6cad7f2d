#pragma once

#include "cli/options.h"
#include "core/result.h"
#include "plan/plan.h"
#include "plan/recording.h"

#include <vector>

namespace lauka {

/// What the options ask of sessions that were saved: the commands of all, one after the other,
/// their metrics and events, each once, and the gates typed. Commands of the same name in several
/// of them are told apart by their files. The reference is that of the first session, or the
/// command that
/// --reference names. Refuses metrics of one name in several units, and what make_plan refuses,
/// too.
Result<Plan> plan_of_saved(const Options& options, const std::vector<Recording>& sessions);

}  // namespace lauka
