#pragma once

#include "core/precision.h"
#include "core/series.h"
#include "plan/plan.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace lauka {

/// Watches how wide the intervals of wall time still are, where the plan wants a precision.
class PrecisionWatch {
 public:
  /// `plan` is to outlive it. `gate_confidence`: of the intervals of gated metrics.
  PrecisionWatch(const Plan& plan, double gate_confidence);

  /// Enters a counted run.
  void take(const RunRecord& run);

  /// Whether the commands from `first` on, `count` of them, have been run often enough after
  /// `rounds` rounds. In sequential order they come alone, and each has its half of a delta's
  /// variance: the reference before anyone knows how much slower a candidate is, which
  /// wants_more_of then knows.
  bool is_enough(std::size_t first, std::size_t count, std::uint64_t rounds);

  /// In sequential order: whether more runs of `command` would narrow an interval that is still too
  /// wide.
  bool wants_more_of(std::size_t command) const;

  /// What came of it, by the samples there are now; `end` is what ended the runs if it is not
  /// reached. None where no precision is wanted.
  std::optional<Precision> close(PrecisionEnd end, double gate_confidence);

 private:
  double confidence_of(double gate_confidence) const;
  bool is_too_wide(std::size_t candidate) const;
  /// Whether the part that `command` has in the half width of `candidate`'s delta is no more than
  /// its share.
  bool has_its_share(std::size_t command, std::size_t candidate) const;
  std::optional<double> half_width_of_mean(std::size_t command) const;
  std::optional<double> half_width_of_delta(std::size_t candidate) const;

  std::optional<double> wanted_;
  const Plan& plan_;
  double confidence_;  // of the intervals of wall time
  std::uint64_t earliest_;
  std::size_t commands_;
  const Metric* metric_ = nullptr;  // wall time
  std::optional<MetricSeries> wall_time_;
  std::uint64_t looked_at_ = 0;  // rounds
  std::size_t looked_first_ = 0;
};

}  // namespace lauka
