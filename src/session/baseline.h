#pragma once

#include "cli/options.h"
#include "core/metric.h"
#include "core/recording.h"
#include "core/result.h"
#include "gate/verdict.h"
#include "plan/plan.h"
#include "stats/layouts.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lauka {

/// Returns each metric's index in `session`; for a percentile, the index of its source metric.
/// nullopt if `session` lacks the metric.
std::vector<std::optional<std::size_t>> find_metrics_in(const Recording& session,
                                                        const std::vector<Metric>& metrics);

/// Returns the same as find_metrics_in(), but nullopt for a metric that `session` measured in
/// another way (settings_of_metric), so that its values cannot be compared.
std::vector<std::optional<std::size_t>> find_comparable_metrics_in(
    const Recording& session, const std::vector<Metric>& metrics);

/// Adds notes to `plan` about metrics that `session`, read from `file`, measured in another way:
/// simulated, at other privilege levels, with another sampling period. `here`: words for the origin
/// of the plan's metrics.
void note_other_methods(const Recording& session, const std::string& file, std::string_view here,
                        Plan& plan);

/// Extends Baseline::metric_places to metrics that were added to `recording`; nullopt for a metric
/// that the baseline lacks or has in another unit. Does nothing without a baseline.
void extend_metric_places_of_baseline(Recording& recording);

/// Makes `plan` use `session`, read from `file`, as its baseline. A command's reference has the
/// same name, or else the same position. Refuses a session that the plan cannot be compared with.
Result<void> use_baseline(Plan& plan, const std::string& file,
                          const std::shared_ptr<const Recording>& session);

/// The reference of a command, in the session in which it was measured: the command's own session
/// or a baseline.
struct OtherSide {
  const Recording& session;
  std::size_t command = 0;  ///< index in `session`
  /// By metric of the command's own session; empty if `session` is that session.
  std::span<const std::optional<std::size_t>> metric_places{};

  /// Returns the index in `session` of a metric of the command's own session; nullopt if its values
  /// cannot be compared.
  std::optional<std::size_t> place_of(std::size_t metric) const {
    return metric_places.empty() ? metric : metric_places[metric];
  }

  const Command& reference() const { return session.commands[command]; }
};
OtherSide other_side_of(const Recording& session, std::size_t command);

/// Returns a command's reference in the earlier session that is the baseline; nullopt if references
/// are commands of this session.
std::optional<OtherSide> earlier_side_of(const Reference& reference, std::size_t command);

/// Returns the baseline's file; null if references are commands of this session.
const std::string* earlier_file(const Recording& session);

/// Returns the pair of a command and its reference. Values are compared within rounds if one
/// session measured both commands in rounds. A command that is not compared is paired with itself.
Pair pair_of(const Recording& session, std::size_t command);

/// Returns the same of a session that carries out `plan`.
Pair pair_of(const Plan& plan, std::size_t command);

/// Returns the baseline's values of a metric for the reference of `command`, with layouts, if the
/// baseline has layouts, but without rounds; empty if the baseline lacks the metric, or if some
/// values are known only as upper bounds. `command` and `metric` are indices in the session that
/// uses the baseline.
Series baseline_series(const Baseline& baseline, std::size_t command, std::size_t metric);

/// Returns why a gate may have no samples, if further rounds would hardly change that; else None.
/// `verdict`: has the gate's condition. `pair`: of its candidate. `series`: values of its metric
/// (make_all_series).
gate::Hindrance find_hindrance(const gate::Verdict& verdict, const Pair& pair,
                               std::span<const Series> series);

/// True if a command and its reference were measured in one session.
bool are_of_one_session(const Recording& session, std::size_t candidate);

/// Returns the circumstances of the session that a command is from.
const Circumstances& circumstances_of(const Recording& session, std::size_t command);

/// Returns the joined session that a command is from. Recording::origins must not be empty.
const OriginSession& origin_of(const Recording& session, std::size_t command);

/// Returns the number of layouts of a command, which may differ between joined sessions; 1 without
/// layouts.
std::uint32_t count_layouts(const Recording& session, std::size_t command);

/// Returns the number of layouts of the reference of `candidate`, in this session or in the
/// baseline.
std::uint32_t count_layouts_of_reference(const Recording& session, std::size_t candidate);

/// Returns the samples for the delta of a pair in a metric. `series`: values of the metric
/// (make_all_series).
Comparison collect_samples(const Pair& pair, std::span<const Series> series);

/// Estimates the change between samples, over layouts if the samples have layouts. `share`: see
/// stats::estimate_delta.
stats::Delta estimate_delta(const Comparison& samples, const stats::IntervalTails& tails,
                            std::optional<double> share);

/// Returns the mean of a command over the layouts in which no run failed; nullopt if there are
/// fewer than kMinLayouts such layouts, or if some values are known only as upper bounds.
std::optional<stats::LayoutEstimate> mean_over_layouts(const Series& series);

/// Returns stats::log_ratio_over_layouts of `samples`.
std::optional<stats::LayoutEstimate> log_ratio_over_layouts(const Comparison& samples,
                                                            std::optional<double> share = {});

}  // namespace lauka
