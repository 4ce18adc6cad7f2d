#pragma once

#include "cli/options.h"
#include "core/event.h"
#include "core/machine.h"
#include "core/result.h"
#include "plan/plan.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lauka {

/// A function that divides the wanted events into passes, or refuses them.
using EventSelector = std::function<Result<EventSet>(const EventRequest&)>;

std::vector<std::string> append_to_default_events(const EventSet& defaults,
                                                  const std::vector<std::string>& names);

/// Returns the user's choice of metrics, in which --verbose turns Default into All.
MetricSelection choose_metric_selection(const Options& options);

/// Returns why --until cannot be added to a plan's options; nullopt if it can.
std::optional<Error> why_no_until(const Options& options, const Plan& plan);

/// What a plan depends on besides the user's options and the events.
struct PlanCircumstances {
  std::uint64_t clock_seed = 0;  ///< seed without --seed
  CorePlan cores{};
  bool has_tree_peak = false;  ///< true if tree_peak_memory is measured
};

/// Decides everything before the first run.
Result<Plan> make_plan(const Options& options, const EventSelector& select_events,
                       const PlanCircumstances& here);

/// The user's request for tree_peak_memory: none, together with all metrics, or by name.
enum class TreePeakRequest : unsigned char { No, WithAll, ByName };

TreePeakRequest tree_peak_request(const Options& options);

}  // namespace lauka
