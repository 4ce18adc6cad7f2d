#pragma once

#include "core/metric.h"
#include "core/recording.h"
#include "results/results.h"
#include "stats/delta.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lauka {

struct FirstRunFacts {
  std::uint64_t warmup = 0;
  bool only_first_run_read_disk = false;
  /// Estimated probability that noise alone makes a command's first run the slowest; may exceed 1.
  double chance_of_slowest = 1.0;
};

/// Checks the wall times of `command` (`series`, in the order run). Returns at most one warning
/// about a slow first run, and at most one about other unsteadiness.
std::vector<Warning> warnings_of_series(std::size_t command, std::span<const double> series,
                                        const FirstRunFacts& first);

/// Returns the facts about each command's first run. `series`: wall times of each command.
std::vector<FirstRunFacts> facts_of_first_runs(const Recording& session,
                                               std::span<const Series> series);

/// Returns a finding if the interval of `delta` was widened, and the rounds of `samples` clearly
/// resemble each other; else nullopt. `tests`: number of such tests, which share the rate of false
/// alarms.
std::optional<AlikeRounds> find_alike_rounds(const Metric& metric, const stats::Delta& delta,
                                             const Comparison& samples, std::size_t tests);

/// Returns `candidate` or `reference` if only this command's runs clearly resemble their
/// neighbours; else nullopt. `reference` is nullopt if it is in a baseline, and then counts as not
/// resembling.
std::optional<std::size_t> find_command_with_alike_runs(std::span<const Series> series,
                                                        std::size_t candidate,
                                                        std::optional<std::size_t> reference);

/// True if high outliers may explain why the change of the mean differs from the delta. They are
/// looked for in the candidate if the mean's change is larger, else in the reference. The
/// candidate's row of `metric` must have a delta with a mean. False if unknown, or for a reference
/// in a baseline.
bool outliers_explain_mean(const Results& results, std::size_t metric, std::size_t candidate);

/// Returns a finding if counting slowed the command by clearly more than 5%; else nullopt. `timed`
/// and `counting` are wall times in the order run.
std::optional<SlowedByCounting> slowed_by_counting(std::span<const double> timed,
                                                   std::span<const double> counting);

/// Returns warnings about a session or a whole command, such as few runs or a coarse clock.
/// `results` must have its rows, headline comparisons and verdicts.
std::vector<Warning> warnings_of_results(const Results& results);

}  // namespace lauka
