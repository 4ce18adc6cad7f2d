#pragma once

#include "cli/options.h"
#include "core/metric.h"
#include "core/result.h"
#include "gate/verdict.h"
#include "plan/plan.h"
#include "session/recording.h"
#include "stats/layouts.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lauka {

/// Returns the index in `session` of each metric, of a percentile's source for a percentile;
/// nullopt if it was not measured there, or if only one of the two is of a region.
std::vector<std::optional<std::size_t>> places_in(const Recording& session,
                                                  const std::vector<Metric>& metrics);

/// Adds notes to `plan` about metrics that `session` counted at other privilege levels, or that
/// only one of both simulated. `here` says where the plan's metrics are from ("here").
void note_other_levels(const Recording& session, const std::string& file, std::string_view here,
                       Plan& plan);

/// Finds metrics that were added to `recording` in its baseline, if there is one; those missing
/// there, or with another unit there, stay without a reference.
void extend_baseline(Recording& recording);

/// Makes `plan` use `session`, read from `file`, as its baseline. The reference of a command is the
/// command with the same name, else the one at the same position, unless that is the reference of
/// another command. Refuses a session without a reference for a command or its runs, without values
/// that a gate on a change or --precision needs, with a metric in another unit, or if only one of
/// both has layouts.
Result<void> use_baseline(Plan& plan, const std::string& file,
                          const std::shared_ptr<const Recording>& session);

/// Returns the baseline's values of a metric in the runs of the reference of `command`. Both
/// indices are this session's. Empty if the baseline lacks the metric or some values are upper
/// bounds only.
std::vector<double> baseline_values(const Baseline& baseline, std::size_t command,
                                    std::size_t metric);

/// Returns the same values as baseline_values, with layouts and failed layouts but without rounds.
Series baseline_series(const Baseline& baseline, std::size_t command, std::size_t metric);

/// Returns the index of the reference or candidate if some values of its metric are upper bounds
/// only, so that it cannot be compared and more rounds do not help; nullopt if neither. Ignores the
/// reference if it is in a baseline or the condition has a `bound`. `series` as in collect_samples.
std::optional<std::size_t> first_with_bounds(const Reference& reference, const Condition& condition,
                                             std::span<const Series> series, std::size_t candidate);

/// True if deltas compare values within rounds: not in sequential order, and not with a baseline.
bool compares_within_rounds(Order order, const Reference& reference);

/// True if a candidate's delta compares values within rounds. Between joined sessions it does not.
bool compares_within_rounds(const Recording& session, std::size_t candidate);

/// Returns the joined session that a command is from; there must be Recording::origins.
const Origin& origin_of(const Recording& session, std::size_t command);

/// Returns the samples for the delta of `candidate` in the metric with index `metric`. `series` has
/// the metric's values for each command. A baseline's samples are never within rounds.
Comparison collect_samples(const Reference& reference, bool within_rounds, std::size_t metric,
                           std::span<const Series> series, std::size_t candidate);

/// Estimates the change between samples; over layouts, if there are layouts.
stats::Delta estimate_delta(const Comparison& samples, const stats::IntervalTails& tails,
                            std::optional<double> share);

/// Returns the mean of a command over its layouts without failed runs; nullopt if there are fewer
/// than kMinLayouts, or some values are upper bounds only.
std::optional<stats::LayoutEstimate> mean_over_layouts(const Series& series);

/// Returns stats::log_ratio_over_layouts of the samples.
std::optional<stats::LayoutEstimate> log_ratio_over_layouts(const Comparison& samples,
                                                            std::optional<double> share = {});

/// Makes a plan for saved sessions: all commands, one session after the other, with metrics and
/// events without duplicates, and the typed gates. File names distinguish commands of
/// different sessions with the same name. The reference is the first session's, or the command that
/// --reference names. Refuses a metric with different units or of a region in only some sessions,
/// layouts in only some, and options that do not fit the sessions.
Result<Plan> plan_of_saved(const Options& options, const std::vector<Recording>& sessions);

/// Joins `sessions` as `plan` (from plan_of_saved) describes: all runs, one session after the
/// other, with their values of the plan's metrics. The shell is left out unless all have the same.
Recording join(const std::vector<Recording>& sessions, const Plan& plan);

/// Converts findings: their indices of metrics refer to `from` before, and to `to` afterwards,
/// which must have these metrics.
gate::Findings moved(gate::Findings findings, const std::vector<Metric>& from,
                     const std::vector<Metric>& to);

}  // namespace lauka
