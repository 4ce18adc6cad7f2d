#pragma once

#include "cli/options.h"
#include "core/metric.h"
#include "core/result.h"

#include <vector>

namespace lauka {

/// Adds the percentiles of --percentiles behind wall time, and those that --metrics, a gate or
/// --precision names. Refused where the runs that are allowed are too few for one of them.
Result<void> add_percentiles(const Options& options, std::vector<Metric>& metrics);

}  // namespace lauka
