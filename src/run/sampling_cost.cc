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

std::optional<Note> SamplingCost::note() const {
  constexpr std::size_t min_runs = 6;
  constexpr double min_cost = 0.05;
  const stats::IntervalTails tails = stats::tails_of(0.99);

  std::optional<Note> note;
  double largest = 0.0;
  for (std::size_t c = 0; c < commands_.size(); ++c) {
    const auto& [timed, sampled] = commands_[c];
    if (std::min(timed.size(), sampled.size()) < min_runs) continue;

    // Only the largest of the costs that are certain is worth a note.
    const stats::Delta cost =
        stats::estimate_delta({.reference = timed, .candidate = sampled, .paired = false}, tails);
    if (!cost.change || !cost.bounds) continue;
    if (cost.bounds->low < min_cost || *cost.change <= largest) continue;

    largest = *cost.change;
    note = Note{
        "sampling_cost",
        fmt::format("sampled runs of {} used {:.0f}% more CPU time than its timed runs (at least "
                    "{:.0f}%); use a longer period for --profile, or longer runs",
                    cited(plan_.commands[c].name), 100.0 * *cost.change, 100.0 * cost.bounds->low)};
  }
  return note;
}

}  // namespace lauka
