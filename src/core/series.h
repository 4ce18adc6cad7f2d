#pragma once

#include "core/event.h"
#include "core/metric.h"
#include "core/record.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace lauka {

/// One metric of one command, in the order run.
struct Series {
  std::vector<double> values;
  std::vector<std::uint32_t> rounds;      ///< of the values; ascending
  std::optional<double> largest_bound{};  ///< some runs' values are known as bounds only
  std::size_t bounded = 0;                ///< how many
};

/// The series of one metric, one for each command, filled run by run.
class MetricSeries {
 public:
  MetricSeries(const Metric& metric, const EventSet& events, std::size_t commands)
      : reader_(metric, events), of_command_(commands) {}

  /// Adds a kept run; one without a value of the metric changes nothing.
  void take(const RunRecord& run);

  const Series& of(std::size_t command) const { return of_command_[command]; }
  const std::vector<Series>& all() const { return of_command_; }

 private:
  MetricReader reader_;
  std::vector<Series> of_command_;
};

/// The samples of two commands as deltas and gates compare them.
struct Comparison {
  std::vector<double> reference;
  std::vector<double> candidate;
  bool paired = true;  ///< reference[i] and candidate[i] are of the same round

  bool is_empty() const { return reference.empty() || candidate.empty(); }
};

/// Returns the samples to compare: if paired, of the rounds in which both have a value. Empty if
/// one of them has bounds, which cannot be compared.
Comparison compare(const Series& reference, const Series& candidate, bool paired);

}  // namespace lauka
