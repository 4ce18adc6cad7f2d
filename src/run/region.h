#pragma once

#include "core/result.h"
#include "os/process.h"
#include "plan/plan.h"

#include <optional>
#include <vector>

namespace lauka {

/// Why a run has no values of its region: none was marked, or not as it should be. What a program
/// notes may be anything.
std::optional<Error> why_no_region(const os::Ended& ended);

/// Enters what a run noted of its region at the places of Plan::told.
void add_region(const Plan& plan, const os::RegionUse& use,
                std::vector<std::optional<double>>& told);

}  // namespace lauka
