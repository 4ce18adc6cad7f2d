#include "engine/cachegrind/events.h"

#include "engine/text.h"

namespace lauka::engine::cachegrind {
namespace {

constexpr std::array<SimulatedEvent, 6> kEvents = {{
    {"instructions", "instructions executed in user space", {"Ir", "", ""}},
    {"branches", "conditional and indirect branches in user space", {"Bc", "Bi", ""}},
    {"branch-misses", "branches that a simple predictor gets wrong", {"Bcm", "Bim", ""}},
    {"l1d-cache-misses",
     "data reads and writes that miss a first-level cache of 32 KiB, 8 ways, lines of 64 bytes",
     {"D1mr", "D1mw", ""}},
    {"l1i-cache-misses",
     "instruction reads that miss a first-level cache of the same size",
     {"I1mr", "", ""}},
    {"cache-misses",
     "reads and writes that miss a last-level cache of 8 MiB, 16 ways, lines of 64 bytes",
     {"ILmr", "DLmr", "DLmw"}},
}};

}  // namespace

std::span<const SimulatedEvent> simulated_events() {
  return kEvents;
}

const SimulatedEvent* find_simulated(std::string_view name) {
  for (const SimulatedEvent& event : kEvents)
    if (same_ignoring_case(name, event.name)) return &event;
  return nullptr;
}

bool needs_caches(const SimulatedEvent& event) {
  return event.name.ends_with("cache-misses");
}

bool needs_branches(const SimulatedEvent& event) {
  return event.name.starts_with("branch");
}

}  // namespace lauka::engine::cachegrind
