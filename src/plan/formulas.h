#pragma once

#include "cli/options.h"
#include "core/event.h"
#include "core/machine.h"
#include "core/metric.h"
#include "core/own_metric.h"
#include "core/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace lauka {

/// A formula that makes a metric.
struct Formulation {
  OwnMetric metric{};
  Expression expression{};
  bool is_typed = true;     ///< with --derive
  bool is_wanted = true;    ///< else it is left out if a part of it is not measured
  bool of_one_run = false;  ///< its counts and time must be of the same run
};

/// The formulas of a session, in the order of their rows, and the events they need.
struct FormulaRequest {
  std::vector<Formulation> formulas{};
  std::vector<std::string> events{};   ///< each once, as typed
  std::vector<EventNames> together{};  ///< the events of one formula
  bool has_older = false;              ///< a wanted one could be made of older events
};

/// True if a formula of that name is built in.
bool is_built_in_formula(std::string_view name);

/// The name in --metrics NAME:UNIT, or the whole text where that has no colon.
std::string_view name_of_row(std::string_view text);

/// Returns the formulas of --derive, and the built-in ones that --metrics, a gate, --precision or
/// another formula names, or that --metrics all shows. `older`: a built-in formula uses the events
/// of older processors, if it has such.
FormulaRequest formulas_of(const Options& options, MetricSelection selection, const CoreUse& cores,
                           bool older = false);

/// Adds their rows to `metrics`. Refused if a wanted one has a part that is not measured, or no run
/// has all of its parts.
Result<void> add_formulas(const FormulaRequest& request, const EventSet& events,
                          std::vector<Metric>& metrics);

}  // namespace lauka
