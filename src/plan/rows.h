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

/// True if `list` (of --metrics) names only built-in metrics, which need no counters.
bool are_all_built_in(const std::vector<std::string>& list);

/// Moves the metrics that `list` names (NAME or NAME:UNIT) to the front, in its order, then the
/// rows of `percentiles` (in percent), and hides all other metrics.
Result<void> list_rows(const std::vector<std::string>& list, const std::vector<double>& percentiles,
                       std::vector<Metric>& metrics);

/// Makes tables show times in `unit`, except times for which the user chose a unit. null: a unit
/// that fits each value.
void show_times_in(const DisplayUnit* unit, std::vector<Metric>& metrics);

void add_once(std::vector<std::string>& names, std::string_view name);

/// Adds the names of the events of which `metric` consists; adds `metric` itself if it is not in
/// kDerivedMetrics.
void add_events_of(std::vector<std::string>& names, std::string_view metric);

bool has_name(const std::vector<OwnMetric>& metrics, std::string_view name);

/// Returns "did you mean NAME?" for the metric with the most similar name; `otherwise` if none is
/// similar.
std::string suggestion_for(std::string_view name, const std::vector<Metric>& metrics,
                           std::string_view otherwise);

/// Returns why the metric `name` of kDerivedMetrics is missing; nullopt if it is not missing, or
/// not in kDerivedMetrics.
std::optional<Error> why_not_derived(std::string_view name, const std::vector<Metric>& metrics);

/// Returns the names of the display units for `unit`: "ns, µs, ms, s, min"; may be empty.
std::string units_for(Unit unit);

/// Adds the percentiles of wall time that --percentiles, --metrics, a gate or --precision names.
/// Does nothing without wall time.
Result<void> add_percentiles(const CountingOptions& options, const GateOptions& gates,
                             const RunOptions& run, std::vector<Metric>& metrics);

std::vector<OwnMetric> region_metrics();

/// Moves the region's time to the front, if it is measured. With the default `selection`, also
/// hides metrics that say little about a region.
void show_region(MetricSelection selection, std::vector<Metric>& metrics);

/// Adds the metrics of --region and the metrics that --metrics announces (NAME[:UNIT]:higher|lower)
/// to CountingOptions::scraped. Refuses two metrics with the same name.
Result<CountingOptions> with_announced(CountingOptions options);

/// Adds a row for each of `reported`. Refuses a name that another metric has.
Result<void> add_reported(const std::vector<OwnMetric>& reported, std::vector<Metric>& metrics);

struct FormulaDefinition {
  OwnMetric metric{};
  Expression expression{};
  bool is_typed = true;
  /// True: an error if a part is not measured; false: the formula is left out.
  bool is_wanted = true;
  bool of_one_run = false;  ///< true if counts and time must be from the same run
};

/// The formulas of a session, in the order of their rows, and the events that they need.
struct FormulaRequest {
  std::vector<FormulaDefinition> formulas{};
  std::vector<std::string> events{};   ///< events that wanted formulas need, without duplicates
  std::vector<EventNames> together{};  ///< pairs of events that one wanted formula uses
  /// True if a wanted formula also has a form with events of older processors.
  bool has_older = false;
};

bool is_built_in_formula(std::string_view name);

/// Returns NAME of NAME:UNIT in --metrics; all of `text` if it has no colon.
std::string_view name_of_row(std::string_view text);

/// Returns the formulas of --derive, and the built-in formulas that the options name. `older`: uses
/// events of older processors in formulas that have such a form.
FormulaRequest request_formulas(const CountingOptions& options, const GateOptions& gates,
                                MetricSelection selection, const CorePlan& cores,
                                bool older = false);

/// Adds the formulas' rows to `metrics`. Leaves out a formula that cannot be computed and is not
/// wanted.
Result<void> add_formulas(const FormulaRequest& request, const EventSet& events,
                          std::vector<Metric>& metrics);

}  // namespace lauka
