#include "report/axis.h"

#include <algorithm>
#include <cmath>

namespace lauka::report {

namespace {

constexpr double kRoom = 0.04;  // of the range, beside each end

double round_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-12)) return factor * power;
  }
  return 10 * power;
}

}  // namespace

double Axis::percent(double value) const {
  const double place = 100 * (value - low) / (high - low);
  return std::isfinite(place) ? std::clamp(place, 0.0, 100.0) : 0.0;
}

Axis axis_over(double low, double high, int most_ticks) {
  // Equal values, or all but equal ones, get a range that is drawn in the middle.
  const double least_range = 1e-9 * std::max(std::fabs(low), std::fabs(high));
  if (high - low <= least_range) {
    const double room =
        low == 0 && high == 0 ? 1.0 : 0.01 * std::max(std::fabs(low), std::fabs(high));
    low -= room;
    high += room;
  }
  const double room = kRoom * (high - low);
  Axis axis{low - room, high + room, {}};
  const double step = round_step((axis.high - axis.low) / most_ticks);
  for (double count = std::ceil(axis.low / step); count * step <= axis.high; ++count) {
    axis.ticks.push_back(count * step);
  }
  return axis;
}

}  // namespace lauka::report
