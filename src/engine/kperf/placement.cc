#include "engine/kperf/placement.h"

#include "engine/kperf/abi.h"

#include <algorithm>
#include <bit>
#include <string>

#include <fmt/format.h>

namespace lauka::engine::kperf {
namespace {

/// The configurable events among the wanted ones.
struct Configurable {
  std::vector<std::size_t> events;  ///< indices into the wanted ones
  std::vector<CounterMask> masks;   ///< what they may use of the available counters
};

Configurable configurable_of(std::span<const KpepEvent> wanted, CounterMask available) {
  Configurable some;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].is_fixed) continue;
    some.events.push_back(i);
    some.masks.push_back(wanted[i].mask & available);
  }
  return some;
}

/// All configurable counters that Apple's chips have.
constexpr CounterMask kConfigurable = ((CounterMask{1} << kConfigurableCounters) - 1)
                                      << kFixedCounters;

Error no_counter_for(const KpepEvent& event) {
  const CounterMask needed = event.mask & kConfigurable;
  const std::string why = needed == 0 ? "no configurable counter that this chip has can count it"
                                      : fmt::format("it needs {}, which cannot be used here",
                                                    counters_in_words(needed));
  return {fmt::format("'{}' cannot be counted: {}", event.name, why), "leave it out"};
}

/// Pairs of wanted events as pairs of configurable ones; fixed events are in every pass.
std::vector<EventPair> pairs_among(const std::vector<std::size_t>& events,
                                   std::span<const EventPair> together) {
  const auto position = [&events](std::size_t event) {
    return std::find(events.begin(), events.end(), event);
  };
  std::vector<EventPair> pairs;
  for (const auto& [first, second] : together) {
    const auto a = position(first);
    const auto b = position(second);
    if (a != events.end() && b != events.end() && a != b)
      pairs.emplace_back(a - events.begin(), b - events.begin());
  }
  return pairs;
}

}  // namespace

Result<std::vector<PlacedPass>> place(std::span<const KpepEvent> wanted, CounterMask available,
                                      std::span<const EventPair> together, bool user_only) {
  const Configurable some = configurable_of(wanted, available);
  for (std::size_t i = 0; i < some.masks.size(); ++i) {
    if (some.masks[i] != 0) continue;
    return no_counter_for(wanted[some.events[i]]);
  }
  PlacedPass fixed;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i].is_fixed)
      fixed.push_back({i, static_cast<unsigned>(std::countr_zero(wanted[i].mask)), 0});
  std::sort(fixed.begin(), fixed.end(),
            [](const PlacedEvent& a, const PlacedEvent& b) { return a.counter < b.counter; });

  std::vector<PlacedPass> passes;
  for (const Seating& seats : divide_into_passes(some.masks, pairs_among(some.events, together))) {
    PlacedPass& pass = passes.emplace_back(fixed);
    for (const Seat& seat : seats) {
      const std::size_t event = some.events[seat.event];
      const std::uint64_t number = wanted[event].number;
      pass.push_back({event, seat.counter, user_only ? number | kUserSpaceOnly : number});
    }
  }
  if (passes.empty() && !fixed.empty()) passes.push_back(std::move(fixed));
  return passes;
}

std::optional<Competition> competition_among(std::span<const KpepEvent> wanted,
                                             CounterMask available) {
  const Configurable some = configurable_of(wanted, available);
  auto competition = smallest_competition(some.masks);
  if (competition)
    for (std::size_t& event : competition->events) event = some.events[event];
  return competition;
}

std::vector<std::uint64_t> configuration_words(const PlacedPass& pass, CounterMask available) {
  std::vector<std::uint64_t> words;
  for (const PlacedEvent& placed : pass) {
    if (placed.counter < kFixedCounters) continue;
    words.resize(static_cast<std::size_t>(std::popcount(available)));
    words.at(place_among(available, placed.counter)) = placed.word;
  }
  return words;
}

}  // namespace lauka::engine::kperf
