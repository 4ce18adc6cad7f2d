#include "run/race_watch.h"

#include "gate/verdict.h"
#include "session/series.h"

namespace lauka {

namespace {

/// True if failed runs leave two commands comparable. A command that leaves the race does not come
/// back, so even a few failures of only one of them, which might still be chance, are too many.
bool fail_alike(const Series& reference, const Series& candidate) {
  if ((reference.failed_runs == 0) != (candidate.failed_runs == 0)) return false;
  return !gate::failures_differ({reference.failed_runs, reference.runs_with_ending},
                                {candidate.failed_runs, candidate.runs_with_ending});
}

/// Returns the samples of a metric's series, which must outlive them. Those of commands that fail
/// at different rates are empty.
gate::RaceSamples make_samples(const std::vector<Series>& series) {
  return {.of_pair =
              [&series](std::size_t reference, std::size_t candidate) {
                return fail_alike(series[reference], series[candidate])
                           ? pair_samples(series[reference], series[candidate], true)
                           : Comparison();
              },
          .of_command =
              [&series](std::size_t command) {
                return pair_samples(series[command], series[command], false).candidate;
              }};
}

}  // namespace

RaceWatch::RaceWatch(const Plan& plan, const Runs& runs)
    : plan_(plan),
      runs_(runs),
      rule_{.limit = plan.race->limit,
            .better = plan.metrics[plan.race->metric].better,
            .quantile = plan.metrics[plan.race->metric].percentile_share()},
      race_(plan.commands.size(), rule_,
            {.confidence = plan.confidence, .races = plan.race->races_sharing_error_rate},
            plan.setting.stop.min_runs) {}

void RaceWatch::look_last(std::uint64_t rounds, gate::RaceEnd end) {
  look(rounds, true);
  end_without_decision_ = end;
}

void RaceWatch::look(std::uint64_t rounds, bool last) {
  if (is_over()) return;
  const std::vector<Series> series = make_all_series(plan_, runs_, plan_.race->metric);
  drop_commands_without_value(rounds, series);
  race_.look(rounds, last, make_samples(series));
}

/// If no command has a value, all stay, so that the session shows what failed.
void RaceWatch::drop_commands_without_value(std::uint64_t rounds,
                                            const std::vector<Series>& series) {
  std::vector<std::size_t> without_value = race_.left();
  std::erase_if(without_value,
                [&](std::size_t command) { return series[command].has_values_to_compare(); });
  if (without_value.size() == race_.left().size()) return;
  for (const std::size_t command : without_value) race_.drop(command, rounds);
}

gate::RaceResult RaceWatch::close(std::uint64_t rounds) const {
  const std::vector<Series> series = make_all_series(plan_, runs_, plan_.race->metric);
  return {.metric = plan_.metrics[plan_.race->metric].name,
          .limit = rule_.limit,
          .races = plan_.race->races_sharing_error_rate,
          .rounds = rounds,
          .left = gate::sort_best_first(race_.left(), make_samples(series).of_command, rule_),
          .exits = race_.exits(),
          .end = race_.decision().value_or(end_without_decision_)};
}

}  // namespace lauka
