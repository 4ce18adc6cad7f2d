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

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace lauka {

/// The confidence of intervals and gates without --confidence.
inline constexpr double kConfidence = 0.95;

/// The rule that ends counting.
struct StopRule {
  std::optional<std::uint64_t> exact_runs{};
  std::uint64_t min_runs = 10;
  std::optional<std::uint64_t> max_runs{};
  std::chrono::nanoseconds budget_per_command = std::chrono::seconds(5);
};

/// A condition, with the metric and the commands that it applies to.
struct Gate {
  Condition condition;
  std::size_t metric = 0;  ///< index into Plan::metrics
};

/// The width that a metric's intervals must reach.
struct PrecisionGoal {
  double half_width = 0.0;  ///< a fraction
  std::size_t metric = 0;   ///< index into Plan::metrics
};

struct Recording;

/// An earlier session, each of whose commands may be a reference.
struct Baseline {
  std::string file{};  ///< file as typed
  std::shared_ptr<const Recording> session{};
  std::vector<std::size_t> commands{};  ///< there, for each command here
  /// The index there of each metric here; nullopt if it was not measured.
  std::vector<std::optional<std::size_t>> metrics{};
};

/// The reference of a session's commands: one of them, or those of an earlier session.
struct Reference {
  std::size_t command = 0;
  std::optional<Baseline> baseline{};   ///< all commands are candidates
  std::optional<std::size_t> anchor{};  ///< index of an unchanged command, which no gate is about

  bool is_candidate(std::size_t other) const {
    return (baseline || other != command) && other != anchor;
  }
};

/// The values that repeat a session: the same seed gives the same order of runs.
struct Setting {
  Order order = Order::Random;
  std::uint64_t seed = 0;
  std::uint64_t warmup = 1;            ///< warm-up runs of each command
  std::optional<std::string> until{};  ///< a run is over when a line of its output matches
  std::uint32_t jobs = 1;              ///< copies of a command that are one run
  std::uint32_t layouts = 1;           ///< builds of each command (--layouts); 1 without
  EventSet events{};                   ///< events and the passes in which they are counted
  StopRule stop{};
  bool order_is_for_hooks = false;    ///< sequential because there are setups or cleanups
  std::optional<double> min_share{};  ///< the same limit as CoreUse's
  bool region = false;                ///< programs note their region (lauka/region.h)
};

/// All decisions made before the first run.
struct Plan {
  Setting setting{};
  std::vector<Command> commands;
  bool events_were_asked_for = false;  ///< true if events were named with -e
  std::vector<Metric> metrics;         ///< all that is measured, in the order of the table
  /// Values that commands report: first those scraped from their output, then those for
  /// LAUKA_METRICS, then those of their region.
  std::vector<OwnMetric> reported{};
  std::optional<Pattern> awaited{};  ///< a run ends at the line that matches; nullopt: by itself
  std::optional<std::chrono::nanoseconds> timeout{};
  std::optional<IgnoreFailure> ignore_failure{};
  std::vector<Gate> gates{};
  std::size_t gates_of_job = 0;  ///< decisions that share one rate of false fails with this plan's,
                                 ///< these included; fewer than they are: theirs alone
  double confidence = kConfidence;
  std::optional<PrecisionGoal> precision{};
  Reference reference{};
  std::optional<Shell>
      shell{};  ///< shell, whose start-up is measured and subtracted from times; nullopt: none
  CoreUse cores{};
  Presentation presentation{};
  std::string unquoted{};            ///< Unquoted::line of the options
  std::vector<std::string> hints{};  ///< printed before the first run: likely slips
};

/// Divides the wanted events into passes, or returns why it cannot (the engine's part of a plan).
using SelectEvents = std::function<Result<EventSet>(const EventRequest&)>;

/// Returns the names of the engine's default events, followed by the additional ones.
std::vector<std::string> with_default_events(const EventSet& defaults,
                                             const std::vector<std::string>& names);

/// Returns the rows to show: all with --verbose, unless some were selected.
MetricSelection choose_metrics(const Options& options);

/// Decides everything. `clock_seed` is used if --seed was not given. Refuses plans that cannot be
/// carried out: an empty command, more names than commands, a gate on a metric that is not
/// measured. `cores`: kinds of core, whose times are added to every pass. `has_tree_peak`: control
/// groups can measure tree_peak_memory.
Result<Plan> make_plan(const Options& options, const SelectEvents& select_events,
                       std::uint64_t clock_seed, const CoreUse& cores = {},
                       bool has_tree_peak = false);

/// The way in which tree_peak_memory was requested: by name, or with all other metrics.
enum class Asked : unsigned char { No, WithAll, ByName };
Asked asks_for_tree_peak(const Options& options);

/// Returns a number below `limit` (at least 1), all equally likely: the lowest 2^64 mod `limit`
/// values of the generator, which would favour some, are thrown away.
inline std::uint64_t draw_below(std::uint64_t limit, std::mt19937_64& generator) {
  const std::uint64_t thrown_away = (0 - limit) % limit;
  for (;;) {
    const std::uint64_t value = generator();
    if (value >= thrown_away) return value % limit;
  }
}

/// Shuffles a list so that every order is equally likely (Fisher and Yates, from the end). The
/// result is the same on every system: the standard fixes mt19937_64, but not what std::shuffle
/// makes of it.
template <typename T>
void shuffle(std::vector<T>& list, std::mt19937_64& generator) {
  for (std::size_t i = list.size(); i > 1; --i)
    std::swap(list[i - 1], list[draw_below(i, generator)]);
}

/// Returns the runs of one round of the commands `first` ... `first + count - 1`, each once, in the
/// plan's order, all of the same layout; the sweeps of a kind take turns through its passes. The
/// same seed, kind and round give the same steps on every system.
std::vector<Step> steps_of_round(const Plan& plan, RoundKind kind, std::uint32_t round,
                                 std::uint32_t first, std::uint32_t count);

/// Returns the metrics of a session: the built-in ones, then one per event, then those derived from
/// events that are counted together. `selection` decides which are shown.
std::vector<Metric> make_metrics(const EventSet& events, MetricSelection selection,
                                 bool events_were_asked_for, bool has_tree_peak = false);

/// Adds the gates of the conditions to the plan, which has its metrics and commands. Refuses a
/// metric that is not measured, a limit in another unit, and a change without a reference.
Result<void> add_gates(const std::vector<Condition>& gates, bool has_baseline, Plan& plan);

/// True if a gate is on `command`, one of `commands`. A bound needs no reference, so that a command
/// on its own is gated, too.
bool is_gated(const Condition& condition, const Reference& reference, std::size_t command,
              std::size_t commands);

/// Returns the number of answers that the plan's gates will give: one for each gate and command.
std::size_t count_decisions(const Plan& plan);

}  // namespace lauka
