#pragma once

#include "cli/options.h"
#include "core/baseline.h"
#include "core/command.h"
#include "core/condition.h"
#include "core/core_kind.h"
#include "core/event.h"
#include "core/metric.h"
#include "core/record.h"
#include "core/result.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lauka {

/// When counting ends.
struct StopRule {
  std::optional<std::uint64_t> exact_runs{};
  std::uint64_t min_runs = 10;
  std::optional<std::uint64_t> max_runs{};
  std::chrono::nanoseconds budget_per_command = std::chrono::seconds(5);
};

/// All that is decided before the first run.
struct Plan {
  std::vector<Command> commands;  ///< the reference first; with a baseline all are candidates
  EventSet events;
  std::vector<Metric> metrics;  ///< all that is measured, in the order of the table
  StopRule stop;
  std::uint64_t warmup = 1;
  Order order = Order::Random;
  bool order_is_for_hooks = false;  ///< sequential because there are setups or cleanups
  std::uint64_t seed = 0;
  std::optional<std::chrono::nanoseconds> timeout{};
  std::optional<IgnoreFailure> ignore_failure{};
  InputChoice input{};
  std::vector<Condition> gates{};
  double confidence = 0.95;
  std::optional<double> precision{};   ///< half width to reach, a fraction
  std::optional<Baseline> baseline{};  ///< where it supplies the references; its commands are in
                                       ///< the order of `commands`
  std::optional<Shell> shell{};        ///< its start-up is measured, and subtracted from times
  CoreUse cores{};
};

/// Whether a gate is on that metric: its interval then has the gates' confidence, since they may
/// have ended the runs at a moment that its own samples chose.
bool is_gated(const Plan& plan, std::string_view metric);

/// Divides the wanted events into passes, or says why it cannot (the engine's part of a plan).
using SelectEvents =
    std::function<Result<EventSet>(const std::vector<std::string>& names, bool single_pass)>;

/// Decides everything. `clock_seed` is used where --seed was not given. Refuses what cannot be
/// carried out, such as a command that is empty, more names than commands, a gate on a metric that
/// is not measured. `cores`: what is done about kinds of core; their times are added to every pass.
Result<Plan> make_plan(const Options& options, const SelectEvents& select_events,
                       std::uint64_t clock_seed, const CoreUse& cores = {});

/// The runs of one round, each command once, in the plan's order. The same seed and round give the
/// same steps on every system: hence our own shuffle (the standard fixes mt19937_64, but not what
/// std::shuffle makes of it).
std::vector<Step> steps_of_round(const Plan& plan, std::uint32_t round, bool warmup);

/// The same of a round of simulated runs: each command once in each simulated pass; none where
/// nothing is simulated.
std::vector<Step> steps_of_simulated_round(const Plan& plan, std::uint32_t round);

/// The metrics of a session: the built-in ones, then one per event, then the ratios of events
/// counted together. `selection` decides which are shown.
std::vector<Metric> metrics_of(const EventSet& events, MetricSelection selection,
                               bool events_were_asked_for);

}  // namespace lauka
