#include "engine/none.h"

#include "engine/accounting.h"
#include "engine/text.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace lauka::engine {
namespace {

class NoneEngine final : public CounterEngine {
 public:
  explicit NoneEngine(std::optional<Unavailable> why) : why_(std::move(why)) {}

  std::string_view name() const override { return "none"; }

  Catalog catalog() const override {
    Catalog catalog;
    for (const AccountedEvent& event : accounted_events())
      catalog.push_back(catalog_entry_of(event));
    return catalog;
  }

  Result<EventSet> select(const Wanted& wanted) override {
    events_.clear();
    EventSet set;
    for (const std::string& name : wanted.names) {
      const AccountedEvent* event = find_accounted(name);
      if (event == nullptr) return refusal_of(name);
      if (std::find(events_.begin(), events_.end(), event) != events_.end()) continue;
      events_.push_back(event);
      set.events.push_back({lower_case(name), std::string(event->meaning)});
    }
    if (why_ && wanted.names.empty())
      set.notes.push_back("no hardware counters: " + Error{why_->why, why_->remedy}.line());
    if (events_.empty()) return set;
    Pass& pass = set.passes.emplace_back();
    for (std::size_t i = 0; i < events_.size(); ++i) pass.events.push_back(i);
    return set;
  }

  Result<std::unique_ptr<Counting>> arm(std::size_t /*pass*/, os::Launcher& /*launcher*/) override {
    return count_accounted(events_);
  }

 private:
  Error refusal_of(const std::string& name) const {
    if (why_)
      return Error{fmt::format("'{}' cannot be counted: {}", name, why_->why), why_->remedy};
    return Error{fmt::format("'{}' is not counted with --engine none", name),
                 "leave out --engine none"};
  }

  std::optional<Unavailable> why_;
  std::vector<const AccountedEvent*> events_;
};

}  // namespace

std::unique_ptr<CounterEngine> make_none_engine(std::optional<Unavailable> why) {
  return std::make_unique<NoneEngine>(std::move(why));
}

}  // namespace lauka::engine
