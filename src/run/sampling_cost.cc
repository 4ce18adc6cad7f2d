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

constexpr double kMinCost = 0.05;  // as a fraction of the CPU time

/// The additional CPU time of sampled runs, as a fraction of that of timed runs.
struct Cost {
  double estimate = 0.0;
  double certain = 0.0;  // at least, with 99% confidence
};

/// Returns nullopt if there are too few runs, or if the cost cannot be estimated.
std::optional<Cost> estimate_cost(const std::vector<double>& timed,
                                  const std::vector<double>& sampled) {
  constexpr std::size_t min_runs = 6;  // of each kind
  if (std::min(timed.size(), sampled.size()) < min_runs) return std::nullopt;

  constexpr double confidence = 0.99;
  const stats::Delta difference = stats::estimate_delta(
      {.reference = timed, .candidate = sampled, .paired = false}, stats::tails_of(confidence));
  const bool is_known = difference.change && difference.bounds;
  if (!is_known) return std::nullopt;
  return Cost{.estimate = *difference.change, .certain = difference.bounds->low};
}

Note make_note(const std::string& command, const Cost& cost) {
  return {"sampling_cost",
          fmt::format("sampled runs of {} used {:.0f}% more CPU time than its timed runs (at least "
                      "{:.0f}%); use a longer period for --profile, or longer runs",
                      cited(command), 100.0 * cost.estimate, 100.0 * cost.certain)};
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
  // Several commands may exceed the limit, but the largest cost is enough for a warning.
  std::optional<Note> note_on_largest;
  double largest_cost = 0.0;
  for (std::size_t command = 0; command < commands_.size(); ++command) {
    const auto cost = estimate_cost(commands_[command].timed, commands_[command].sampled);
    if (!cost || cost->certain < kMinCost || cost->estimate <= largest_cost) continue;

    largest_cost = cost->estimate;
    note_on_largest = make_note(plan_.commands[command].name, *cost);
  }
  return note_on_largest;
}

}  // namespace lauka
