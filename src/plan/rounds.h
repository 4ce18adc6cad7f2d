#pragma once

#include "core/record.h"
#include "plan/plan.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace lauka {

/// Returns a random number below `limit` (at least 1), each number with the same probability.
inline std::uint64_t draw_below(std::uint64_t limit, std::mt19937_64& generator) {
  const std::uint64_t thrown_away = (0 - limit) % limit;
  for (;;) {
    const std::uint64_t value = generator();
    if (value >= thrown_away) return value % limit;
  }
}

/// Shuffles a list so that every order is equally likely (Fisher-Yates). The result is the same on
/// every system, unlike the result of std::shuffle.
template <typename T>
void shuffle(std::vector<T>& list, std::mt19937_64& generator) {
  for (std::size_t i = list.size(); i > 1; --i)
    std::swap(list[i - 1], list[draw_below(i, generator)]);
}

/// Returns the runs of a round for `commands` (ascending): each command once, all in the same pass
/// and layout. Equal arguments give equal steps on every system.
std::vector<Step> steps_of_round(const Plan& plan, RoundKind kind, std::uint32_t round,
                                 std::span<const std::uint32_t> commands);

/// Returns the indices of a plan's commands.
std::vector<std::uint32_t> list_commands(const Plan& plan);

}  // namespace lauka
