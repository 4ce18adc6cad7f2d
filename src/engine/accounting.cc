#include "engine/accounting.h"

#include "core/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

namespace lauka::engine {
namespace {

constexpr std::array<AccountedEvent, 4> kEvents = {{
    {"page-faults", "faults", "minor and major page faults, from the kernel's accounting",
     [](const Usage& u) { return u.minor_faults + u.major_faults; }},
    {"context-switches", "cs", "voluntary and involuntary switches, from the kernel's accounting",
     [](const Usage& u) { return u.voluntary_switches + u.involuntary_switches; }},
    {"minor-faults", "", "page faults without input, from the kernel's accounting",
     [](const Usage& u) { return u.minor_faults; }},
    {"major-faults", "", "page faults that had to read, from the kernel's accounting",
     [](const Usage& u) { return u.major_faults; }},
}};

class FreeOnly final : public Counting {
 public:
  explicit FreeOnly(std::vector<FreeReader> events) : events_(std::move(events)) {}

  std::size_t runs_at_once() const override { return os::Launcher::kMaxBatch; }

  Counted finish(const os::Ended& ended, std::size_t /*command*/) override {
    Counted counted{std::vector<std::optional<std::uint64_t>>(events_.size())};
    if (std::holds_alternative<NotStarted>(ended.outcome)) {
      counted.missing = Error{"the command was not started", ""};
      return counted;
    }
    for (std::size_t i = 0; i < events_.size(); ++i) counted.counts[i] = events_[i](ended);
    return counted;
  }

 private:
  std::vector<FreeReader> events_;
};

class NoneEngine final : public CounterEngine {
 public:
  explicit NoneEngine(std::optional<Error> why) : why_(std::move(why)) {}

  std::string_view name() const override { return row_of(EngineChoice::None).name; }

  Catalog catalog() const override {
    Catalog catalog;
    for (const AccountedEvent& event : accounted_events())
      catalog.push_back(catalog_entry_of(event));
    return catalog;
  }

  Result<EventSet> select(const EventRequest& wanted) override {
    events_.clear();
    EventSet set;
    for (const std::string& name : wanted.names) {
      const AccountedEvent* event = find_accounted(name);
      if (event == nullptr) return refusal_of(name);
      if (std::ranges::find(events_, event) != events_.end()) continue;
      events_.push_back(event);
      set.events.push_back(
          {.name = lower_case(name), .meaning = std::string(event->meaning), .note = kWithExec});
    }
    if (why_ && wanted.names.empty()) set.notes = notes_without_counters(*why_);
    if (events_.empty()) return set;
    Pass& pass = set.passes.emplace_back();
    for (std::size_t i = 0; i < events_.size(); ++i) pass.events.push_back(i);
    return set;
  }

  Result<std::unique_ptr<Counting>> arm(std::size_t /*pass*/) override {
    std::vector<FreeReader> readers;
    for (const AccountedEvent* event : events_) readers.push_back(reader_of(event->read));
    return count_free(std::move(readers));
  }
  FreeReader free_reader(std::size_t event) const override {
    return reader_of(events_.at(event)->read);
  }

 private:
  Error refusal_of(const std::string& name) const {
    if (why_) return why_->of(fmt::format("'{}' cannot be counted", name));
    return Error{fmt::format("'{}' is not counted with --engine none", name),
                 "leave out --engine none"};
  }

  std::optional<Error> why_;
  std::vector<const AccountedEvent*> events_;
};

}  // namespace

std::vector<std::string> notes_without_counters(const Error& why) {
  if (why.remedy.empty()) return {};
  return {"no hardware counters here; lauka --check says why"};
}

std::span<const AccountedEvent> accounted_events() {
  return kEvents;
}

const AccountedEvent* find_accounted(std::string_view name) {
  for (const AccountedEvent& event : kEvents) {
    if (same_ignoring_case(name, event.name)) return &event;
    if (!event.other_name.empty() && same_ignoring_case(name, event.other_name)) return &event;
  }
  return nullptr;
}

CatalogEntry catalog_entry_of(const AccountedEvent& event) {
  return {std::string(event.name), std::string(event.name), "accounting",
          std::string(event.meaning)};
}

FreeReader reader_of(UsageCount read) {
  return [read](const os::Ended& ended) { return std::optional(read(ended.usage)); };
}

std::unique_ptr<Counting> count_free(std::vector<FreeReader> events) {
  return std::make_unique<FreeOnly>(std::move(events));
}

std::unique_ptr<CounterEngine> make_none_engine(std::optional<Error> why) {
  return std::make_unique<NoneEngine>(std::move(why));
}

}  // namespace lauka::engine
