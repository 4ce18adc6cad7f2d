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

/// The confidence of intervals and gates, unless --confidence is given.
inline constexpr double kConfidence = 0.95;

/// The rule that ends a session.
struct StopRule {
  std::optional<std::uint64_t> exact_runs{};  ///< nullopt: not fixed
  std::uint64_t min_runs = 10;
  std::optional<std::uint64_t> max_runs{};  ///< nullopt: no limit
  std::chrono::nanoseconds budget_per_command = std::chrono::seconds(5);
};

/// A gate's condition and the metric that it is about.
struct Gate {
  Condition condition;
  std::size_t metric = 0;  ///< index into Plan::metrics
};

/// A width that a metric's intervals must reach.
struct PrecisionGoal {
  double half_width = 0.0;  ///< half width as a fraction of the value
  std::size_t metric = 0;   ///< index into Plan::metrics
};

struct Recording;

/// An earlier session that provides the references.
struct Baseline {
  std::string file{};  ///< file as typed
  std::shared_ptr<const Recording> session{};
  std::vector<std::size_t> commands{};  ///< for each command of this session, the index of its
                                        ///< reference in the earlier session
  /// For each metric of this session, its index in the earlier session; nullopt if missing there or
  /// not comparable.
  std::vector<std::optional<std::size_t>> metrics{};
};

/// The reference of a session's commands.
struct Reference {
  std::size_t command = 0;              ///< index; unused with a baseline
  std::optional<Baseline> baseline{};   ///< nullopt: the reference is a command of this session;
                                        ///< else all commands but the anchor are candidates
  std::optional<std::size_t> anchor{};  ///< index of an unchanged command that is neither reference
                                        ///< nor candidate; nullopt if missing

  bool is_candidate(std::size_t other) const {
    return (baseline || other != command) && other != anchor;
  }
};

/// The settings that reproduce a session: the same seed gives the same order of runs.
struct Setting {
  Order order = Order::Random;
  std::uint64_t seed = 0;
  std::uint64_t warmup = 1;            ///< number of warm-up runs of each command
  std::optional<std::string> until{};  ///< pattern as typed: a run ends when a line of its output
                                       ///< matches; nullopt if missing
  std::uint32_t jobs = 1;              ///< number of copies of a command that make up one run
  std::uint32_t layouts = 1;  ///< number of builds of each command (--layouts); 1 without --layouts
  EventSet events{};          ///< events, and the passes that count them
  StopRule stop{};
  bool order_is_for_hooks = false;    ///< true: the order is sequential because of setups or
                                      ///< cleanups, not because the user wants it
  std::optional<double> min_share{};  ///< limit of CoreUse::min_share; nullopt if missing
  bool region = false;                ///< true: programs mark a region (lauka/region.h)
};

/// Everything that is decided before the first run.
struct Plan {
  Setting setting{};
  std::vector<Command> commands;
  bool events_were_asked_for = false;  ///< true if the user named events with -e
  std::vector<Metric> metrics;         ///< all metrics measured, in the order of the table
  /// Values that commands report, in this order: values found in their output, values written to
  /// LAUKA_METRICS, values about their region.
  std::vector<OwnMetric> reported{};
  std::optional<Pattern> awaited{};  ///< Setting::until, compiled: a run ends at a line that
                                     ///< matches; nullopt if missing
  std::optional<std::chrono::nanoseconds> timeout{};
  std::optional<IgnoreFailure> ignore_failure{};
  std::vector<Gate> gates{};
  std::size_t gates_of_job =
      0;  ///< number of gate decisions that share the rate of false fails, this plan's included; a
          ///< number below the plan's own decisions means only these
  double confidence = kConfidence;
  std::optional<PrecisionGoal> precision{};
  Reference reference{};
  std::optional<Shell>
      shell{};  ///< shell whose start is measured and subtracted from times; nullopt: no shell
  CoreUse cores{};
  Presentation presentation{};
  std::string unquoted{};  ///< UnquotedCommand::line of the options; empty if missing
  std::vector<std::string>
      hints{};  ///< hints about probable mistakes, printed before the first run
};

/// A function of the engine that divides the wanted events into passes, or returns why it cannot.
using SelectEvents = std::function<Result<EventSet>(const EventRequest&)>;

/// Returns the names of the engine's default events, then the additional names.
std::vector<std::string> with_default_events(const EventSet& defaults,
                                             const std::vector<std::string>& names);

/// Returns which rows tables show: all with --verbose, unless the user selected some.
MetricSelection choose_metrics(const Options& options);

/// Decides everything before the first run. `clock_seed` is used without --seed. `cores`: core
/// kinds whose times every timed pass, or a counting pass of its own, also gives. `has_tree_peak`:
/// control groups can measure tree_peak_memory. Refuses plans that cannot be carried out, such as
/// an empty command, more names than commands, or a gate on a metric that is not measured.
Result<Plan> make_plan(const Options& options, const SelectEvents& select_events,
                       std::uint64_t clock_seed, const CoreUse& cores = {},
                       bool has_tree_peak = false);

/// The user's request for tree_peak_memory: none, together with all metrics, or by name.
enum class TreePeakRequest : unsigned char { No, WithAll, ByName };
/// Returns how the user requested tree_peak_memory.
TreePeakRequest asks_for_tree_peak(const Options& options);

/// Returns a random number below `limit` (at least 1), with equal probabilities: discards the
/// lowest 2^64 mod `limit` values of the generator, which would favour some numbers.
inline std::uint64_t draw_below(std::uint64_t limit, std::mt19937_64& generator) {
  const std::uint64_t thrown_away = (0 - limit) % limit;
  for (;;) {
    const std::uint64_t value = generator();
    if (value >= thrown_away) return value % limit;
  }
}

/// Shuffles a list so that every order is equally likely (Fisher-Yates, from the end). The result
/// is the same on every system, unlike std::shuffle's, because the standard fixes mt19937_64.
template <typename T>
void shuffle(std::vector<T>& list, std::mt19937_64& generator) {
  for (std::size_t i = list.size(); i > 1; --i)
    std::swap(list[i - 1], list[draw_below(i, generator)]);
}

/// Returns the runs of a round for the commands `first` to `first + count - 1`: each command once,
/// in the plan's order (Setting::order), all in the same layout. Successive sweeps of a kind rotate
/// through its passes; kinds without passes of their own rotate through those of timed rounds. The
/// same seed, kind and round give the same steps on every system.
std::vector<Step> steps_of_round(const Plan& plan, RoundKind kind, std::uint32_t round,
                                 std::uint32_t first, std::uint32_t count);

/// Returns the metrics of a session: built-in metrics, times by core kind, one per event, and
/// metrics derived from events that are counted together. `selection` decides which of them tables
/// show.
std::vector<Metric> make_metrics(const EventSet& events, MetricSelection selection,
                                 bool events_were_asked_for, bool has_tree_peak = false);

/// Adds the gates of the conditions to a plan with metrics and commands. Refuses a metric that is
/// not measured, a limit in another unit, and a limit on a change if there is no reference.
Result<void> add_gates(const std::vector<Condition>& gates, bool has_baseline, Plan& plan);

/// True if a gate applies to `command`; `commands` is the number of commands. A limit on the value
/// needs no reference, so it also applies to a single command.
bool is_gated(const Condition& condition, const Reference& reference, std::size_t command,
              std::size_t commands);

/// Returns the number of verdicts that the plan's gates will give: one per gate and command
/// to which it applies.
std::size_t count_decisions(const Plan& plan);

}  // namespace lauka
