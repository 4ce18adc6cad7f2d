#include "engine/engine.h"

namespace lauka::engine {

Result<Explanation> CounterEngine::explain(const EventRequest& wanted) {
  const auto set = select({wanted.names, false});
  if (!set) return set.error();
  Explanation explanation;
  explanation.notes = set->notes;
  for (const Pass& pass : set->passes) {
    auto& seats = explanation.passes.emplace_back();
    for (const std::size_t event : pass.events)
      seats.push_back({"", set->events[event].name, set->events[event].meaning});
  }
  return explanation;
}

}  // namespace lauka::engine
