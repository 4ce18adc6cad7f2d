#include "session/series.h"

#include "session/baseline.h"

#include <algorithm>
#include <utility>

namespace lauka {

namespace {

/// The runs of one pass, whose endings count if the pass turns out to give the metric.
struct RunsOfPass {
  std::size_t runs_with_value = 0;
  Series endings{};  // has no values
};

struct SeriesByPass {
  Series series{};
  std::vector<RunsOfPass> passes{};  // by the index of the pass
};

/// The metric of which series are made, and the runs that have its values.
struct MetricOfRuns {
  const Runs& runs;
  std::size_t metric = 0;
  RoundKind kind = RoundKind::Timed;
};

MetricOfRuns metric_of(const Recording& session, std::size_t metric) {
  return {session.runs, metric, session.metrics[metric].kind};
}

SeriesByPass read_runs(const MetricOfRuns& source, std::size_t command, bool has_layouts) {
  const std::span<const std::uint32_t> runs = source.runs.of_command(command);

  SeriesByPass result;
  result.series.values.reserve(runs.size());
  result.series.rounds.reserve(runs.size());
  for (const std::uint32_t run : runs) {
    const RunFacts facts = source.runs.facts(run);
    const bool is_of_kind = facts.kind == source.kind;
    RunOfSeries read{.round = static_cast<std::uint32_t>(facts.round),
                     .layout = facts.layout,
                     .ending = facts.ending};

    // Endings count even if the run has no value, because it may have died before it had one.
    if (is_of_kind) {
      if (facts.pass >= result.passes.size()) result.passes.resize(facts.pass + 1);
      result.passes[facts.pass].endings.add(read, has_layouts);
    }

    read.value = source.runs.value(run, source.metric);
    if (!read.value) read.bound = source.runs.bound(run, source.metric);
    if (!read.value && !read.bound) continue;

    result.series.add(read, has_layouts);
    if (is_of_kind) ++result.passes[facts.pass].runs_with_value;
  }
  return result;
}

/// Sets the counts of endings of a series to those of the passes for which `gives_metric` is true,
/// or of all passes if the command has no runs in these.
template <typename GivesMetric>
Series take_endings(SeriesByPass&& read, GivesMetric gives_metric) {
  Series result = std::move(read.series);
  const auto count_passes_if = [&](const auto& is_counted) {
    result.runs_with_ending = 0;
    result.failed_runs = 0;
    result.failed_layouts.clear();
    for (std::size_t pass = 0; pass < read.passes.size(); ++pass) {
      if (!is_counted(pass)) continue;
      const Series& endings = read.passes[pass].endings;
      result.runs_with_ending += endings.runs_with_ending;
      result.failed_runs += endings.failed_runs;
      for (const std::uint32_t layout : endings.failed_layouts)
        if (std::ranges::find(result.failed_layouts, layout) == result.failed_layouts.end())
          result.failed_layouts.push_back(layout);
    }
  };

  count_passes_if(gives_metric);
  if (result.runs_with_ending == 0) count_passes_if([](std::size_t /*pass*/) { return true; });
  return result;
}

bool has_value_in(const SeriesByPass& read, std::size_t pass) {
  return pass < read.passes.size() && read.passes[pass].runs_with_value > 0;
}

template <typename HasLayouts>
std::vector<Series> make_series_of_all(const MetricOfRuns& source, std::size_t commands,
                                       HasLayouts has_layouts) {
  std::vector<SeriesByPass> all;
  all.reserve(commands);
  for (std::size_t c = 0; c < commands; ++c) all.push_back(read_runs(source, c, has_layouts(c)));

  // A program may die in one engine's runs only, and then gives no values in them.
  std::vector<bool> gives_metric;
  for (const SeriesByPass& read : all) {
    gives_metric.resize(std::max(gives_metric.size(), read.passes.size()));
    for (std::size_t pass = 0; pass < read.passes.size(); ++pass)
      if (has_value_in(read, pass)) gives_metric[pass] = true;
  }

  std::vector<Series> result;
  result.reserve(all.size());
  for (SeriesByPass& read : all)
    result.push_back(
        take_endings(std::move(read), [&](std::size_t pass) { return gives_metric[pass]; }));
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

  SeriesByPass read =
      read_runs(metric_of(session, metric), command, count_layouts(session, command) > 1);
  std::vector<bool> gives_metric;
  for (std::size_t pass = 0; pass < read.passes.size(); ++pass)
    gives_metric.push_back(has_value_in(read, pass));
  return take_endings(std::move(read), [&](std::size_t pass) { return gives_metric[pass]; });
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
