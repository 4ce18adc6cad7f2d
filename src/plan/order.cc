#include "plan/plan.h"

#include <algorithm>
#include <random>
#include <utility>

namespace lauka {

namespace {

/// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): one to one, and a bit of its input that
/// changes turns half of its output.
std::uint64_t mixed(std::uint64_t x) {
  x ^= x >> 30U;
  x *= 0xbf58476d1ce4e5b9U;
  x ^= x >> 27U;
  x *= 0x94d049bb133111ebU;
  x ^= x >> 31U;
  return x;
}

/// The seed of one round's generator: mixed(mixed(seed) + 2 * round + 1 for a warm-up round), the
/// other kinds use larger numbers. So a round's order depends only on seed, kind and round; the
/// inner mix distinguishes round 1 of seed 5 from round 2 of seed 3.
std::uint64_t seed_of_round(std::uint64_t seed, RoundKind kind, std::uint32_t round) {
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

/// Returns a number below `limit` (at least 1), all equally likely: the lowest 2^64 mod `limit`
/// values of the generator, which would favour some, are thrown away.
std::uint64_t draw_below(std::uint64_t limit, std::mt19937_64& generator) {
  const std::uint64_t thrown_away = (0 - limit) % limit;
  for (;;) {
    const std::uint64_t value = generator();
    if (value >= thrown_away) return value % limit;
  }
}

/// Fisher and Yates, from the end: every order is as likely as the other.
void shuffle(std::vector<Step>& steps, std::mt19937_64& generator) {
  for (std::size_t i = steps.size(); i > 1; --i)
    std::swap(steps[i - 1], steps[draw_below(i, generator)]);
}

}  // namespace

std::vector<Step> steps_of_round(const Plan& plan, RoundKind kind, std::uint32_t round) {
  // Runs that are thrown away are as timed runs are.
  const RoundKind serves = Step{.kind = kind}.gives_counts_only() ? kind : RoundKind::Timed;
  const auto& passes = plan.events.passes;
  const auto first =
      static_cast<std::uint32_t>(std::ranges::find(passes, serves, &Pass::kind) - passes.begin());
  const auto turns = static_cast<std::uint32_t>(plan.events.passes_of(serves));
  // All runs of a round serve the same pass, since they are compared with each other.
  const std::uint32_t pass = turns == 0 ? 0 : first + round % turns;
  std::vector<Step> steps;
  steps.reserve(plan.commands.size());
  for (std::uint32_t command = 0; command < plan.commands.size(); ++command)
    steps.push_back(Step{.command = command, .round = round, .pass = pass, .kind = kind});
  if (plan.order == Order::Random && steps.size() > 1) {
    std::mt19937_64 generator(seed_of_round(plan.seed, kind, round));
    shuffle(steps, generator);
  }
  return steps;
}

}  // namespace lauka
