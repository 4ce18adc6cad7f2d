#pragma once

#include <array>
#include <span>
#include <string_view>

namespace lauka::engine::cachegrind {

/// An event that Cachegrind simulates.
struct SimulatedEvent {
  std::string_view name;
  std::string_view meaning;
  /// Its own names for the counts that make it up; empty: no more of them.
  std::array<std::string_view, 3> parts;
};

/// All there are, in the order in which they are counted by default.
std::span<const SimulatedEvent> simulated_events();

/// The one of that name, in any case; null where there is none.
const SimulatedEvent* find_simulated(std::string_view name);

/// Which of Cachegrind's models an event needs beside the instructions, which are always counted.
bool needs_caches(const SimulatedEvent& event);
bool needs_branches(const SimulatedEvent& event);

}  // namespace lauka::engine::cachegrind
