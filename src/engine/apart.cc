#include "engine/accounting.h"
#include "engine/choose.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lauka::engine {
namespace {

class CountingApart final : public CounterEngine {
 public:
  explicit CountingApart(std::unique_ptr<CounterEngine> inner) : inner_(std::move(inner)) {}

  std::string_view name() const override { return inner_->name(); }
  Catalog catalog() const override { return inner_->catalog(); }
  Result<Explanation> explain(const EventRequest& wanted) override {
    return inner_->explain(wanted);
  }
  std::vector<std::string> notes() const override { return inner_->notes(); }
  FreeReader free_reader(std::size_t event) const override { return inner_->free_reader(event); }

  void pause() override { inner_->pause(); }
  std::optional<Error> held_by_others() override { return inner_->held_by_others(); }

  Result<EventSet> select(const EventRequest& wanted) override {
    auto set = inner_->select(wanted);
    if (set) divide(*set);
    return set;
  }

  Result<std::unique_ptr<Counting>> arm(std::size_t pass) override {
    if (!has_own_pass_) return inner_->arm(pass);
    if (pass == 0) return count_free(free_);
    return inner_->arm(pass - 1);
  }

 private:
  void divide(EventSet& set) {
    const auto costs = [this](std::size_t event) { return !inner_->free_reader(event); };
    bool counts = false;
    for (Pass& pass : set.passes) {
      if (pass.kind != RoundKind::Timed) continue;
      if (std::none_of(pass.events.begin(), pass.events.end(), costs)) continue;
      pass.kind = RoundKind::Counting;
      counts = true;
    }
    free_.clear();
    has_own_pass_ = counts;
    if (!counts) return;
    Pass timed;
    for (std::size_t event = 0; event < set.events.size(); ++event) {
      auto reader = inner_->free_reader(event);
      if (!reader) continue;
      timed.events.push_back(event);
      free_.push_back(std::move(reader));
    }
    set.passes.insert(set.passes.begin(), std::move(timed));
  }

  std::unique_ptr<CounterEngine> inner_;
  std::vector<FreeReader> free_;
  bool has_own_pass_ = false;  // the timed one
};

}  // namespace

std::unique_ptr<CounterEngine> keep_apart(std::unique_ptr<CounterEngine> engine) {
  return std::make_unique<CountingApart>(std::move(engine));
}

}  // namespace lauka::engine
