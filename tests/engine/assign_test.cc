#include "engine/kpep_tables.h"
#include "engine/kperf/selection.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include <doctest/doctest.h>

namespace lauka::engine::kperf {
namespace {

using Masks = std::vector<CounterMask>;

/// Applies kpep_config_add_event's rule: one event after the other, each on the lowest free counter
/// of its mask. Returns the counter of each event; nullopt if one finds none.
std::optional<std::vector<unsigned>> add_greedily(const Masks& masks) {
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

constexpr CounterMask kOnlyPmc7 = 0x80;
constexpr CounterMask kPmc5To7 = 0xe0;
constexpr CounterMask kPmc2To7 = 0xfc;
constexpr CounterMask kAny = 0x3fc;

const std::vector<std::string> kChips = {"m1", "m2", "m3", "m4", "m5"};

/// Tries every assignment: independent of the solver.
// NOLINTNEXTLINE(misc-no-recursion): at most as deep as there are events
bool fits_by_brute_force(std::span<const CounterMask> masks, CounterMask taken = 0) {
  if (masks.empty()) return true;
  for (CounterMask bit = 1; bit != 0 && bit <= masks.front(); bit <<= 1U)
    if ((masks.front() & bit & ~taken) != 0 && fits_by_brute_force(masks.subspan(1), taken | bit))
      return true;
  return false;
}

bool greedy_fits_in_some_order(Masks masks) {
  std::sort(masks.begin(), masks.end());
  do {
    if (add_greedily(masks)) return true;
  } while (std::next_permutation(masks.begin(), masks.end()));
  return false;
}

/// Hall's bound: T4.
std::size_t passes_by_bound(const Masks& masks) {
  const CounterMask used =
      std::accumulate(masks.begin(), masks.end(), CounterMask{0}, std::bit_or<>());
  std::size_t most = 0;
  for (CounterMask counters = used; counters != 0; counters = (counters - 1) & used) {
    const auto confined = static_cast<std::size_t>(std::count_if(
        masks.begin(), masks.end(), [&](CounterMask mask) { return (mask & ~counters) == 0; }));
    const auto size = static_cast<std::size_t>(std::popcount(counters));
    most = std::max(most, (confined + size - 1) / size);
  }
  return most;
}

/// Checks that the framework, given the events in the order of the seats, puts each in its seat.
void check_agrees_with_the_framework(const PlacedPass& places, const Masks& masks) {
  Masks in_order;
  for (const PlacedEvent& placed : places) in_order.push_back(masks[placed.event_index]);
  const auto counters = add_greedily(in_order).value();
  for (std::size_t i = 0; i < places.size(); ++i) {
    CHECK(counters[i] == places[i].counter);
    CHECK((i == 0 || places[i - 1].counter < places[i].counter));
  }
}

/// Checks that the passes are the fewest, hold every event once, and can be added one by one.
void check_division(const std::vector<PlacedPass>& passes, const Masks& masks) {
  CHECK(passes.size() == passes_by_bound(masks));
  std::set<std::size_t> seen;
  std::size_t events = 0;
  for (const PlacedPass& places : passes) {
    check_agrees_with_the_framework(places, masks);
    for (const PlacedEvent& placed : places) seen.insert(placed.event_index);
    events += places.size();
  }
  CHECK(events == masks.size());
  CHECK(seen.size() == masks.size());
}

std::size_t pass_of(const std::vector<PlacedPass>& passes, std::size_t event) {
  for (std::size_t i = 0; i < passes.size(); ++i)
    for (const PlacedEvent& placed : passes[i])
      if (placed.event_index == event) return i;
  return passes.size();
}

/// Any masks of `counters` counters, none of them empty.
Masks random_masks(std::mt19937_64& random, std::size_t count, unsigned counters) {
  Masks masks;
  while (masks.size() < count)
    if (const auto mask = static_cast<CounterMask>(random() & ((1U << counters) - 1)); mask != 0)
      masks.push_back(mask);
  return masks;
}

/// The masks of `count` different events of `all`, in random order.
Masks random_set(std::mt19937_64& random, Masks all, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) std::swap(all[i], all[i + random() % (all.size() - i)]);
  all.resize(count);
  return all;
}

TEST_CASE("the framework's rule takes the lowest free counter, whatever comes later") {
  // Six general events take PMC2-7, and INST_LDST finds PMC7 taken: the articles' example.
  Masks order(6, kAny);
  order.push_back(kOnlyPmc7);
  CHECK_FALSE(add_greedily(order).has_value());
  std::swap(order[5], order[6]);
  CHECK(add_greedily(order) == std::vector<unsigned>{2, 3, 4, 5, 6, 7, 8});
}

TEST_CASE("a set that fits is placed in whatever order it was asked for") {
  Masks masks(6, kAny);
  masks.push_back(kOnlyPmc7);
  const PlacedPass places = place_all(masks).value();
  check_agrees_with_the_framework(places, masks);
  CHECK(std::find(places.begin(), places.end(), PlacedEvent{6, 7}) != places.end());
}

TEST_CASE("ascending masks are not enough where masks are not nested: the matching decides") {
  CHECK_FALSE(add_greedily(Masks{0b011, 0b100, 0b101}).has_value());
  CHECK(place_all(Masks{0b011, 0b100, 0b101}) == PlacedPass{{2, 0}, {0, 1}, {1, 2}});
}

TEST_CASE("the default events of M2 sit where the facts say: PMC2, 7, 5 and 6") {
  CHECK(add_greedily(Masks{kAny, kOnlyPmc7, kPmc5To7, kPmc5To7}) ==
        std::vector<unsigned>{2, 7, 5, 6});
  CHECK(add_greedily(Masks{kAny, kPmc2To7, kPmc2To7, kPmc2To7}) ==
        std::vector<unsigned>{2, 3, 4, 5});
}

TEST_CASE("a set fits exactly if the framework takes it in some order") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 400; ++i) {
    const Masks masks = random_masks(random, 1 + random() % 6, 5);
    CAPTURE(masks);
    const auto places = place_all(masks);
    CHECK(places.has_value() == greedy_fits_in_some_order(masks));
    CHECK(places.has_value() == fits_at_once(masks));
    CHECK(places.has_value() == fits_by_brute_force(masks));
    if (places) check_agrees_with_the_framework(*places, masks);
  }
}

TEST_CASE("passes are the fewest by Hall's bound on 1,500 random sets of the chips' events") {
  std::mt19937_64 random(2);
  for (const std::string& chip : kChips) {
    const Masks all = configurable_masks(table_of(chip));
    REQUIRE(all.size() > 50);
    for (int i = 0; i < 300; ++i) {
      const Masks masks = random_set(random, all, 1 + random() % 30);
      const auto passes = divide_into_passes(masks, {});
      REQUIRE(passes.size() == passes_by_bound(masks));
      if (i % 20 == 0) check_division(passes, masks);
    }
  }
}

TEST_CASE("all events of a chip need as many passes as the facts say") {
  const std::map<std::string, std::size_t> expected = {
      {"m1", 9}, {"m2", 9}, {"m3", 9}, {"m4", 13}, {"m5", 13}};
  for (const std::string& chip : kChips) {
    CAPTURE(chip);
    const Masks masks = configurable_masks(table_of(chip));
    const auto passes = divide_into_passes(masks, {});
    CHECK(passes.size() == expected.at(chip));
    check_division(passes, masks);
  }
}

TEST_CASE("small sets need as many passes as the facts say") {
  const auto passes = [](std::size_t only_7, std::size_t few, CounterMask few_mask,
                         std::size_t any) {
    Masks masks(only_7, kOnlyPmc7);
    masks.insert(masks.end(), few, few_mask);
    masks.insert(masks.end(), any, kAny);
    return divide_into_passes(masks, {}).size();
  };
  CHECK(passes(0, 0, kPmc5To7, 0) == 0);
  CHECK(passes(0, 0, kPmc5To7, 8) == 1);
  CHECK(passes(0, 0, kPmc5To7, 9) == 2);
  CHECK(passes(1, 2, kPmc5To7, 5) == 1);
  CHECK(passes(2, 0, kPmc5To7, 0) == 2);
  CHECK(passes(6, 0, kPmc5To7, 0) == 6);
  CHECK(passes(0, 4, kPmc5To7, 0) == 2);
  CHECK(passes(1, 3, kPmc5To7, 0) == 2);
  CHECK(passes(0, 18, kPmc5To7, 0) == 6);
  CHECK(passes(0, 19, kPmc5To7, 0) == 7);
  CHECK(passes(0, 6, kPmc2To7, 0) == 1);
  CHECK(passes(1, 6, kPmc2To7, 0) == 2);
}

std::uint64_t binomial(std::uint64_t n, std::uint64_t k) {
  if (k > n) return 0;
  std::uint64_t result = 1;
  for (std::uint64_t i = 0; i < k; ++i) result = result * (n - i) / (i + 1);
  return result;
}

/// How many events of each mask there are.
using Available = std::map<CounterMask, std::uint64_t>;

/// Returns how many sets of `size` events, with those already taken, do not fit, which brute force
/// must find too. Events of one mask are alike, so each way to take so many of each mask is tried
/// once and counted as often as events can be taken so.
// NOLINTNEXTLINE(misc-no-recursion): as deep as there are masks
std::uint64_t count_unfit(const Available& left, std::size_t size, Masks taken = {}) {
  if (left.empty()) {
    if (size != 0) return 0;
    const bool fits = fits_at_once(taken);
    REQUIRE(fits == fits_by_brute_force(taken));
    return fits ? 0 : 1;
  }
  Available rest = left;
  const auto [mask, available] = *rest.begin();
  rest.erase(rest.begin());
  std::uint64_t unfit = 0;
  for (std::size_t count = 0; count <= size; ++count) {
    unfit += binomial(available, count) * count_unfit(rest, size - count, taken);
    taken.push_back(mask);
  }
  return unfit;
}

TEST_CASE("up to five events of each chip fit exactly where brute force finds a placing") {
  // Each combination of masks; scripts/bench solver goes through the sets one by one. How many
  // fives of configurable events do not fit was also counted by a program in another language.
  const std::map<std::string, std::uint64_t> unfit_fives = {
      {"m1", 877'605}, {"m2", 1'058'349}, {"m3", 1'345'110}, {"m4", 1'568'981}, {"m5", 1'568'981}};
  for (const std::string& chip : kChips) {
    CAPTURE(chip);
    Available all;
    Available configurable;
    for (const KpepEvent& event : table_of(chip)) {
      ++all[event.mask];
      if (!event.is_fixed) ++configurable[event.mask];
    }
    for (std::size_t size = 1; size <= 5; ++size) count_unfit(all, size);
    CHECK(count_unfit(configurable, 5) == unfit_fives.at(chip));
  }
}

TEST_CASE(
    "sets of M2 that do not fit, or not in the order of names, are as many as the articles say") {
  std::vector<KpepEvent> events = table_of("m2");
  const auto leave_out = [&](const std::set<std::string>& names) {
    std::erase_if(events, [&](const KpepEvent& event) { return names.contains(event.name); });
  };
  const auto unfit = [&](std::size_t size) {
    Available all;
    for (const KpepEvent& event : events) ++all[event.mask];
    return count_unfit(all, size);
  };
  // The articles' machine has not the events of newer databases.
  leave_out({"SCHEDULE_EMPTY", "ST_MEM_ORDER_VIOL_LD_NONSPEC", "INST_SIMD_ALU_VEC"});
  REQUIRE(events.size() == 60);
  CHECK(unfit(2) == 15);
  CHECK(unfit(3) == 830);
  CHECK(unfit(4) == 32'250);
  // Their sets of seven are of 55 events.
  leave_out({"ST_NT_UOP", "ST_UNIT_UOP", "LD_NT_UOP"});
  std::erase_if(events, [](const KpepEvent& event) { return event.is_fixed; });
  REQUIRE(events.size() == 55);
  std::sort(events.begin(), events.end(),
            [](const KpepEvent& a, const KpepEvent& b) { return a.name < b.name; });
  // In how many ways so many events are added greedily and take these counters.
  std::map<std::pair<std::size_t, CounterMask>, std::uint64_t> added{{{0, 0}, 1}};
  for (const KpepEvent& event : events) {
    auto next = added;
    for (const auto& [so_far, ways] : added) {
      const auto& [count, taken] = so_far;
      const CounterMask free = event.mask & ~taken;
      if (count < 7 && free != 0)
        next[{count + 1, static_cast<CounterMask>(taken | (free & (~free + 1)))}] += ways;
    }
    added = std::move(next);
  }
  std::uint64_t refused = binomial(55, 7);
  CHECK(refused == 202'927'725);
  for (const auto& [so_far, ways] : added) refused -= so_far.first == 7 ? ways : 0;
  CHECK(refused == 109'433'531);
  CHECK(unfit(7) == 90'760'365);
  CHECK(refused - unfit(7) == 18'673'166);
}

TEST_CASE("the smallest group that competes is named with its counters") {
  const Masks masks = {kAny, kOnlyPmc7, kPmc5To7, kOnlyPmc7, kPmc5To7, kPmc5To7, kOnlyPmc7};
  const auto competition = smallest_competition(masks).value();
  CHECK(competition.events == std::vector<std::size_t>{1, 3});
  CHECK(competition.counters == kOnlyPmc7);
  CHECK(competition.other_competitors == 1);
  const auto four =
      smallest_competition(Masks{kPmc5To7, kAny, kPmc5To7, kPmc5To7, kOnlyPmc7}).value();
  CHECK(four.events == std::vector<std::size_t>{0, 2, 3, 4});
  CHECK(four.counters == kPmc5To7);
  CHECK(smallest_competition(Masks(8, kAny)) == std::nullopt);
  CHECK(smallest_competition(Masks(9, kAny))->events.size() == 9);
}

TEST_CASE("a competing group does not fit, and every smaller one does") {
  std::mt19937_64 random(4);
  for (int i = 0; i < 300; ++i) {
    const Masks masks = random_masks(random, 1 + random() % 8, 5);
    CAPTURE(masks);
    const auto competition = smallest_competition(masks);
    CHECK(competition.has_value() != fits_at_once(masks));
    if (!competition) continue;
    Masks group;
    for (const std::size_t event : competition->events) group.push_back(masks[event]);
    CHECK_FALSE(fits_by_brute_force(group));
    // No group of fewer events is at odds: all subsets of one event less than the group.
    for (unsigned subset = 0; subset < (1U << masks.size()); ++subset) {
      if (static_cast<std::size_t>(std::popcount(subset)) + 1 != group.size()) continue;
      Masks smaller;
      for (std::size_t event = 0; event < masks.size(); ++event)
        if (((subset >> event) & 1U) != 0) smaller.push_back(masks[event]);
      CHECK(fits_by_brute_force(smaller));
    }
  }
}

TEST_CASE("any two events of a chip that fit share a pass, whatever else is counted") {
  std::mt19937_64 random(5);
  for (const std::string& chip : kChips) {
    const Masks all = configurable_masks(table_of(chip));
    for (int i = 0; i < 40; ++i) {
      const Masks masks = random_set(random, all, 2 + random() % 25);
      const std::vector<EventPair> pair = {{0, masks.size() - 1}};
      const auto passes = divide_into_passes(masks, pair);
      check_division(passes, masks);
      if (fits_at_once(Masks{masks.front(), masks.back()}))
        CHECK(pass_of(passes, 0) == pass_of(passes, masks.size() - 1));
    }
  }
}

}  // namespace
}  // namespace lauka::engine::kperf
