#include "engine/partition.h"

#include "must.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <set>

#include <doctest/doctest.h>

namespace lauka::engine {
namespace {

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// Counters that an event may use, as bits.
using Mask = std::uint32_t;

// NOLINTNEXTLINE(misc-no-recursion): one level for each event
bool seat(const std::vector<Mask>& masks, const EventIndices& events, std::size_t at, Mask taken) {
  if (at == events.size()) return true;
  for (Mask free = masks[events[at]] & ~taken; free != 0; free &= free - 1)
    if (seat(masks, events, at + 1, taken | (free & (0U - free)))) return true;
  return false;
}

/// A processor whose events may each use certain counters.
FitTest processor(const std::vector<Mask>& masks) {
  return [&masks](const EventIndices& events) -> Result<bool> { return seat(masks, events, 0, 0); };
}

/// The fewest sets, found by trying every division of 0..count-1.
std::size_t fewest_by_brute_force(std::size_t count, const FitTest& fits) {
  std::size_t best = count;
  std::vector<EventIndices> sets;
  const std::function<void(std::size_t)> place = [&](std::size_t event) {
    if (sets.size() >= best) return;
    if (event == count) {
      best = sets.size();
      return;
    }
    // By index: the recursion adds sets.
    const std::size_t there = sets.size();
    for (std::size_t i = 0; i < there; ++i) {
      sets[i].push_back(event);
      if (sets[i].size() < 2 || *fits(sets[i])) place(event + 1);
      sets[i].pop_back();
    }
    sets.push_back({event});
    place(event + 1);
    sets.pop_back();
  };
  place(0);
  return best;
}

/// Edmonds 1965: a matroid needs the maximum over its subsets A of |A| / rank(A), rounded up.
std::size_t fewest_by_edmonds(std::size_t count, const std::vector<Mask>& masks) {
  std::vector<std::size_t> rank(std::size_t{1} << count);
  std::size_t fewest = 1;
  for (std::size_t subset = 1; subset < rank.size(); ++subset) {
    EventIndices events;
    for (std::size_t i = 0; i < count; ++i) {
      if ((subset >> i & 1U) == 0) continue;
      events.push_back(i);
      rank[subset] = std::max(rank[subset], rank[subset & ~(std::size_t{1} << i)]);
    }
    if (seat(masks, events, 0, 0)) rank[subset] = events.size();
    fewest = std::max(fewest, (events.size() + rank[subset] - 1) / rank[subset]);
  }
  return fewest;
}

/// Every event once, and every set fits.
void check_is_division(const std::vector<EventIndices>& sets, std::size_t count,
                       const FitTest& fits) {
  std::multiset<std::size_t> all;
  for (const EventIndices& set : sets) {
    all.insert(set.begin(), set.end());
    CHECK((set.size() < 2 || *fits(set)));
  }
  CHECK(all.size() == count);
  CHECK(std::set<std::size_t>(all.begin(), all.end()).size() == count);
}

/// Checks that there is no smaller division than the one that is found.
void check_smallest(std::size_t count, const FitTest& fits) {
  const auto sets = partition(count, fits, {});
  CHECK(sets->size() == fewest_by_brute_force(count, fits));
  check_is_division(*sets, count, fits);
}

/// As many events as asked for, each of which may use some of the counters.
std::vector<Mask> random_masks(std::mt19937& random, std::size_t events, unsigned counters) {
  std::vector<Mask> masks;
  for (std::size_t i = 0; i < events; ++i)
    masks.push_back(static_cast<Mask>(1U + random() % ((1U << counters) - 1)));
  return masks;
}

}  // namespace

TEST_CASE("events that fit at once are one pass and cost one question") {
  int questions = 0;
  const FitTest fits = [&](const EventIndices&) -> Result<bool> {
    ++questions;
    return true;
  };
  CHECK(*partition(5, fits, {}) == std::vector<EventIndices>{{0, 1, 2, 3, 4}});
  CHECK(questions == 1);
}

TEST_CASE("no events are no passes") {
  CHECK(partition(0, [](const EventIndices&) -> Result<bool> { return true; }, {})->empty());
}

TEST_CASE("a competing group does not fit, and without any one of it the others do") {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const auto masks = random_masks(random, 2 + random() % 6, 4);
    const FitTest fits = processor(masks);
    EventIndices all(masks.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const EventIndices group = must(find_competing_events(masks.size(), fits));
    CHECK(group.empty() == *fits(all));
    if (group.empty()) continue;
    CHECK_FALSE(*fits(group));
    for (const std::size_t event : group) {
      EventIndices others = group;
      std::erase(others, event);
      CHECK((others.size() < 2 || *fits(others)));
    }
  }
}

TEST_CASE("equal counters take as many passes as the division rounded up") {
  for (std::size_t counters = 1; counters <= 6; ++counters) {
    for (std::size_t events = 1; events <= 25; ++events) {
      const FitTest fits = [counters](const EventIndices& set) -> Result<bool> {
        return set.size() <= counters;
      };
      const auto sets = partition(events, fits, {});
      CHECK(sets->size() == (events + counters - 1) / counters);
      check_is_division(*sets, events, fits);
    }
  }
}

TEST_CASE("with fixed counters next to general ones no division is smaller") {
  // Bits 0 to 2: fixed counters of the first three events. Bits 3 to 5: general.
  for (std::size_t events = 1; events <= 8; ++events) {
    std::vector<Mask> masks;
    for (std::size_t i = 0; i < events; ++i) masks.push_back(0b111000U | (i < 3 ? 1U << i : 0U));
    check_smallest(events, processor(masks));
  }
}

TEST_CASE("with events that may use certain counters only no division is smaller") {
  std::mt19937 random(20240601);
  for (int round = 0; round < 300; ++round) {
    const auto masks = random_masks(random, 2 + random() % 6, 4);
    check_smallest(masks.size(), processor(masks));
  }
}

TEST_CASE("where events exclude each other no division of up to eight is smaller") {
  // Not a matroid: a first fit and exchanges are not enough here.
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const std::size_t events = 3 + random() % 6;
    // One bit for each event that the event cannot be with.
    std::vector<std::size_t> excluded(events);
    for (std::size_t& others : excluded) {
      others = random();
      others &= random();
    }
    const FitTest fits = [&excluded](const EventIndices& set) -> Result<bool> {
      std::size_t present = 0;
      for (const std::size_t event : set) present |= std::size_t{1} << event;
      const bool clash = std::any_of(set.begin(), set.end(), [&](std::size_t event) {
        return (excluded[event] & present & ~(std::size_t{1} << event)) != 0;
      });
      return !clash && set.size() <= 4;
    };
    check_smallest(events, fits);
  }
}

TEST_CASE("thirteen events on restricted counters take what Edmonds' formula says") {
  std::mt19937 random(99);
  for (int round = 0; round < 20; ++round) {
    const auto masks = random_masks(random, 13, 5);
    const FitTest fits = processor(masks);
    const auto sets = partition(13, fits, {});
    CHECK(sets->size() == fewest_by_edmonds(13, masks));
    check_is_division(*sets, 13, fits);
  }
}

TEST_CASE("events of one ratio share a pass where that costs none") {
  const FitTest two_at_once = [](const EventIndices& set) -> Result<bool> {
    return set.size() <= 2;
  };
  CHECK(*partition(4, two_at_once, Pairs{{0, 3}, {1, 2}}) ==
        std::vector<EventIndices>{{0, 3}, {1, 2}});
}

TEST_CASE("events of one ratio are parted where keeping them together would cost a pass") {
  // 0 and 1 may share a set with each other; but 0 with 2, 1 with 3 is the only way to two sets.
  const FitTest fits = [](const EventIndices& set) -> Result<bool> {
    return set == EventIndices{0, 1} || set == EventIndices{0, 2} || set == EventIndices{1, 3};
  };
  CHECK(*partition(4, fits, Pairs{{0, 1}}) == std::vector<EventIndices>{{0, 2}, {1, 3}});
}

TEST_CASE("a question that cannot be answered refuses the division") {
  const FitTest fits = [](const EventIndices&) -> Result<bool> {
    return Error{"out of descriptors", ""};
  };
  CHECK(partition(3, fits, {}).error().what == "out of descriptors");
}

}  // namespace lauka::engine
