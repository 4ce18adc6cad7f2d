#include "core/series.h"

#include <algorithm>

namespace lauka {

void MetricSeries::take(const RunRecord& run) {
  Series& series = of_command_[run.step.command];
  if (const auto value = reader_.value(run)) {
    series.values.push_back(*value);
    series.rounds.push_back(run.step.round);
  } else if (const auto bound = reader_.bound(run)) {
    series.largest_bound = std::max(series.largest_bound.value_or(0.0), *bound);
    ++series.bounded;
  }
}

Comparison compare(const Series& reference, const Series& candidate, bool paired) {
  Comparison result{{}, {}, paired};
  if (reference.largest_bound || candidate.largest_bound) return result;
  if (!paired) {
    result.reference = reference.values;
    result.candidate = candidate.values;
    return result;
  }
  std::size_t r = 0;
  std::size_t c = 0;
  while (r < reference.rounds.size() && c < candidate.rounds.size()) {
    if (reference.rounds[r] < candidate.rounds[c]) {
      ++r;
    } else if (candidate.rounds[c] < reference.rounds[r]) {
      ++c;
    } else {
      result.reference.push_back(reference.values[r++]);
      result.candidate.push_back(candidate.values[c++]);
    }
  }
  return result;
}

}  // namespace lauka
