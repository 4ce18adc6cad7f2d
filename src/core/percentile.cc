#include "core/percentile.h"

#include "core/metric.h"
#include "core/numbers.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace lauka {
namespace {

std::string prefix() {
  return std::string(metric_name_of(Role::WallTime)) + ".p";
}

}  // namespace

std::string name_of_percentile(double percent) {
  return prefix() + fmt::format("{}", percent);
}

std::optional<double> percentile_in(std::string_view name) {
  const std::string before = prefix();
  if (!name.starts_with(before)) return std::nullopt;
  const auto percent = parse_decimal(name.substr(before.size()), {0.0, false}, {100.0, false});
  if (!percent || name != name_of_percentile(*percent)) return std::nullopt;
  return *percent;
}

std::size_t fewest_runs_of(double share, double tail) {
  const double needed = std::log(tail) / std::log(std::max(share, 1.0 - share));
  return static_cast<std::size_t>(std::max(2.0, std::ceil(needed - 1e-9)));
}

}  // namespace lauka
