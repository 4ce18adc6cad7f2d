// Counts, one by one, the promises about placing events on Apple's counters; see scripts/bench
// solver. Every broken one is reported, and the exit status is then 1.

#include "engine/kpep_tables.h"
#include "engine/kperf/selection.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>

namespace {

using namespace lauka::engine::kperf;
using Masks = std::vector<CounterMask>;

constexpr CounterMask kAny = 0b1111111100;
constexpr CounterMask kOnlyPmc7 = 0b0010000000;

/// Prints findings next to claims.
class Claims {
 public:
  void claim(std::string_view what, std::uint64_t found, std::uint64_t expected) {
    fmt::print("  {:<62} {:>12}{}\n", what, found, found == expected ? "" : "  NOT AS CLAIMED");
    all_hold_ = all_hold_ && found == expected;
  }
  bool all_hold() const { return all_hold_; }

 private:
  bool all_hold_ = true;
};

/// CPU time: other programs on the machine do not count.
class Stopwatch {
 public:
  double seconds() const {
    return static_cast<double>(std::clock() - start_) / static_cast<double>(CLOCKS_PER_SEC);
  }

 private:
  std::clock_t start_ = std::clock();
};

/// Tries every assignment, highest counter first, so that it has nothing in common with the solver.
bool fits_by_brute_force(const CounterMask* masks, std::size_t count, CounterMask taken) {
  if (count == 0) return true;
  for (CounterMask free = masks[0] & ~taken; free != 0;) {
    const CounterMask highest = std::bit_floor(free);
    if (fits_by_brute_force(masks + 1, count - 1, taken | highest)) return true;
    free &= ~highest;
  }
  return false;
}

/// Calls `visit` with the masks of every set of `size` events, in the order of `masks`.
template <typename Visit>
void for_each_set(const Masks& masks, std::size_t size, const Visit& visit) {
  std::array<std::size_t, 8> index{};
  std::array<CounterMask, 8> chosen{};
  for (std::size_t i = 0; i < size; ++i) index[i] = i;
  for (;;) {
    for (std::size_t i = 0; i < size; ++i) chosen[i] = masks[index[i]];
    visit(chosen.data());
    std::size_t at = size;
    while (at > 0 && index[at - 1] == masks.size() - size + at - 1) --at;
    if (at == 0) return;
    ++index[at - 1];
    for (std::size_t i = at; i < size; ++i) index[i] = index[i - 1] + 1;
  }
}

/// The articles' 55 events of M2 (tests/data/kpep, README of the tables), in the order of names.
Masks events_of_the_articles() {
  constexpr std::array<const char*, 6> kLeftOut = {
      "SCHEDULE_EMPTY",    "ST_MEM_ORDER_VIOL_LD_NONSPEC",
      "INST_SIMD_ALU_VEC", "ST_NT_UOP",
      "ST_UNIT_UOP",       "LD_NT_UOP"};
  std::vector<KpepEvent> events = table_of("m2");
  std::erase_if(events, [&](const KpepEvent& event) {
    return event.is_fixed ||
           std::find(kLeftOut.begin(), kLeftOut.end(), event.name) != kLeftOut.end();
  });
  std::sort(events.begin(), events.end(),
            [](const KpepEvent& a, const KpepEvent& b) { return a.name < b.name; });
  return configurable_masks(events);
}

/// The framework's rule: each on the lowest free counter of its mask.
bool greedy_takes(const CounterMask* masks, std::size_t count) {
  CounterMask taken = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const CounterMask free = masks[i] & ~taken;
    if (free == 0) return false;
    taken |= free & (~free + 1);
  }
  return true;
}

/// No two that need PMC7, no four that need PMC5-7: the articles' pairs and quadruples at odds.
bool has_no_small_conflict(const CounterMask* masks, std::size_t count) {
  std::size_t only_7 = 0;
  std::size_t few = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (masks[i] == kOnlyPmc7) ++only_7;
    if (masks[i] != kAny) ++few;
  }
  return only_7 < 2 && few < 4;
}

/// True if the framework, given the solver's order, puts each event where the solver says.
bool framework_agrees(const PlacedPass& places, const CounterMask* masks) {
  CounterMask taken = 0;
  for (const PlacedEvent& placed : places) {
    const CounterMask free = masks[placed.event_index] & ~taken;
    if (free == 0 || static_cast<unsigned>(std::countr_zero(free)) != placed.counter) return false;
    taken |= free & (~free + 1);
  }
  return true;
}

void count_sets_of_seven(Claims& claims, const Masks& masks) {
  const Stopwatch stopwatch;
  std::uint64_t sets = 0;
  std::uint64_t refused = 0;
  std::uint64_t unfit = 0;
  std::uint64_t by_order = 0;
  std::uint64_t disagreed = 0;
  for_each_set(masks, 7, [&](const CounterMask* set) {
    ++sets;
    const bool fits = fits_at_once({set, 7});
    if (!fits) ++unfit;
    if (greedy_takes(set, 7)) return;
    ++refused;
    if (!fits) return;
    ++by_order;
    const auto places = place_all({set, 7});
    if (!places || places->size() != 7 || !framework_agrees(*places, set)) ++disagreed;
  });
  fmt::print("sets of 7 of the articles' {} events of M2, in the order of names\n", masks.size());
  claims.claim("sets", sets, 202'927'725);
  claims.claim("the framework's rule refuses", refused, 109'433'531);
  claims.claim("lauka refuses", unfit, 90'760'365);
  claims.claim("lauka accepts, refused by the rule for their order alone", by_order, 18'673'166);
  claims.claim("of these, not taken by the framework in lauka's order", disagreed, 0);
  fmt::print("  {:.1f} s of CPU time\n\n", stopwatch.seconds());
}

void check_sets_of_seven(Claims& claims, const Masks& masks) {
  const Stopwatch stopwatch;
  std::uint64_t wrong = 0;
  std::uint64_t other_reason = 0;
  for_each_set(masks, 7, [&](const CounterMask* set) {
    const bool fits = fits_by_brute_force(set, 7, 0);
    if (fits_at_once({set, 7}) != fits) ++wrong;
    if (has_no_small_conflict(set, 7) != fits) ++other_reason;
  });
  fmt::print("the same sets, against every assignment\n");
  claims.claim("lauka accepts or refuses another set than fits", wrong, 0);
  claims.claim("unfit without a pair or four at odds, or fit with them", other_reason, 0);
  fmt::print("  {:.1f} s of CPU time\n\n", stopwatch.seconds());
}

/// The number of sets of `size` (2 to 5) that do not fit, from a program in another language that
/// multiplies the ways to take events of each mask.
std::uint64_t unfit_of(std::string_view chip, std::size_t size) {
  constexpr std::array<std::uint64_t, 4> kM1 = {15, 845, 35'075, 877'605};
  constexpr std::array<std::uint64_t, 4> kM2 = {21, 1'169, 44'801, 1'058'349};
  constexpr std::array<std::uint64_t, 4> kM3 = {21, 1'295, 52'130, 1'345'110};
  constexpr std::array<std::uint64_t, 4> kM4 = {10, 990, 48'515, 1'568'981};
  if (chip == "m1") return kM1.at(size - 2);
  if (chip == "m2") return kM2.at(size - 2);
  return chip == "m3" ? kM3.at(size - 2) : kM4.at(size - 2);
}

void classify_small_sets(Claims& claims) {
  for (const char* chip : {"m1", "m2", "m3", "m4", "m5"}) {
    const Stopwatch stopwatch;
    const Masks masks = configurable_masks(table_of(chip));
    fmt::print("{}: all sets of 2 to 5 of {} configurable events\n", chip, masks.size());
    for (std::size_t size = 2; size <= 5; ++size) {
      std::uint64_t sets = 0;
      std::uint64_t unfit = 0;
      std::uint64_t wrong = 0;
      for_each_set(masks, size, [&](const CounterMask* set) {
        const bool fits = fits_by_brute_force(set, size, 0);
        ++sets;
        if (!fits) ++unfit;
        if (fits_at_once({set, size}) != fits) ++wrong;
      });
      fmt::print("  {:<62} {:>12}\n", fmt::format("sets of {}", size), sets);
      claims.claim("  do not fit, by brute force", unfit, unfit_of(chip, size));
      claims.claim("  lauka's answer is another", wrong, 0);
    }
    fmt::print("  {:.1f} s of CPU time\n\n", stopwatch.seconds());
  }
}

/// Hall's bound: the largest number of events confined to a set of counters, by its size.
std::size_t fewest_by_bound(const Masks& masks) {
  std::size_t most = 0;
  for (CounterMask counters = kAny; counters != 0; counters = (counters - 1) & kAny) {
    const auto confined = static_cast<std::size_t>(std::count_if(
        masks.begin(), masks.end(), [&](CounterMask mask) { return (mask & ~counters) == 0; }));
    const auto size = static_cast<std::size_t>(std::popcount(counters));
    most = std::max(most, (confined + size - 1) / size);
  }
  return most;
}

void count_passes(Claims& claims) {
  const Stopwatch stopwatch;
  std::mt19937_64 random(1);
  std::uint64_t sets = 0;
  std::uint64_t wrong = 0;
  std::uint64_t disagreed = 0;
  for (const char* chip : {"m1", "m2", "m3", "m4", "m5"}) {
    Masks all = configurable_masks(table_of(chip));
    for (int i = 0; i < 2000; ++i, ++sets) {
      std::shuffle(all.begin(), all.end(), random);
      const Masks masks(all.begin(),
                        all.begin() + static_cast<std::ptrdiff_t>(1 + random() % all.size()));
      const std::vector<PlacedPass> passes = divide_into_passes(masks, {});
      if (passes.size() != fewest_by_bound(masks)) ++wrong;
      std::size_t placed = 0;
      for (const PlacedPass& places : passes) {
        placed += places.size();
        if (!framework_agrees(places, masks.data())) ++disagreed;
      }
      if (placed != masks.size()) ++disagreed;
    }
  }
  fmt::print("random sets of 1 to all events of a chip\n");
  claims.claim("sets", sets, 10'000);
  claims.claim("divided into more passes than Hall's bound, or fewer", wrong, 0);
  claims.claim("passes the framework does not take as they are", disagreed, 0);
  fmt::print("  {:.1f} s of CPU time\n", stopwatch.seconds());
}

}  // namespace

int main() {
  Claims claims;
  const Masks masks = events_of_the_articles();
  count_sets_of_seven(claims, masks);
  check_sets_of_seven(claims, masks);
  classify_small_sets(claims);
  count_passes(claims);
  return claims.all_hold() ? EXIT_SUCCESS : EXIT_FAILURE;
}
