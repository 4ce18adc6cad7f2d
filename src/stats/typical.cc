// Hodges & Lehmann 1963. The k-th smallest of the n(n+1)/2 Walsh averages is found without listing
// them: how many are at most x takes one walk over the sorted values from both ends, so x is
// bisected until the doubles between its ends run out. The count uses the averages as they would be
// computed, so what is found is one of them, to the last bit but one.

#include "stats/typical.h"

#include "stats/quantiles.h"
#include "stats/signed_rank.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace lauka::stats {

namespace {

constexpr int kHalvings = 200;  // a range of doubles about 1 runs out after some 60

/// Logarithms of candidate / reference in ascending order; empty where one is not defined.
std::vector<double> sorted_log_ratios(std::span<const double> reference,
                                      std::span<const double> candidate) {
  std::vector<double> logs;
  logs.reserve(reference.size());
  for (std::size_t round = 0; round < reference.size(); ++round) {
    if (reference[round] <= 0.0 || candidate[round] <= 0.0) {
      return {};
    }
    logs.push_back(std::log(candidate[round] / reference[round]));
  }
  std::sort(logs.begin(), logs.end());
  return logs;
}

/// The average as it is compared; the halves are exact, the sum rounds once.
double walsh_average(double a, double b) {
  return (a + b) / 2.0;
}

std::size_t averages_at_most(std::span<const double> ascending, double limit) {
  std::size_t count = 0;
  std::size_t end = ascending.size();  // partners of `low` are below it
  for (std::size_t low = 0; low < end; ++low) {
    while (end > low && walsh_average(ascending[low], ascending[end - 1]) > limit) {
      --end;
    }
    count += end - low;
  }
  return count;
}

/// The Walsh average that is in place `place` (from 1) of all in ascending order.
double walsh_average_at(std::span<const double> ascending, std::size_t place) {
  double below = std::nextafter(ascending.front(), -HUGE_VAL);
  double reached = ascending.back();
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = std::midpoint(below, reached);
    if (middle <= below || middle >= reached) {
      break;
    }
    (averages_at_most(ascending, middle) >= place ? reached : below) = middle;
  }
  return reached;
}

}  // namespace

std::optional<TypicalChange> typical_change(std::span<const double> reference,
                                            std::span<const double> candidate, double tail) {
  const std::vector<double> logs = sorted_log_ratios(reference, candidate);
  if (logs.empty()) {
    return std::nullopt;
  }
  const std::size_t averages = logs.size() * (logs.size() + 1) / 2;
  double middle = walsh_average_at(logs, (averages + 1) / 2);
  if (averages % 2 == 0) {
    middle = std::midpoint(middle, walsh_average_at(logs, averages / 2 + 1));
  }
  TypicalChange typical{.change = std::expm1(middle)};
  const std::size_t place = signed_rank_place(logs.size(), tail);
  if (place > 0) {
    typical.bounds = ChangeBounds{.low = std::expm1(walsh_average_at(logs, place)),
                                  .high = std::expm1(walsh_average_at(logs, averages + 1 - place))};
  }
  return typical;
}

}  // namespace lauka::stats
