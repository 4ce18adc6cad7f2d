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

MetricResult make_result(std::size_t metric_index, const Metric& metric, double tail,
                         const Series& series, std::size_t runs) {
  MetricResult result;
  result.metric = metric_index;

  // If some values are only upper bounds, the metric has no statistics, but a bound.
  if (series.largest_bound || series.largest_bound_of_failed_runs) {
    result.runs = runs;
    result.largest_bound_of_runs =
        std::max(series.largest_bound, series.largest_bound_of_failed_runs);
    for (const double value : series.values)
      result.largest_bound_of_runs = std::max(*result.largest_bound_of_runs, value);
    return result;
  }

  result.runs = series.values.size();
  if (const auto share = metric.percentile_share()) {
    result.runs_needed_for_percentile = fewest_runs_for_quantile(*share, tail);
    result.quantile = stats::quantile_estimate(stats::sorted(series.values), *share, tail);
    return result;
  }

  if (series.values.empty()) return result;
  result.summary = summarize_values(metric, series.values);
  return result;
}

/// True if the metric's event has zero_is_doubtful, and all values are 0 although instructions were
/// counted.
bool is_doubtful(const Metric& metric, const Recording& session, const CommandResult& command,
                 const std::vector<double>& values) {
  if (!metric.event || !session.setting.events.events.at(*metric.event).zero_is_doubtful)
    return false;
  if (values.empty() || command.coverage.value_or(0.0) <= 0.0) return false;
  return std::ranges::all_of(values, [](double value) { return value == 0.0; });
}

std::optional<LowCoreShare> find_low_core_share(const Metric& metric,
                                                const std::optional<double>& min_share,
                                                const std::vector<double>& shares) {
  if (!min_share || metric.role != Role::CoreShare) return {};
  const auto low_count =
      std::ranges::count_if(shares, [&](double share) { return share < *min_share; });
  if (low_count == 0) return {};
  return LowCoreShare{metric.name, *min_share, static_cast<std::size_t>(low_count), shares.size()};
}

void add_warnings_of_delta(std::size_t index, std::size_t c, const Comparison& samples,
                           const std::vector<Series>& series, Results& results) {
  const Metric& metric = results.session.metrics[index];
  const stats::Delta& delta = *results.commands[c].rows[index].delta;
  const std::optional<std::size_t> reference = results.session.reference.index_in_session(c);

  if (delta.mean_and_typical_differ) {
    const bool is_time = metric.role == Role::WallTime || metric.role == Role::CpuTime;
    const Shown shown = is_time ? metric.shown : Shown::Verbose;
    results.warnings.push_back(
        {MeanDiffers{metric.name, delta, outliers_explain_mean(results, index, c)}, c, shown});
  }

  // Alike rounds matter for the wall time, and where a gate depends on the metric.
  const auto is_on_metric = [&](const gate::Verdict& verdict) { return verdict.metric == index; };
  const bool is_gated = std::ranges::any_of(results.findings.verdicts, is_on_metric);
  if (metric.role != Role::WallTime && !is_gated) return;

  auto alike = find_alike_rounds(metric, delta, samples, results.commands.size() - 1);
  if (!alike) return;
  const auto cause = find_command_with_alike_runs(series, c, reference);
  alike->is_of_one_command = cause.has_value();

  // Comparisons with the same cause share a warning, which names the largest widening.
  const auto known = std::ranges::find_if(results.warnings, [&](const Warning& warning) {
    const auto* known_alike = std::get_if<AlikeRounds>(&warning.finding);
    return known_alike != nullptr && known_alike->metric == metric.name && warning.command == cause;
  });
  if (known == results.warnings.end()) {
    results.warnings.push_back({*std::move(alike), cause});
  } else {
    auto& known_alike = std::get<AlikeRounds>(known->finding);
    known_alike.widening = std::max(known_alike.widening, alike->widening);
  }
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

void compare_commands(std::size_t index, const stats::IntervalTails& tails,
                      const std::vector<Series>& series, Results& results) {
  const Metric& metric = results.session.metrics[index];
  for (const Pair& pair : list_pairs(results.session)) {
    const std::size_t c = pair.candidate;
    MetricResult& row = results.commands[c].rows[index];

    // A reference in a baseline is in no row of this session.
    const std::size_t reference = results.session.reference.index_in_session(c).value_or(c);
    const MetricResult& row_of_reference = results.commands[reference].rows[index];
    if (row.is_probably_uncounted || row_of_reference.is_probably_uncounted) continue;

    const bool was_measured_otherwise = !find_metric_differences(results.session, index, c).empty();
    if (was_measured_otherwise) continue;

    const Comparison samples = collect_samples(pair, series);
    if (samples.is_empty() || !stats::allows_percentages(samples.reference, samples.candidate))
      continue;

    row.delta = estimate_delta(samples, tails, metric.percentile_share());
    clear_impossible_exactness(metric, *row.delta);
    if (samples.has_layouts()) {
      if (!row.delta->change) row.delta.reset();
      set_layout_result(samples, tails, metric, row);
    }

    // A percentile without an interval says too little.
    if (metric.percentile && row.delta && !row.delta->bounds) row.delta.reset();
    row.detectable = find_detectable(results, row, samples, tails);
    if (row.delta) add_warnings_of_delta(index, c, samples, series, results);
  }
}

void set_mean_without_values(const Results& results, std::size_t command, MetricResult& row) {
  if (row.summary || row.largest_bound_of_runs) return;
  for (const KnownMean& mean : results.session.means_without_runs) {
    if (mean.command != command || mean.metric != row.metric) continue;
    row.mean_without_run_values = mean.value;
    row.runs = results.commands[command].runs;
  }
}

/// Scales each layout's values to the mean of all, so that only the scatter within layouts is left.
void remove_layout_differences(Series& series) {
  if (series.layouts.empty()) return;
  const double mean = stats::moments(series.values).mean;
  std::map<std::uint32_t, double> factors;
  for (const auto& [layout, values] : stats::values_by_layout({series.values, series.layouts}))
    factors[layout] = mean / std::max(stats::moments(values).mean, 1e-9);
  for (std::size_t i = 0; i < series.values.size(); ++i)
    series.values[i] *= factors[series.layouts[i]];
}

void analyse_metric(std::size_t index, const stats::IntervalTails& tails, Results& results) {
  const Metric& metric = results.session.metrics[index];
  const std::vector<Series> series = make_all_series(results.session, index);

  // Differences between layouts would look like unsteady runs, so those are looked for without
  // them.
  const bool is_wall_time = metric.role == Role::WallTime;
  std::vector<Series> scaled_series;
  if (is_wall_time && results.session.setting.layouts > 1) {
    scaled_series = series;
    std::ranges::for_each(scaled_series, remove_layout_differences);
  }
  const std::vector<Series>& without_layouts = scaled_series.empty() ? series : scaled_series;

  // The series of a baseline's commands follow those of the session's own.
  std::vector<FirstRunFacts> first_runs;
  if (is_wall_time) {
    const auto own_series = std::span(without_layouts).first(results.commands.size());
    first_runs = facts_of_first_runs(results.session, own_series);
  }

  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    CommandResult& command = results.commands[c];
    command.rows.push_back(
        make_result(index, metric, tails.tail_of_delta, series[c], command.runs));
    MetricResult& row = command.rows.back();
    set_mean_without_values(results, c, row);

    const bool has_layouts = count_layouts(results.session, c) > 1;
    if (has_layouts && row.summary && !metric.percentile) {
      const LayoutResult layouts{.mean = mean_over_layouts(series[c])};
      row.layouts = std::make_shared<const LayoutResult>(layouts);
    }

    if (is_doubtful(metric, results.session, command, series[c].values)) {
      row.is_probably_uncounted = true;
      row.summary.reset();
    }

    if (is_wall_time) {
      for (Warning& warning : warnings_of_series(c, without_layouts[c].values, first_runs[c])) {
        warning.shown = metric.shown;
        results.warnings.push_back(std::move(warning));
      }
    }
    if (const auto low =
            find_low_core_share(metric, results.session.setting.min_share, series[c].values))
      results.warnings.push_back({*low, c});
  }

  compare_commands(index, tails, series, results);
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

void analyse_runs(std::size_t c, Results& results) {
  CommandResult& command = results.commands[c];
  OutlivedRuns outlived;
  std::vector<double> wall_times_of_timed;
  std::vector<double> wall_times_of_counting;
  std::vector<double> coverages;
  std::size_t runs_below_shell = 0;

  for (const std::uint32_t index : results.session.runs.of_command(c)) {
    const RunRow run = results.session.runs.row(index);
    command.endings.add(run);
    count_survivors(run, outlived);
    if (run.instruction_coverage) coverages.push_back(*run.instruction_coverage);
    if (run.details.below_overhead) ++runs_below_shell;
    if (run.kind == RoundKind::Counting) wall_times_of_counting.push_back(run.wall_seconds);
    if (run.kind == RoundKind::Timed) wall_times_of_timed.push_back(run.wall_seconds);
  }

  command.runs = wall_times_of_timed.size();
  command.discarded_runs = results.session.discarded_runs.of_command(c).size();
  if (!coverages.empty()) command.coverage = stats::median(stats::sorted(coverages));
  set_counting_slowdown(c, wall_times_of_timed, wall_times_of_counting, results);

  if (outlived.outlived_runs > 0) results.warnings.push_back({outlived, c});
  if (runs_below_shell > 0)
    results.warnings.push_back({BelowShell{command.runs, runs_below_shell}, c});
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

/// Returns, for each place among a reference's candidates, the candidates at this place: one for
/// each group of commands.
std::vector<std::vector<std::size_t>> list_candidates_by_place(const Results& results) {
  std::vector<std::vector<std::size_t>> all;
  std::map<std::size_t, std::size_t> places;
  for (const std::size_t c : find_candidates(results)) {
    const std::size_t place = places[results.session.reference.group_of(c)]++;
    if (place == all.size()) all.emplace_back();
    all[place].push_back(c);
  }
  return all;
}

Geomean make_geomean(const std::vector<SuiteRow>& rows, std::size_t place) {
  const Metric& metric = rows.front().benchmark.session.metrics[rows.front().metric];
  Geomean mean{.candidate_place = place, .metric = metric.name, .better = metric.better};
  std::vector<stats::Change> changes;
  std::set<std::string> names;
  std::set<const Results*> benchmarks;
  for (const SuiteRow& row : rows) {
    // Without a change, or with one of -100%, there is no logarithm for the mean.
    const MetricResult* result = row_of(row.benchmark.commands[row.candidate], row.metric);
    if (result == nullptr || !result->delta || !(result->delta->change > -1.0)) continue;

    const Command& command = row.benchmark.session.commands[row.candidate];
    names.insert(row.is_one_of_several_values ? command.unfilled_name : command.name);
    benchmarks.insert(&row.benchmark);
    changes.push_back(*result->delta);
  }

  // The mean names its candidate only if all benchmarks call it the same.
  if (names.size() == 1) mean.candidate = *names.begin();
  mean.benchmark_count = benchmarks.size();
  mean.change = stats::geometric_mean(changes);
  return mean;
}

std::vector<std::vector<SuiteRow>> group_rows_by_metric(
    const std::vector<Results>& benchmarks,
    const std::vector<std::vector<std::vector<std::size_t>>>& candidates, std::size_t place) {
  std::vector<std::vector<SuiteRow>> all;
  std::map<std::string_view, std::size_t> place_of_metric;  // in `all`
  for (std::size_t b = 0; b < benchmarks.size(); ++b) {
    if (place >= candidates[b].size()) continue;
    const Results& results = benchmarks[b];
    const std::vector<std::size_t>& candidates_here = candidates[b][place];
    const bool has_several_values = candidates_here.size() > 1;

    for (const std::size_t candidate : candidates_here) {
      for (const auto metric : suite_metrics(results, candidate)) {
        if (!metric) continue;
        const std::string& name = results.session.metrics[*metric].name;
        const auto [entry, is_new] = place_of_metric.try_emplace(name, all.size());
        if (is_new) all.emplace_back();
        all[entry->second].push_back({results, candidate, *metric, has_several_values});
      }
    }
  }
  return all;
}

/// Returns what makes a comparison doubtful although both sides have values: the runs are the same
/// ones, or the sides failed in other shares of their runs.
gate::Hindrance find_doubt_about_comparison(const Recording& session, const gate::Verdict& verdict,
                                            const Series& reference, const Series& candidate) {
  if (are_same_runs(session, verdict.candidate, reference, candidate))
    return {gate::Obstacle::SameRuns};
  if (gate::failures_differ(count_failures(reference), count_failures(candidate)))
    return {gate::Obstacle::FailureRates};
  return {gate::Obstacle::None};
}

/// Returns the first reason why the verdict must not stand, or Obstacle::None. `series` are those
/// of the verdict's metric, one for each command.
gate::Hindrance find_doubt(const Recording& session, const gate::Verdict& verdict,
                           const std::vector<Series>& series) {
  const bool compares = verdict.condition.limit.needs_reference();
  if (compares) {
    auto other_settings = find_other_settings(session, verdict);
    if (!other_settings.differences.empty()) return other_settings;
  }

  const Pair pair = pair_of(session, verdict.candidate);
  gate::Hindrance missing = find_hindrance(verdict, pair, series);
  if (missing.obstacle == gate::Obstacle::NoSuccess || missing.obstacle == gate::Obstacle::NoValue)
    return missing;

  const Series& candidate = series[pair.candidate];
  const Series& reference = series[pair.reference];
  if (compares) {
    auto doubt = find_doubt_about_comparison(session, verdict, reference, candidate);
    if (doubt.obstacle != gate::Obstacle::None) return doubt;
  }

  // A candidate that fails more often than the reference must not be kept, whatever its times are.
  const bool keeps = verdict.condition.is_for_keeping() && verdict.answer == gate::Answer::Pass;
  if (keeps && fails_more_often(candidate, reference)) return {gate::Obstacle::FailureRates};

  return find_missing_function(session, verdict, reference, candidate);
}

/// True if the change that the verdict is about is exact, in all runs and not only in those that
/// decided.
bool is_exact(const Results& results, const gate::Verdict& verdict) {
  const MetricResult* row = row_of(results.commands[verdict.candidate], verdict.metric);
  if (row == nullptr) return false;
  if (verdict.condition.limit.needs_reference()) return row->delta && row->delta->is_exact;
  return row->summary && row->summary->is_exact() &&
         can_be_exact(results.session.metrics[verdict.metric].unit);
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

void analyse(Results& results) {
  results.are_all_deltas_paired =
      std::ranges::all_of(list_pairs(results.session), &Pair::is_within_rounds);

  results.commands.resize(results.session.commands.size());
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    results.commands[c].rows.reserve(results.session.metrics.size());
    analyse_runs(c, results);
  }

  const stats::IntervalTails plain = stats::tails_of(results.session.confidence);
  for (std::size_t m = 0; m < results.session.metrics.size(); ++m)
    analyse_metric(m, results.findings.tail_probabilities_of(m, plain), results);

  for (gate::Verdict& verdict : results.findings.verdicts) {
    verdict.delta.is_exact = is_exact(results, verdict);
    verdict.delta.change_of_mean.is_exact = verdict.delta.is_exact;
  }

  make_headline_comparisons(results);
  results.explanations = make_explanations(results);
  compare_functions(results);

  std::ranges::move(warnings_of_results(results), std::back_inserter(results.warnings));
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

gate::Findings judge(const Recording& session, const std::vector<Gate>& gates,
                     std::size_t gates_of_job) {
  gate::Findings findings;
  const std::size_t commands = session.commands.size();

  for (const Gate& gate : gates)
    for (std::size_t c = 0; c < commands; ++c)
      if (is_gated(gate.condition, session.reference, c, commands))
        findings.verdicts.push_back(
            {.condition = gate.condition, .candidate = c, .metric = gate.metric});
  if (findings.verdicts.empty()) return findings;

  // Users read all gates on one group of commands together.
  std::ranges::stable_sort(findings.verdicts, {}, [&](const gate::Verdict& verdict) {
    return session.reference.group_of(verdict.candidate);
  });

  // All gates share the error rate. A saved session has a single look, which is also the last one.
  const std::size_t sharing_gates = std::max(findings.verdicts.size(), gates_of_job);
  const gate::LookErrors levels = gate::levels_of_only_look(session.confidence, sharing_gates);
  const gate::Look only_look{.number = 1, .last = true};

  SeriesByMetric all_series(session);
  for (gate::Verdict& verdict : findings.verdicts) {
    const std::vector<Series>& series = all_series.of(verdict.metric);
    const Pair pair = pair_of(session, verdict.candidate);
    const Comparison samples = collect_gate_samples(verdict.condition, pair, series);

    const gate::Hindrance lasting = find_hindrance(verdict, pair, series);
    gate::decide_at_look(verdict,
                         {.samples = samples,
                          .gated_quantile = session.metrics[verdict.metric].percentile_share(),
                          .lasting = lasting},
                         levels, only_look);
    verdict.p_over_all_looks = verdict.p_value_of_fail;
    findings.gated_metric_tails.push_back({verdict.metric, levels.tails});
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

const stats::Delta* risen_wall_time(const Results& results, const gate::Verdict& verdict) {
  const MetricResult* wall_time = row_of(results, verdict.candidate, Role::WallTime);
  if (wall_time == nullptr || !wall_time->delta || !wall_time->delta->bounds) return nullptr;
  const double least_rise = wall_time->delta->bounds->low;

  // A percentile has the role of the metric from which it comes.
  const std::vector<Metric>& metrics = results.session.metrics;
  const auto role_of = [&](const gate::Verdict& other) {
    const std::string& source = metrics[other.metric].source_metric();
    return metrics[find_metric(metrics, source).value_or(other.metric)].role;
  };

  // A gate on the work of a program may pass although the wall time rose by more than its limit.
  const auto hides_rise = [&](const gate::Verdict& other) {
    constexpr auto roles_of_work =
        std::to_array({Role::CpuTime, Role::UserTime, Role::Instructions, Role::Cycles});
    const bool is_of_work = std::ranges::find(roles_of_work, role_of(other)) != roles_of_work.end();
    const Condition& condition = other.condition;
    const bool limits_rise = condition.limit.is_change() && !condition.fails_below_limit;
    return is_of_work && limits_rise && other.answer == gate::Answer::Pass &&
           least_rise > condition.limit.fraction();
  };

  // Only one of a command's gates says so, and none if another one watches the wall time.
  const gate::Verdict* first = nullptr;
  for (const gate::Verdict& other : results.findings.verdicts) {
    if (other.candidate != verdict.candidate) continue;
    if (role_of(other) == Role::WallTime) return nullptr;
    if (first == nullptr && hides_rise(other)) first = &other;
  }
  const bool is_first =
      first != nullptr && first->metric == verdict.metric && first->condition == verdict.condition;
  return is_first ? &*wall_time->delta : nullptr;
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
  const MetricResult* row = row_of(results.commands[command], metric);
  if (row == nullptr || !row->summary) return std::nullopt;
  if (results.commands[command].endings.failed_runs() == 0) return row->summary;

  const std::vector<double> values =
      values_of_succeeded_runs(make_series(results.session, metric, command));
  if (values.empty()) return std::nullopt;
  return summarize_values(results.session.metrics[metric], values);
}

std::vector<TunedComparison> compare_tuned(const Plan& plan, const Session& session) {
  if (session.runs_without_tuning.empty()) return {};

  const std::size_t commands = plan.commands.size();
  const auto all_untuned =
      collect_wall_times(session.runs_without_tuning, RoundKind::Untuned, commands);
  const auto all_tuned = collect_wall_times(session.runs, RoundKind::Timed, commands);
  const stats::IntervalTails tails = stats::tails_of(plan.confidence);

  const auto width_change = [&](const Pair& pair) {
    const Comparison untuned = collect_samples(pair, all_untuned);
    const Comparison tuned = collect_samples(pair, all_tuned);
    return stats::width_change(cut_to_equal_number(untuned), cut_to_equal_number(tuned), tails);
  };

  std::vector<TunedComparison> all;
  for (std::size_t c = 0; c < commands; ++c) {
    const std::vector<double> untuned = values_of_succeeded_runs(all_untuned[c]);
    const std::vector<double> tuned = values_of_succeeded_runs(all_tuned[c]);
    if (untuned.empty() || tuned.empty()) continue;

    TunedComparison& comparison = all.emplace_back();
    comparison.command = plan.commands[c].name;
    comparison.tuned_runs = tuned.size();
    comparison.untuned_runs = untuned.size();

    // Tuned and untuned runs are never of one round.
    const stats::SamplePair samples{.reference = untuned, .candidate = tuned, .paired = false};
    comparison.stddev = to_tuned_change(stats::spread_change(untuned, tuned, tails.tail_of_delta));
    comparison.mean = to_tuned_change(stats::estimate_delta(samples, tails).change_of_mean);

    // Without a delta, the interval is the mean's. For equal numbers of runs its width changes as
    // the standard deviation does.
    const bool is_in_session = plan.reference.index_in_session(c).has_value();
    if (is_in_session && plan.reference.is_candidate(c))
      comparison.interval_width = to_tuned_change(width_change(pair_of(plan, c)));
    else if (commands == 1 || !is_in_session)
      comparison.interval_width = comparison.stddev;
  }
  return all;
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
  std::vector<std::vector<std::vector<std::size_t>>> candidates;
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
