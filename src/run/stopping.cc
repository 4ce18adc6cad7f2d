#include "run/stopping.h"

#include <algorithm>
#include <cmath>

namespace lauka {

namespace {

std::chrono::nanoseconds budget_of(const StopRule& rule, const Spent& spent) {
  const auto limit = std::chrono::nanoseconds::max() / static_cast<std::int64_t>(spent.commands);
  return std::min(rule.budget_per_command, limit) * static_cast<std::int64_t>(spent.commands);
}

/// Each block has its share of the fewest rounds, at least one.
std::uint64_t fewest_up_to(const CountingRule& rule, std::uint64_t block) {
  const std::uint64_t blocks = std::min(block + 1, kBlocks);
  return rule.passes * ((rule.fewest * blocks + kBlocks - 1) / kBlocks);
}

/// The number of blocks of untuned rounds that are due.
std::uint64_t untuned_blocks_due(std::uint64_t done, double all) {
  const double blocks = static_cast<double>(done) * static_cast<double>(kBlocks) / all;
  return static_cast<std::uint64_t>(blocks + 0.5);
}

}  // namespace

std::vector<Group> groups_of(const Plan& plan) {
  const auto count = static_cast<std::uint32_t>(plan.commands.size());
  if (plan.order != Order::Sequential) return {Group{0, count, {0, {}, count}}};
  std::vector<Group> groups;
  for (std::uint32_t i = 0; i < count; ++i) groups.push_back({i, 1, {}});
  return groups;
}

bool is_enough(const StopRule& rule, const Spent& spent) {
  if (rule.exact_runs) return spent.rounds >= *rule.exact_runs;
  if (rule.max_runs && spent.rounds >= *rule.max_runs) return true;
  return spent.rounds >= rule.min_runs && spent.time >= budget_of(rule, spent);
}

std::chrono::nanoseconds time_of_rounds(std::uint64_t rounds, std::chrono::duration<double> one) {
  constexpr std::chrono::nanoseconds most = std::chrono::nanoseconds::max() / 2;
  const std::chrono::duration<double, std::nano> all = one * static_cast<double>(rounds);
  return all < most ? std::chrono::duration_cast<std::chrono::nanoseconds>(all) : most;
}

std::uint64_t rounds_left(const StopRule& rule, const Spent& spent,
                          std::chrono::nanoseconds round_time) {
  const auto missing = [&](std::uint64_t wanted) {
    return wanted > spent.rounds ? wanted - spent.rounds : 0;
  };
  if (rule.exact_runs) return std::max<std::uint64_t>(missing(*rule.exact_runs), 1);
  const auto time_left = std::max(budget_of(rule, spent) - spent.time, std::chrono::nanoseconds(0));
  const auto per_round = std::max(round_time, std::chrono::nanoseconds(1));
  const bool rest = time_left % per_round > std::chrono::nanoseconds(0);
  auto left = std::max(static_cast<std::uint64_t>(time_left / per_round) + (rest ? 1 : 0),
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

CountingRule counting_rule_of(const Plan& plan, bool is_gated) {
  constexpr std::uint64_t for_gate = 10;
  CountingRule rule{.passes = plan.events.passes_of(RoundKind::Counting)};
  if (is_gated) {
    rule.fewest = for_gate;
    rule.share = 0.5;
  }
  if (plan.stop.exact_runs && plan.events_were_asked_for) {
    rule.fewest = *plan.stop.exact_runs;
    rule.exactly = true;
  }
  return rule;
}

StopRule timed_rule(const StopRule& rule, const CountingRule& counting) {
  StopRule timed = rule;
  if (counting.passes > 0) {
    const auto budget = std::chrono::duration<double, std::nano>(rule.budget_per_command);
    timed.budget_per_command =
        std::chrono::duration_cast<std::chrono::nanoseconds>(budget * (1.0 - counting.share));
  }
  return timed;
}

bool belongs_to_block(const CountingRule& rule, const CountingSpent& counted, std::uint64_t block,
                      std::chrono::nanoseconds timed_time) {
  if (counted.rounds < fewest_up_to(rule, block)) return true;
  if (rule.exactly || counted.rounds == 0) return false;
  using Seconds = std::chrono::duration<double>;
  const double allowed = Seconds(timed_time).count() * rule.share / (1.0 - rule.share) *
                         static_cast<double>(std::min(block + 1, kBlocks)) /
                         static_cast<double>(kBlocks);
  const double taken = Seconds(counted.time).count();
  const double a_turn = taken / static_cast<double>(counted.rounds);
  return taken + a_turn <= allowed;
}

std::uint64_t blocks_due(std::uint64_t done, std::uint64_t left) {
  if (done == 0) return 0;
  const auto all = static_cast<double>(done) + static_cast<double>(left);
  return static_cast<std::uint64_t>(static_cast<double>(done) * static_cast<double>(kBlocks) / all);
}

std::uint64_t rounds_to_next_block(std::uint64_t done, std::uint64_t left) {
  const auto all = static_cast<double>(done) + static_cast<double>(left);
  const auto next = static_cast<double>(blocks_due(done, left) + 1);
  const double at = std::ceil(all * next / static_cast<double>(kBlocks));
  return std::max(static_cast<std::uint64_t>(at), done + 1) - done;
}

std::uint64_t untuned_rounds_due(std::uint64_t done, std::uint64_t left) {
  constexpr double timed_for_one = 3.0;
  if (done == 0) return 0;
  const auto all = static_cast<double>(done) + static_cast<double>(left);
  const auto blocks = static_cast<double>(untuned_blocks_due(done, all));
  return static_cast<std::uint64_t>(
      std::ceil(all * blocks / (timed_for_one * static_cast<double>(kBlocks))));
}

std::uint64_t rounds_to_next_untuned(std::uint64_t done, std::uint64_t left) {
  const auto all = std::max(static_cast<double>(done) + static_cast<double>(left), 1.0);
  const double next = static_cast<double>(untuned_blocks_due(done, all)) + 0.5;
  const double at = std::ceil(all * next / static_cast<double>(kBlocks));
  return std::max(static_cast<std::uint64_t>(at), done + 1) - done;
}

bool can_count_more(std::span<const Group> groups, const StopRule& stop,
                    const CountingRule& counting) {
  return std::ranges::any_of(groups, [&](const Group& group) {
    const auto allowed = std::chrono::duration<double>(stop.budget_per_command) *
                         (counting.share * kBudgetsOfGates * group.count);
    return group.counting.time < allowed;
  });
}

double seconds_left(std::span<const Group> groups, const Spent& so_far, bool is_warmup,
                    const StopRule& rule, const CountingRule& counting,
                    const std::function<std::chrono::nanoseconds(const Group&)>& round_time) {
  using Seconds = std::chrono::duration<double>;
  const auto timed_left = [&](const Group& group, const Spent& spent, bool has_to_begin) {
    if (!has_to_begin && is_enough(rule, spent)) return 0.0;
    const std::chrono::nanoseconds round = round_time(group);
    return static_cast<double>(rounds_left(rule, spent, round)) * Seconds(round).count();
  };
  const double timed = timed_left(groups.front(), so_far, is_warmup);
  const double timed_so_far = Seconds(so_far.time).count();
  const double counted = Seconds(groups.front().counting.time).count();
  double left = timed;
  if (counting.passes > 0) {
    const double part = counting.share / (1.0 - counting.share);
    left += std::max((timed + timed_so_far) * part - counted, 0.0);
  }
  const double whole = left + timed_so_far + counted;
  for (const Group& group : groups.subspan(1))
    left += group.spent.rounds == 0 ? whole : timed_left(group, group.spent, false);
  return left;
}

std::optional<double> Simulating::seconds_left(std::uint64_t rounds, const Plan& plan) const {
  if (runs == 0) return std::nullopt;
  const auto commands = static_cast<double>(plan.commands.size());
  const double one = std::chrono::duration<double>(time).count() / static_cast<double>(runs);
  const double wanted = static_cast<double>(rounds) * commands;
  const double left = std::max(wanted - static_cast<double>(runs), 0.0) * one;
  return left + commands * std::chrono::duration<double>(plan.stop.budget_per_command).count();
}

void enter_remaining(double at_start, std::chrono::nanoseconds under_way, Progress& progress) {
  constexpr double longest = 1e9;  // seconds; more would overflow nanoseconds, and is of no use
  const double elapsed = std::chrono::duration<double>(progress.elapsed).count();
  const double left =
      std::clamp(at_start - std::chrono::duration<double>(under_way).count(), 0.0, longest);
  progress.remaining = std::chrono::nanoseconds(static_cast<std::int64_t>(left * 1e9));
  progress.done = elapsed + left > 0.0 ? elapsed / (elapsed + left) : 0.0;
}

}  // namespace lauka
