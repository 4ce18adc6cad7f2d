#pragma once

#include "core/metric.h"
#include "core/own_metric.h"
#include "core/recording.h"
#include "core/session.h"
#include "plan/plan.h"

#include <vector>

namespace lauka {

/// Metrics that programs reported without a request. In RunRecord::reported, their values follow
/// the values of Plan::reported_metrics.
struct DiscoveredMetrics {
  std::vector<OwnMetric> metrics{};
  bool is_shown = true;  ///< false: the user listed rows without these metrics
};

/// What a recording keeps besides the plan and the session.
struct RecordingContext {
  TimerResolutions timers{};
  Circumstances circumstances{};
  DiscoveredMetrics discovered{};
};

/// Makes a recording of a session that carried out `plan`.
Recording make_recording(const Plan& plan, Session&& session, RecordingContext context);

}  // namespace lauka
