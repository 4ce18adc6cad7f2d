#pragma once

#include "cli/options.h"
#include "core/event.h"
#include "core/machine.h"
#include "core/metric.h"
#include "core/own_metric.h"
#include "core/result.h"
#include "plan/plan.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka {

/// True if the kernel's accounting has all of `list` (see list_rows), so that nothing must be
/// counted.
bool are_all_built_in(const std::vector<std::string>& list);

/// Puts the metrics that `list` names (NAME or NAME:UNIT) first, in its order, and shows these
/// alone; after them the rows of `percentiles` (in percent), which were asked for, too. Refuses a
/// name that is not measured and a unit that does not fit, with what was most likely meant.
Result<void> list_rows(const std::vector<std::string>& list, const std::vector<double>& percentiles,
                       std::vector<Metric>& metrics);

/// Shows every time in `unit` (null: as each fits) that was not asked for in another one.
void show_times_in(const DisplayUnit* unit, std::vector<Metric>& metrics);

/// Adds `name` unless it is there.
void add_once(std::vector<std::string>& names, std::string_view name);

/// Adds the events that a metric is made of, if it is derived from events; else its name.
void add_events_of(std::vector<std::string>& names, std::string_view metric);

bool has_name(const std::vector<OwnMetric>& metrics, std::string_view name);

/// Returns "did you mean NAME?" with the metric of the most similar name; `otherwise` if none is.
std::string suggestion_for(std::string_view name, const std::vector<Metric>& metrics,
                           std::string_view otherwise);

/// Returns why `name` is not among the metrics although its parts are; nullopt otherwise.
std::optional<Error> why_not_derived(std::string_view name, const std::vector<Metric>& metrics);

/// The names of the units that values of `unit` can be shown in: "ns, µs, ms, s, min"; may be
/// empty.
std::string units_for(Unit unit);

/// Adds the percentiles of --percentiles after wall time, and those that --metrics, a gate or
/// --precision names. Refused if the allowed runs are too few for one of them.
Result<void> add_percentiles(const CountingOptions& options, const GateOptions& gates,
                             const RunOptions& run, std::vector<Metric>& metrics);

/// Returns the rows that programs write to their region.
std::vector<OwnMetric> region_metrics();

/// Puts the time of the region first, and hides the whole run's metrics, unless `selection` chose
/// them.
void show_region(MetricSelection selection, std::vector<Metric>& metrics);

/// Returns `options` with the metrics that --metrics announces (NAME[:UNIT]:higher|lower: the
/// program will write them to LAUKA_METRICS) added to the scraped ones, without an expression, and
/// to the rows by name. Refused if two metrics have one name.
Result<CountingOptions> with_announced(CountingOptions options);

/// Adds a row for each of `reported`. Refused if another metric has its name.
Result<void> add_reported(const std::vector<OwnMetric>& reported, std::vector<Metric>& metrics);

/// A formula that makes a metric.
struct Formulation {
  OwnMetric metric{};
  Expression expression{};
  bool is_typed = true;     ///< true if it was given with --derive
  bool is_wanted = true;    ///< else it is left out if a part of it is not measured
  bool of_one_run = false;  ///< true if counts and time must be of the same run
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
FormulaRequest request_formulas(const CountingOptions& options, const GateOptions& gates,
                                MetricSelection selection, const CoreUse& cores,
                                bool older = false);

/// Adds their rows to `metrics`. Refused if a wanted one has a part that is not measured, or no run
/// has all of its parts.
Result<void> add_formulas(const FormulaRequest& request, const EventSet& events,
                          std::vector<Metric>& metrics);

}  // namespace lauka
