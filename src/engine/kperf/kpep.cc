#include "engine/kperf/kpep.h"

#include "engine/text.h"

#include <algorithm>

namespace lauka::engine::kperf {

const KpepEvent* find_event(const KpepDatabase& database, std::string_view name) {
  if (name.empty()) return nullptr;
  const auto& events = database.events;
  auto found = std::find_if(events.begin(), events.end(), [name](const KpepEvent& event) {
    return same_ignoring_case(event.alias, name);
  });
  if (found == events.end())
    found = std::find_if(events.begin(), events.end(), [name](const KpepEvent& event) {
      return same_ignoring_case(event.name, name);
    });
  return found == events.end() ? nullptr : &*found;
}

}  // namespace lauka::engine::kperf
