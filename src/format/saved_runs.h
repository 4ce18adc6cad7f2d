#pragma once

#include "core/metric.h"
#include "core/runs.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace lauka {

/// Collects the runs of a session from its file, which lists them by command.
class SavedRuns {
 public:
  std::size_t size() const { return runs_.size(); }

  /// Adds a run. `position`: its place among the runs of the session.
  void add(std::size_t position, RunRow row);

  /// Return what was added. RunRow::redo_text is valid until a run is added.
  std::size_t position(std::size_t run) const { return positions_[run]; }
  RunRow row(std::size_t run) const { return runs_.row(run); }

  /// Sets a metric's values in the runs from `first` on; NaN: missing.
  void set_values(std::size_t first, std::size_t metric, const std::vector<double>& values);

  /// Sets an upper bound for the runs of `command` without a value of the metric.
  void set_bound(std::size_t command, std::size_t metric, double bound) {
    bounds_[{command, metric}] = bound;
  }

  /// Returns the runs in the order of the session. `metrics`: of the session.
  Runs take_in_session_order(const std::vector<Metric>& metrics);

 private:
  void enter_bounds(const std::vector<Metric>& metrics);
  void sort();

  Runs runs_{};
  PieceList<std::uint32_t> positions_{};
  std::map<std::pair<std::size_t, std::size_t>, double> bounds_{};  // by command and metric
};

}  // namespace lauka
