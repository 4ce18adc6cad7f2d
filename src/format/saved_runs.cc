#include "format/saved_runs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace lauka {

namespace {

std::size_t at_most(std::size_t number, std::size_t most) {
  return std::min(number, most);
}

}  // namespace

void SavedRuns::add(std::size_t position, RunRow row) {
  constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
  constexpr std::size_t last_pass = std::numeric_limits<std::uint16_t>::max();
  positions_.push_back(static_cast<std::uint32_t>(at_most(position, most)));
  row.round = at_most(row.round, most);
  row.pass = at_most(row.pass, last_pass);
  runs_.add(row);
}

void SavedRuns::set_values(std::size_t first, std::size_t metric,
                           const std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isnan(values[i])) runs_.set_value(first + i, metric, values[i]);
}

void SavedRuns::enter_bounds(const std::vector<Metric>& metrics) {
  for (const auto& [place, bound] : bounds_) {
    const auto& [command, metric] = place;
    for (const std::uint32_t run : runs_.of_command(command))
      if (runs_.facts(run).kind == metrics[metric].kind && !runs_.value(run, metric))
        runs_.set_bound(run, metric, bound);
  }
}

void SavedRuns::sort() {
  std::vector<std::uint32_t> order(positions_.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto position_of = [&](std::uint32_t run) { return positions_[run]; };
  if (std::ranges::is_sorted(order, {}, position_of)) return;

  std::ranges::stable_sort(order, {}, position_of);
  runs_.reorder(order);
}

Runs SavedRuns::take_in_session_order(const std::vector<Metric>& metrics) {
  runs_.set_metrics(metrics);
  enter_bounds(metrics);
  sort();
  return std::exchange(runs_, {});
}

}  // namespace lauka
