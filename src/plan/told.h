#pragma once

#include "cli/options.h"
#include "core/metric.h"
#include "core/own_metric.h"
#include "core/result.h"
#include "plan/plan.h"

#include <vector>

namespace lauka {

/// `options` with the metrics that --metrics announces (NAME[:UNIT]:higher|lower: the program will
/// write them to LAUKA_METRICS) among those that are scraped, without an expression, and by their
/// names in the list of rows. Refused where two metrics have one name.
Result<Options> with_announced(Options options);

/// Adds a row for each of `told`. Refused where another metric has its name.
Result<void> add_told(const std::vector<OwnMetric>& told, std::vector<Metric>& metrics);

/// Adds what the programs told without being asked for it; shown where no rows were listed.
void add_discovered(Plan& plan, const std::vector<OwnMetric>& discovered, bool is_shown);

}  // namespace lauka
