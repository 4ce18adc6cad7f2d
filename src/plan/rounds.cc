#include "plan/rounds.h"

#include "plan/plan.h"

#include <algorithm>
#include <numeric>

namespace lauka {

namespace {

/// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): one-to-one, and a changed input bit
/// changes about half of the output bits.
std::uint64_t mixed(std::uint64_t x) {
  x ^= x >> 30U;
  x *= 0xbf58476d1ce4e5b9U;
  x ^= x >> 27U;
  x *= 0x94d049bb133111ebU;
  x ^= x >> 31U;
  return x;
}

/// Returns a number that no other round of a session has. `round`: index among the rounds of its
/// kind.
std::uint64_t unique_number_of_round(RoundKind kind, std::uint32_t round) {
  // Timed and warm-up rounds have the even and the odd numbers below 2^33. Each other kind has a
  // block of numbers, which begins at a multiple of 2^40.
  const auto number_in_block = [&](std::uint64_t block) { return (block << 40U) + round; };
  switch (kind) {
    case RoundKind::Timed:
      return 2 * std::uint64_t{round};
    case RoundKind::Warmup:
      return 2 * std::uint64_t{round} + 1;
    case RoundKind::Simulated:
      return number_in_block(1);
    case RoundKind::Counting:
      return number_in_block(2);
    case RoundKind::Settling:
      return number_in_block(3);
    case RoundKind::Untuned:
      break;
  }
  return number_in_block(4);
}

/// Returns the seed for the order of the commands in a round. The session's seed is mixed before
/// the round's number is added, because otherwise round 1 of seed 5 and round 2 of seed 3, for
/// example, would have the same order.
std::uint64_t seed_of_round(std::uint64_t seed, RoundKind kind, std::uint32_t round) {
  return mixed(mixed(seed) + unique_number_of_round(kind, round));
}

/// Each layout has one round per sweep, at a random position if the order is random.
std::uint32_t layout_of_round(const Plan& plan, RoundKind kind, std::uint32_t round) {
  const std::uint32_t place = round % plan.setting.layouts;
  if (plan.setting.order != Order::Random) return place;
  std::vector<std::uint32_t> layouts(plan.setting.layouts);
  std::iota(layouts.begin(), layouts.end(), 0U);
  // This generator must differ from the generator that orders the commands in the sweep's first
  // round.
  std::mt19937_64 generator(mixed(seed_of_round(plan.setting.seed, kind, round - place)));
  shuffle(layouts, generator);
  return layouts[place];
}

/// Returns the index of the pass of a round; 0 if its kind has none. The passes of a kind are
/// adjacent, and take turns: each counts for a whole sweep, in which every layout has one round.
std::uint32_t pass_of_round(const Plan& plan, RoundKind kind, std::uint32_t round) {
  // Rounds that only count have passes of their own. All others, such as warm-up rounds, use the
  // passes of timed rounds.
  const RoundKind kind_of_pass = Step{.kind = kind}.gives_counts_only() ? kind : RoundKind::Timed;

  const auto& passes = plan.setting.events.passes;
  const auto first_pass = static_cast<std::uint32_t>(
      std::ranges::find(passes, kind_of_pass, &Pass::kind) - passes.begin());
  const auto pass_count =
      static_cast<std::uint32_t>(plan.setting.events.count_passes(kind_of_pass));
  const std::uint32_t sweep = round / plan.setting.layouts;
  return pass_count == 0 ? 0 : first_pass + sweep % pass_count;
}

}  // namespace

/// Plans the runs (steps) of one round: one of each command, in the same layout and with the same
/// pass. A layout is one of several builds of the commands. A pass is the events that are counted
/// in the same runs.
std::vector<Step> steps_of_round(const Plan& plan, RoundKind kind, std::uint32_t round,
                                 std::span<const std::uint32_t> commands) {
  const std::uint32_t pass = pass_of_round(plan, kind, round);
  const std::uint32_t layout = plan.setting.layouts == 1 ? 0 : layout_of_round(plan, kind, round);

  std::vector<Step> steps;
  steps.reserve(commands.size());
  for (const std::uint32_t command : commands)
    steps.push_back(
        Step{.command = command, .round = round, .pass = pass, .kind = kind, .layout = layout});

  if (plan.setting.order == Order::Random && steps.size() > 1) {
    std::mt19937_64 generator(seed_of_round(plan.setting.seed, kind, round));
    shuffle(steps, generator);
  }
  return steps;
}

std::vector<std::uint32_t> list_commands(const Plan& plan) {
  std::vector<std::uint32_t> commands(plan.commands.size());
  std::iota(commands.begin(), commands.end(), 0U);
  return commands;
}

}  // namespace lauka
