#include "session/series.h"

#include "session/baseline.h"

#include <algorithm>
#include <utility>

namespace lauka {

namespace {

/// The runs of one pass, whose endings count if the pass turns out to give the metric.
struct RunsOfPass {
  std::size_t runs_with_value_or_bound = 0;
  Series endings{};  // has no values
};

/// A command's values of a metric, and how its runs ended in each pass.
struct SeriesByPass {
  Series series{};
  std::vector<RunsOfPass> passes{};  // by the index of the pass
};

/// The metric of which series are made, and the runs that have its values.
struct MetricOfRuns {
  const Runs& runs;
  std::size_t metric_index = 0;
  RoundKind kind = RoundKind::Timed;
};

MetricOfRuns metric_of(const Recording& session, std::size_t metric) {
  return {session.runs, metric, session.metrics[metric].kind};
}

/// Returns a run for a series, still without its value.
RunOfSeries make_run_of_series(const RunFacts& facts) {
  return {.round = static_cast<std::uint32_t>(facts.round),
          .layout = facts.layout,
          .ending = facts.ending};
}

/// Reads a command's values of the metric, and how its runs ended. A command may be run in several
/// passes, for example with other counters in each, of which only some give the metric. They are
/// known when the runs of all commands have been read. Until then, endings are kept for each pass.
/// `has_layouts`: true if several builds of the command were measured.
SeriesByPass read_values_and_endings(const MetricOfRuns& source, std::size_t command,
                                     bool has_layouts) {
  const std::span<const std::uint32_t> runs = source.runs.of_command(command);

  SeriesByPass result;
  result.series.values.reserve(runs.size());
  result.series.rounds.reserve(runs.size());
  for (const std::uint32_t run : runs) {
    const RunFacts facts = source.runs.facts(run);
    RunOfSeries run_of_series = make_run_of_series(facts);

    // A run may have failed before it gave a value, so its ending counts even without a value. Only
    // runs of the metric's kind, such as timed runs, count.
    const bool is_of_metrics_kind = facts.kind == source.kind;
    if (is_of_metrics_kind) {
      if (facts.pass >= result.passes.size()) result.passes.resize(facts.pass + 1);
      result.passes[facts.pass].endings.add(run_of_series, has_layouts);
    }

    // Of a run without a value, an upper bound may be known.
    run_of_series.value = source.runs.value(run, source.metric_index);
    if (!run_of_series.value) run_of_series.bound = source.runs.bound(run, source.metric_index);
    if (!run_of_series.value && !run_of_series.bound) continue;

    result.series.add(run_of_series, has_layouts);
    if (is_of_metrics_kind) ++result.passes[facts.pass].runs_with_value_or_bound;
  }
  return result;
}

/// Sets the counts of failed runs to those of the passes that count. `is_counted`: by the index of
/// the pass.
void set_endings(const std::vector<RunsOfPass>& passes, const std::vector<bool>& is_counted,
                 Series& series) {
  series.runs_with_ending = 0;
  series.failed_runs = 0;
  series.failed_layouts.clear();
  for (std::size_t pass = 0; pass < passes.size(); ++pass) {
    if (!is_counted[pass]) continue;
    const Series& endings = passes[pass].endings;
    series.runs_with_ending += endings.runs_with_ending;
    series.failed_runs += endings.failed_runs;

    // A build (layout) of the program may fail in several passes, but counts once.
    for (const std::uint32_t layout : endings.failed_layouts)
      if (std::ranges::find(series.failed_layouts, layout) == series.failed_layouts.end())
        series.failed_layouts.push_back(layout);
  }
}

/// Returns the series of a command. Its counts of failed runs are about the passes that give the
/// metric, because runs with other counters say nothing about it. If the command has no runs in
/// these passes, the counts are about all its runs.
/// `gives_metric`: by the index of the pass.
Series take_series(SeriesByPass&& of_command, const std::vector<bool>& gives_metric) {
  const std::vector<RunsOfPass>& passes = of_command.passes;
  Series series = std::move(of_command.series);
  set_endings(passes, gives_metric, series);
  if (series.runs_with_ending == 0)
    set_endings(passes, std::vector<bool>(passes.size(), true), series);
  return series;
}

bool has_value_in(const SeriesByPass& of_command, std::size_t pass) {
  return pass < of_command.passes.size() && of_command.passes[pass].runs_with_value_or_bound > 0;
}

/// Returns for each pass if it gives the metric: if any command has a value in it. A command whose
/// runs all died in this pass has none, but its failures in the pass have to count.
std::vector<bool> find_passes_with_metric(std::span<const SeriesByPass> by_command) {
  std::vector<bool> gives_metric;
  for (const SeriesByPass& of_command : by_command) {
    gives_metric.resize(std::max(gives_metric.size(), of_command.passes.size()));
    for (std::size_t pass = 0; pass < of_command.passes.size(); ++pass)
      if (has_value_in(of_command, pass)) gives_metric[pass] = true;
  }
  return gives_metric;
}

/// Returns the metric's values of each command. Runs of a command are made in passes, for example
/// with other counters in each. `has_layouts(command)`: true if several builds of the command were
/// measured.
std::vector<Series> make_series_of_all(const MetricOfRuns& source, std::size_t command_count,
                                       const std::function<bool(std::size_t)>& has_layouts) {
  std::vector<SeriesByPass> by_command;
  by_command.reserve(command_count);
  for (std::size_t command = 0; command < command_count; ++command)
    by_command.push_back(read_values_and_endings(source, command, has_layouts(command)));

  const std::vector<bool> gives_metric = find_passes_with_metric(by_command);
  std::vector<Series> result;
  result.reserve(command_count);
  for (SeriesByPass& of_command : by_command)
    result.push_back(take_series(std::move(of_command), gives_metric));
  return result;
}

/// Appends the series of the references in a baseline.
void add_references(const Reference& reference, std::size_t metric, std::vector<Series>& all) {
  const std::size_t commands = all.size();
  for (std::size_t c = 0; c < commands; ++c)
    if (const auto earlier = find_in_baseline(reference, c))
      all.push_back(make_series_of_reference(*earlier, metric));
}

}  // namespace

std::vector<Series> make_all_series(const Recording& session, std::size_t metric) {
  std::vector<Series> all =
      make_series_of_all(metric_of(session, metric), session.commands.size(),
                         [&](std::size_t command) { return count_layouts(session, command) > 1; });
  add_references(session.reference, metric, all);
  return all;
}

std::vector<Series> make_all_series(const Plan& plan, const Runs& runs, std::size_t metric) {
  const RoundKind kind = kind_of(plan.metrics[metric], plan.setting.events);
  std::vector<Series> all =
      make_series_of_all({runs, metric, kind}, plan.commands.size(),
                         [&](std::size_t) { return plan.setting.layouts > 1; });
  add_references(plan.reference, metric, all);
  return all;
}

Series make_series(const Recording& session, std::size_t metric, std::size_t command) {
  const MeasuredCommand measured = find_measured(session, command);
  if (&measured.session != &session) return make_series_of_reference(measured, metric);

  SeriesByPass of_command = read_values_and_endings(metric_of(session, metric), command,
                                                    count_layouts(session, command) > 1);
  const std::vector<bool> gives_metric = find_passes_with_metric({&of_command, 1});
  return take_series(std::move(of_command), gives_metric);
}

Series make_series_of_reference(const MeasuredCommand& reference, std::size_t metric) {
  const auto place = reference.place_of(metric);
  if (!place) return {};

  Series series = make_series(reference.session, *place, reference.index);
  if (series.largest_bound) return {};
  series.rounds.clear();
  return series;
}

}  // namespace lauka
