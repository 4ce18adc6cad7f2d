#pragma once

#include "core/metric.h"
#include "core/recording.h"
#include "core/runs.h"
#include "plan/plan.h"
#include "session/baseline.h"

#include <cstddef>
#include <functional>
#include <map>
#include <vector>

namespace lauka {

// Gates and --precision take their series from the runs of a session that is under way, and results
// take theirs from a session that is over. So both see the same values.

/// Returns a metric's values of each command, followed by those of the references in a baseline
/// (make_series_of_reference), so that the numbers of a Pair are indices. Series::runs_with_ending
/// and Series::failed_runs count only runs that can give the metric: runs of its kind of round and,
/// if several passes have this kind, of the passes in which the session has values of the metric.
std::vector<Series> make_all_series(const Recording& session, std::size_t metric);

/// Returns the same of the runs so far of a session that carries out `plan`.
std::vector<Series> make_all_series(const Plan& plan, const Runs& runs, std::size_t metric);

/// Returns a metric's values of one command, or of a reference in a baseline, by its number (Pair).
/// Reads no runs of other commands.
Series make_series(const Recording& session, std::size_t metric, std::size_t command);

/// Returns a metric's values of a reference in a baseline, with layouts, if the baseline has
/// layouts, but without rounds; empty if the baseline lacks the metric, or if some values are known
/// only as upper bounds. `metric`: index in the session that compares.
Series make_series_of_reference(const MeasuredCommand& reference, std::size_t metric);

/// The series of all commands, which are made once for each metric. Runs that are added later are
/// not in the series that have been made.
class SeriesByMetric {
 public:
  explicit SeriesByMetric(const Recording& session)
      : make_([&session](std::size_t metric) { return make_all_series(session, metric); }) {}
  SeriesByMetric(const Plan& plan, const Runs& runs)
      : make_([&plan, &runs](std::size_t metric) { return make_all_series(plan, runs, metric); }) {}

  const std::vector<Series>& of(std::size_t metric) {
    const auto [place, is_new] = known_.try_emplace(metric);
    if (is_new) place->second = make_(metric);
    return place->second;
  }

 private:
  std::function<std::vector<Series>(std::size_t)> make_;
  std::map<std::size_t, std::vector<Series>> known_{};
};

}  // namespace lauka
