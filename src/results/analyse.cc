#include "results/analyse.h"

#include "core/metric_reader.h"
#include "core/series.h"
#include "plan/baseline.h"
#include "results/coverage.h"
#include "results/warnings.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <variant>

namespace lauka {

namespace {

/// How a run that was ended from outside is told to programs: as a shell does.
int status_of(const Outcome& outcome) {
  constexpr int signalled = 128;
  constexpr int kill = 9;  // the same on every system
  if (const auto* end = std::get_if<Exited>(&outcome)) return end->status;
  if (const auto* end = std::get_if<Signalled>(&outcome)) return signalled + end->signal;
  if (const auto* end = std::get_if<Stopped>(&outcome)) return signalled + end->signal;
  return signalled + kill;
}

/// Whether a run enters the statistics. The run that ended the benchmark does not, nor one that was
/// cut off or never began; other failures do under --ignore-failure.
bool is_counted(const RunRecord& run, const Plan& plan, const Session& session) {
  if (run.step.warmup || std::holds_alternative<NotStarted>(run.outcome) ||
      std::holds_alternative<Cancelled>(run.outcome)) {
    return false;
  }
  if (succeeded(run.outcome)) return true;
  if (!plan.ignore_failure) return false;
  const auto* failed = session.cut_short ? std::get_if<RunFailed>(&*session.cut_short) : nullptr;
  return failed == nullptr || failed->step.warmup || failed->step.command != run.step.command ||
         failed->step.round != run.step.round;
}

std::vector<const RunRecord*> counted_runs(const Plan& plan, const Session& session) {
  std::vector<const RunRecord*> runs;
  for (const RunRecord& run : session.runs) {
    if (is_counted(run, plan, session)) runs.push_back(&run);
  }
  return runs;
}

stats::Delta delta_of(const Comparison& samples, double confidence) {
  return samples.paired ? stats::paired_delta(samples.reference, samples.candidate, confidence)
                        : stats::unpaired_delta(samples.reference, samples.candidate, confidence);
}

MetricResult result_of(std::size_t metric, const Series& series, std::size_t runs) {
  MetricResult result;
  result.metric = metric;
  if (series.largest_bound) {
    result.runs = runs;
    result.at_most = series.largest_bound;
    for (const double value : series.values) result.at_most = std::max(*result.at_most, value);
    return result;
  }
  result.runs = series.values.size();
  if (!series.values.empty()) result.summary = stats::summarize(series.values);
  return result;
}

/// What --min-p-share could not reach.
std::optional<LowShare> low_share(const Metric& metric, const Plan& plan,
                                  const std::vector<double>& shares) {
  if (!plan.cores.min_share || !std::holds_alternative<EventShare>(metric.source)) return {};
  const double least = *plan.cores.min_share;
  const auto low =
      std::count_if(shares.begin(), shares.end(), [&](double share) { return share < least; });
  if (low == 0) return {};
  return LowShare{metric.name, least, static_cast<std::size_t>(low), shares.size()};
}

void append(std::vector<Warning>& all, std::vector<Warning> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// A session may hold 10,000 runs and memory is to stay small: only the series of one metric are
/// there at a time.
void analyse_metric(std::size_t metric, double confidence, const Plan& plan,
                    const std::vector<const RunRecord*>& runs, Results& results) {
  MetricSeries series(plan.metrics[metric], plan.events, plan.commands.size());
  for (const RunRecord* run : runs) series.take(*run);
  for (std::size_t c = 0; c < plan.commands.size(); ++c) {
    CommandResult& command = results.commands[c];
    MetricResult row = result_of(metric, series.of(c), command.runs);
    if (is_doubtful(plan.metrics[metric], plan, command, series.of(c).values)) {
      row.is_doubtful = true;
      row.summary.reset();
    }
    if (plan.metrics[metric].name == "wall_time") {
      append(results.warnings, warnings_of_series(c, series.of(c).values, plan));
    }
    if (const auto low = low_share(plan.metrics[metric], plan, series.of(c).values))
      results.warnings.push_back({*low, c});
    const bool doubtful =
        row.is_doubtful || (c > 0 && results.commands[0].rows[metric].is_doubtful);
    if (c >= first_candidate(plan) && !doubtful) {
      const Comparison samples = samples_of(plan, plan.metrics[metric], series, c);
      if (!samples.is_empty()) row.delta = delta_of(samples, confidence);
    }
    command.rows.push_back(row);
  }
}

std::optional<Ranking> ranking_of(std::size_t command, const stats::Delta& delta) {
  const auto speed = stats::relative_speed(delta);
  if (!speed) return std::nullopt;
  return Ranking{command, speed->ratio, speed->half_width, speed->faster, delta.significant};
}

void rank(Results& results) {
  for (std::size_t c = results.baseline ? 0 : 1; c < results.commands.size(); ++c) {
    for (const MetricResult& row : results.commands[c].rows) {
      if (results.metrics[row.metric].name != "wall_time" || !row.delta) continue;
      if (const auto ranking = ranking_of(c, *row.delta)) results.rankings.push_back(*ranking);
    }
  }
}

std::vector<NamedCount> own_counts_of(const RunRecord& run, const EventSet& events) {
  std::vector<NamedCount> own;
  for (std::size_t i = 0; i < run.own.size(); ++i) {
    const std::size_t event = events.passes.at(run.step.pass).events.at(i);
    if (run.own[i]) own.push_back({events.events.at(event).name, *run.own[i]});
  }
  return own;
}

std::vector<RunRow> rows_of(const Plan& plan, const std::vector<const RunRecord*>& runs) {
  std::vector<MetricReader> readers;
  readers.reserve(plan.metrics.size());
  for (const Metric& metric : plan.metrics) readers.emplace_back(metric, plan.events);
  std::vector<RunRow> rows;
  rows.reserve(runs.size());
  for (const RunRecord* run : runs) {
    RunRow row{run->step.command,
               run->step.round,
               run->step.pass,
               status_of(run->outcome),
               {},
               plan.events.is_simulated(run->step.pass),
               run->coverage,
               own_counts_of(*run, plan.events)};
    row.values.reserve(readers.size());
    for (const MetricReader& reader : readers) row.values.push_back(reader.value(*run));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<RedoneRow> redone_rows_of(const Plan& plan, const Session& session) {
  std::vector<const RunRecord*> runs;
  for (const RedoneRun& redone : session.redone) runs.push_back(&redone.run);
  std::vector<RunRow> rows = rows_of(plan, runs);
  std::vector<RedoneRow> redone;
  for (std::size_t i = 0; i < rows.size(); ++i)
    redone.push_back({std::move(rows[i]), session.redone[i].why});
  return redone;
}

/// Each once.
std::vector<std::string> notes_of(const Plan& plan, const Session& session) {
  std::vector<std::string> notes;
  for (const auto* some : {&plan.events.notes, &session.notes}) {
    for (const std::string& note : *some) {
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
    }
  }
  return notes;
}

std::optional<BaselineReference> reference_of(const Plan& plan) {
  if (!plan.baseline) return std::nullopt;
  const Baseline& baseline = *plan.baseline;
  BaselineReference reference{
      baseline.file, {}, baseline.by_lauka, baseline.version, baseline.machine};
  for (const BaselineCommand& command : baseline.commands) reference.names.push_back(command.name);
  return reference;
}

/// One warning for each command that its shell outlasted at times.
std::vector<Warning> warnings_of_shell(const std::vector<const RunRecord*>& runs,
                                       const Results& results) {
  std::vector<std::size_t> below(results.commands.size(), 0);
  for (const RunRecord* run : runs) below[run->step.command] += run->below_overhead ? 1 : 0;
  std::vector<Warning> warnings;
  for (std::size_t c = 0; c < below.size(); ++c) {
    if (below[c] > 0) warnings.push_back({BelowShell{results.commands[c].runs, below[c]}, c});
  }
  return warnings;
}

/// The last step: whether the clocks and the number of runs suffice is seen in the rows.
void finish_warnings(const Plan& plan, const Session& session, const Timers& timers,
                     Results& results) {
  append(results.warnings,
         warnings_of_results(results, plan, timers, session.cut_short.has_value()));
  append(results.warnings, warnings_of_coverage(results));
  std::stable_sort(
      results.warnings.begin(), results.warnings.end(),
      [](const Warning& a, const Warning& b) { return a.finding.index() < b.finding.index(); });
}

}  // namespace

Results analyse(const Plan& plan, const Session& session, const gate::Findings& findings,
                Detail detail, const Timers& timers, Circumstances circumstances) {
  const std::vector<const RunRecord*> runs = counted_runs(plan, session);
  Results results;
  results.setting = {plan.order, plan.seed, plan.warmup, plan.events};
  results.circumstances = std::move(circumstances);
  results.complete = !session.cut_short.has_value();
  results.notes = notes_of(plan, session);
  results.metrics = plan.metrics;
  results.confidence = plan.confidence;
  results.paired = compares_within_rounds(plan);
  results.baseline = reference_of(plan);
  results.verdicts = findings.verdicts;
  results.precision = findings.precision;
  if (plan.shell) results.shell = plan.shell->words;
  results.overheads = session.overheads;
  for (const Command& command : plan.commands) {
    CommandResult result;
    result.name = command.name;
    result.text = command.text;
    result.parameters = command.parameters;
    result.typed = command.typed;
    result.pattern = command.pattern;
    results.commands.push_back(std::move(result));
  }
  for (const RunRecord* run : runs) {
    if (plan.events.is_simulated(run->step.pass)) continue;
    CommandResult& command = results.commands[run->step.command];
    ++command.runs;
    if (!succeeded(run->outcome)) ++command.failed_runs;
  }
  for (const RedoneRun& redone : session.redone)
    ++results.commands[redone.run.step.command].redone_runs;
  enter_coverage(runs, results);
  for (std::size_t m = 0; m < plan.metrics.size(); ++m) {
    const bool gated = is_gated(plan, plan.metrics[m].name);
    analyse_metric(m, gated ? findings.interval_confidence : plan.confidence, plan, runs, results);
  }
  rank(results);
  append(results.warnings, warnings_of_shell(runs, results));
  if (detail == Detail::Runs) {
    results.runs = rows_of(plan, runs);
    results.redone = redone_rows_of(plan, session);
  }
  finish_warnings(plan, session, timers, results);
  return results;
}

}  // namespace lauka
