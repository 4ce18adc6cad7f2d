#include "plan/region.h"

#include <algorithm>
#include <string>

namespace lauka {

std::vector<OwnMetric> region_metrics() {
  OwnMetric time{.name = std::string(kRegionTime), .region = RegionValue::Time};
  time.unit.unit = Unit::Seconds;
  OwnMetric entries{
      .name = "region_entries", .better = Better::Neither, .region = RegionValue::Entries};
  entries.unit.unit = Unit::Count;
  return {time, entries};
}

void show_region(MetricSelection selection, std::vector<Metric>& metrics) {
  const auto time =
      std::ranges::find_if(metrics, [](const Metric& one) { return one.name == kRegionTime; });
  if (time == metrics.end()) return;
  std::rotate(metrics.begin(), time, time + 1);
  if (selection != MetricSelection::Default) return;
  for (Metric& metric : metrics) {
    const bool is_of_kernel = metric.event == std::nullopt && !metric.source.first_event();
    const bool is_of_whole_run = metric.role != Role::Other && is_of_kernel;
    if (is_of_whole_run || metric.name == "region_entries" || metric.role == Role::CoreTime ||
        metric.role == Role::CoreShare)
      metric.shown = Shown::Verbose;
  }
}

}  // namespace lauka
