#pragma once

#include "core/baseline.h"
#include "core/result.h"
#include "core/series.h"
#include "plan/plan.h"

#include <cstddef>

namespace lauka {

/// Has `plan` take its references from `baseline`. A command's is the one of the same name; where
/// none has its name, the one at the same place in the file, unless that has another command's
/// name. Refuses a baseline that lacks one, or a metric of one that a gate or --precision
/// is on, or has a metric in another unit.
Result<void> use_baseline(Plan& plan, Baseline baseline);

/// Index of the first command that is compared with a reference.
std::size_t first_candidate(const Plan& plan);

/// Whether deltas are taken within rounds: not in sequential order, nor with a baseline.
bool compares_within_rounds(const Plan& plan);

/// What `candidate`'s delta of `metric` is made from; `series` are the metric's.
Comparison samples_of(const Plan& plan, const Metric& metric, const MetricSeries& series,
                      std::size_t candidate);

}  // namespace lauka
