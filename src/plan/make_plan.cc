#include "core/words.h"
#include "plan/commands.h"
#include "plan/plan.h"
#include "plan/rows.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace lauka {

namespace {

/// Where only times are shown and no event is asked for, nothing is counted.
Result<EventSet> events_of(const Options& options, const SelectEvents& select_events) {
  const bool needs_none =
      options.metrics == MetricSelection::Time ||
      (options.metrics == MetricSelection::Listed && are_all_built_in(options.metric_list));
  if (needs_none && options.events.empty()) {
    return EventSet{};
  }
  auto events = select_events(options.events, options.single_pass);
  if (!events) {
    return events.error();
  }
  const std::size_t passes = events->timed_passes();
  const auto most_runs = options.runs ? options.runs : options.max_runs;
  // Events that nobody asked for may go uncounted: better than to refuse `-r 1`.
  if (!options.events.empty() && most_runs && *most_runs < passes) {
    return Error{fmt::format("the events need {} passes, more than the {} run{} of each command",
                             passes, *most_runs, *most_runs == 1 ? "" : "s"),
                 fmt::format("allow {} runs, or count fewer events", passes)};
  }
  return events;
}

void add_to_timed_passes(EventSet& set, std::size_t event) {
  for (Pass& pass : set.passes)
    if (!pass.simulated) pass.events.push_back(event);
}

/// They cost no counter: every pass has them, and so has every run that is not simulated.
void add_core_times(Plan& plan) {
  if (plan.cores.timed.empty()) return;
  EventSet& set = plan.events;
  if (set.passes.empty()) set.passes.emplace_back();
  for (const std::string& kind : plan.cores.timed) {
    const std::size_t index = set.events.size();
    set.events.push_back({.name = time_metric_of(kind),
                          .meaning = fmt::format("CPU time on {} cores", kind),
                          .is_time = true});
    set.core_times.push_back(index);
    add_to_timed_passes(set, index);
  }
  if (!plan.cores.has_unsplit) return;
  add_to_timed_passes(set, set.events.size());
  set.events.push_back(
      {.name = "unsplit_time",
       .meaning =
           "CPU time of processes that ended between two looks: on which kind of core is not "
           "known",
       .is_time = true});
}

/// With several passes, each gets a run where the most allowed is not below that.
StopRule stop_rule_of(const Options& options, std::size_t passes) {
  const std::uint64_t most = options.max_runs.value_or(std::max<std::uint64_t>(passes, 1));
  return StopRule{.exact_runs = options.runs,
                  .min_runs = std::max(options.min_runs, std::min<std::uint64_t>(passes, most)),
                  .max_runs = options.max_runs,
                  .budget_per_command = options.duration};
}

Result<void> check_gates(const Plan& plan, bool has_baseline) {
  for (const Condition& gate : plan.gates) {
    const bool is_measured = std::any_of(plan.metrics.begin(), plan.metrics.end(),
                                         [&](const Metric& m) { return m.name == gate.metric; });
    if (!is_measured) {
      return Error{fmt::format("a gate on {}, which is not measured", cited(gate.metric)),
                   "add it with -e, or name another metric"};
    }
  }
  if (!plan.gates.empty() && plan.commands.size() < 2 && !has_baseline) {
    return Error{fmt::format("a gate (--fail-if-slower, --fail-if) has nothing to compare {} with",
                             cited(plan.commands.front().text)),
                 "add another command, --reference COMMAND or --baseline FILE"};
  }
  return {};
}

/// One command's setup or cleanup may undo another's.
Order default_order(const Options& options) {
  return options.setup.empty() && options.cleanup.empty() ? Order::Random : Order::Sequential;
}

/// --verbose shows all rows, unless a choice among them was made.
MetricSelection selection_of(const Options& options) {
  const bool widen = options.verbosity == Verbosity::Verbose;
  return widen && options.metrics == MetricSelection::Default ? MetricSelection::All
                                                              : options.metrics;
}

}  // namespace

bool is_gated(const Plan& plan, std::string_view metric) {
  return std::any_of(plan.gates.begin(), plan.gates.end(),
                     [metric](const Condition& gate) { return gate.metric == metric; });
}

Result<Plan> make_plan(const Options& options, const SelectEvents& select_events,
                       std::uint64_t clock_seed, const CoreUse& cores) {
  auto commands = commands_of(options);
  if (!commands) {
    return commands.error();
  }
  auto events = events_of(options, select_events);
  if (!events) {
    return events.error();
  }
  Plan plan{.commands = *std::move(commands),
            .events = *std::move(events),
            .metrics = {},
            .stop = {},
            .warmup = options.warmup,
            .order = options.order.value_or(default_order(options)),
            .order_is_for_hooks = !options.order && default_order(options) == Order::Sequential,
            .seed = options.seed.value_or(clock_seed),
            .timeout = options.timeout,
            .ignore_failure = options.ignore_failure,
            .input = options.input,
            .gates = options.gates,
            .confidence = options.confidence,
            .precision = options.precision,
            .shell = options.shell,
            .cores = cores};
  add_core_times(plan);
  plan.metrics = metrics_of(plan.events, selection_of(options), !options.events.empty());
  if (options.metrics == MetricSelection::Listed) {
    const Result<void> listed = list_rows(options.metric_list, plan.metrics);
    if (!listed) {
      return listed.error();
    }
  }
  plan.stop = stop_rule_of(options, plan.events.timed_passes());
  const Result<void> gates = check_gates(plan, options.baseline.has_value());
  if (!gates) {
    return gates.error();
  }
  return plan;
}

}  // namespace lauka
