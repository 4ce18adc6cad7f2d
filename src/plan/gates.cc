#include "core/text.h"
#include "plan/plan.h"
#include "plan/rows.h"

#include <fmt/format.h>

namespace lauka {
namespace {

/// A gate that fails where its metric gets better is most likely a slip.
void note_direction(const Condition& gate, const Metric& metric, std::vector<std::string>& notes) {
  const bool gains =
      metric.better == Better::More ? !gate.below : metric.better == Better::Less && gate.below;
  if (!gains) return;
  notes.push_back(
      fmt::format("the gate on {} fails when the metric improves ({} is better); to fail when it "
                  "gets worse, write '{} {} {}'",
                  gate.metric, gate.below ? "less" : "more", gate.metric, gate.below ? '>' : '<',
                  gate.bound ? gate.bound_text : fmt::format("{}", 0.0 - gate.limit_percent)));
}

/// "peak_rss > 64M", "cpu_time > 5B".
Error unfit_limit(const Condition& gate, Unit unit) {
  const bool lacks_bytes = unit == Unit::Bytes && gate.bound_unit == Unit::Count;
  const std::string units = units_for(unit);
  const std::string remedy = lacks_bytes     ? fmt::format("write {}B", gate.bound_text)
                             : units.empty() ? std::string("write a percentage of the reference")
                                             : fmt::format(
                                                   "write the limit in {}, or as a "
                                                   "percentage of the reference",
                                                   units);
  return {fmt::format("a gate on {} cannot have the limit {}", gate.metric, cited(gate.bound_text)),
          remedy};
}

/// Returns the error that a gate's metric is not in `names`, with the most likely one.
Error not_measured(std::string_view gate, const std::vector<std::string_view>& names) {
  const std::string_view meant = nearest(gate, names);
  return Error{fmt::format("a gate on {}, which is not measured", cited(gate)),
               meant.empty() ? "add it with -e, or name another metric"
                             : fmt::format("did you mean {}?", meant)};
}

}  // namespace

Result<void> add_gates(const std::vector<Condition>& gates, bool has_baseline, Plan& plan) {
  std::vector<std::string_view> names;
  for (const Metric& metric : plan.metrics) names.push_back(metric.name);
  bool needs_reference = false;
  for (const Condition& gate : gates) {
    const auto place = find_metric(plan.metrics, gate.metric);
    if (!place) {
      if (auto why = why_not_derived(gate.metric, plan.metrics)) return *std::move(why);
      return not_measured(gate.metric, names);
    }
    const Metric& metric = plan.metrics[*place];
    if (gate.bound && gate.bound_unit != metric.unit) return unfit_limit(gate, metric.unit);
    needs_reference = needs_reference || !gate.bound;
    note_direction(gate, metric, plan.events.notes);
    plan.gates.push_back({gate, *place});
  }
  const std::size_t compared = plan.commands.size() - (plan.reference.anchor ? 1 : 0);
  if (needs_reference && compared < 2 && !has_baseline) {
    return Error{fmt::format("a gate (--fail-if-slower, --fail-if) has nothing to compare {} with",
                             cited(plan.commands.front().text)),
                 "add another command, --reference COMMAND or --baseline FILE"};
  }
  return {};
}

bool is_gated(const Condition& condition, const Reference& reference, std::size_t command,
              std::size_t commands) {
  return (condition.bound && commands == 1) || reference.is_candidate(command);
}

std::size_t decisions_of(const Plan& plan) {
  std::size_t decisions = 0;
  for (const Gate& gate : plan.gates)
    for (std::size_t c = 0; c < plan.commands.size(); ++c)
      decisions += is_gated(gate.condition, plan.reference, c, plan.commands.size()) ? 1U : 0U;
  return decisions;
}

Result<void> add_precision(const Options& options, Plan& plan) {
  if (!options.precision) return {};
  const auto place = find_metric(plan.metrics, options.precision_metric);
  if (!place) {
    std::vector<std::string_view> names;
    for (const Metric& one : plan.metrics) names.push_back(one.name);
    const std::string_view meant = nearest(options.precision_metric, names);
    return Error{
        fmt::format("--precision names {}, which is not measured", cited(options.precision_metric)),
        meant.empty() ? "--metrics all shows what is measured"
                      : fmt::format("did you mean {}?", meant)};
  }
  const Metric& metric = plan.metrics[*place];
  if (metric.kind != RoundKind::Timed) {
    return Error{fmt::format("--precision cannot wait for {}, which is counted in runs of its own",
                             metric.name),
                 "ask for a precision of wall_time or cpu_time, or add --counting together"};
  }
  plan.precision = PrecisionGoal{*options.precision, *place};
  return {};
}

}  // namespace lauka
