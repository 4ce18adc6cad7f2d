#pragma once

#include "core/event.h"
#include "core/metric.h"
#include "core/record.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace lauka {

/// The rounds in whose runs `metric` has values: those of a pass that counts all
/// events in its formula.
RoundKind kind_of(const Metric& metric, const EventSet& events);

/// Reads one metric out of runs.
class MetricReader {
 public:
  MetricReader(const Metric& metric, const EventSet& events);

  /// The sample of `run`, in base units; none where it is of another kind of round or its pass does
  /// not count the metric, where the engine could not, where a divisor is 0, where only a bound is
  /// known, and where the run was killed at its time limit: what it would have taken is not known.
  std::optional<double> value(const RunRecord& run) const;

  /// What the value of `run` does not exceed, where only that is known.
  std::optional<double> bound(const RunRecord& run) const;

 private:
  /// Where an event stands among the counts of each pass; none in passes without it.
  using Places = std::vector<std::optional<std::size_t>>;

  static Places places_of(std::size_t event, const EventSet& events);
  static std::optional<double> count(const RunRecord& run, const Places& places);

  /// A term and, where that is an event, its places.
  struct Step {
    Formula::Term term;
    Places places;
  };

  /// What `run` gives for a term that is no operation.
  static std::optional<double> operand(const RunRecord& run, const Step& step);
  std::optional<double> result(const RunRecord& run) const;

  RoundKind kind_;
  bool may_be_bound_;
  std::vector<Step> steps_;
};

}  // namespace lauka
