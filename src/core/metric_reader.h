#pragma once

#include "core/event.h"
#include "core/metric.h"
#include "core/record.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace lauka {

/// Reads one metric out of runs.
class MetricReader {
 public:
  MetricReader(const Metric& metric, const EventSet& events);

  /// The sample of `run`, in base units; none where this run's pass does not count it, where the
  /// engine could not, where a ratio's denominator is 0, where only a bound is known, and where the
  /// run was killed at its time limit: what it would have taken is not known. A simulated run has
  /// nothing but the events of its pass.
  std::optional<double> value(const RunRecord& run) const;

  /// What the value of `run` does not exceed, where only that is known.
  std::optional<double> bound(const RunRecord& run) const;

 private:
  /// Where an event stands among the counts of each pass; none in passes without it.
  using Places = std::vector<std::optional<std::size_t>>;

  bool is_simulated(const RunRecord& run) const;
  static Places places_of(std::size_t event, const EventSet& events);
  static std::optional<double> count(const RunRecord& run, const Places& places);

  UsageReader usage_ = nullptr;
  bool may_be_bound_ = false;
  bool is_ratio_ = false;
  bool is_nano_ = false;  ///< counted in nanoseconds or nanojoules
  Places numerator_;
  std::vector<Places> denominators_;  ///< to be summed
  std::vector<bool> simulated_;       ///< of each pass
};

}  // namespace lauka
