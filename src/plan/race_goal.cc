#include "plan/race_goal.h"

#include "core/text.h"
#include "plan/plan.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace lauka {

namespace {

/// Returns all that decides what a run of the command does, once all setups have run.
std::vector<std::string> list_what_runs(const Command& command) {
  std::vector<std::string> all = command.environment;
  for (const std::string& part :
       {command.text, command.input, command.folder, command.hooks[HookKind::Prepare].value_or(""),
        command.build.value_or("")})
    all.push_back(part);
  return all;
}

/// Returns the error about two commands that run the same program. `indices`: of both commands.
Error make_equal_commands_error(const Command& command,
                                const std::pair<std::size_t, std::size_t>& indices) {
  // Commands with parameters are the same typed command with several values.
  const std::string remedy =
      command.parameters.empty()
          ? "leave one of them out"
          : fmt::format("put {{{}}} into the command, so that each value runs a different program",
                        command.parameters.front().name);
  return {fmt::format("--race would run the same program twice, because commands {} and {} "
                      "are both {}",
                      indices.first + 1, indices.second + 1, cited(command.text)),
          remedy};
}

/// Refuses two commands that run the same program in the same way, because a race between them has
/// no winner.
Result<void> refuse_equal_commands(const Plan& plan) {
  std::map<std::vector<std::string>, std::size_t> first_commands;
  for (std::size_t c = 0; c < plan.commands.size(); ++c) {
    const auto [first, is_new] = first_commands.try_emplace(list_what_runs(plan.commands[c]), c);
    if (!is_new) return make_equal_commands_error(plan.commands[c], {first->second, c});
  }
  return {};
}

/// Returns the index of the metric that tables show first. Timed rounds decide a race, so the
/// metric must be measured in them.
Result<std::size_t> choose_metric_of_race(const Plan& plan) {
  const auto primary = primary_metric(plan.metrics);
  if (!primary)
    return Error{"--race compares commands by the first metric of --metrics, but none is shown",
                 "add --metrics wall_time"};

  const Metric& metric = plan.metrics[*primary];
  if (metric.kind != RoundKind::Timed)
    return Error{fmt::format("--race cannot compare commands by {}, which is counted in separate "
                             "runs",
                             metric.name),
                 "put a metric of timed runs first, or add --counting together"};
  if (metric.better == Better::Neither)
    return Error{fmt::format("--race cannot tell whether lower or higher values of {} are better",
                             metric.name),
                 "put another metric first"};
  return *primary;
}

}  // namespace

/// Lets the commands race by the metric that tables show first.
Result<void> add_race(const RunOptions& options, Plan& plan) {
  if (!options.race_limit) return {};

  if (plan.commands.size() < 2)
    return Error{
        fmt::format("--race has nothing to compare {} with", cited(plan.commands.front().text)),
        "add another command, or a parameter with -L or -P"};
  if (auto differ = refuse_equal_commands(plan); !differ) return differ;
  const auto metric = choose_metric_of_race(plan);
  if (!metric) return metric.error();

  // Without indices, tables compare each command with the first. Otherwise, only commands with
  // equal parameters would be compared, but all commands race against each other.
  plan.reference.indices.clear();
  plan.race = RaceGoal{.limit = *options.race_limit, .metric = *metric};
  return {};
}

}  // namespace lauka
