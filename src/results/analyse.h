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

/// Analyses the commands of a session, whole or cut short; its gates were decided while it ran.
/// Commands without a counted run have 0 runs and rows without values. A run that failed under
/// `--ignore-failure` counts as any other.
Results analyse(Recording session, gate::Findings findings);

/// Does so for a session that was just run: `timers` are of the machine that ran it, and
/// `circumstances` go with the numbers. `session` must outlive Results::runs.
Results analyse(const Plan& plan, const Session& session, const gate::Findings& findings,
                const Timers& timers = {}, Circumstances circumstances = {});

/// Returns the ratio of a metric's values, `of` (a command) to `to` (another one of the session),
/// within rounds where runs were interleaved; nullopt if one is not above 0 or is known as a bound.
std::optional<stats::LogRatio> log_ratio(const Recording& session, std::size_t metric,
                                         std::size_t of, std::size_t to);

/// Judges the gates of a finished session, whose number of runs did not depend on them: one look,
/// and the rate of false fails divided among all of them, or among so many of a job's.
gate::Findings judge(const Recording& session, const std::vector<Gate>& gates,
                     std::size_t gates_of_job = 0);

/// Returns the findings of --tune=compare in a session that was just run: how its tuned runs differ
/// from the untuned ones; empty if there were no untuned ones.
std::vector<TunedComparison> compare_tuned(const Plan& plan, const Session& session);

/// Returns lauka's exit status by the gates; `if_inconclusive`: the status if one is inconclusive
/// and none failed.
int exit_status_of(const std::vector<gate::Verdict>& verdicts, std::optional<int> if_inconclusive);

/// Returns the same for a session that was just run; a signal or a failure comes first.
int exit_status_of(const Session& session, const std::vector<gate::Verdict>& verdicts,
                   std::optional<int> if_inconclusive);

/// Finds unsteady wall times of `command`, `series` in the order run: at most a slow first run and
/// one finding about the rest, as one cause shows as several. Drift says more than two modes, these
/// more than outliers, these more than slow noise; but outliers more than a drift that is small
/// against the spread.
std::vector<Warning> warnings_of_series(std::size_t command, std::span<const double> series,
                                        std::uint64_t warmup);

/// Finds other weaknesses of `results`, whose rows, rankings and verdicts are complete: the clocks,
/// the number of runs, the order.
std::vector<Warning> warnings_of_results(const Results& results);

}  // namespace lauka
