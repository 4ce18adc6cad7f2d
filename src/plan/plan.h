#pragma once

#include "cli/options.h"
#include "core/command.h"
#include "core/event.h"
#include "core/machine.h"
#include "core/metric.h"
#include "core/own_metric.h"
#include "core/pattern.h"
#include "core/record.h"
#include "core/result.h"
#include "plan/reference.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lauka {

/// Confidence of intervals and gates without --confidence.
inline constexpr double kDefaultConfidence = 0.95;

struct StopRule {
  std::optional<std::uint64_t> exact_runs{};
  std::uint64_t min_runs = 10;
  std::optional<std::uint64_t> max_runs{};
  std::chrono::nanoseconds budget_per_command = std::chrono::seconds(5);
};

struct Gate {
  Condition condition;
  std::size_t metric = 0;
};

/// Largest width that --precision allows for a metric's intervals.
struct PrecisionGoal {
  /// Half of the width: for a single command as a fraction of its mean, for a delta as a difference
  /// of ratios, so that 0.005 is half a percentage point.
  double relative_half_width = 0.0;
  std::size_t metric = 0;
};

/// A race (--race): commands leave as soon as they are shown to be worse than another one.
struct RaceGoal {
  double limit = 0.0;      ///< difference, as a fraction, within which commands are equally good
  std::size_t metric = 0;  ///< metric by which the commands are compared
  /// Number of races, of all plans, that share the error 1 - confidence.
  std::size_t races_sharing_error_rate = 1;
};

/// The part of a plan that results keep (Recording::setting).
struct Setting {
  Order order = Order::Random;
  std::uint64_t seed = 0;
  std::uint64_t warmup_runs = 1;
  /// Pattern of --until as typed; nullopt without --until.
  std::optional<std::string> until{};
  std::uint32_t jobs = 1;     ///< number of copies of a command in one run
  std::uint32_t layouts = 1;  ///< number of builds of each command; 1 without --layouts
  EventSet events{};
  StopRule stop{};
  /// True if the order is sequential only because there are setup or cleanup hooks.
  bool order_for_hooks = false;
  /// Copy of CorePlan::min_share_on_first_kind that is made for results; nullopt in a plan.
  std::optional<double> min_share{};
  bool measures_region = false;
};

/// Everything that is decided before the first run.
struct Plan {
  Setting setting{};
  std::vector<Command> commands;
  bool events_were_asked_for = false;
  std::vector<Metric> metrics;
  /// Metrics that --scrape, --metrics and --region announce, in this order.
  std::vector<OwnMetric> reported_metrics{};
  /// Compiled pattern of --until; nullopt without --until.
  std::optional<Pattern> compiled_end_pattern{};
  std::optional<std::chrono::nanoseconds> timeout{};
  std::optional<IgnoreFailure> ignore_failure{};
  std::vector<Gate> gates{};
  /// Number of gate decisions, of all plans, that share the rate of false fails; 0: only this
  /// plan's decisions share the rate.
  std::size_t decisions_sharing_error_rate = 0;
  double confidence = kDefaultConfidence;
  /// Error that the decision to keep a candidate may spend over all looks; nullopt: that of
  /// `confidence`.
  std::optional<double> error_of_keeping{};
  std::optional<PrecisionGoal> precision{};
  std::optional<RaceGoal> race{};
  Reference reference{};
  /// Shell that runs the commands; nullopt: no shell.
  std::optional<Shell> shell{};
  CorePlan cores{};
  Presentation presentation{};
  /// Correct command line if quotes were probably forgotten; else empty.
  std::string suggested_line{};
  std::vector<std::string> hints{};
};

/// A function that divides the wanted events into passes, or refuses them.
using EventSelector = std::function<Result<EventSet>(const EventRequest&)>;

std::vector<std::string> append_to_default_events(const EventSet& defaults,
                                                  const std::vector<std::string>& names);

/// Returns the user's choice of metrics, in which --verbose turns Default into All.
MetricSelection choose_metric_selection(const Options& options);

/// Returns why --until cannot be added to a plan's options; nullopt if it can.
std::optional<Error> why_no_until(const Options& options, const Plan& plan);

/// Decides everything before the first run. `clock_seed`: seed without --seed. `has_tree_peak`:
/// true if tree_peak_memory is measured.
Result<Plan> make_plan(const Options& options, const EventSelector& select_events,
                       std::uint64_t clock_seed, const CorePlan& cores = {},
                       bool has_tree_peak = false);

/// The user's request for tree_peak_memory: none, together with all metrics, or by name.
enum class TreePeakRequest : unsigned char { No, WithAll, ByName };
TreePeakRequest tree_peak_request(const Options& options);

/// Returns a random number below `limit` (at least 1), each number with the same probability.
inline std::uint64_t draw_below(std::uint64_t limit, std::mt19937_64& generator) {
  const std::uint64_t thrown_away = (0 - limit) % limit;
  for (;;) {
    const std::uint64_t value = generator();
    if (value >= thrown_away) return value % limit;
  }
}

/// Shuffles a list so that every order is equally likely (Fisher-Yates). The result is the same on
/// every system, unlike the result of std::shuffle.
template <typename T>
void shuffle(std::vector<T>& list, std::mt19937_64& generator) {
  for (std::size_t i = list.size(); i > 1; --i)
    std::swap(list[i - 1], list[draw_below(i, generator)]);
}

/// Returns the runs of a round for `commands` (ascending): each command once, all in the same pass
/// and layout. Equal arguments give equal steps on every system.
std::vector<Step> steps_of_round(const Plan& plan, RoundKind kind, std::uint32_t round,
                                 std::span<const std::uint32_t> commands);

/// Returns the indices of a plan's commands.
std::vector<std::uint32_t> list_commands(const Plan& plan);

/// Adds the race of --race to a plan that already has metrics and commands. Refuses a race of one
/// command, of commands that would run the same program, or by a metric that cannot be raced.
Result<void> add_race(const RunOptions& options, Plan& plan);

/// Returns the built-in metrics, the metrics of core kinds, a metric for each other event, and
/// ratios of events that are counted together. `selection` and `events_were_asked_for` decide which
/// metrics tables show.
std::vector<Metric> make_metrics(const EventSet& events, MetricSelection selection,
                                 bool events_were_asked_for, bool has_tree_peak = false);

/// Adds gates to a plan that already has metrics, commands and their references. Refuses a gate
/// whose candidates have no reference, or more than one.
Result<void> add_gates(const std::vector<Condition>& gates, bool has_baseline, Plan& plan);

/// True if a gate applies to `command`. `commands`: number of commands. A gate with
/// Condition::limit_value needs no reference, so it also applies to the only command of a plan, and
/// to each value of the only typed command.
bool is_gated(const Condition& condition, const Reference& reference, std::size_t command,
              std::size_t commands);

/// Returns the number of gate decisions: one for each gate and each command to which the gate
/// applies.
std::size_t count_decisions(const Plan& plan);

}  // namespace lauka
