#include "engine/kperf/placement.h"

#include "engine/kperf/abi.h"
#include "engine/partition.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>

#include <fmt/format.h>

// Let S(e) be the counters of event e, and "greedy" the framework's rule: events in some order,
// each on the lowest free counter of S(e).
//
// T1. Greedy succeeds in some order iff a matching m exists (m(e) in S(e), no counter twice). A
//     greedy success is such a matching; the other way is T2.
// T2. Greedy in ascending order of m(e) succeeds, for any matching m, with g(e) <= m(e). By
//     induction: the counters taken before step j are g(ei) <= m(ei) < m(ej) for i < j, so m(ej) is
//     still free, and the lowest free counter of S(ej) exists and is not above it.
// T3. k passes are enough iff a map f with f(e) in S(e) puts at most k events on each counter. A
//     division into k matchings is such an f; and from such an f, deal the events of each counter
//     to different passes: each pass then has at most one on each counter.
// T4. By Hall's theorem f exists iff, for every set X of counters, at most k|X| events have S(e)
//     within X. So the least k is the largest ceil(#{e: S(e) within X} / |X|).
//
// engine/partition.h finds the least k; tests compare it with T4 and with brute force.

namespace lauka::engine::kperf {
namespace {

constexpr CounterMask kAllCounters = (CounterMask{1} << kMostCounters) - 1;

bool may_use(CounterMask mask, unsigned counter) {
  return ((mask >> counter) & 1U) != 0;
}

/// A matching of at most kMostCounters events, by augmenting paths (Kuhn). Sets by the hundred
/// million are tried (scripts/bench-solver), so it allocates nothing.
class Matching {
 public:
  explicit Matching(std::span<const CounterMask> masks) : masks_(masks) {}

  /// False where there is none.
  bool match_all() {
    if (masks_.size() > kMostCounters) return false;
    for (std::size_t event = 0; event < masks_.size(); ++event) {
      CounterMask untried = kAllCounters;
      if (!place(event, untried)) return false;
    }
    return true;
  }

  Seating seats() const {
    Seating seats;
    for (unsigned counter = 0; counter < kMostCounters; ++counter)
      if (may_use(taken_, counter)) seats.push_back({on_[counter], counter});
    return seats;
  }

 private:
  // each call tries a counter that was not tried before
  bool place(std::size_t event, CounterMask& untried) {
    const CounterMask free = masks_[event] & kAllCounters & ~taken_;
    if (free != 0) {
      put(event, static_cast<unsigned>(std::countr_zero(free)));
      return true;
    }
    while ((masks_[event] & untried) != 0) {
      const auto counter = static_cast<unsigned>(std::countr_zero(masks_[event] & untried));
      untried &= ~(CounterMask{1} << counter);
      if (!place(on_[counter], untried)) continue;
      put(event, counter);
      return true;
    }
    return false;
  }

  void put(std::size_t event, unsigned counter) {
    on_[counter] = static_cast<std::uint8_t>(event);
    taken_ |= CounterMask{1} << counter;
  }

  std::span<const CounterMask> masks_;
  CounterMask taken_ = 0;
  std::array<std::uint8_t, kMostCounters> on_{};
};

std::vector<CounterMask> masks_of(std::span<const CounterMask> masks,
                                  const std::vector<std::size_t>& events) {
  std::vector<CounterMask> chosen;
  chosen.reserve(events.size());
  for (const std::size_t event : events) chosen.push_back(masks[event]);
  return chosen;
}

/// The counters that greedy gives in ascending order of those that there are may be lower (T2), and
/// in an order of their own. Each turn lowers a counter, or all stay as they are.
void settle(Seating& seats, std::span<const CounterMask> masks) {
  for (;;) {
    std::ranges::sort(seats, [](const Seat& a, const Seat& b) { return a.counter < b.counter; });
    std::vector<CounterMask> in_order;
    for (const Seat& seat : seats) in_order.push_back(masks[seat.event]);
    const auto counters = add_greedily(in_order);
    bool lowered = false;
    for (std::size_t i = 0; counters && i < seats.size(); ++i) {
      lowered = lowered || seats[i].counter != (*counters)[i];
      seats[i].counter = (*counters)[i];
    }
    if (!lowered) return;
  }
}

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
  const auto position = [&events](std::size_t event) { return std::ranges::find(events, event); };
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

std::optional<std::vector<unsigned>> add_greedily(std::span<const CounterMask> masks) {
  std::vector<unsigned> counters;
  counters.reserve(masks.size());
  CounterMask taken = 0;
  for (const CounterMask mask : masks) {
    const CounterMask free = mask & ~taken;
    if (free == 0) return std::nullopt;
    counters.push_back(static_cast<unsigned>(std::countr_zero(free)));
    taken |= free & (~free + 1);
  }
  return counters;
}

bool fits_at_once(std::span<const CounterMask> masks) {
  return Matching(masks).match_all();
}

std::optional<Seating> seat_all(std::span<const CounterMask> masks) {
  Matching matching(masks);
  if (!matching.match_all()) return std::nullopt;
  Seating seats = matching.seats();
  settle(seats, masks);
  return seats;
}

std::vector<Seating> divide_into_passes(std::span<const CounterMask> masks,
                                        std::span<const EventPair> together) {
  const auto fits = [masks](const EventIndices& events) -> Result<bool> {
    return fits_at_once(masks_of(masks, events));
  };
  const auto sets = partition(masks.size(), fits, {together.begin(), together.end()});
  std::vector<Seating> seatings;
  for (const EventIndices& events : *sets) {  // such a question is never refused
    Seating seating = seat_all(masks_of(masks, events)).value_or(Seating{});
    for (Seat& seat : seating) seat.event = events[seat.event];
    seatings.push_back(std::move(seating));
  }
  return seatings;
}

std::optional<Competition> smallest_competition(std::span<const CounterMask> masks) {
  CounterMask used = 0;
  for (const CounterMask mask : masks) used |= mask;
  std::optional<CounterMask> smallest;
  // Every set of counters, from the largest number down.
  for (CounterMask counters = used; counters != 0; counters = (counters - 1) & used) {
    if (smallest && std::popcount(counters) > std::popcount(*smallest)) continue;
    const auto confined = std::ranges::count_if(
        masks, [counters](CounterMask mask) { return (mask & ~counters) == 0; });
    if (confined > std::popcount(counters)) smallest = counters;
  }
  if (!smallest) return std::nullopt;
  Competition competition{.events = {}, .counters = *smallest};
  const auto enough = static_cast<std::size_t>(std::popcount(*smallest)) + 1;
  for (std::size_t event = 0; event < masks.size(); ++event) {
    if ((masks[event] & ~*smallest) != 0) continue;
    if (competition.events.size() < enough)
      competition.events.push_back(event);
    else
      ++competition.others;
  }
  return competition;
}

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
  std::ranges::sort(
      fixed, [](const PlacedEvent& a, const PlacedEvent& b) { return a.counter < b.counter; });

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
