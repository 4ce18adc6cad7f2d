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

/// True if the kernel accounts for everything in `list` (see list_rows), so that no counters are
/// needed.
bool are_all_built_in(const std::vector<std::string>& list);

/// Moves the metrics that `list` names (NAME or NAME:UNIT) to the front, in its order, then the
/// rows of `percentiles` (in percent), and hides all others. Refuses a metric that is not measured
/// (and suggests a similar name) or named twice, and a unit of another kind.
Result<void> list_rows(const std::vector<std::string>& list, const std::vector<double>& percentiles,
                       std::vector<Metric>& metrics);

/// Makes tables show all times in `unit`, except times for which the user chose a unit. null: a
/// unit that fits each value.
void show_times_in(const DisplayUnit* unit, std::vector<Metric>& metrics);

/// Adds `name` to `names` unless they contain it.
void add_once(std::vector<std::string>& names, std::string_view name);

/// Adds the events of which a derived metric consists; for another metric, adds its name.
void add_events_of(std::vector<std::string>& names, std::string_view metric);

bool has_name(const std::vector<OwnMetric>& metrics, std::string_view name);

/// Returns "did you mean NAME?" for the metric with the most similar name; `otherwise` if none is
/// similar.
std::string suggestion_for(std::string_view name, const std::vector<Metric>& metrics,
                           std::string_view otherwise);

/// Returns why the derived metric `name` is missing from the metrics; nullopt if it is there, or if
/// no derived metric has the name.
std::optional<Error> why_not_derived(std::string_view name, const std::vector<Metric>& metrics);

/// Returns the names of the display units for `unit`: "ns, µs, ms, s, min"; may be empty.
std::string units_for(Unit unit);

/// Adds the percentiles of --percentiles after wall time, and the percentiles that --metrics, a
/// gate or --precision names. Refuses a percentile for which the allowed runs are too few, or
/// whose name another metric has. Does nothing without wall time.
Result<void> add_percentiles(const CountingOptions& options, const GateOptions& gates,
                             const RunOptions& run, std::vector<Metric>& metrics);

/// Returns the metrics that programs report about their region.
std::vector<OwnMetric> region_metrics();

/// Moves the region's time, if it is measured, to the front; by the default `selection`, hides the
/// metrics of whole runs.
void show_region(MetricSelection selection, std::vector<Metric>& metrics);

/// Returns `options` with the metrics that --metrics announces (NAME[:UNIT]:higher|lower), which
/// programs will write to LAUKA_METRICS. They are added to the reported metrics and, by name, to
/// the rows. Also adds the metrics of --region. Refuses two metrics with the same name.
Result<CountingOptions> with_announced(CountingOptions options);

/// Adds a row for each of `reported`. Refuses a name that another metric has.
Result<void> add_reported(const std::vector<OwnMetric>& reported, std::vector<Metric>& metrics);

/// A metric that a formula computes.
struct Formulation {
  OwnMetric metric{};
  Expression expression{};
  bool is_typed = true;     ///< true if the user typed it with --derive
  bool is_wanted = true;    ///< true: an error if a part is not measured; false: left out
  bool of_one_run = false;  ///< true if counts and time must be from the same run
};

/// The formulas of a session, in the order of their rows, and the events that they need.
struct FormulaRequest {
  std::vector<Formulation> formulas{};
  std::vector<std::string> events{};   ///< events of wanted formulas, without duplicates, as typed
  std::vector<EventNames> together{};  ///< pairs of events that one wanted formula uses
  bool has_older =
      false;  ///< true if a wanted formula also has a form with events of older processors
};

bool is_built_in_formula(std::string_view name);

/// Returns NAME of NAME:UNIT in --metrics; all of `text` if it has no colon.
std::string_view name_of_row(std::string_view text);

/// Returns the formulas of --derive, and the built-in formulas that --metrics (also `all`), a gate,
/// --precision or another formula names. `older`: uses events of older processors in formulas that
/// have such a form.
FormulaRequest request_formulas(const CountingOptions& options, const GateOptions& gates,
                                MetricSelection selection, const CoreUse& cores,
                                bool older = false);

/// Adds the formulas' rows to `metrics`. Refuses a wanted formula if a part is not measured, or if
/// no run has all parts; a typed one that has the name of another metric; and more than 100,000
/// terms in all.
Result<void> add_formulas(const FormulaRequest& request, const EventSet& events,
                          std::vector<Metric>& metrics);

}  // namespace lauka
