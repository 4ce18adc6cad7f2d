#include "core/foreign_text.h"
#include "engine/choose.h"

#include <string>
#include <utility>

#include <fmt/format.h>

namespace lauka::engine {
namespace {

class WithoutRegions final : public EngineAround {
 public:
  using EngineAround::EngineAround;

  Result<EventSet> select(const EventRequest& wanted) override {
    const std::string reason = fmt::format("--engine {} counts whole runs, not regions", name());
    auto set = other().select(wanted);
    if (!set) return set;
    if (!wanted.names.empty())
      return Error{fmt::format("{} cannot be counted with --region: {}",
                               cited(wanted.names.front()), reason),
                   "leave it out, or leave out --region"};
    EventSet none;
    if (set->events.empty())
      none.notes = std::move(set->notes);
    else
      none.notes.push_back(fmt::format("no events: {}", reason));
    return none;
  }
};

}  // namespace

std::unique_ptr<CounterEngine> without_regions(std::unique_ptr<CounterEngine> engine) {
  return std::make_unique<WithoutRegions>(std::move(engine));
}

}  // namespace lauka::engine
