#include "plan/percentiles.h"

#include "plan/formulas.h"
#include "plan/plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace lauka {
namespace {

/// In percent, each once.
std::vector<double> wanted(const Options& options) {
  std::vector<double> all = options.percentiles;
  const auto add = [&](std::string_view name) {
    const auto percent = percentile_in(name);
    if (percent && std::ranges::find(all, *percent) == all.end()) all.push_back(*percent);
  };
  for (const std::string& row : options.metric_list) add(name_of_row(row));
  for (const Condition& gate : options.gates) add(gate.metric);
  if (options.precision) add(options.precision_metric);
  return all;
}

std::optional<Error> too_few_runs(const Options& options, double percent) {
  const double confidence = options.confidence.value_or(kConfidence);
  const std::optional<std::uint64_t> most = options.runs ? options.runs : options.max_runs;
  const std::size_t fewest = fewest_runs_of(percent / 100.0, (1.0 - confidence) / 2.0);
  if (!most || *most >= fewest) return std::nullopt;
  return Error{fmt::format("{} needs {} runs of each command for its {}% interval, more than the "
                           "{} that {} allows",
                           name_of_percentile(percent), fewest, 100.0 * confidence, *most,
                           options.runs ? "--runs" : "--max-runs"),
               fmt::format("allow {} runs, or ask for a percentile nearer to 50", fewest)};
}

}  // namespace

Result<void> add_percentiles(const Options& options, std::vector<Metric>& metrics) {
  const auto wall_time = find_metric(metrics, Role::WallTime);
  if (!wall_time) return {};  // of a saved session: the name is refused where it is asked for
  auto place = *wall_time;
  for (const double percent : wanted(options)) {
    if (auto few = too_few_runs(options, percent)) return *std::move(few);
    const auto known = find_metric(metrics, name_of_percentile(percent));
    if (known && metrics[*known].percentile) continue;  // of a saved session
    Metric metric = metrics[*wall_time];
    metric.percentile = Percentile{metric.name, percent / 100.0};
    metric.name = name_of_percentile(percent);
    metric.shown = Shown::Always;
    metric.role = Role::Other;
    if (known)
      return Error{fmt::format("--percentiles: another metric is called {}", metric.name),
                   "give that one another name"};
    metrics.insert(metrics.begin() + static_cast<std::ptrdiff_t>(++place), std::move(metric));
  }
  return {};
}

}  // namespace lauka
