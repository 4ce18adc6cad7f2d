#include "engine/kperf/assign.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>

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
// The least k is found here by looking for f; tests compare it with T4 and with brute force.

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
  // NOLINTNEXTLINE(misc-no-recursion): each call tries a counter that was not tried before
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

/// f of T3, by augmenting paths (Kuhn).
class Loading {
 public:
  Loading(std::span<const CounterMask> masks, std::size_t capacity)
      : masks_(masks), capacity_(capacity) {}

  /// False where no f exists.
  bool load_all() {
    for (std::size_t event = 0; event < masks_.size(); ++event) {
      tried_ = 0;
      if (!place(event)) return false;
    }
    return true;
  }

  const std::vector<std::size_t>& on(unsigned counter) const { return on_[counter]; }

 private:
  // NOLINTNEXTLINE(misc-no-recursion): each call tries a counter that was not tried before
  bool place(std::size_t event) {
    for (unsigned counter = 0; counter < kMostCounters; ++counter) {
      if (!may_use(masks_[event], counter) || may_use(tried_, counter)) continue;
      tried_ |= CounterMask{1} << counter;
      std::vector<std::size_t>& load = on_[counter];
      if (load.size() < capacity_) {
        load.push_back(event);
        return true;
      }
      for (std::size_t& other : load) {
        if (!place(other)) continue;
        other = event;
        return true;
      }
    }
    return false;
  }

  std::span<const CounterMask> masks_;
  std::size_t capacity_;
  CounterMask tried_ = 0;
  std::array<std::vector<std::size_t>, kMostCounters> on_;
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
    std::sort(seats.begin(), seats.end(),
              [](const Seat& a, const Seat& b) { return a.counter < b.counter; });
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

/// The sets of a division while events change places. Events that must stay together are a block.
class Exchange {
 public:
  using Block = std::vector<std::size_t>;
  using Set = std::vector<Block>;

  Exchange(std::span<const CounterMask> masks, std::vector<Set> sets)
      : masks_(masks), sets_(std::move(sets)) {}

  /// Puts the blocks of two events into one set, if at most two blocks of that set have to make
  /// room for them.
  void bring_together(const EventPair& pair) {
    const Place first = place_of(pair.first);
    const Place second = place_of(pair.second);
    if (first.set == second.set) {
      if (first.block != second.block) join(first.set, pair);
      return;
    }
    for (std::size_t target = 0; target < sets_.size(); ++target)
      if (gather(pair, target)) return join(target, pair);
  }

  const std::vector<Set>& sets() const { return sets_; }

 private:
  struct Place {
    std::size_t set = 0;
    std::size_t block = 0;
  };

  Place place_of(std::size_t event) const {
    for (std::size_t set = 0; set < sets_.size(); ++set)
      for (std::size_t block = 0; block < sets_[set].size(); ++block)
        if (std::find(sets_[set][block].begin(), sets_[set][block].end(), event) !=
            sets_[set][block].end())
          return {set, block};
    return {};
  }

  void join(std::size_t set, const EventPair& pair) {
    const Place first = place_of(pair.first);
    const Place second = place_of(pair.second);
    Set& blocks = sets_[set];
    blocks[first.block].insert(blocks[first.block].end(), blocks[second.block].begin(),
                               blocks[second.block].end());
    blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(second.block));
  }

  bool fits(const Set& set) const {
    std::vector<std::size_t> events;
    for (const Block& block : set) events.insert(events.end(), block.begin(), block.end());
    return fits_at_once(masks_of(masks_, events));
  }

  static Block take(Set& set, std::size_t block) {
    Block taken = std::move(set[block]);
    set.erase(set.begin() + static_cast<std::ptrdiff_t>(block));
    return taken;
  }

  /// Moves both blocks to `target`; up to two others go where they came from.
  bool gather(const EventPair& pair, std::size_t target) {
    std::vector<Set> sets = sets_;
    std::vector<std::size_t> sources;
    Set moved;
    for (const std::size_t event : {pair.first, pair.second}) {
      const Place place = place_of(event);
      moved.push_back(take(sets[place.set], place.block));
      if (place.set != target) sources.push_back(place.set);
    }
    const std::size_t others = sets[target].size();
    for (Block& block : moved) sets[target].push_back(std::move(block));
    return try_moves(sets, {target, others}, sources, 2);
  }

  /// `open`: the target and how many of its blocks, from the front, may still leave it.
  // NOLINTNEXTLINE(misc-no-recursion): at most `moves` deep
  bool try_moves(const std::vector<Set>& sets, Place open, const std::vector<std::size_t>& sources,
                 int moves) {
    const auto all_fit = [&] {
      return fits(sets[open.set]) && std::all_of(sources.begin(), sources.end(),
                                                 [&](std::size_t set) { return fits(sets[set]); });
    };
    if (all_fit()) {
      sets_ = sets;
      return true;
    }
    for (std::size_t block = open.block; moves > 0 && block-- > 0;) {
      for (const std::size_t source : sources) {
        std::vector<Set> changed = sets;
        changed[source].push_back(take(changed[open.set], block));
        if (try_moves(changed, {open.set, block}, sources, moves - 1)) return true;
      }
    }
    return false;
  }

  std::span<const CounterMask> masks_;
  std::vector<Set> sets_;
};

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

std::size_t fewest_passes(std::span<const CounterMask> masks) {
  std::size_t passes = 0;
  if (masks.empty()) return passes;
  do ++passes;
  while (passes < masks.size() && !Loading(masks, passes).load_all());
  return passes;
}

std::vector<Seating> divide_into_passes(std::span<const CounterMask> masks,
                                        std::span<const EventPair> together) {
  const std::size_t passes = fewest_passes(masks);
  Loading loading(masks, passes);
  if (passes == 0 || !loading.load_all()) return {};
  std::vector<Exchange::Set> sets(passes);
  for (unsigned counter = 0; counter < kMostCounters; ++counter) {
    std::vector<std::size_t> load = loading.on(counter);
    std::sort(load.begin(), load.end());
    for (std::size_t i = 0; i < load.size(); ++i) sets[i].push_back({load[i]});
  }
  Exchange exchange(masks, std::move(sets));
  for (const EventPair& pair : together) exchange.bring_together(pair);

  std::vector<Seating> seatings;
  for (const Exchange::Set& set : exchange.sets()) {
    std::vector<std::size_t> events;
    for (const Exchange::Block& block : set)
      events.insert(events.end(), block.begin(), block.end());
    std::sort(events.begin(), events.end());
    Seating seating = seat_all(masks_of(masks, events)).value_or(Seating{});
    for (Seat& seat : seating) seat.event = events[seat.event];
    if (!seating.empty()) seatings.push_back(std::move(seating));
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
    const auto confined = std::count_if(masks.begin(), masks.end(), [counters](CounterMask mask) {
      return (mask & ~counters) == 0;
    });
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

}  // namespace lauka::engine::kperf
