#include "results/coverage.h"

#include "stats/quantiles.h"

#include <algorithm>
#include <variant>

namespace lauka {
namespace {

/// Below this the engine is said to have missed something: 2% is more than what the kernel does for
/// a process after its last thread was sampled.
constexpr double kWhole = 0.98;

}  // namespace

void enter_coverage(const std::vector<const RunRecord*>& runs, Results& results) {
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    std::vector<double> seen;
    for (const RunRecord* run : runs)
      if (run->step.command == c && run->coverage) seen.push_back(*run->coverage);
    if (seen.empty()) continue;
    std::sort(seen.begin(), seen.end());
    results.commands[c].coverage = stats::median(seen);
  }
}

bool is_doubtful(const Metric& metric, const Plan& plan, const CommandResult& command,
                 const std::vector<double>& values) {
  const auto* counted = std::get_if<CountedEvent>(&metric.source);
  if (counted == nullptr || !plan.events.events.at(counted->event).zero_is_doubtful) return false;
  if (values.empty() || command.coverage.value_or(0.0) <= 0.0) return false;
  return std::all_of(values.begin(), values.end(), [](double value) { return value == 0.0; });
}

std::vector<Warning> warnings_of_coverage(const Results& results) {
  std::vector<Warning> warnings;
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    const auto& coverage = results.commands[c].coverage;
    if (coverage && *coverage < kWhole) warnings.push_back({LowCoverage{*coverage}, c});
  }
  for (std::size_t m = 0; m < results.metrics.size(); ++m) {
    const bool doubtful =
        std::any_of(results.commands.begin(), results.commands.end(),
                    [m](const CommandResult& command) { return command.rows.at(m).is_doubtful; });
    if (doubtful) warnings.push_back({NeverCounted{results.metrics[m].name}});
  }
  return warnings;
}

}  // namespace lauka
