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

/// Returns the index of each metric in `session`; nullopt if it was not measured.
std::vector<std::optional<std::size_t>> places_in(const Recording& session,
                                                  const std::vector<Metric>& metrics);

/// Adds a note to `plan` about its metrics that `session` simulated, or counted at other privilege
/// levels. `here`: where the plan's metrics are from ("here").
void note_other_levels(const Recording& session, const std::string& file, std::string_view here,
                       Plan& plan);

/// Adds metrics that the baseline lacked when it was taken, if there is one.
void extend_baseline(Recording& recording);

/// Makes `plan` take its references from `session`, which `file` holds. A command's reference is
/// the one of the same name; else the one at the same place in the file, unless that has another
/// command's name. Refuses a session without a reference, or without a metric of a gate or
/// --precision, or with a metric in another unit.
Result<void> use_baseline(Plan& plan, const std::string& file,
                          const std::shared_ptr<const Recording>& session);

/// Returns the values of a metric in the runs that `command` is compared with; indices are those of
/// the session that `baseline` is for. Empty if some are known as bounds only.
std::vector<double> baseline_values(const Baseline& baseline, std::size_t command,
                                    std::size_t metric);

/// Returns the same with the layouts, and the layouts that failed.
Series baseline_series(const Baseline& baseline, std::size_t command, std::size_t metric);

/// Returns the first of reference and candidate that is known by bounds only, so that nothing can
/// be compared and more rounds change nothing. `series`: as for collect_samples.
std::optional<std::size_t> first_with_bounds(const Reference& reference, const Condition& condition,
                                             std::span<const Series> series, std::size_t candidate);

/// True if deltas are taken within rounds: not in sequential order, nor with a baseline.
bool compares_within_rounds(Order order, const Reference& reference);

/// True if the delta of a command is taken within rounds: of joined sessions, only within one.
bool compares_within_rounds(const Recording& session, std::size_t candidate);

/// The origin of a command of a joined session.
const Origin& origin_of(const Recording& session, std::size_t command);

/// Returns the samples of `candidate`'s delta of `metric` (indices); `series` are the metric's, by
/// command.
Comparison collect_samples(const Reference& reference, bool within_rounds, std::size_t metric,
                           std::span<const Series> series, std::size_t candidate);

/// Estimates the change between samples, over their layouts if they have such.
stats::Delta estimate_delta(const Comparison& samples, const stats::IntervalTails& tails,
                            std::optional<double> share);

/// Returns the mean of a command over its layouts without failed runs; nullopt if fewer than four.
std::optional<stats::LayoutEstimate> mean_over_layouts(const Series& series);

/// Returns stats::log_ratio_over_layouts of the samples.
std::optional<stats::LayoutEstimate> log_ratio_over_layouts(const Comparison& samples,
                                                            std::optional<double> share = {});

/// Makes a plan of saved sessions: the commands of all, one after the other, their metrics and
/// events, each once, and the gates typed. Files tell apart commands of the same name. The
/// reference is the first session's, or the command that `--reference` names. Refuses metrics of
/// one name in several units, and what make_plan refuses.
Result<Plan> plan_of_saved(const Options& options, const std::vector<Recording>& sessions);

/// The session that `plan` (plan_of_saved) makes of `sessions`: their runs one after the other,
/// each with its values of the plan's metrics.
Recording join(const std::vector<Recording>& sessions, const Plan& plan);

/// Moves the findings of a session with the metrics `from` to the places of these metrics in `to`.
gate::Findings moved(gate::Findings findings, const std::vector<Metric>& from,
                     const std::vector<Metric>& to);

}  // namespace lauka
