#pragma once

#include "cli/options.h"
#include "core/own_metric.h"
#include "plan/plan.h"

#include <vector>

namespace lauka {

/// What programs note of their region, as rows.
std::vector<OwnMetric> region_metrics();

/// Puts the time of the region first, and hides what is of the whole run, unless `selection` chose
/// it.
void show_region(MetricSelection selection, std::vector<Metric>& metrics);

}  // namespace lauka
