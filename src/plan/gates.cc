#include "plan/gates.h"

#include "core/text.h"
#include "plan/plan.h"
#include "plan/rows.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace lauka {

namespace {

/// True if a condition is probably typed the wrong way round: a gate that fails if its metric
/// improves, or a condition for keeping that keeps a command whose metric gets worse. (Such a
/// condition is stored as a gate that fails unless the command is to be kept.)
bool is_wrong_way_round(const Condition& gate, const Metric& metric) {
  const Better failing_values = gate.fails_below_limit ? Better::Less : Better::More;
  return metric.better == failing_values;
}

/// Returns the limit with which a note advises the opposite of a condition: that of "> 5" instead
/// of "< -5", but of "> 200ms" instead of "< 200ms".
std::string write_opposite_limit(const Condition& gate) {
  // A change is subtracted from 0, because the negative of 0 would be shown as -0.
  return gate.limit.is_change() ? fmt::format("{}", 0.0 - gate.limit.number) : gate.limit.text;
}

/// Returns advice to type the opposite of a condition.
std::string advise_opposite(const Condition& gate, const Metric& metric) {
  const std::string opposite_limit = write_opposite_limit(gate);
  const char opposite_sign = gate.sign() == '<' ? '>' : '<';
  const std::string_view what_is_better = metric.better == Better::Less ? "less" : "more";

  if (gate.is_for_keeping())
    return fmt::format(
        "--keep-if '{0} {1} ...' keeps a command for which the metric gets worse "
        "({2} is better); to keep one for which it improves, write '{0} {3} {4}'",
        gate.metric, gate.sign(), what_is_better, opposite_sign, opposite_limit);
  return fmt::format(
      "the gate on {0} fails if the metric improves ({1} is better); to fail if it "
      "gets worse, write '{0} {2} {3}'",
      gate.metric, what_is_better, opposite_sign, opposite_limit);
}

Error make_unfit_limit_error(const Condition& gate, Unit unit) {
  const bool lacks_bytes = unit == Unit::Bytes && gate.limit.unit == Unit::Count;
  const std::string units = list_units_for(unit);
  const std::string remedy = lacks_bytes ? fmt::format("write {}B", gate.limit.text)
                             : units.empty()
                                 ? fmt::format(
                                       "write 'value({}) {} NUMBER', or a percentage of "
                                       "the reference",
                                       gate.metric, gate.sign())
                                 : fmt::format(
                                       "write the limit in {}, or as a "
                                       "percentage of the reference",
                                       units);
  return {fmt::format("a gate on {} cannot have the limit {}", gate.metric, cited(gate.limit.text)),
          remedy};
}

/// Returns the error about gates of one command that the user typed for several values of a
/// parameter. In tables, the command with the first value is the reference.
Error make_only_table_reference_error(const Command& first) {
  const std::string& name = first.parameters.front().name;
  return {
      fmt::format("a gate of --fail-if-slower or --fail-if has nothing to compare {} with, "
                  "because the first value of {} is the reference only in the table",
                  cited(first.unfilled_name), name),
      fmt::format("add --reference COMMAND; if it has {{{}}}, each value is compared with the "
                  "same value of it, and otherwise all values are compared with the one COMMAND",
                  name)};
}

/// Returns the error about a command that lacks a parameter, so that it could be compared with each
/// value of it in the other command.
Error make_missing_parameter_error(const Command& command, const Command& reference,
                                   const std::string& missing) {
  return {
      fmt::format("a gate cannot compare {}, which has no {{{}}}, with {}, which has several "
                  "values of it",
                  cited(command.name), missing, cited(reference.unfilled_name)),
      fmt::format("put the command without {{{}}} first, so that every value is compared with it",
                  missing)};
}

/// A gate on a change compares each command with its reference. Refuses such gates if the command
/// that lauka took as a reference was not chosen by the user: commands with different values of a
/// parameter do different work, so they would differ even if they were the same program.
Result<void> check_references_of_gates(const Plan& plan) {
  if (plan.reference.is_for_tables_only)
    return make_only_table_reference_error(plan.commands.front());

  for (std::size_t c = 0; c < plan.commands.size(); ++c) {
    if (!plan.reference.is_candidate(c)) continue;
    const std::string missing = missing_parameter(plan.reference, plan.commands, c);
    if (missing.empty()) continue;
    const Command& reference = plan.commands[plan.reference.index_for(c)];
    return make_missing_parameter_error(plan.commands[c], reference, missing);
  }
  return {};
}

/// Refuses conditions for keeping if there are not exactly one reference and one candidate.
Result<void> check_pair_for_keeping(const Plan& plan) {
  const std::size_t commands = plan.commands.size();
  if (commands == 2 && !plan.reference.is_for_tables_only) return {};

  std::string what = fmt::format("there are {} commands", commands);
  if (commands == 1) what = "there is only one command";
  if (commands == 2) what = "these two are one command with two parameter values";
  return Error{
      "--keep-if and --keep-if-faster decide about one candidate and its reference, but " + what,
      "give exactly two commands, the reference first"};
}

/// Refuses gates without a limit of the value itself if no command of the plan has a reference.
Result<void> check_can_compare(const Plan& plan) {
  if (auto references = check_references_of_gates(plan); !references) return references;

  const std::size_t compared = plan.commands.size() - (plan.reference.anchor_index ? 1 : 0);
  if (compared >= 2) return {};
  return Error{fmt::format("a gate of --fail-if-slower or --fail-if has nothing to compare {} with",
                           cited(plan.commands.front().text)),
               "add another command, --reference COMMAND or --baseline FILE"};
}

Error make_missing_metric_error(const std::string& name, const std::vector<Metric>& metrics) {
  if (auto why = why_not_derived(name, metrics)) return *std::move(why);
  return {fmt::format("a gate needs {}, which is not measured", cited(name)),
          make_suggestion(name, metrics, "add it with -e, or name another metric")};
}

/// Gives limits without a unit the unit of a ratio, which cannot be written.
void take_unit_of_ratio(Unit unit, Condition& gate) {
  const bool is_ratio = unit == Unit::Ratio || unit == Unit::Fraction;
  if (!is_ratio || gate.limit.unit != Unit::Count) return;

  gate.limit.unit = unit;
  if (gate.acceptance) gate.acceptance->own_limit.unit = unit;
}

/// Adds a gate to a plan, with the index of its metric. Refuses a gate whose metric is not
/// measured, or whose limit has another unit than the metric.
Result<void> add_gate(Condition gate, Plan& plan) {
  const auto metric_index = find_metric(plan.metrics, gate.metric);
  if (!metric_index) return make_missing_metric_error(gate.metric, plan.metrics);

  const Metric& metric = plan.metrics[*metric_index];
  take_unit_of_ratio(metric.unit, gate);
  if (!gate.limit.needs_reference() && gate.limit.unit != metric.unit)
    return make_unfit_limit_error(gate, metric.unit);

  if (is_wrong_way_round(gate, metric))
    plan.setting.events.notes.push_back({"improvement_fails", advise_opposite(gate, metric)});
  plan.gates.push_back({.condition = gate, .metric = *metric_index});
  return {};
}

}  // namespace

/// Adds the gates of --fail-if and similar options to a plan. Refuses gates that could never be
/// decided.
Result<void> add_gates(const std::vector<Condition>& gates, bool has_baseline, Plan& plan) {
  if (std::ranges::any_of(gates, &Condition::is_for_keeping))
    if (auto pair = check_pair_for_keeping(plan); !pair) return pair;

  for (const Condition& gate : gates)
    if (auto added = add_gate(gate, plan); !added) return added;

  // With --baseline, each command has a reference in the earlier session.
  const bool needs_reference = std::ranges::any_of(
      gates, [](const Condition& gate) { return gate.limit.needs_reference(); });
  if (needs_reference && !has_baseline) return check_can_compare(plan);
  return {};
}

bool is_gated(const Condition& condition, const Reference& reference, std::size_t command,
              std::size_t commands) {
  const bool needs_no_reference =
      !condition.limit.needs_reference() && (commands == 1 || reference.is_for_tables_only);
  return (needs_no_reference && command != reference.anchor_index) ||
         reference.is_candidate(command);
}

std::size_t count_decisions(const Plan& plan) {
  std::size_t decisions = 0;
  for (const Gate& gate : plan.gates)
    for (std::size_t c = 0; c < plan.commands.size() && !gate.condition.is_for_keeping(); ++c)
      decisions += is_gated(gate.condition, plan.reference, c, plan.commands.size()) ? 1U : 0U;
  return decisions;
}

}  // namespace lauka
