#pragma once

#include "cli/options.h"
#include "core/metric.h"
#include "core/own_metric.h"
#include "core/result.h"
#include "plan/plan.h"
#include "plan/recording.h"

#include <vector>

namespace lauka {

/// `options` with the metrics that --metrics announces (NAME[:UNIT]:higher|lower: the program will
/// write them to LAUKA_METRICS) among those that are scraped, without an expression, and by their
/// names in the list of rows. Refused where two metrics have one name.
Result<Options> with_announced(Options options);

/// Adds a row for each of `told`. Refused where another metric has its name.
Result<void> add_told(const std::vector<OwnMetric>& told, std::vector<Metric>& metrics);

/// What programs reported without being asked for it; the values follow those of Plan::told.
struct Discovered {
  std::vector<OwnMetric> metrics{};
  bool is_shown = true;  ///< no rows were listed
};

/// Adds a row for each of them to the recording of `plan`, and looks for it in its baseline.
void add_discovered(const Plan& plan, const Discovered& discovered, Recording& recording);

}  // namespace lauka
