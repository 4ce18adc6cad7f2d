#pragma once

#include "gate/verdict.h"
#include "plan/plan.h"
#include "results/results.h"
#include "results/warning.h"
#include "stats/delta.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lauka {

/// What a session, whole or cut short, says about its commands; its gates were decided while it
/// went on. Commands without a counted run have 0 runs and rows without values. A row of a run
/// under
/// --ignore-failure counts as any other.
Results analyse(Recording session, gate::Findings findings);

/// The same of a session that was just run: `timers` are those of the machine that ran it, and
/// `circumstances` go with the numbers. `session` has to outlive Results::runs.
Results analyse(const Plan& plan, const Session& session, const gate::Findings& findings,
                const Timers& timers = {}, Circumstances circumstances = {});

/// Returns the ratio of a metric's values, `of` (a command) to `to` (another one of the session),
/// within rounds where runs were interleaved; nullopt if one is not above 0 or is known as a bound.
std::optional<stats::LogRatio> log_ratio(const Recording& session, std::size_t metric,
                                         std::size_t of, std::size_t to);

/// The gates of a session that is there already, whose number of runs nothing decided: one look,
/// and the rate of false fails divided among all of them, or among so many of a job's.
gate::Findings judge(const Recording& session, const std::vector<Gate>& gates,
                     std::size_t gates_of_job = 0);

/// What --tune=compare found in a session that was just run: how its tuned runs differ from those
/// that were not; empty if there are none.
std::vector<TunedComparison> compare_tuned(const Plan& plan, const Session& session);

/// What lauka ends with as the gates decided; `if_inconclusive`: where one is and none failed.
int exit_status_of(const std::vector<gate::Verdict>& verdicts, std::optional<int> if_inconclusive);

/// The same of a session that was just run: by a signal or a failure before that.
int exit_status_of(const Session& session, const std::vector<gate::Verdict>& verdicts,
                   std::optional<int> if_inconclusive);

/// What is unsteady in the wall times of `command`, `series` in the order run: at most a slow first
/// run and one finding about the rest, as one cause shows as several. Drift says more than two
/// modes, these more than outliers, these more than slow noise; but outliers more than a drift that
/// is small against the spread.
std::vector<Warning> warnings_of_series(std::size_t command, std::span<const double> series,
                                        std::uint64_t warmup);

/// What else weakens `results`, whose rows, rankings and verdicts are complete: the clocks, the
/// number of runs, the order.
std::vector<Warning> warnings_of_results(const Results& results);

}  // namespace lauka
