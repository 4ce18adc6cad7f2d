#include "engine/engine.h"

#include "engine/accounting.h"
#include "engine/choose.h"

#include <algorithm>
#include <utility>
#include <vector>

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

namespace {

class CountingApart final : public EngineAround {
 public:
  using EngineAround::EngineAround;

  Result<EventSet> select(const EventRequest& wanted) override {
    auto set = other().select(wanted);
    if (set) divide(*set);
    return set;
  }

  Result<std::unique_ptr<Counting>> arm(std::size_t pass) override {
    if (!has_own_pass_) return other().arm(pass);
    if (pass == 0) return count_free(free_);
    return other().arm(pass - 1);
  }

 private:
  void divide(EventSet& set) {
    const auto costs = [this](std::size_t event) { return !other().free_reader(event); };
    bool counts = false;
    for (Pass& pass : set.passes) {
      if (pass.kind != RoundKind::Timed) continue;
      if (std::ranges::none_of(pass.events, costs)) continue;
      pass.kind = RoundKind::Counting;
      counts = true;
    }
    free_.clear();
    has_own_pass_ = counts;
    if (!counts) return;
    Pass timed;
    for (std::size_t event = 0; event < set.events.size(); ++event) {
      auto reader = other().free_reader(event);
      if (!reader) continue;
      timed.events.push_back(event);
      free_.push_back(std::move(reader));
    }
    set.passes.insert(set.passes.begin(), std::move(timed));
  }

  std::vector<FreeReader> free_;
  bool has_own_pass_ = false;  // the timed one
};

}  // namespace

std::unique_ptr<CounterEngine> keep_apart(std::unique_ptr<CounterEngine> engine) {
  return std::make_unique<CountingApart>(std::move(engine));
}

}  // namespace lauka::engine
