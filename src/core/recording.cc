#include "core/recording.h"

#include <algorithm>
#include <utility>

namespace lauka {

void Endings::add(const RunRow& run) {
  if (run.ending == Ending::Unknown) return;
  Endings endings{.runs_with_ending = 1, .failed_run_groups = {}};
  if (run.kind != RoundKind::Timed) endings.untimed_runs_with_ending[run.kind] = 1;
  if (is_failure(run.ending))
    endings.failed_run_groups.push_back({run.ending, run.status.value_or(0), 1, run.kind});
  add(endings);
}

void Endings::add(const Endings& others) {
  runs_with_ending += others.runs_with_ending;
  for (const auto& [kind, runs] : others.untimed_runs_with_ending)
    untimed_runs_with_ending[kind] += runs;
  for (const FailureGroup& other : others.failed_run_groups) {
    const auto known = std::ranges::find_if(failed_run_groups, [&](const FailureGroup& group) {
      return group.ending == other.ending && group.status == other.status &&
             group.kind == other.kind;
    });
    if (known != failed_run_groups.end())
      known->runs += other.runs;
    else
      failed_run_groups.push_back(other);
  }
}

std::size_t Endings::failed_runs() const {
  std::size_t sum = 0;
  for (const FailureGroup& group : failed_run_groups) sum += group.runs;
  return sum;
}

Endings Endings::of_kind(RoundKind kind) const {
  Endings result;
  for (const FailureGroup& group : failed_run_groups)
    if (group.kind == kind) result.failed_run_groups.push_back(group);

  if (kind != RoundKind::Timed) {
    const auto found = untimed_runs_with_ending.find(kind);
    if (found == untimed_runs_with_ending.end()) return result;
    result.runs_with_ending = found->second;
    result.untimed_runs_with_ending = {*found};
    return result;
  }

  // Timed runs, which nearly all runs are, have no count of their own.
  result.runs_with_ending = runs_with_ending;
  for (const auto& [untimed, runs] : untimed_runs_with_ending) result.runs_with_ending -= runs;
  return result;
}

std::vector<Endings> Endings::by_kind_with_failures() const {
  std::vector<Endings> all;
  for (const RoundKind kind : {RoundKind::Timed, RoundKind::Counting, RoundKind::Simulated})
    if (Endings endings = of_kind(kind); !endings.failed_run_groups.empty())
      all.push_back(std::move(endings));
  return all;
}

Endings count_endings(const Runs& runs, std::size_t command) {
  Endings endings;
  for (const std::uint32_t run : runs.of_command(command)) endings.add(runs.row(run));
  return endings;
}

}  // namespace lauka
