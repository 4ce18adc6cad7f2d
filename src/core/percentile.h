#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace lauka {

/// What a row is that has no values of its own, but speaks of another one's.
struct Percentile {
  std::string of;      ///< the name of the other metric, whose formula it has
  double share = 0.5;  ///< 0.99: the value that 99 % of the runs do not exceed
};

/// "wall_time.p99.9".
std::string name_of_percentile(double percent);

/// The 99.9 of such a name; none where it is another one.
std::optional<double> percentile_in(std::string_view name);

/// The runs that it takes for an interval of a quantile with `tail` on either side: with fewer, all
/// of them are on one side of it too often (share^n, or (1 - share)^n).
std::size_t fewest_runs_of(double share, double tail);

}  // namespace lauka
