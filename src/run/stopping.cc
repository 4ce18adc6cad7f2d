#include "run/stopping.h"

#include <algorithm>

namespace lauka {
namespace {

std::chrono::nanoseconds budget_of(const StopRule& rule, const Spent& spent) {
  const auto limit = std::chrono::nanoseconds::max() / static_cast<std::int64_t>(spent.commands);
  return std::min(rule.budget_per_command, limit) * static_cast<std::int64_t>(spent.commands);
}

}  // namespace

bool is_enough(const StopRule& rule, const Spent& spent) {
  if (rule.exact_runs) return spent.rounds >= *rule.exact_runs;
  if (rule.max_runs && spent.rounds >= *rule.max_runs) return true;
  return spent.rounds >= rule.min_runs && spent.time >= budget_of(rule, spent);
}

std::uint64_t rounds_left(const StopRule& rule, const Spent& spent,
                          std::chrono::nanoseconds round_time) {
  const auto missing = [&](std::uint64_t wanted) {
    return wanted > spent.rounds ? wanted - spent.rounds : 0;
  };
  if (rule.exact_runs) return std::max<std::uint64_t>(missing(*rule.exact_runs), 1);
  const auto time_left = std::max(budget_of(rule, spent) - spent.time, std::chrono::nanoseconds(0));
  const auto per_round = std::max(round_time, std::chrono::nanoseconds(1));
  auto left = std::max(
      static_cast<std::uint64_t>((time_left + per_round - std::chrono::nanoseconds(1)) / per_round),
      missing(rule.min_runs));
  if (rule.max_runs) left = std::min(left, missing(*rule.max_runs));
  return std::max<std::uint64_t>(left, 1);
}

StopRule extended_to(const StopRule& rule, std::uint64_t rounds) {
  if (rule.exact_runs) return rule;
  const auto longest = std::chrono::nanoseconds::max() / kBudgetsOfGates;
  return {.exact_runs = {},
          .min_runs = 0,
          .max_runs = std::min(rounds, rule.max_runs.value_or(rounds)),
          .budget_per_command = std::min(rule.budget_per_command, longest) * kBudgetsOfGates};
}

}  // namespace lauka
