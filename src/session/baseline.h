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

/// A command in the session that measured it: the session that compares, or its baseline.
struct MeasuredCommand {
  const Recording& session;
  std::size_t index = 0;  ///< of the command, in `session`
  /// Baseline::metric_places; null if `session` is the session that compares.
  const std::vector<std::optional<std::size_t>>* metric_places = nullptr;

  /// Returns the index in `session` of a metric of the session that compares; nullopt if its values
  /// cannot be compared.
  std::optional<std::size_t> place_of(std::size_t metric) const {
    if (metric_places == nullptr) return metric;
    return metric < metric_places->size() ? (*metric_places)[metric] : std::nullopt;
  }

  const Command& command() const { return session.commands[index]; }
};

/// Returns a command by its number (Pair).
MeasuredCommand find_measured(const Recording& session, std::size_t number);

/// Returns a command's reference in the baseline; nullopt if references are commands of this
/// session.
std::optional<MeasuredCommand> find_in_baseline(const Reference& reference, std::size_t command);

/// Returns the baseline's file; null if references are commands of this session.
const std::string* earlier_file(const Recording& session);

/// Returns the pair of a command and its reference. Values are compared within rounds if one
/// session measured both commands in rounds. A command that is not compared is paired with itself.
Pair pair_of(const Recording& session, std::size_t command);

/// Returns the same of a session that carries out `plan`.
Pair pair_of(const Plan& plan, std::size_t command);

/// Returns the pairs that a session compares: each candidate with its reference.
std::vector<Pair> list_pairs(const Recording& session);

/// Returns what a gate compares: the pair's samples, or the candidate's with the limit if that is a
/// value. `series`: values of its metric (make_all_series).
Comparison collect_gate_samples(const Condition& condition, const Pair& pair,
                                std::span<const Series> series);

/// Returns why a gate may have no samples, if further rounds would hardly change that; else None.
/// `verdict`: has the gate's condition. `pair`: of its candidate. `series`: values of its metric
/// (make_all_series).
gate::Hindrance find_hindrance(const gate::Verdict& verdict, const Pair& pair,
                               std::span<const Series> series);

/// True if a command and its reference were measured in one session.
bool are_of_one_session(const Recording& session, std::size_t candidate);

/// Returns the circumstances of the session that measured the command with a number (Pair).
const Circumstances& circumstances_of(const Recording& session, std::size_t number);

/// Returns the joined session that a command is from. Recording::origins must not be empty.
const OriginSession& origin_of(const Recording& session, std::size_t command);

/// Returns the number of layouts of the command with a number (Pair), which may differ between
/// joined sessions; 1 without layouts.
std::uint32_t count_layouts(const Recording& session, std::size_t number);

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
