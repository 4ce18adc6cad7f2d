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

/// Returns the index in `session` of each metric; nullopt if it was not measured.
std::vector<std::optional<std::size_t>> places_in(const Recording& session,
                                                  const std::vector<Metric>& metrics);

/// Adds a note to `plan` about metrics that `session` simulated, or counted at other privilege
/// levels. `here` says where the plan's metrics are from ("here").
void note_other_levels(const Recording& session, const std::string& file, std::string_view here,
                       Plan& plan);

/// Adds metrics that the baseline lacks but can compute, if there is a baseline.
void extend_baseline(Recording& recording);

/// Makes `plan` use `session`, read from `file`, as its baseline. The reference of a command is the
/// command with the same name, else the one at the same position, unless that has the name of
/// another command. Refuses a session without a reference for a command, without a metric that a
/// gate or --precision needs, or with a metric in another unit.
Result<void> use_baseline(Plan& plan, const std::string& file,
                          const std::shared_ptr<const Recording>& session);

/// Returns the baseline's values of a metric in the runs of the reference of `command`. Both
/// indices are this session's. Empty if some values are upper bounds only.
std::vector<double> baseline_values(const Baseline& baseline, std::size_t command,
                                    std::size_t metric);

/// Returns the baseline's values of a metric for the reference of `command`, with layouts and
/// failed layouts. Both indices are this session's.
Series baseline_series(const Baseline& baseline, std::size_t command, std::size_t metric);

/// Returns the index of the reference or candidate if its metric has upper bounds only, so that it
/// cannot be compared and more rounds do not help; nullopt if neither. `series` as in
/// collect_samples.
std::optional<std::size_t> first_with_bounds(const Reference& reference, const Condition& condition,
                                             std::span<const Series> series, std::size_t candidate);

/// True if deltas compare values within rounds: not in sequential order, and not with a baseline.
bool compares_within_rounds(Order order, const Reference& reference);

/// True if a candidate's delta compares values within rounds. Between joined sessions it does not.
bool compares_within_rounds(const Recording& session, std::size_t candidate);

/// Returns the joined session that a command is from.
const Origin& origin_of(const Recording& session, std::size_t command);

/// Returns the samples for the delta of `candidate` in the metric with index `metric`. `series` has
/// the metric's values for each command.
Comparison collect_samples(const Reference& reference, bool within_rounds, std::size_t metric,
                           std::span<const Series> series, std::size_t candidate);

/// Estimates the change between samples; over layouts, if there are layouts.
stats::Delta estimate_delta(const Comparison& samples, const stats::IntervalTails& tails,
                            std::optional<double> share);

/// Returns the mean of a command over its layouts without failed runs; nullopt if there are fewer
/// than four.
std::optional<stats::LayoutEstimate> mean_over_layouts(const Series& series);

/// Returns stats::log_ratio_over_layouts of the samples.
std::optional<stats::LayoutEstimate> log_ratio_over_layouts(const Comparison& samples,
                                                            std::optional<double> share = {});

/// Makes a plan for saved sessions: all commands, one session after the other, with metrics and
/// events without duplicates, and the typed gates. File names distinguish commands with the same
/// name. The reference is the first session's, or the command that --reference names. Refuses a
/// metric with different units, and what make_plan refuses.
Result<Plan> plan_of_saved(const Options& options, const std::vector<Recording>& sessions);

/// Joins `sessions` as `plan` (from plan_of_saved) describes: all runs, one session after the
/// other, with their values of the plan's metrics.
Recording join(const std::vector<Recording>& sessions, const Plan& plan);

/// Converts findings: their indices of metrics refer to `from` before, and to `to` afterwards.
gate::Findings moved(gate::Findings findings, const std::vector<Metric>& from,
                     const std::vector<Metric>& to);

}  // namespace lauka
