#include "results/analyse.h"

#include "core/choices.h"
#include "core/metric.h"
#include "session/baseline.h"
#include "session/recording.h"
#include "stats/summary.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

namespace lauka {

namespace {

Series series_of(const Recording& session, std::size_t metric, std::size_t command,
                 const std::vector<std::uint32_t>& rounds) {
  Series series;
  for (const std::uint32_t run : session.runs->of(command)) {
    if (const auto value = session.runs->value(run, metric)) {
      series.values.push_back(*value);
      series.rounds.push_back(rounds[run]);
    } else if (const auto bound = session.runs->bound(run, metric)) {
      series.largest_bound = std::max(series.largest_bound.value_or(0.0), *bound);
      ++series.bounded;
    }
  }
  return series;
}

/// Returns one for each command. A session may hold 10,000 runs; to save memory, the series of only
/// one metric exist at a time.
std::vector<Series> series_of(const Recording& session, std::size_t metric,
                              const std::vector<std::uint32_t>& rounds) {
  std::vector<Series> all;
  for (std::size_t c = 0; c < session.measured.size(); ++c)
    all.push_back(series_of(session, metric, c, rounds));
  return all;
}

std::vector<std::uint32_t> rounds_of(const Recording& session) {
  std::vector<std::uint32_t> rounds(session.runs->size());
  for (std::size_t i = 0; i < rounds.size(); ++i)
    rounds[i] = static_cast<std::uint32_t>(session.runs->row(i).round);
  return rounds;
}

/// `tail`: of an interval that the row has without a delta.
MetricResult result_of(std::size_t place, const Metric& metric, double tail, const Series& series,
                       std::size_t runs) {
  MetricResult result;
  result.metric = place;
  if (series.largest_bound) {
    result.runs = runs;
    result.at_most = series.largest_bound;
    for (const double value : series.values) result.at_most = std::max(*result.at_most, value);
    return result;
  }
  result.runs = series.values.size();
  if (const auto share = metric.share()) {
    result.fewest_runs = fewest_runs_of(*share, tail);
    result.quantile = stats::quantile_estimate(stats::sorted(series.values), *share, tail);
    return result;
  }
  if (series.values.empty()) return result;
  result.summary = stats::summarize(series.values);
  if (metric.role == Role::Throughput && result.summary->min > 0.0)
    result.summary->mean = stats::harmonic_mean(series.values);
  return result;
}

/// True if a metric's counter may be unable to count its event: 0 in every run of a command whose
/// instructions were counted.
bool is_doubtful(const Metric& metric, const Recording& session, const CommandResult& command,
                 const std::vector<double>& values) {
  if (!metric.event || !session.setting.events.events.at(*metric.event).zero_is_doubtful)
    return false;
  if (values.empty() || command.coverage.value_or(0.0) <= 0.0) return false;
  return std::ranges::all_of(values, [](double value) { return value == 0.0; });
}

/// Returns the command that missed --min-p-share, if any.
std::optional<LowShare> low_share(const Metric& metric, const std::optional<double>& least,
                                  const std::vector<double>& shares) {
  if (!least || metric.role != Role::CoreShare) return {};
  const auto low = std::ranges::count_if(shares, [&](double share) { return share < *least; });
  if (low == 0) return {};
  return LowShare{metric.name, *least, static_cast<std::size_t>(low), shares.size()};
}

/// Shown if rare long runs matter most; exports have it of all metrics.
Shown shown_of_mean(const Metric& metric) {
  const bool is_time = metric.role == Role::WallTime || metric.role == Role::CpuTime;
  return is_time ? metric.shown : Shown::Verbose;
}

void append(std::vector<Warning>& all, std::vector<Warning> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// The deltas of a metric.
void compare_commands(std::size_t index, const stats::IntervalTails& tails,
                      const std::vector<Series>& series, Results& results) {
  const Metric& metric = results.metrics[index];
  for (std::size_t c = 0; c < series.size(); ++c) {
    MetricResult& row = results.commands[c].rows[index];
    const std::size_t reference = results.reference.baseline ? c : results.reference.command;
    if (!results.reference.is_candidate(c) || row.is_doubtful ||
        results.commands[reference].rows[index].is_doubtful)
      continue;
    const Comparison samples =
        samples_of(results.reference, compares_within_rounds(results, c), index, series, c);
    if (samples.is_empty()) continue;
    row.delta = stats::delta_of(samples.reference, samples.candidate, samples.paired, tails,
                                metric.share());
    if (metric.percentile && !row.delta->bounds) row.delta.reset();
    if (row.delta && row.delta->mean_differs)
      results.warnings.push_back({MeanDiffers{metric.name, *row.delta}, c, shown_of_mean(metric)});
  }
}

void analyse_metric(std::size_t index, const stats::IntervalTails& tails,
                    const std::vector<std::uint32_t>& rounds, Results& results) {
  const Metric& metric = results.metrics[index];
  const std::vector<Series> series = series_of(results, index, rounds);
  for (std::size_t c = 0; c < series.size(); ++c) {
    CommandResult& command = results.commands[c];
    command.rows.push_back(result_of(index, metric, tails.tail, series[c], command.runs));
    MetricResult& row = command.rows.back();
    if (is_doubtful(metric, results, command, series[c].values)) {
      row.is_doubtful = true;
      row.summary.reset();
    }
    if (metric.role == Role::WallTime)
      append(results.warnings, warnings_of_series(c, series[c].values, results.setting.warmup));
    if (const auto low = low_share(metric, results.setting.min_share, series[c].values))
      results.warnings.push_back({*low, c});
  }
  compare_commands(index, tails, series, results);
}

/// The headline agrees with the row that is read first.
void rank(Results& results) {
  const auto metric = primary_metric(results.metrics);
  if (!metric) return;
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    const auto& delta = results.commands[c].rows[*metric].delta;
    if (!delta) continue;
    if (const auto speed = stats::relative_speed(*delta))
      results.rankings.push_back({c, *metric, *speed, delta->is_significant()});
  }
}

/// Computes how much counting slows a command; beyond 5% it is reported.
void enter_slowdown(std::size_t command, const std::vector<double>& timed,
                    const std::vector<double>& counting, Results& results) {
  constexpr double worth_a_line = 1.05;
  if (timed.empty() || counting.empty()) return;
  const double usual = stats::median(stats::sorted(timed));
  if (usual <= 0.0) return;  // no longer than its shell
  const double ratio = stats::median(stats::sorted(counting)) / usual;
  results.commands[command].slowdown = ratio;
  if (ratio > worth_a_line) results.warnings.push_back({SlowedByCounting{ratio}, command});
}

/// Analyses the runs of a command, apart from its metrics.
void analyse_runs(std::size_t c, Results& results) {
  CommandResult& command = results.commands[c];
  std::vector<double> timed;
  std::vector<double> counting;
  std::vector<double> coverage;
  std::size_t below = 0;
  for (const std::uint32_t index : results.runs->of(c)) {
    const RunRow run = results.runs->row(index);
    if (run.coverage) coverage.push_back(*run.coverage);
    below += run.below_overhead ? 1 : 0;
    if (run.kind == RoundKind::Counting) counting.push_back(run.wall_seconds);
    if (run.kind != RoundKind::Timed) continue;
    timed.push_back(run.wall_seconds);
    if (run.status != 0) ++command.failed_runs;
  }
  command.runs = timed.size();
  command.redone_runs = results.redone->of(c).size();
  if (!coverage.empty()) command.coverage = stats::median(stats::sorted(coverage));
  enter_slowdown(c, timed, counting, results);
  if (below > 0) results.warnings.push_back({BelowShell{command.runs, below}, c});
}

/// Wall times of timed or untuned runs, by command.
std::vector<std::vector<double>> wall_times_by_command(const RunList& runs, RoundKind kind,
                                                       std::size_t commands) {
  constexpr double per_second = 1e9;
  std::vector<std::vector<double>> all(commands);
  for (const RunRecord& run : runs)
    if (run.step.kind == kind)
      all[run.step.command].push_back(static_cast<double>(run.usage.wall_ns) / per_second);
  return all;
}

TunedChange tuned_change(const stats::Change& change) {
  if (!change.bounds) return {change.change, {}, {}};
  return {change.change, change.bounds->low, change.bounds->high};
}

/// The delta of a benchmark's candidate at a place; null if missing that a mean could be
/// made of.
const stats::Delta* delta_at(const Results& results, std::size_t place) {
  const auto metric = primary_metric(results.metrics);
  const auto candidates = candidates_of(results);
  if (!metric || place >= candidates.size()) return nullptr;
  const MetricResult* row = row_of(results.commands[candidates[place]], metric);
  return row != nullptr && row->delta && row->delta->change && *row->delta->change > -1.0
             ? &*row->delta
             : nullptr;
}

Geomean geomean_at(const std::vector<Results>& benchmarks, std::size_t place) {
  Geomean mean{.place = place};
  std::vector<stats::Change> changes;
  bool has_one_name = true;
  for (const Results& one : benchmarks) {
    const stats::Delta* delta = delta_at(one, place);
    if (delta == nullptr) continue;
    const Metric& metric = one.metrics[*primary_metric(one.metrics)];
    if (mean.metric.empty()) {
      mean.metric = metric.name;
      mean.better = metric.better;
    }
    if (metric.name != mean.metric) continue;
    const std::string& name = one.commands[candidates_of(one)[place]].name;
    has_one_name = has_one_name && (mean.benchmarks == 0 || name == mean.candidate);
    mean.candidate = name;
    ++mean.benchmarks;
    changes.push_back(*delta);
  }
  if (!has_one_name) mean.candidate.clear();
  static_cast<stats::Change&>(mean.change) = stats::geometric_mean(changes);
  mean.change.basis = stats::Basis::Typical;
  mean.change.mean = mean.change;
  return mean;
}

}  // namespace

Results analyse(Recording session, gate::Findings findings) {
  Results results{std::move(session), std::move(findings)};
  for (std::size_t c = 0; c < results.measured.size(); ++c)
    if (results.reference.is_candidate(c) && !compares_within_rounds(results, c))
      results.paired = false;
  for (const Command& command : results.measured)
    results.commands.push_back({.name = command.name,
                                .text = command.text,
                                .parameters = command.parameters,
                                .typed = command.typed,
                                .folder = command.folder,
                                .expected = command.expected,
                                .pattern = command.pattern,
                                .program = command.program});
  for (std::size_t c = 0; c < results.commands.size(); ++c) analyse_runs(c, results);
  const std::vector<std::uint32_t> rounds = rounds_of(results);
  const stats::IntervalTails plain = stats::tails_of(results.confidence);
  for (std::size_t m = 0; m < results.metrics.size(); ++m)
    analyse_metric(m, results.tails_of(m, plain), rounds, results);
  rank(results);
  results.explanations = explanations_of(results, rounds);
  append(results.warnings, warnings_of_results(results));
  std::ranges::stable_sort(results.warnings, [](const Warning& a, const Warning& b) {
    return a.finding.index() < b.finding.index();
  });
  return results;
}

Results analyse(const Plan& plan, const Session& session, const gate::Findings& findings,
                const Timers& timers, Circumstances circumstances) {
  Results results =
      analyse(recording_of(plan, session, timers, std::move(circumstances)), findings);
  results.presentation = plan.presentation;
  return results;
}

std::optional<stats::LogRatio> log_ratio(const Recording& session, std::size_t metric,
                                         std::size_t of, std::size_t to) {
  const std::vector<std::uint32_t> rounds = rounds_of(session);
  const bool within_rounds = session.origins.empty()
                                 ? compares_within_rounds(session.setting.order, {})
                                 : compares_within_rounds(session, of);
  const Series ours = series_of(session, metric, of, rounds);
  const Series theirs = series_of(session, metric, to, rounds);
  Comparison samples = compare(theirs, ours, within_rounds);
  if (samples.is_empty()) samples = compare(theirs, ours, false);
  return stats::log_ratio(samples.reference, samples.candidate, samples.paired);
}

gate::Findings judge(const Recording& session, const std::vector<Gate>& gates,
                     std::size_t gates_of_job) {
  gate::Findings findings;
  const std::size_t commands = session.measured.size();
  std::vector<gate::Question> questions;
  for (const Gate& gate : gates)
    for (std::size_t c = 0; c < commands; ++c)
      if (is_gated(gate.condition, session.reference, c, commands))
        questions.push_back({gate.condition, c, gate.metric, session.metrics[gate.metric].share()});
  if (questions.empty()) return findings;
  const gate::Levels levels =
      gate::levels_of_one_look(session.confidence, std::max(questions.size(), gates_of_job));
  const std::vector<std::uint32_t> rounds = rounds_of(session);
  for (const gate::Question& question : questions) {
    const std::vector<Series> series = series_of(session, question.metric, rounds);
    const std::size_t c = question.candidate;
    const Comparison samples =
        question.condition.bound ? gate::against_bound(question.condition, series[c])
                                 : samples_of(session.reference, compares_within_rounds(session, c),
                                              question.metric, series, c);
    const auto too_small = first_with_bounds(session.reference, question.condition, series, c);
    findings.verdicts.push_back(
        *gate::decide_at_look(question, samples, too_small, levels, {1, true}));
    findings.verdicts.back().p_of_fail = findings.verdicts.back().p_fail;
    findings.intervals.push_back({question.metric, levels.tails});
  }
  return findings;
}

std::vector<TunedComparison> compare_tuned(const Plan& plan, const Session& session) {
  if (session.untuned.empty()) return {};
  const std::size_t commands = plan.commands.size();
  const auto untuned = wall_times_by_command(session.untuned, RoundKind::Untuned, commands);
  const auto tuned = wall_times_by_command(session.runs, RoundKind::Timed, commands);
  const stats::IntervalTails tails = stats::tails_of(plan.confidence);
  const bool paired = compares_within_rounds(plan.order, plan.reference);
  // Only rounds that all commands have finished: an interruption may come within one.
  const auto rounds = [&](const std::vector<std::vector<double>>& times, std::size_t command) {
    const auto& reference = times[plan.reference.command];
    const std::size_t count = std::min(reference.size(), times[command].size());
    return stats::Rounds{std::span(reference).first(count), std::span(times[command]).first(count)};
  };
  std::vector<TunedComparison> all;
  for (std::size_t c = 0; c < commands; ++c) {
    if (untuned[c].empty() || tuned[c].empty()) continue;
    TunedComparison& one = all.emplace_back();
    one.command = plan.commands[c].name;
    one.tuned_runs = tuned[c].size();
    one.untuned_runs = untuned[c].size();
    one.stddev = tuned_change(stats::spread_change(untuned[c], tuned[c], tails.tail));
    one.mean = tuned_change(stats::delta_of(untuned[c], tuned[c], false, tails).mean);
    const bool has_delta = !plan.reference.baseline && plan.reference.is_candidate(c);
    if (has_delta)
      one.width =
          tuned_change(stats::width_change(rounds(untuned, c), rounds(tuned, c), paired, tails));
    else if (commands == 1 || plan.reference.baseline)
      one.width = one.stddev;  // of the interval of its mean
  }
  return all;
}

int exit_status_of(const std::vector<gate::Verdict>& verdicts, std::optional<int> if_inconclusive) {
  const auto any = [&](gate::Answer answer) {
    return std::ranges::any_of(
        verdicts, [&](const gate::Verdict& verdict) { return verdict.answer == answer; });
  };
  auto status = static_cast<int>(ExitStatus::Done);
  if (if_inconclusive && any(gate::Answer::Inconclusive)) status = *if_inconclusive;
  if (any(gate::Answer::Fail)) status = static_cast<int>(ExitStatus::GateFailed);
  return status;
}

int exit_status_of(const Session& session, const std::vector<gate::Verdict>& verdicts,
                   std::optional<int> if_inconclusive) {
  if (session.cut_short) {
    const auto* interrupted = std::get_if<Interrupted>(&*session.cut_short);
    return interrupted != nullptr ? status_of_signal(interrupted->signal)
                                  : static_cast<int>(ExitStatus::Failed);
  }
  return exit_status_of(verdicts, if_inconclusive);
}

bool Report::complete() const {
  return std::ranges::all_of(benchmarks, [](const Results& one) { return one.complete; });
}

std::vector<gate::Verdict> Report::verdicts() const {
  std::vector<gate::Verdict> all;
  for (const Results& one : benchmarks)
    all.insert(all.end(), one.verdicts.begin(), one.verdicts.end());
  return all;
}

std::vector<std::size_t> candidates_of(const Results& results) {
  std::vector<std::size_t> candidates;
  for (std::size_t c = 0; c < results.commands.size(); ++c)
    if (results.reference.is_candidate(c)) candidates.push_back(c);
  return candidates;
}

Report report_of(std::vector<Results> benchmarks, gate::Risk risk) {
  Report suite{.benchmarks = std::move(benchmarks), .risk = risk};
  std::size_t most = 0;
  for (const Results& one : suite.benchmarks) most = std::max(most, candidates_of(one).size());
  for (std::size_t place = 0; place < most; ++place) {
    Geomean mean = geomean_at(suite.benchmarks, place);
    if (mean.benchmarks > 1) suite.geomeans.push_back(std::move(mean));
  }
  return suite;
}

}  // namespace lauka
