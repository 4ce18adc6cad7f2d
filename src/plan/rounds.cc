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

/// Returns the seed for the order of a round. Without the inner mix, round 1 of seed 5 and round 2
/// of seed 3 would have the same order.
std::uint64_t seed_of_round(std::uint64_t seed, RoundKind kind, std::uint32_t round) {
  // Warm-up and timed rounds have odd and even numbers below 2^33. The numbers of each other kind
  // begin far beyond those of the kind before it, so that no two rounds share a number.
  constexpr unsigned beyond_rounds = 40;
  switch (kind) {
    case RoundKind::Warmup:
      return mixed(mixed(seed) + 2 * std::uint64_t{round} + 1);
    case RoundKind::Timed:
      return mixed(mixed(seed) + 2 * std::uint64_t{round});
    case RoundKind::Simulated:
      return mixed(mixed(seed) + (std::uint64_t{1} << beyond_rounds) + round);
    case RoundKind::Counting:
      return mixed(mixed(seed) + (std::uint64_t{2} << beyond_rounds) + round);
    case RoundKind::Untuned:
      return mixed(mixed(seed) + (std::uint64_t{4} << beyond_rounds) + round);
    case RoundKind::Settling:
      break;
  }
  return mixed(mixed(seed) + (std::uint64_t{3} << beyond_rounds) + round);
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

}  // namespace

std::vector<Step> steps_of_round(const Plan& plan, RoundKind kind, std::uint32_t round,
                                 std::span<const std::uint32_t> commands) {
  // Warm-up and similar rounds run like timed ones.
  const RoundKind kind_of_pass = Step{.kind = kind}.gives_counts_only() ? kind : RoundKind::Timed;

  // The passes take turns, each for a sweep of rounds that has all layouts.
  const auto& passes = plan.setting.events.passes;
  const auto first_pass = static_cast<std::uint32_t>(
      std::ranges::find(passes, kind_of_pass, &Pass::kind) - passes.begin());
  const auto pass_count =
      static_cast<std::uint32_t>(plan.setting.events.count_passes(kind_of_pass));
  const std::uint32_t sweep = round / plan.setting.layouts;
  const std::uint32_t pass = pass_count == 0 ? 0 : first_pass + sweep % pass_count;
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
