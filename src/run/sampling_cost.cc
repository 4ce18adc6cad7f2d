#include "run/sampling_cost.h"

#include "core/text.h"
#include "stats/delta.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace lauka {

namespace {

bool is_sampled(const Plan& plan, const Pass& pass) {
  return pass.kind == RoundKind::Counting &&
         std::ranges::any_of(pass.event_indices, [&](std::size_t event) {
           return plan.setting.events.events.at(event).role == Role::SampledTime;
         });
}

}  // namespace

SamplingCost::SamplingCost(const Plan& plan) : plan_(plan) {
  const auto& passes = plan.setting.events.passes;
  if (std::ranges::any_of(passes, [&](const Pass& pass) { return is_sampled(plan, pass); }))
    commands_.resize(plan.commands.size());
}

void SamplingCost::add(const RunRecord& run) {
  if (commands_.empty()) return;
  const bool was_timed = run.step.kind == RoundKind::Timed;
  if (!was_timed && !is_sampled(plan_, plan_.setting.events.passes.at(run.step.pass))) return;
  constexpr double seconds_of_ns = 1e-9;
  OfCommand& command = commands_.at(run.step.command);
  (was_timed ? command.timed : command.sampled)
      .push_back(static_cast<double>(run.usage.user_ns + run.usage.system_ns) * seconds_of_ns);
}

// Taking samples (--profile) interrupts a program again and again. If this has cost much CPU time,
// the user should know, because the samples then show a slower program than the timed runs.
std::optional<Note> SamplingCost::note() const {
  constexpr std::size_t min_runs = 6;  // of each kind
  constexpr double min_cost = 0.05;    // as a fraction of the CPU time
  constexpr double confidence = 0.99;
  const stats::IntervalTails tails = stats::tails_of(confidence);

  // Several commands may exceed the limit, but the largest cost is enough for a warning.
  std::optional<Note> note_on_largest;
  double largest_cost = 0.0;
  for (std::size_t command = 0; command < commands_.size(); ++command) {
    const std::vector<double>& timed = commands_[command].timed;
    const std::vector<double>& sampled = commands_[command].sampled;
    if (std::min(timed.size(), sampled.size()) < min_runs) continue;

    const stats::Delta difference =
        stats::estimate_delta({.reference = timed, .candidate = sampled, .paired = false}, tails);
    const bool is_known = difference.change && difference.bounds;
    if (!is_known) continue;

    const double cost = *difference.change;
    const double certain_cost = difference.bounds->low;
    if (certain_cost < min_cost || cost <= largest_cost) continue;

    largest_cost = cost;
    note_on_largest = Note{
        "sampling_cost",
        fmt::format("sampled runs of {} used {:.0f}% more CPU time than its timed runs (at least "
                    "{:.0f}%); use a longer period for --profile, or longer runs",
                    cited(plan_.commands[command].name), 100.0 * cost, 100.0 * certain_cost)};
  }
  return note_on_largest;
}

}  // namespace lauka
