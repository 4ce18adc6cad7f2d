#include "run/sampling_cost.h"

#include "core/text.h"
#include "stats/delta.h"
#include "stats/distributions.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace lauka {

namespace {

bool is_sampled(const Plan& plan, const Step& step) {
  const EventSet& set = plan.setting.events;
  return step.kind == RoundKind::Counting &&
         std::ranges::any_of(set.passes.at(step.pass).event_indices, [&](std::size_t event) {
           return set.events.at(event).role == Role::SampledTime;
         });
}

}  // namespace

void SamplingCost::Times::add(double value) {
  const double before = value - mean;
  mean += before / static_cast<double>(++count);
  squared_deviations += before * (value - mean);
}

double SamplingCost::Times::squared_error() const {
  const auto values = static_cast<double>(count);
  return squared_deviations / (values - 1.0) / values;
}

void SamplingCost::add(const RunRecord& run) {
  const bool was_timed = run.step.kind == RoundKind::Timed;
  if (!was_timed && !is_sampled(plan_, run.step)) return;
  constexpr double seconds_of_ns = 1e-9;
  OfCommand& command = commands_.at(run.step.command);
  (was_timed ? command.timed : command.sampled)
      .add(static_cast<double>(run.usage.user_ns + run.usage.system_ns) * seconds_of_ns);
}

std::optional<Note> SamplingCost::note() const {
  constexpr std::size_t min_runs = 3;
  constexpr double min_cost = 0.05;
  constexpr double outside_95_percent = 0.025;
  std::optional<Note> note;
  double largest = 0.0;
  for (std::size_t c = 0; c < commands_.size(); ++c) {
    const auto& [timed, sampled] = commands_[c];
    if (timed.count < min_runs || sampled.count < min_runs || timed.mean <= 0.0) continue;
    const double timed_error = timed.squared_error();
    const double sampled_error = sampled.squared_error();
    const double cost = (sampled.mean - timed.mean) / timed.mean;
    double half_width = 0.0;
    if (timed_error + sampled_error > 0.0) {
      const double degrees =
          stats::welch_degrees(timed_error, timed.count, sampled_error, sampled.count);
      half_width = stats::student_t_quantile_above(outside_95_percent, degrees) *
                   std::sqrt(timed_error + sampled_error) / timed.mean;
    }
    if (cost - half_width < min_cost || cost <= largest) continue;
    largest = cost;
    note =
        Note{NoteKind::SamplingCost,
             fmt::format("sampled runs of {} used {:.0f}% ± {:.0f}% more CPU time than its timed "
                         "runs; a longer period of --profile disturbs them less",
                         cited(plan_.commands[c].name), 100.0 * cost, 100.0 * half_width)};
  }
  return note;
}

}  // namespace lauka
