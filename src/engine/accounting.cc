#include "engine/accounting.h"

#include "engine/text.h"

#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <variant>

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

class AccountingOnly final : public Counting {
 public:
  explicit AccountingOnly(std::vector<const AccountedEvent*> events) : events_(std::move(events)) {}

  os::CounterSetId on_launcher() const override { return os::kNoCounters; }
  std::size_t runs_at_once() const override { return os::Launcher::kMaxBatch; }

  Counted finish(const os::Ended& ended) override {
    Counted counted{std::vector<std::optional<std::uint64_t>>(events_.size())};
    if (std::holds_alternative<NotStarted>(ended.outcome)) {
      counted.missing = Unavailable{"the command was not started", ""};
      return counted;
    }
    for (std::size_t i = 0; i < events_.size(); ++i)
      counted.counts[i] = events_[i]->read(ended.usage);
    return counted;
  }

 private:
  std::vector<const AccountedEvent*> events_;
};

}  // namespace

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

std::unique_ptr<Counting> count_accounted(std::vector<const AccountedEvent*> events) {
  return std::make_unique<AccountingOnly>(std::move(events));
}

}  // namespace lauka::engine
