#include "results/analyse.h"

#include "plan/gates.h"
#include "plan/rows.h"
#include "results/explanations.h"
#include "results/results.h"
#include "results/warnings.h"
#include "session/baseline.h"
#include "session/function_metrics.h"
#include "session/series.h"
#include "session/setting_values.h"
#include "stats/detectable.h"

#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace lauka {

namespace {

stats::Summary summarize_values(const Metric& metric, const std::vector<double>& values) {
  stats::Summary summary = stats::summarize(values);
  // Each run does the same work, so the throughput of all of them is the harmonic mean.
  if (metric.role == Role::Throughput && summary.min > 0.0)
    summary.mean = stats::harmonic_mean(values);
  return summary;
}

/// Returns a value that no run exceeded: the largest of all bounds and values. Returns nullopt if
/// no value is known only as an upper bound.
std::optional<double> find_largest_bound(const Series& series) {
  if (!series.largest_bound && !series.largest_bound_of_failed_runs) return std::nullopt;
  double largest = std::max(series.largest_bound.value_or(0.0),
                            series.largest_bound_of_failed_runs.value_or(0.0));
  for (const double value : series.values) largest = std::max(largest, value);
  return largest;
}

/// Computes a command's statistics of one metric, without the comparison with its reference.
/// `series`: the command's values of the metric. `interval_tail`: probability beyond each end of a
/// percentile's interval. `timed_runs`: number of all timed runs, of which some may lack a value.
MetricResult make_result(std::size_t metric_index, const Metric& metric, double interval_tail,
                         const Series& series, std::size_t timed_runs) {
  MetricResult result;
  result.metric_index = metric_index;

  // If only an upper bound of some value is known, there are no statistics, but a bound for all
  // runs.
  result.largest_bound_of_runs = find_largest_bound(series);
  if (result.largest_bound_of_runs) {
    result.runs = timed_runs;
    return result;
  }

  result.runs = series.values.size();

  // A percentile is estimated by a quantile of the values, and has no summary.
  if (const auto share = metric.percentile_share()) {
    result.runs_needed_for_percentile = fewest_runs_for_quantile(*share, interval_tail);
    result.quantile = stats::quantile_estimate(stats::sorted(series.values), *share, interval_tail);
    return result;
  }

  if (series.values.empty()) return result;
  result.summary = summarize_values(metric, series.values);
  return result;
}

/// True if the metric's event has zero_is_doubtful, and all values are 0 although instructions were
/// counted.
bool are_doubtful_zeros(const Metric& metric, const Recording& session,
                        const CommandResult& command, const std::vector<double>& values) {
  if (!metric.event || !session.setting.events.events.at(*metric.event).zero_is_doubtful)
    return false;
  if (values.empty() || command.coverage.value_or(0.0) <= 0.0) return false;
  return std::ranges::all_of(values, [](double value) { return value == 0.0; });
}

std::optional<LowCoreShare> find_low_core_share(const Metric& metric, const Recording& session,
                                                const std::vector<double>& shares) {
  const std::optional<double>& min_share = session.setting.min_share;
  if (!min_share || metric.role != Role::CoreShare) return {};
  const auto low_count =
      std::ranges::count_if(shares, [&](double share) { return share < *min_share; });
  if (low_count == 0) return {};
  return LowCoreShare{metric.name, *min_share, static_cast<std::size_t>(low_count), shares.size()};
}

/// Returns the warning about alike rounds that has the metric and the cause; null if missing.
Warning* find_warning_of_alike_rounds(std::vector<Warning>& warnings, const std::string& metric,
                                      const std::optional<std::size_t>& cause) {
  const auto found = std::ranges::find_if(warnings, [&](const Warning& warning) {
    const auto* finding = std::get_if<AlikeRounds>(&warning.finding);
    return finding != nullptr && finding->metric == metric && warning.command == cause;
  });
  return found == warnings.end() ? nullptr : &*found;
}

/// Warns if neighbouring rounds are more alike than independent ones would be, which makes the
/// delta's interval wider. Comparisons with the same command as the cause share a warning, which
/// names the largest widening.
void add_warning_of_alike_rounds(const Metric& metric, std::size_t candidate,
                                 const Comparison& samples, const std::vector<Series>& series,
                                 const stats::Delta& delta, Results& results) {
  const std::size_t candidates = results.commands.size() - 1;
  auto alike_rounds = find_alike_rounds(metric, delta, samples, candidates);
  if (!alike_rounds) return;

  const auto reference = results.session.reference.index_in_session(candidate);
  const auto cause = find_command_with_alike_runs(series, candidate, reference);
  alike_rounds->is_of_one_command = cause.has_value();

  Warning* earlier = find_warning_of_alike_rounds(results.warnings, metric.name, cause);
  if (earlier == nullptr) {
    results.warnings.push_back({*std::move(alike_rounds), cause});
  } else {
    double& widening = std::get<AlikeRounds>(earlier->finding).widening;
    widening = std::max(widening, alike_rounds->widening);
  }
}

/// Warns if the mean changed by clearly more or less than typical runs, because either may mislead.
void add_warning_of_mean(std::size_t metric_index, std::size_t candidate, Results& results) {
  const Metric& metric = results.session.metrics[metric_index];
  const stats::Delta& delta = *results.commands[candidate].rows[metric_index].delta;
  if (!delta.mean_and_typical_differ) return;

  // Only about times is this important enough to be shown without --verbose.
  const bool is_time = metric.role == Role::WallTime || metric.role == Role::CpuTime;
  const bool has_outliers = outliers_explain_mean(results, metric_index, candidate);
  results.warnings.push_back({.finding = MeanDiffers{metric.name, delta, has_outliers},
                              .command = candidate,
                              .shown = is_time ? metric.shown : Shown::Verbose});
}

/// Adds warnings about a delta, the change of a metric from the reference to a candidate.
/// `samples`: the values that were compared. `series`: all values of the metric, of each command.
void add_warnings_of_delta(std::size_t metric_index, std::size_t candidate,
                           const Comparison& samples, const std::vector<Series>& series,
                           Results& results) {
  add_warning_of_mean(metric_index, candidate, results);

  const Metric& metric = results.session.metrics[metric_index];
  const stats::Delta& delta = *results.commands[candidate].rows[metric_index].delta;

  // A wider interval matters for the wall time, and where a gate (a limit that may fail a CI job)
  // depends on the metric.
  const auto is_on_metric = [&](const gate::Verdict& verdict) {
    return verdict.metric == metric_index;
  };
  const bool is_gated = std::ranges::any_of(results.findings.verdicts, is_on_metric);
  if (metric.role == Role::WallTime || is_gated)
    add_warning_of_alike_rounds(metric, candidate, samples, series, delta, results);
}

/// Clears the mark of an exact change if the metric's values cannot be exact.
void clear_impossible_exactness(const Metric& metric, stats::Delta& delta) {
  delta.is_exact = delta.is_exact && can_be_exact(metric.unit);
  delta.change_of_mean.is_exact = delta.is_exact;
}

void set_layout_result(const Comparison& samples, const stats::IntervalTails& tails,
                       const Metric& metric, MetricResult& row) {
  LayoutResult result;
  const stats::LayoutSamples reference{samples.reference, samples.reference_layouts};
  const stats::LayoutSamples candidate{samples.candidate, samples.candidate_layouts};
  result.mean_log_ratio = log_ratio_over_layouts(samples, metric.percentile_share());
  const std::vector<double> first_of_reference = stats::values_by_layout(reference)[0];
  const std::vector<double> first_of_candidate = stats::values_by_layout(candidate)[0];
  if (!first_of_reference.empty() && !first_of_candidate.empty())
    clear_impossible_exactness(metric, result.delta_of_first_layout.emplace(stats::estimate_delta(
                                           {.reference = first_of_reference,
                                            .candidate = first_of_candidate,
                                            .paired = samples.paired},
                                           tails, metric.percentile_share())));
  if (row.layouts) result.mean = row.layouts->mean;
  row.layouts = std::make_shared<const LayoutResult>(std::move(result));
}

/// True if a session ended at a moment that depends on its noise, so that the noise of its rounds
/// is not that of other sessions.
bool has_noisy_end(const Results& results) {
  const auto& precision = results.findings.precision;
  return results.session.ended_by_gates || results.findings.race.has_value() ||
         (precision && precision->end == PrecisionEnd::Reached);
}

/// Returns what MetricResult::detectable should be.
std::optional<double> find_detectable(const Results& results, const MetricResult& row,
                                      const Comparison& samples,
                                      const stats::IntervalTails& tails) {
  if (!row.delta || has_noisy_end(results)) return std::nullopt;
  if (!samples.has_layouts())
    return stats::detectable_change(*row.delta, tails.tail_of_delta,
                                    {samples.reference, samples.candidate, samples.paired});

  const auto& log_ratio = row.layouts->mean_log_ratio;
  return log_ratio
             ? stats::detectable_change_by_t(*row.delta, tails.tail_of_delta, log_ratio->degrees)
             : std::nullopt;
}

/// Returns the samples from which a metric's delta is estimated; nullopt if they must not or cannot
/// be compared.
std::optional<Comparison> find_comparable_samples(std::size_t metric_index, const Pair& pair,
                                                  const std::vector<Series>& series,
                                                  const Results& results) {
  // A reference in a baseline has no row in this session, so only the candidate's row is checked.
  const std::size_t candidate = pair.candidate;
  const auto reference = results.session.reference.index_in_session(candidate);
  for (const std::size_t command : {candidate, reference.value_or(candidate)})
    if (results.commands[command].rows[metric_index].is_probably_uncounted) return std::nullopt;

  const bool was_measured_alike =
      find_metric_differences(results.session, metric_index, candidate).empty();
  if (!was_measured_alike) return std::nullopt;

  Comparison samples = collect_samples(pair, series);
  if (samples.is_empty() || !stats::allows_percentages(samples.reference, samples.candidate))
    return std::nullopt;
  return samples;
}

/// Sets the delta of a candidate's row, if the samples give one, and the results by layout.
void set_delta(const Comparison& samples, const stats::IntervalTails& tails, const Metric& metric,
               MetricResult& row) {
  row.delta = estimate_delta(samples, tails, metric.percentile_share());
  clear_impossible_exactness(metric, *row.delta);

  // With --layouts, each layout (placement of the program in memory) counts as one value. Too few
  // of them give no change. The layout result may still say what the runs of the first layout show.
  if (samples.has_layouts()) {
    if (!row.delta->change) row.delta.reset();
    set_layout_result(samples, tails, metric, row);
  }

  // A percentile's change without an interval says too little.
  if (metric.percentile && row.delta && !row.delta->bounds) row.delta.reset();
}

/// Compares each candidate with its reference by one metric. Sets the delta (the change from the
/// reference) and what else the comparison says, and adds warnings about it. `tails`: probabilities
/// beyond the ends of intervals. `series`: values of the metric, one series for each command.
void compare_commands(std::size_t metric_index, const stats::IntervalTails& tails,
                      const std::vector<Series>& series, Results& results) {
  const Metric& metric = results.session.metrics[metric_index];
  for (const Pair& pair : list_pairs(results.session)) {
    const auto samples = find_comparable_samples(metric_index, pair, series, results);
    if (!samples) continue;

    MetricResult& row = results.commands[pair.candidate].rows[metric_index];
    set_delta(*samples, tails, metric, row);

    // The smallest change that the session would have found tells what "no difference" means.
    row.detectable = find_detectable(results, row, *samples, tails);
    if (row.delta) add_warnings_of_delta(metric_index, pair.candidate, *samples, series, results);
  }
}

/// Sets the mean and the runs of a row that has only a mean, because the values of single runs are
/// not known.
void set_mean_without_run_values(const Results& results, std::size_t command, MetricResult& row) {
  if (row.summary || row.largest_bound_of_runs) return;
  for (const KnownMean& mean : results.session.means_without_runs) {
    if (mean.command != command || mean.metric != row.metric_index) continue;
    row.mean_without_run_values = mean.value;
    row.runs = results.commands[command].runs;
  }
}

/// Sets the mean over layouts, the placements of the program in memory with --layouts. It is more
/// representative than the mean of all runs.
void set_mean_over_layouts(const Recording& session, std::size_t command, const Series& series,
                           MetricResult& row) {
  const bool has_layouts = count_layouts(session, command) > 1;
  const bool has_mean = row.summary && !session.metrics[row.metric_index].percentile;
  if (!has_layouts || !has_mean) return;
  const LayoutResult layouts{.mean = mean_over_layouts(series)};
  row.layouts = std::make_shared<const LayoutResult>(layouts);
}

/// Scales each layout's values to the mean of all, so that only the scatter within layouts is left.
/// Does nothing without layouts.
void remove_layout_differences(Series& series) {
  if (series.layouts.empty()) return;
  const double mean = stats::moments(series.values).mean;
  std::map<std::uint32_t, double> factors;
  for (const auto& [layout, values] : stats::values_by_layout({series.values, series.layouts}))
    factors[layout] = mean / std::max(stats::moments(values).mean, 1e-9);
  for (std::size_t i = 0; i < series.values.size(); ++i)
    series.values[i] *= factors[series.layouts[i]];
}

/// Adds warnings of commands whose wall times are unsteady. `series`: the wall times of each
/// command of the session.
void add_warnings_of_unsteady_times(const Metric& wall_time, std::span<const Series> series,
                                    Results& results) {
  const std::vector<FirstRunFacts> first_runs = facts_of_first_runs(results.session, series);
  for (std::size_t c = 0; c < series.size(); ++c) {
    for (Warning& warning : warnings_of_series(c, series[c].values, first_runs[c])) {
      warning.shown = wall_time.shown;
      results.warnings.push_back(std::move(warning));
    }
  }
}

/// Adds warnings of commands whose wall times are unsteady. `series`: the wall times of each
/// command of the session, then those of a baseline's commands, which are not checked.
void add_warnings_of_wall_times(const Metric& wall_time, std::span<const Series> series,
                                Results& results) {
  const std::span<const Series> own_series = series.first(results.commands.size());
  if (results.session.setting.layouts <= 1)
    return add_warnings_of_unsteady_times(wall_time, own_series, results);

  // With --layouts, each layout of a program in memory has its own typical time. These differences
  // would look like unsteady runs, so they are removed first.
  std::vector<Series> without_layouts(own_series.begin(), own_series.end());
  std::ranges::for_each(without_layouts, remove_layout_differences);
  add_warnings_of_unsteady_times(wall_time, without_layouts, results);
}

/// Adds a row of the metric to the results of each command, and compares the commands by it.
void analyse_metric(std::size_t metric_index, const stats::IntervalTails& tails, Results& results) {
  const Metric& metric = results.session.metrics[metric_index];
  const std::vector<Series> series = make_all_series(results.session, metric_index);

  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    CommandResult& command = results.commands[c];
    MetricResult row =
        make_result(metric_index, metric, tails.tail_of_delta, series[c], command.runs);
    set_mean_without_run_values(results, c, row);
    set_mean_over_layouts(results.session, c, series[c], row);

    // Zeros that were probably not counted must not be shown as measured values.
    if (are_doubtful_zeros(metric, results.session, command, series[c].values)) {
      row.is_probably_uncounted = true;
      row.summary.reset();
    }
    command.rows.push_back(std::move(row));

    if (const auto low_share = find_low_core_share(metric, results.session, series[c].values))
      results.warnings.push_back({.finding = *low_share, .command = c});
  }

  if (metric.role == Role::WallTime) add_warnings_of_wall_times(metric, series, results);
  compare_commands(metric_index, tails, series, results);
}

std::optional<HeadlineComparison> make_ranking(const Results& results, std::size_t command,
                                               std::size_t metric) {
  const auto& delta = results.commands[command].rows[metric].delta;
  const auto speed = delta ? stats::relative_speed(*delta) : std::nullopt;
  if (!speed) return std::nullopt;
  return HeadlineComparison{command, metric, *speed, delta->is_significant()};
}

/// True if the user or the measured program added the metric.
bool is_metric_of_user(const Metric& metric) {
  return metric.role == Role::Other && !metric.event && !metric.is_part && !metric.percentile &&
         built_in_metric(metric.name) == nullptr && !is_built_in_formula(metric.name);
}

/// Returns the ranking by a metric if its delta is relevant; else nullopt. `tests`: number of
/// metrics that share the rate of false alarms.
std::optional<HeadlineComparison> make_ranking_if_relevant(const Results& results,
                                                           std::size_t command, std::size_t metric,
                                                           std::size_t tests) {
  const auto& delta = results.commands[command].rows[metric].delta;
  if (!delta || !delta->is_relevant()) return std::nullopt;
  if (tests > 1) {
    const Comparison samples = collect_samples(pair_of(results.session, command),
                                               make_all_series(results.session, metric));
    stats::IntervalTails tails = stats::tails_of(results.session.confidence);
    tails.tail_of_delta /= static_cast<double>(tests);

    const auto share = results.session.metrics[metric].percentile_share();
    if (!estimate_delta(samples, tails, share).is_significant()) return std::nullopt;
  }
  return make_ranking(results, command, metric);
}

std::optional<HeadlineComparison> find_ranking_by_other_metric(const Results& results,
                                                               std::size_t command) {
  for (const gate::Verdict& verdict : results.findings.verdicts)
    if (verdict.candidate == command)
      if (auto ranking = make_ranking_if_relevant(results, command, verdict.metric, 1))
        return ranking;
  std::vector<std::size_t> metrics_of_user;
  for (std::size_t m = 0; m < results.session.metrics.size(); ++m)
    if (is_metric_of_user(results.session.metrics[m])) metrics_of_user.push_back(m);
  for (const std::size_t metric : metrics_of_user)
    if (auto ranking = make_ranking_if_relevant(results, command, metric, metrics_of_user.size()))
      return ranking;
  return std::nullopt;
}

/// Adds each candidate's comparison by the primary metric, or by another one if only that one
/// differs significantly.
void make_headline_comparisons(Results& results) {
  const auto metric = primary_metric(results.session.metrics);
  if (!metric) return;
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    auto ranking = make_ranking(results, c, *metric);
    if (!ranking || !ranking->is_significant)
      if (const auto other = find_ranking_by_other_metric(results, c)) ranking = other;
    if (ranking) results.headline_comparisons.push_back(*ranking);
  }
}

void set_counting_slowdown(std::size_t command, const std::vector<double>& timed,
                           const std::vector<double>& counting, Results& results) {
  if (timed.empty() || counting.empty()) return;
  const double timed_median = stats::median(stats::sorted(timed));
  if (timed_median <= 0.0) return;
  results.commands[command].counting_slowdown =
      stats::median(stats::sorted(counting)) / timed_median;
  if (const auto slowed = slowed_by_counting(timed, counting))
    results.warnings.push_back({*slowed, command});
}

void count_survivors(const RunRow& run, OutlivedRuns& outlived) {
  ++outlived.examined_runs;
  if (run.details.outlived == 0) return;
  const std::size_t survivors = run.details.outlived;
  ++outlived.outlived_runs;
  const bool is_first = outlived.outlived_runs == 1;
  outlived.fewest_processes = is_first ? survivors : std::min(outlived.fewest_processes, survivors);
  outlived.most_processes = std::max(outlived.most_processes, survivors);
}

/// What the runs of a command say, besides their values of metrics.
struct RunTally {
  Endings endings{};
  OutlivedRuns outlived{};
  std::vector<double> coverages{};  ///< shares of instructions that were counted
  std::size_t runs_below_shell_time = 0;
  std::vector<double> times_of_timed_runs{};
  std::vector<double> times_of_counting_runs{};
};

RunTally tally_runs(const Runs& runs, std::size_t command) {
  RunTally tally;
  for (const std::uint32_t index : runs.of_command(command)) {
    const RunRow run = runs.row(index);
    tally.endings.add(run);
    count_survivors(run, tally.outlived);
    if (run.instruction_coverage) tally.coverages.push_back(*run.instruction_coverage);
    // The time that a shell needs to start is subtracted. Some runs take less than that.
    if (run.details.below_overhead) ++tally.runs_below_shell_time;
    if (run.kind == RoundKind::Counting) tally.times_of_counting_runs.push_back(run.wall_seconds);
    if (run.kind == RoundKind::Timed) tally.times_of_timed_runs.push_back(run.wall_seconds);
  }
  return tally;
}

/// Sets the results of a command that belong to no metric: the number of its runs, how they ended,
/// which share of their instructions was counted, and how much counting slowed them. Adds warnings
/// about such runs.
void analyse_runs(std::size_t command_index, Results& results) {
  CommandResult& command = results.commands[command_index];
  const Recording& session = results.session;
  RunTally tally = tally_runs(session.runs, command_index);

  command.endings = std::move(tally.endings);
  command.runs = tally.times_of_timed_runs.size();
  command.discarded_runs = session.discarded_runs.of_command(command_index).size();
  if (!tally.coverages.empty()) command.coverage = stats::median(stats::sorted(tally.coverages));
  set_counting_slowdown(command_index, tally.times_of_timed_runs, tally.times_of_counting_runs,
                        results);

  if (tally.outlived.outlived_runs > 0) results.warnings.push_back({tally.outlived, command_index});
  if (tally.runs_below_shell_time > 0) {
    const BelowShell finding{.all_timed_runs = command.runs,
                             .runs_below_shell_time = tally.runs_below_shell_time};
    results.warnings.push_back({finding, command_index});
  }
}

gate::Hindrance find_other_settings(const Recording& session, const gate::Verdict& verdict) {
  return {.obstacle = gate::Obstacle::OtherSettings,
          .differences = find_obstacles(session, verdict.metric, verdict.candidate)};
}

/// True if both sides of a verdict are the same runs, because their session was given twice.
bool are_same_runs(const Recording& session, std::size_t candidate, const Series& reference_series,
                   const Series& candidate_series) {
  const auto reference = session.reference.index_in_session(candidate);
  if (!reference || are_of_one_session(session, candidate)) return false;

  const std::string& id = circumstances_of(session, candidate).session_id;
  if (id.empty() || id != circumstances_of(session, *reference).session_id) return false;

  return session.commands[*reference].text == session.commands[candidate].text &&
         reference_series.values == candidate_series.values;
}

/// Returns each command's wall times in runs of one kind, with their endings.
std::vector<Series> collect_wall_times(const Runs& runs, RoundKind kind, std::size_t commands) {
  std::vector<Series> all(commands);
  for (std::size_t c = 0; c < commands; ++c) {
    for (const std::uint32_t run : runs.of_command(c)) {
      const RunFacts facts = runs.facts(run);
      if (facts.kind != kind) continue;
      all[c].add({.value = runs.wall_seconds(run),
                  .round = static_cast<std::uint32_t>(facts.round),
                  .ending = facts.ending},
                 false);
    }
  }
  return all;
}

std::vector<double> values_of_succeeded_runs(const Series& series) {
  return pair_samples(series, series, false).candidate;
}

/// The wall times of each command in a session with --tune=compare, with and without tuning of the
/// machine (such as a fixed CPU frequency).
struct WallTimesByTuning {
  std::vector<Series> untuned{};
  std::vector<Series> tuned{};
  stats::IntervalTails tails{};  ///< of the intervals of what is computed from them
};

WallTimesByTuning collect_wall_times_by_tuning(const Plan& plan, const Session& session) {
  const std::size_t commands = plan.commands.size();
  return {.untuned = collect_wall_times(session.runs_without_tuning, RoundKind::Untuned, commands),
          .tuned = collect_wall_times(session.runs, RoundKind::Timed, commands),
          .tails = stats::tails_of(plan.confidence)};
}

stats::SamplePair cut_to_equal_number(const Comparison& samples) {
  const std::size_t count = std::min(samples.reference.size(), samples.candidate.size());
  return {.reference = std::span(samples.reference).first(count),
          .candidate = std::span(samples.candidate).first(count),
          .paired = samples.paired};
}

TunedChange to_tuned_change(const stats::Change& change) {
  if (!change.bounds) return {change.change, {}, {}};
  return {change.change, change.bounds->low, change.bounds->high};
}

/// Returns TunedComparison::interval_width of a command whose standard deviation changes by
/// `change_of_stddev`; an empty change for the reference of other commands.
TunedChange find_change_of_interval_width(const Plan& plan, std::size_t command,
                                          const WallTimesByTuning& times,
                                          const TunedChange& change_of_stddev) {
  // A candidate's interval is that of its change from the reference.
  const bool is_reference_in_session = plan.reference.index_in_session(command).has_value();
  if (is_reference_in_session && plan.reference.is_candidate(command)) {
    const Pair pair = pair_of(plan, command);
    const Comparison untuned = collect_samples(pair, times.untuned);
    const Comparison tuned = collect_samples(pair, times.tuned);
    return to_tuned_change(
        stats::width_change(cut_to_equal_number(untuned), cut_to_equal_number(tuned), times.tails));
  }

  // A single command, or one whose reference is in a baseline, has only the interval of its mean
  // here. Its width changes as the standard deviation does if there are equally many runs.
  const bool has_only_mean = plan.commands.size() == 1 || !is_reference_in_session;
  return has_only_mean ? change_of_stddev : TunedChange{};
}

/// Returns what tuning changes for a command; nullopt if it lacks succeeded runs of one kind.
std::optional<TunedComparison> compare_tuned_command(const Plan& plan, std::size_t command,
                                                     const WallTimesByTuning& times) {
  const std::vector<double> untuned = values_of_succeeded_runs(times.untuned[command]);
  const std::vector<double> tuned = values_of_succeeded_runs(times.tuned[command]);
  if (untuned.empty() || tuned.empty()) return std::nullopt;

  TunedComparison comparison{.command = plan.commands[command].name,
                             .tuned_runs = tuned.size(),
                             .untuned_runs = untuned.size()};

  // Tuned and untuned runs are never of one round.
  const stats::SamplePair samples{.reference = untuned, .candidate = tuned, .paired = false};
  comparison.stddev =
      to_tuned_change(stats::spread_change(untuned, tuned, times.tails.tail_of_delta));
  comparison.mean = to_tuned_change(stats::estimate_delta(samples, times.tails).change_of_mean);
  comparison.interval_width =
      find_change_of_interval_width(plan, command, times, comparison.stddev);
  return comparison;
}

stats::CountedShare count_failures(const Series& series) {
  return {series.failed_runs, series.runs_with_ending};
}

/// A candidate is kept only if it failed no more often, even where the difference may be chance.
bool fails_more_often(const Series& candidate, const Series& reference) {
  const auto share = [](const Series& series) {
    return series.runs_with_ending == 0 ? 0.0
                                        : static_cast<double>(series.failed_runs) /
                                              static_cast<double>(series.runs_with_ending);
  };
  return share(candidate) > share(reference);
}

/// A comparison of a benchmark in a suite by one metric.
struct SuiteRow {
  const Results& benchmark;
  std::size_t candidate = 0;
  std::size_t metric = 0;
  bool is_one_of_several_values = false;  ///< true if the candidate is measured at several values
};

/// The candidates of a benchmark by their place: first the first candidate of each reference, then
/// the second of each, and so on. There are several references if the commands are repeated with
/// several values of a parameter.
using CandidatesByPlace = std::vector<std::vector<std::size_t>>;

CandidatesByPlace list_candidates_by_place(const Results& results) {
  CandidatesByPlace all;
  std::map<std::size_t, std::size_t> places;
  for (const std::size_t c : find_candidates(results)) {
    const std::size_t place = places[results.session.reference.group_of(c)]++;
    if (place == all.size()) all.emplace_back();
    all[place].push_back(c);
  }
  return all;
}

/// Returns the change that a row adds to a geometric mean. Returns nullopt if the change is unknown
/// or -100%, which has no logarithm.
std::optional<stats::Change> find_change_to_average(const SuiteRow& row) {
  const MetricResult* result = metric_result_of(row.benchmark.commands[row.candidate], row.metric);
  if (result == nullptr || !result->delta || !result->delta->change) return std::nullopt;
  if (*result->delta->change <= -1.0) return std::nullopt;
  return *result->delta;
}

/// Returns the name of a row's candidate, without the value of its parameter if it is measured at
/// several values.
const std::string& common_name_of(const SuiteRow& row) {
  const Command& command = row.benchmark.session.commands[row.candidate];
  return row.is_one_of_several_values ? command.unfilled_name : command.name;
}

/// Returns the geometric mean of the changes of candidates in the benchmarks of a suite. `rows`: at
/// least one; all are of one metric. `candidate_place`: place that each row's candidate has among
/// the candidates of its benchmark, such as 0 for the first ones.
Geomean make_geomean(const std::vector<SuiteRow>& rows, std::size_t candidate_place) {
  // The metric is the same in all benchmarks, so any row can tell its name.
  const SuiteRow& any_row = rows.front();
  const Metric& metric = any_row.benchmark.session.metrics[any_row.metric];
  Geomean mean{.candidate_place = candidate_place, .metric = metric.name, .better = metric.better};

  std::vector<stats::Change> changes;
  std::set<std::string> candidate_names;
  std::set<const Results*> benchmarks_with_change;
  for (const SuiteRow& row : rows) {
    const auto change = find_change_to_average(row);
    if (!change) continue;
    changes.push_back(*change);
    candidate_names.insert(common_name_of(row));
    benchmarks_with_change.insert(&row.benchmark);
  }

  // The mean names its candidate only if all benchmarks call it the same.
  if (candidate_names.size() == 1) mean.candidate = *candidate_names.begin();
  mean.benchmark_count = benchmarks_with_change.size();
  mean.change = stats::geometric_mean(changes);
  return mean;
}

/// Returns a row for each candidate at a place of a benchmark, and each metric by which the suite
/// compares it.
std::vector<SuiteRow> list_rows_at_place(const Results& benchmark,
                                         const std::vector<std::size_t>& candidates_at_place) {
  // Several candidates at one place are one command with several values of a parameter.
  const bool has_several_values = candidates_at_place.size() > 1;

  std::vector<SuiteRow> rows;
  for (const std::size_t candidate : candidates_at_place)
    for (const std::optional<std::size_t> metric : suite_metrics(benchmark, candidate))
      if (metric)  // else the benchmark has neither a gate nor a primary metric
        rows.push_back({.benchmark = benchmark,
                        .candidate = candidate,
                        .metric = *metric,
                        .is_one_of_several_values = has_several_values});
  return rows;
}

/// Collects what a suite's geometric means are computed from: one group of rows for each metric.
/// The rows are of the candidates that have the place `candidate_place` in their benchmarks.
/// `candidates`: for each benchmark, its candidates by place.
std::vector<std::vector<SuiteRow>> group_rows_by_metric(
    const std::vector<Results>& benchmarks, const std::vector<CandidatesByPlace>& candidates,
    std::size_t candidate_place) {
  std::vector<std::vector<SuiteRow>> groups;
  // Benchmarks may have the same metric at different indices, so metrics are matched by name.
  std::map<std::string_view, std::size_t> group_of_metric;

  for (std::size_t b = 0; b < benchmarks.size(); ++b) {
    const bool has_candidate_at_place = candidate_place < candidates[b].size();
    if (!has_candidate_at_place) continue;

    for (const SuiteRow& row : list_rows_at_place(benchmarks[b], candidates[b][candidate_place])) {
      const std::string& metric_name = row.benchmark.session.metrics[row.metric].name;
      const auto [known, is_new] = group_of_metric.try_emplace(metric_name, groups.size());
      if (is_new) groups.emplace_back();
      const std::size_t group = known->second;
      groups[group].push_back(row);
    }
  }
  return groups;
}

/// Returns what makes a verdict doubtful although its sides have values: the runs are the same
/// ones, the sides failed in other shares of their runs, or a function is missing.
gate::Hindrance find_doubt_about_runs(const Recording& session, const gate::Verdict& verdict,
                                      const Series& reference, const Series& candidate) {
  if (verdict.condition.limit.needs_reference()) {
    if (are_same_runs(session, verdict.candidate, reference, candidate))
      return {gate::Obstacle::SameRuns};
    if (gate::failures_differ(count_failures(reference), count_failures(candidate)))
      return {gate::Obstacle::FailureRates};
  }

  // A candidate that fails more often than the reference must not be kept, whatever its times are.
  const bool is_kept = verdict.condition.is_for_keeping() && verdict.answer == gate::Answer::Pass;
  if (is_kept && fails_more_often(candidate, reference)) return {gate::Obstacle::FailureRates};

  // A gate may be on the share of one function, which a program may no longer have.
  return find_missing_function(session, verdict, reference, candidate);
}

/// Returns the first reason why the verdict of a gate (a limit that may fail a CI job) must not
/// stand although its numbers may look decisive; Obstacle::None if there is no such reason.
/// `series`: values of the verdict's metric, one series for each command.
gate::Hindrance find_doubt(const Recording& session, const gate::Verdict& verdict,
                           const std::vector<Series>& series) {
  // A limit may be on the candidate's own value, or on its change from the reference.
  if (verdict.condition.limit.needs_reference()) {
    auto other_settings = find_other_settings(session, verdict);
    if (!other_settings.differences.empty()) return other_settings;
  }

  // Without any value of a side, nothing supports the verdict. The decision has already taken the
  // other hindrances into account.
  const Pair pair = pair_of(session, verdict.candidate);
  gate::Hindrance hindrance = find_hindrance(verdict, pair, series);
  const bool lacks_values = hindrance.obstacle == gate::Obstacle::NoSuccess ||
                            hindrance.obstacle == gate::Obstacle::NoValue;
  if (lacks_values) return hindrance;

  return find_doubt_about_runs(session, verdict, series[pair.reference], series[pair.candidate]);
}

/// True if the change that the verdict is about is exact, in all runs and not only in those that
/// decided.
bool is_exact(const Results& results, const gate::Verdict& verdict) {
  const MetricResult* row = metric_result_of(results.commands[verdict.candidate], verdict.metric);
  if (row == nullptr) return false;
  if (verdict.condition.limit.needs_reference()) return row->delta && row->delta->is_exact;
  return row->summary && row->summary->is_exact() &&
         can_be_exact(results.session.metrics[verdict.metric].unit);
}

/// Tells each verdict if its change is exact. A gate was decided by some of the runs, and this is
/// known only of all of them.
void set_exactness_of_verdicts(Results& results) {
  for (gate::Verdict& verdict : results.findings.verdicts) {
    verdict.delta.is_exact = is_exact(results, verdict);
    verdict.delta.change_of_mean.is_exact = verdict.delta.is_exact;
  }
}

/// Returns a verdict without an answer for each gate and each candidate to which it applies, in the
/// order in which users read them.
std::vector<gate::Verdict> list_open_verdicts(const Recording& session,
                                              const std::vector<Gate>& gates) {
  std::vector<gate::Verdict> verdicts;
  const std::size_t commands = session.commands.size();
  for (const Gate& gate : gates)
    for (std::size_t c = 0; c < commands; ++c)
      if (is_gated(gate.condition, session.reference, c, commands))
        verdicts.push_back({.condition = gate.condition, .candidate = c, .metric = gate.metric});

  // Users read all gates on one group of commands together.
  std::ranges::stable_sort(verdicts, {}, [&](const gate::Verdict& verdict) {
    return session.reference.group_of(verdict.candidate);
  });
  return verdicts;
}

/// Decides a verdict by the only look at a session that has ended. `series`: values of the
/// verdict's metric, one series for each command.
void decide_at_only_look(const Recording& session, const std::vector<Series>& series,
                         const gate::LookErrors& errors, gate::Verdict& verdict) {
  const Pair pair = pair_of(session, verdict.candidate);
  const Comparison samples = collect_gate_samples(verdict.condition, pair, series);
  const gate::Look only_look{.number = 1, .last = true};

  gate::decide_at_look(verdict,
                       {.samples = samples,
                        .gated_quantile = session.metrics[verdict.metric].percentile_share(),
                        .lasting = find_hindrance(verdict, pair, series)},
                       errors, only_look);
  verdict.p_over_all_looks = verdict.p_value_of_fail;
}

/// Returns the role of a metric; of a percentile, the role of the metric that it summarizes.
Role source_role_of(const std::vector<Metric>& metrics, std::size_t metric) {
  return metrics[find_metric(metrics, metrics[metric].source_metric()).value_or(metric)].role;
}

/// True if a gate on the work of a program passes although its limit is below `rise_of_wall_time`.
/// `role`: of the gate's metric.
bool hides_rise(const gate::Verdict& verdict, Role role, double rise_of_wall_time) {
  constexpr auto roles_of_work =
      std::to_array({Role::CpuTime, Role::UserTime, Role::Instructions, Role::Cycles});
  const bool is_of_work = std::ranges::find(roles_of_work, role) != roles_of_work.end();
  const Condition& condition = verdict.condition;
  const bool limits_rise = condition.limit.is_change() && !condition.fails_below_limit;
  return is_of_work && limits_rise && verdict.answer == gate::Answer::Pass &&
         rise_of_wall_time > condition.limit.fraction();
}

/// Returns the candidate's first verdict that hides a rise of the wall time. Returns null if there
/// is none, or if a gate on the wall time itself decides about the rise.
const gate::Verdict* find_first_that_hides(const Results& results, std::size_t candidate,
                                           double rise_of_wall_time) {
  const gate::Verdict* first_that_hides = nullptr;
  for (const gate::Verdict& verdict : results.findings.verdicts) {
    if (verdict.candidate != candidate) continue;
    const Role role = source_role_of(results.session.metrics, verdict.metric);
    if (role == Role::WallTime) return nullptr;
    if (first_that_hides == nullptr && hides_rise(verdict, role, rise_of_wall_time))
      first_that_hides = &verdict;
  }
  return first_that_hides;
}

}  // namespace

MetricResult result_of_reference(const Results& results, std::size_t command, std::size_t metric) {
  if (const auto reference = results.session.reference.index_in_session(command))
    return results.commands[*reference].rows[metric];
  const Series series{
      make_series(results.session, metric, pair_of(results.session, command).reference).values,
      {},
      std::nullopt};
  return make_result(metric, results.session.metrics[metric],
                     stats::tails_of(results.session.confidence).tail_of_delta, series,
                     series.values.size());
}

std::optional<MeanEstimate> estimate_mean(const MetricResult& row, double confidence) {
  const double tail = (1.0 - confidence) / 2.0;
  const auto make_estimate = [](double mean, double reach) {
    return MeanEstimate{mean, stats::IntervalEnds{mean - reach, mean + reach}};
  };

  if (row.layouts && row.layouts->mean)
    return make_estimate(row.layouts->mean->value, row.layouts->mean->interval_half_width(tail));

  const auto mean = row.mean();
  if (!mean) return std::nullopt;
  // Fewer than kMinLayouts layouts give no interval, because their runs say nothing about others.
  if (row.layouts || !row.summary || !row.summary->variance) return MeanEstimate{*mean};
  const auto count = static_cast<double>(row.summary->count);
  return make_estimate(*mean, stats::student_t_quantile_above(tail, count - 1.0) *
                                  *row.summary->stddev() / std::sqrt(count));
}

// Computes everything that reports show, and stores it in `results`. The order matters: each step
// uses what the steps before it have stored.
void analyse(Results& results) {
  results.are_all_deltas_paired =
      std::ranges::all_of(list_pairs(results.session), &Pair::is_within_rounds);

  results.commands.resize(results.session.commands.size());
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    results.commands[c].rows.reserve(results.session.metrics.size());
    analyse_runs(c, results);
  }

  // Several gates (limits that may fail a CI job) share one error rate, so their intervals are
  // wider. A metric with a gate is shown with the intervals of its gate, so that both agree.
  const stats::IntervalTails tails_without_gate = stats::tails_of(results.session.confidence);
  for (std::size_t m = 0; m < results.session.metrics.size(); ++m) {
    const stats::IntervalTails tails =
        results.findings.tail_probabilities_of(m, tails_without_gate);
    analyse_metric(m, tails, results);
  }

  set_exactness_of_verdicts(results);
  make_headline_comparisons(results);
  results.explanations = make_explanations(results);
  compare_functions(results);
  std::ranges::move(warnings_of_results(results), std::back_inserter(results.warnings));

  // The report shows warnings in the order of the alternatives of WarningFacts.
  std::ranges::stable_sort(results.warnings, [](const Warning& a, const Warning& b) {
    return a.finding.index() < b.finding.index();
  });
}

std::optional<stats::LogRatio> log_ratio(const Recording& session, std::size_t metric,
                                         std::size_t of, std::size_t to) {
  const bool within_rounds = session.origins.empty() ? session.setting.order != Order::Sequential
                                                     : pair_of(session, of).is_within_rounds;
  const Series candidate = make_series(session, metric, of);
  const Series reference = make_series(session, metric, to);
  Comparison samples = pair_samples(reference, candidate, within_rounds);
  if (samples.is_empty()) samples = pair_samples(reference, candidate, false);
  if (samples.has_layouts()) {
    const auto estimate = log_ratio_over_layouts(samples);
    if (!estimate) return std::nullopt;
    return stats::LogRatio{.value = estimate->value,
                           .error = std::sqrt(estimate->squared_standard_error)};
  }
  return stats::log_ratio(
      {.reference = samples.reference, .candidate = samples.candidate, .paired = samples.paired});
}

// Decides each gate, which is a limit on a metric, for each candidate to which it applies.
gate::Findings judge(const Recording& session, const std::vector<Gate>& gates,
                     std::size_t gates_of_job) {
  gate::Findings findings{.verdicts = list_open_verdicts(session, gates)};
  if (findings.verdicts.empty()) return findings;

  // All gates share the error rate. While runs are measured, a gate may look at its values several
  // times. A session that has ended is looked at once, so this look may spend the whole error.
  const std::size_t sharing_gates = std::max(findings.verdicts.size(), gates_of_job);
  const gate::LookErrors errors = gate::errors_of_only_look(session.confidence, sharing_gates);

  SeriesByMetric all_series(session);
  for (gate::Verdict& verdict : findings.verdicts) {
    decide_at_only_look(session, all_series.of(verdict.metric), errors, verdict);

    // The metric's interval in the table must agree with the gate's answer.
    findings.gated_metric_tails.push_back({verdict.metric, errors.tails});
  }
  return findings;
}

void void_doubtful_verdicts(const Recording& session, gate::Findings& findings) {
  SeriesByMetric all_series(session);
  for (gate::Verdict& verdict : findings.verdicts)
    if (gate::Hindrance found = find_doubt(session, verdict, all_series.of(verdict.metric));
        found.obstacle != gate::Obstacle::None)
      gate::make_inconclusive(verdict, std::move(found));
}

// A gate on the work of a program, such as its instructions, may pass although its wall time rose
// by more than the gate's limit. Users should hear of this rise, once for each candidate.
const stats::Delta* risen_wall_time(const Results& results, const gate::Verdict& verdict) {
  const MetricResult* wall_time = metric_result_of(results, verdict.candidate, Role::WallTime);
  if (wall_time == nullptr || !wall_time->delta || !wall_time->delta->bounds) return nullptr;
  const double least_rise = wall_time->delta->bounds->low;

  // So only the candidate's first gate that hides the rise reports it.
  const gate::Verdict* first = find_first_that_hides(results, verdict.candidate, least_rise);
  const bool is_verdict_first =
      first != nullptr && first->metric == verdict.metric && first->condition == verdict.condition;
  return is_verdict_first ? &*wall_time->delta : nullptr;
}

Endings deciding_endings(const CommandResult& command) {
  Endings timed = command.endings.of_kind(RoundKind::Timed);
  return timed.runs_with_ending > 0 ? timed : command.endings;
}

bool has_failed_throughout(const Results& results, const gate::Verdict& verdict) {
  return deciding_endings(results.commands[verdict.candidate]).all_failed();
}

bool has_failed_throughout(const Report& report) {
  for (const Results& results : report.benchmarks)
    for (const gate::Verdict& verdict : results.findings.verdicts)
      if (has_failed_throughout(results, verdict)) return true;
  return false;
}

std::optional<stats::Summary> summarize_succeeded_runs(const Results& results, std::size_t command,
                                                       std::size_t metric) {
  const MetricResult* row = metric_result_of(results.commands[command], metric);
  if (row == nullptr || !row->summary) return std::nullopt;
  if (results.commands[command].endings.failed_runs() == 0) return row->summary;

  const std::vector<double> values =
      values_of_succeeded_runs(make_series(results.session, metric, command));
  if (values.empty()) return std::nullopt;
  return summarize_values(results.session.metrics[metric], values);
}

// With --tune=compare, some runs are measured without tuning of the machine (such as a fixed CPU
// frequency). The comparison tells users what tuning gains: less noise, and narrower intervals.
std::vector<TunedComparison> compare_tuned(const Plan& plan, const Session& session) {
  if (session.runs_without_tuning.empty()) return {};

  const WallTimesByTuning times = collect_wall_times_by_tuning(plan, session);
  std::vector<TunedComparison> comparisons;
  for (std::size_t c = 0; c < plan.commands.size(); ++c)
    if (auto comparison = compare_tuned_command(plan, c, times))
      comparisons.push_back(*std::move(comparison));
  return comparisons;
}

int exit_status_of(const std::vector<gate::Verdict>& verdicts, std::optional<int> if_inconclusive) {
  const auto has_any = [&](gate::Decision decision) {
    return std::ranges::find(verdicts, decision, &gate::Verdict::decision) != verdicts.end();
  };
  if (has_any(gate::Decision::Fail)) return static_cast<int>(ExitStatus::GateFailed);
  if (if_inconclusive && has_any(gate::Decision::Inconclusive)) return *if_inconclusive;

  const bool is_discarded = std::ranges::any_of(verdicts, &gate::Verdict::discards);
  return static_cast<int>(is_discarded ? ExitStatus::NotKept : ExitStatus::Done);
}

int exit_status_of(const EarlyEnd& early_end) {
  const auto* interrupted = std::get_if<Interrupted>(&early_end);
  return interrupted != nullptr ? status_of_signal(interrupted->signal)
                                : static_cast<int>(ExitStatus::Failed);
}

bool Report::complete() const {
  return std::ranges::all_of(benchmarks,
                             [](const Results& results) { return results.session.complete; });
}

std::vector<gate::Verdict> Report::verdicts() const {
  std::vector<gate::Verdict> all;
  for (const Results& results : benchmarks)
    all.insert(all.end(), results.findings.verdicts.begin(), results.findings.verdicts.end());
  return all;
}

std::vector<std::size_t> find_candidates(const Results& results) {
  std::vector<std::size_t> candidates;
  for (std::size_t c = 0; c < results.commands.size(); ++c)
    if (results.session.reference.is_candidate(c)) candidates.push_back(c);
  return candidates;
}

std::vector<std::optional<std::size_t>> suite_metrics(const Results& results,
                                                      std::size_t candidate) {
  std::set<std::size_t> gated;
  for (const gate::Verdict& verdict : results.findings.verdicts)
    if (verdict.candidate == candidate) gated.insert(verdict.metric);
  if (gated.empty()) return {primary_metric(results.session.metrics)};
  return {gated.begin(), gated.end()};
}

Report make_report(std::vector<Results> benchmarks, gate::ErrorRate risk) {
  Report suite{.benchmarks = std::move(benchmarks), .job_error_rate = risk};
  if (!suite.is_suite()) return suite;
  std::vector<CandidatesByPlace> candidates;
  std::size_t max_places = 0;
  for (const Results& results : suite.benchmarks)
    max_places =
        std::max(max_places, candidates.emplace_back(list_candidates_by_place(results)).size());
  for (std::size_t place = 0; place < max_places; ++place) {
    for (const auto& rows : group_rows_by_metric(suite.benchmarks, candidates, place)) {
      Geomean mean = make_geomean(rows, place);
      if (mean.benchmark_count > 1) suite.geomeans.push_back(std::move(mean));
    }
  }
  return suite;
}

}  // namespace lauka
