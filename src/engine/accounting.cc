#include "engine/accounting.h"

#include "engine/text.h"

#include <array>

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

}  // namespace lauka::engine
