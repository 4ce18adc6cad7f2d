#include "run/race_watch.h"

#include <algorithm>

namespace lauka {

RaceWatch::RaceWatch(const Plan& plan)
    : plan_(plan),
      rule_{.limit = plan.race->limit,
            .better = plan.metrics[plan.race->metric].better,
            .quantile = plan.metrics[plan.race->metric].percentile_share()},
      series_(plan.metrics[plan.race->metric], plan.setting.events, plan.commands.size(),
              plan.setting.layouts, plan.ignore_failure),
      race_(plan.commands.size(), rule_,
            {.confidence = plan.confidence, .races = plan.race->races_sharing_error_rate},
            plan.setting.stop.min_runs) {}

void RaceWatch::look_last(std::uint64_t rounds, gate::RaceEnd end) {
  look(rounds, true);
  end_without_decision_ = end;
}

void RaceWatch::look(std::uint64_t rounds, bool last) {
  if (is_over()) return;
  drop_commands_without_value(rounds);
  race_.look(rounds, last, samples());
}

/// If no command has a value, all stay, so that the session shows what failed.
void RaceWatch::drop_commands_without_value(std::uint64_t rounds) {
  std::vector<std::size_t> without_value = race_.left();
  std::erase_if(without_value, [this](std::size_t command) {
    return series_.of_command(command).has_values_to_compare();
  });
  if (without_value.size() == race_.left().size()) return;
  for (const std::size_t command : without_value) race_.drop(command, rounds);
}

gate::RaceSamples RaceWatch::samples() const {
  return {.of_pair =
              [this](std::size_t reference, std::size_t candidate) {
                return pair_samples(series_.of_command(reference), series_.of_command(candidate),
                                    true);
              },
          .of_command =
              [this](std::size_t command) {
                const Series& series = series_.of_command(command);
                return pair_samples(series, series, false).candidate;
              }};
}

gate::RaceResult RaceWatch::close(std::uint64_t rounds) const {
  return {.metric = plan_.metrics[plan_.race->metric].name,
          .limit = rule_.limit,
          .races = plan_.race->races_sharing_error_rate,
          .rounds = rounds,
          .left = gate::sort_best_first(race_.left(), samples().of_command, rule_),
          .exits = race_.exits(),
          .end = race_.decision().value_or(end_without_decision_)};
}

}  // namespace lauka
