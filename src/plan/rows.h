#pragma once

#include "cli/options.h"
#include "core/choices.h"
#include "core/event.h"
#include "core/machine.h"
#include "core/metric.h"
#include "core/own_metric.h"
#include "core/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka {

/// Returns the names in --metrics, in gates and in --precision.
std::vector<std::string_view> list_named_metrics(const CountingOptions& options,
                                                 const GateOptions& gates);

/// True if `list` (of --metrics) names only built-in metrics, which need no counters.
bool are_all_built_in(const std::vector<std::string>& list);

/// Moves the metrics that `list` names (NAME or NAME:UNIT) to the front, in the order of `list`,
/// then the rows of `percentiles` (in percent). Hides all other metrics (Shown::Verbose).
Result<void> move_rows_to_front(const std::vector<std::string>& list,
                                const std::vector<double>& percentiles,
                                std::vector<Metric>& metrics);

/// Makes tables show times in `unit` (null: in a unit that fits each value), except times that
/// already have a unit (Metric::shown_in).
void show_times_in(const DisplayUnit* unit, std::vector<Metric>& metrics);

void add_once(std::vector<std::string>& names, std::string_view name);

/// Adds the names of the events of a metric in kDerivedMetrics. Adds `metric` itself if it is not
/// in kDerivedMetrics.
void add_events_of(std::vector<std::string>& names, std::string_view metric);

bool has_name(const std::vector<OwnMetric>& metrics, std::string_view name);

/// Returns "did you mean NAME?" with the most similar name of a metric; `otherwise` if no name is
/// similar.
std::string make_suggestion(std::string_view name, const std::vector<Metric>& metrics,
                            std::string_view otherwise);

/// Returns why the metric `name` of kDerivedMetrics is missing in `metrics`; nullopt for any other
/// name, or if the metric is not missing.
std::optional<Error> why_not_derived(std::string_view name, const std::vector<Metric>& metrics);

/// Returns the names of the display units for `unit`: "ns, µs, ms, s, min"; may be empty.
std::string list_units_for(Unit unit);

/// Adds the percentiles of wall time that --percentiles, --metrics, a gate or --precision names.
/// Refuses percentiles that need more runs than the user allows.
Result<void> add_percentiles(const CountingOptions& options, const GateOptions& gates,
                             const RunOptions& run, std::vector<Metric>& metrics);

std::vector<OwnMetric> make_region_metrics();

/// Moves the region's time to the front, if it is measured. With the default `selection`, also
/// hides built-in metrics, metrics of core kinds, and region_entries.
void move_region_to_front(MetricSelection selection, std::vector<Metric>& metrics);

/// Adds to CountingOptions::scraped_metrics the metrics that --metrics announces
/// (NAME[:UNIT]:higher|lower) and the metrics of --region. Refuses two metrics with the same name.
Result<CountingOptions> add_announced_metrics(CountingOptions options);

/// Adds a row to `metrics` for each metric in `reported`. Refuses a name that another metric has.
Result<void> add_reported(const std::vector<OwnMetric>& reported, std::vector<Metric>& metrics);

struct FormulaDefinition {
  OwnMetric metric{};
  Expression expression{};
  bool is_by_user = true;
  /// True: a formula that cannot be computed is an error; false: such a formula is left out.
  bool is_required = true;
  /// True if the formula's times may be from counting runs.
  bool may_use_times_of_counting_runs = false;
};

/// Formulas in the order of their rows, and the events that they need.
struct FormulaRequest {
  std::vector<FormulaDefinition> formulas{};
  std::vector<std::string> events{};         ///< events of wanted formulas, without duplicates
  std::vector<EventNamePair> event_pairs{};  ///< pairs of events of the same wanted formula
  /// True if a wanted formula has another form, for older processors.
  bool has_older_form = false;
};

bool is_built_in_formula(std::string_view name);

/// Returns NAME of NAME:UNIT in --metrics; the whole text if it has no colon.
std::string_view name_of_row(std::string_view text);

/// What names the formulas of a plan. All members outlive the struct.
struct FormulaSources {
  const CountingOptions& counting;
  const GateOptions& gates;
  const CorePlan& cores;
  MetricSelection selection = MetricSelection::Default;
};

/// Older processors lack the events of some formulas' usual form.
enum class FormulaForm : unsigned char { Usual, ForOlderProcessors };

/// Returns the formulas of --derive, and each built-in formula that is named by an option or by
/// another formula, or that FormulaSources::selection includes.
FormulaRequest request_formulas(const FormulaSources& sources, FormulaForm form);

/// Adds the formulas' rows to `metrics`. Leaves out a formula that cannot be computed and is not
/// wanted.
Result<void> add_formulas(const FormulaRequest& request, const EventSet& events,
                          std::vector<Metric>& metrics);

/// Returns the built-in metrics, the metrics of core kinds, a metric for each other event, and
/// ratios of events that are counted together. `selection` and `events_were_asked_for` decide which
/// metrics tables show.
std::vector<Metric> make_metrics(const EventSet& events, MetricSelection selection,
                                 bool events_were_asked_for, bool has_tree_peak = false);

}  // namespace lauka
