#include "engine/perf/region.h"

#include "core/metric.h"

#include <string>
#include <utility>
#include <vector>

namespace lauka::engine::perf {

Result<Source> in_region(Source source) {
  if (source.accounted == nullptr) return source;
  return Error{"its counter, which a region needs, may not be opened",
               "use sudo, or sudo sysctl kernel.perf_event_paranoid=1, or leave out --region"};
}

void mark_region(EventSet& set) {
  for (Event& event : set.events)
    event.note = std::string(kRegionNote) + (event.note.empty() ? "" : " ") + event.note;
}

void add_whole_run(EventSet& set, std::size_t count) {
  const std::size_t first = set.events.size();
  for (std::size_t i = 0; i < count; ++i) {
    Event event = set.events[i];
    event.name += kOfWholeRun;
    event.note.erase(0, std::string(kRegionNote).size());
    if (event.note.starts_with(' ')) event.note.erase(0, 1);
    event.role = Role::Other;  // the region's has it
    set.events.push_back(std::move(event));
  }
  std::vector<Pass> of_whole;
  for (const Pass& pass : set.passes) {
    Pass& whole = of_whole.emplace_back();
    for (const std::size_t event : pass.events)
      if (event < count) whole.events.push_back(first + event);
  }
  set.passes.insert(set.passes.end(), of_whole.begin(), of_whole.end());
}

}  // namespace lauka::engine::perf
