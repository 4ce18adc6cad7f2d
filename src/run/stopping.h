#pragma once

#include "plan/plan.h"

#include <chrono>
#include <cstdint>

namespace lauka {

/// How far the commands that take turns have come.
struct Spent {
  std::uint64_t rounds = 0;  ///< complete ones
  std::chrono::nanoseconds
      time{};  ///< spent on their runs, with all that starting and ending them takes
  std::size_t commands = 1;
};

/// Whether counting is over. Commands that take turns share their budgets: together they may use
/// the sum.
bool is_enough(const StopRule& rule, const Spent& spent);

/// How many rounds are still to come when one takes `round_time`, at least 1 while it is not
/// enough.
std::uint64_t rounds_left(const StopRule& rule, const Spent& spent,
                          std::chrono::nanoseconds round_time);

/// How often the budget may be used by gates that are not decided yet.
inline constexpr std::int64_t kBudgetsOfGates = 4;

/// The rule of the runs after those that `rule` alone asks for: up to `rounds`, or until four times
/// the budget is used. An exact number of runs is never exceeded.
StopRule extended_to(const StopRule& rule, std::uint64_t rounds);

}  // namespace lauka
