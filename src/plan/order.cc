#include "plan/plan.h"

#include <cstddef>
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

/// The seed of one round's generator: mixed(mixed(seed) + 2 * round + warmup). A round's order thus
/// depends on nothing but these three, whatever was shuffled before; the inner mix keeps round 1 of
/// seed 5 apart from round 2 of seed 3.
std::uint64_t seed_of_round(std::uint64_t seed, std::uint32_t round, bool warmup) {
  return mixed(mixed(seed) + 2 * std::uint64_t{round} + (warmup ? 1 : 0));
}

/// Beyond every round's number.
constexpr std::uint64_t kSimulatedRounds = std::uint64_t{1} << 40U;

/// A number below `limit` (at least 1), each as likely as the other: the lowest 2^64 mod `limit`
/// values of the generator, which would favour some, are thrown away.
std::uint64_t draw_below(std::uint64_t limit, std::mt19937_64& generator) {
  const std::uint64_t thrown_away = (0 - limit) % limit;
  for (;;) {
    const std::uint64_t value = generator();
    if (value >= thrown_away) {
      return value % limit;
    }
  }
}

/// Fisher and Yates, from the end: every order is as likely as the other.
void shuffle(std::vector<Step>& steps, std::mt19937_64& generator) {
  for (std::size_t i = steps.size(); i > 1; --i) {
    std::swap(steps[i - 1], steps[draw_below(i, generator)]);
  }
}

}  // namespace

std::vector<Step> steps_of_round(const Plan& plan, std::uint32_t round, bool warmup) {
  const std::size_t passes = plan.events.timed_passes();
  // All runs of a round serve the same pass: a round is compared within itself.
  const std::uint32_t pass = passes == 0 ? 0 : static_cast<std::uint32_t>(round % passes);
  std::vector<Step> steps;
  steps.reserve(plan.commands.size());
  for (std::uint32_t command = 0; command < plan.commands.size(); ++command) {
    steps.push_back(Step{.command = command, .round = round, .pass = pass, .warmup = warmup});
  }
  if (plan.order == Order::Random && steps.size() > 1) {
    std::mt19937_64 generator(seed_of_round(plan.seed, round, warmup));
    shuffle(steps, generator);
  }
  return steps;
}

std::vector<Step> steps_of_simulated_round(const Plan& plan, std::uint32_t round) {
  std::vector<Step> steps;
  const std::size_t passes = plan.events.passes.size();
  for (std::size_t pass = plan.events.timed_passes(); pass < passes; ++pass) {
    for (std::uint32_t command = 0; command < plan.commands.size(); ++command) {
      steps.push_back(Step{.command = command,
                           .round = round,
                           .pass = static_cast<std::uint32_t>(pass),
                           .warmup = false});
    }
  }
  if (plan.order == Order::Random && steps.size() > 1) {
    std::mt19937_64 generator(mixed(mixed(plan.seed) + kSimulatedRounds + round));
    shuffle(steps, generator);
  }
  return steps;
}

}  // namespace lauka
