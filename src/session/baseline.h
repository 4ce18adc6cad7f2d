#pragma once

#include "core/result.h"
#include "core/series.h"
#include "plan/plan.h"
#include "session/recording.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lauka {

/// Whether it was counted in a region of the runs, which is another metric than that of whole ones.
bool is_of_region(const Metric& metric);

/// Where `session` has a metric; none where it was not measured.
std::optional<std::size_t> place_in(const Recording& session, const Metric& metric);
std::vector<std::optional<std::size_t>> places_in(const Recording& session,
                                                  const std::vector<Metric>& metrics);

/// Looks in the baseline, if there is one, for the metrics that were added since it was taken.
void extend_baseline(Recording& recording);

/// Has `plan` take its references from `session`, which `file` holds. A command's is the one of the
/// same name; where none has its name, the one at the same place in the file, unless that has
/// another command's name. Refuses a session that lacks one, or a metric of one that a gate or
/// --precision is on, or has a metric in another unit.
Result<void> use_baseline(Plan& plan, const std::string& file,
                          const std::shared_ptr<const Recording>& session);

/// The values of a metric in the runs that `command` is compared with; their indices are those of
/// the session that `baseline` is for. None where some are known as bounds only.
std::vector<double> baseline_values(const Baseline& baseline, std::size_t command,
                                    std::size_t metric);

/// Which of the reference and the candidate is known by bounds only, so that nothing can be
/// compared and more rounds change nothing. `series`: as for samples_of.
std::optional<std::size_t> first_with_bounds(const Reference& reference, const Condition& condition,
                                             std::span<const Series> series, std::size_t candidate);

/// Whether deltas are taken within rounds: not in sequential order, nor with a baseline.
bool compares_within_rounds(Order order, const Reference& reference);

/// Whether the delta of a command is: of joined sessions, only within one.
bool compares_within_rounds(const Recording& session, std::size_t candidate);

/// The origin of a command of a joined session.
const Origin& origin_of(const Recording& session, std::size_t command);

/// What `candidate`'s delta of `metric` (their indices) is made from; `series` are the metric's, by
/// command.
Comparison samples_of(const Reference& reference, bool within_rounds, std::size_t metric,
                      std::span<const Series> series, std::size_t candidate);

}  // namespace lauka
