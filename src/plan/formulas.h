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
  bool is_wanted = true;    ///< else it is left out where a part of it is not measured
  bool of_one_run = false;  ///< counts and the time of the very run that counted them, whose
                            ///< quotient counting leaves as it is
};

/// The formulas of a session, in the order of their rows, and what they want of the engine.
struct FormulaRequest {
  std::vector<Formulation> formulas{};
  std::vector<std::string> events{};   ///< each once, as typed
  std::vector<EventNames> together{};  ///< those of one formula
  bool has_older = false;              ///< one that is wanted could be made of older events
};

/// Whether a formula of that name is built in.
bool is_built_in_formula(std::string_view name);

/// The name in --metrics NAME:UNIT, or the whole text where that has no colon.
std::string_view name_of_row(std::string_view text);

/// Those of --derive, and the built-in ones that --metrics, a gate, --precision or another formula
/// names, or that --metrics all shows.
/// `older`: with the events that processors had before those of a built-in formula, where there are
/// such.
FormulaRequest formulas_of(const Options& options, MetricSelection selection, const CoreUse& cores,
                           bool older = false);

/// Adds their rows to those of `metrics`. Refused where one that is wanted has a part that is not
/// measured, or no run has all of its parts.
Result<void> add_formulas(const FormulaRequest& request, const EventSet& events,
                          std::vector<Metric>& metrics);

}  // namespace lauka
