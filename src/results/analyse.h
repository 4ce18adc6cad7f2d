#pragma once

#include "core/condition.h"
#include "core/machine.h"
#include "core/metric.h"
#include "core/record.h"
#include "core/recording.h"
#include "core/session.h"
#include "gate/verdict.h"
#include "plan/plan.h"
#include "results/results.h"
#include "stats/delta.h"
#include "stats/distributions.h"
#include "stats/summary.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace lauka {

/// A mean with its confidence interval.
struct MeanEstimate {
  double mean = 0.0;
  std::optional<stats::IntervalEnds> bounds{};  ///< nullopt if unknown
};

/// Returns the mean of a command's values, over its layouts if it has layouts, else over its runs.
/// `confidence`: of the interval, as a fraction. nullopt if the mean is unknown.
std::optional<MeanEstimate> estimate_mean(const MetricResult& row, double confidence);

/// Returns the results of the reference of `command` for a metric, in this session or in the
/// baseline.
MetricResult result_of_reference(const Results& results, std::size_t command, std::size_t metric);

/// Returns the indices of the commands that are compared with the reference.
std::vector<std::size_t> find_candidates(const Results& results);

/// Returns the metrics by which the summary of a suite compares a candidate, as indices into
/// Recording::metrics: the metrics of its gates, else the primary metric (nullopt if the benchmark
/// has no primary metric).
std::vector<std::optional<std::size_t>> suite_metrics(const Results& results,
                                                      std::size_t candidate);

/// Makes a report; for a suite, with geometric means. A geometric mean leaves out benchmarks whose
/// candidate has no delta of the metric, or a delta of -100%.
Report make_report(std::vector<Results> benchmarks, gate::ErrorRate risk);

/// Makes verdicts inconclusive for which the runs did not measure what they are about: no run of a
/// side gave the metric and succeeded, the sides fail at different rates in runs that can give the
/// metric, or the metric is sampled time and neither side has a sample. Must be called before
/// fail_gates_by_error_rate.
void void_doubtful_verdicts(const Recording& session, gate::Findings& findings);

/// Returns the change of the wall time, if it is significantly above the limit of a gate on CPU
/// time, instructions or cycles that passes, and no gate is on the wall time; else null. Returns it
/// for the first such gate of a candidate only.
const stats::Delta* risen_wall_time(const Results& results, const gate::Verdict& verdict);

/// Returns the endings that decide if a command works: of its timed runs or, if there are none, of
/// all runs.
Endings deciding_endings(const CommandResult& command);

/// True if the verdict's candidate failed in every timed run or, if there are none, in every run.
bool has_failed_throughout(const Results& results, const gate::Verdict& verdict);

/// True for the candidate of any verdict.
bool has_failed_throughout(const Report& report);

/// Computes rows, headline comparisons, explanations, function changes and warnings of `results`
/// from its session and findings.
void analyse(Results& results);

/// Returns the logarithm of the metric's ratio `of` / `to` between two commands, within rounds if
/// possible; nullopt if unknown, or if a value is not positive.
std::optional<stats::LogRatio> log_ratio(const Recording& session, std::size_t metric,
                                         std::size_t of, std::size_t to);

/// Judges the gates of a session in a single look, which is valid only if the number of runs did
/// not depend on the gates. `gates_of_job`: number of decisions that share the rate of false fails;
/// at least the session's own decisions are counted.
gate::Findings judge(const Recording& session, const std::vector<Gate>& gates,
                     std::size_t gates_of_job = 0);

/// Summarizes a metric's values in the command's runs that succeeded; nullopt if the metric has no
/// summary, or no run with a value succeeded.
std::optional<stats::Summary> summarize_succeeded_runs(const Results& results, std::size_t command,
                                                       std::size_t metric);

/// Compares tuned and untuned runs that succeeded, for each command that has both; empty without
/// --tune=compare.
std::vector<TunedComparison> compare_tuned(const Plan& plan, const Session& session);

/// Returns lauka's exit status for the verdicts. `if_inconclusive`: status if a gate is
/// inconclusive and none failed; nullopt: as if the gate passed. If no gate decides the status, it
/// says if the candidate was kept.
int exit_status_of(const std::vector<gate::Verdict>& verdicts, std::optional<int> if_inconclusive);

/// Returns lauka's exit status for what cut a session short.
int exit_status_of(const EarlyEnd& early_end);

}  // namespace lauka
