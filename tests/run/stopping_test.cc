#include "run/stopping.h"

#include "core/session_setting.h"

#include <doctest/doctest.h>

namespace lauka {
using namespace std::chrono_literals;

TEST_CASE("an exact number of runs is neither more nor less, whatever time says") {
  const StopRule rule{7, 10, {}, 1ms};
  CHECK_FALSE(satisfies_stop_rule(rule, {6, 10s, 1}));
  CHECK(satisfies_stop_rule(rule, {7, 0s, 1}));
  CHECK(rounds_left(rule, {2, 10s, 1}, 1s) == 5);
}

TEST_CASE("neither time alone nor the least number of runs alone is enough") {
  const StopRule rule{{}, 10, {}, 5s};
  CHECK_FALSE(satisfies_stop_rule(rule, {9, 60s, 1}));
  CHECK_FALSE(satisfies_stop_rule(rule, {1000, 4999ms, 1}));
  CHECK(satisfies_stop_rule(rule, {10, 5s, 1}));
}

TEST_CASE("the greatest number of runs ends counting before time does") {
  const StopRule rule{{}, 10, 20, 5s};
  CHECK(satisfies_stop_rule(rule, {20, 0s, 1}));
  CHECK(rounds_left(rule, {15, 0s, 1}, 1ms) == 5);
}

TEST_CASE("commands that take turns may together use the sum of their budgets") {
  const StopRule rule{{}, 10, {}, 5s};
  CHECK_FALSE(satisfies_stop_rule(rule, {10, 9s, 2}));
  CHECK(satisfies_stop_rule(rule, {10, 10s, 2}));
}

TEST_CASE("the rest is estimated by time or by the least number of runs, whichever is more") {
  const StopRule rule{{}, 10, {}, 5s};
  CHECK(rounds_left(rule, {4, 1s, 1}, 1s) == 6);
  CHECK(rounds_left(rule, {4, 1s, 1}, 100ms) == 40);
  CHECK(rounds_left(rule, {12, 4999ms, 1}, 0ns) >= 1);
}

TEST_CASE("gates may go on to a round, within four budgets and the greatest number of runs") {
  const StopRule rule = stop_rule_for_open_gates({{}, 10, {}, 5s}, 20);
  CHECK_FALSE(satisfies_stop_rule(rule, {19, 19s, 1}));
  CHECK(satisfies_stop_rule(rule, {20, 1s, 1}));
  CHECK(satisfies_stop_rule(rule, {11, 20s, 1}));
  CHECK(rounds_left(rule, {17, 5s, 1}, 1ms) == 3);
  CHECK(satisfies_stop_rule(stop_rule_for_open_gates({{}, 10, 15, 5s}, 20), {15, 1s, 1}));
  CHECK(satisfies_stop_rule(stop_rule_for_open_gates({12, 10, {}, 5s}, 20), {12, 1s, 1}));
  CHECK_FALSE(satisfies_stop_rule(
      stop_rule_for_open_gates({{}, 1, {}, std::chrono::nanoseconds::max()}, 9), {1, 1h, 2}));
}

TEST_CASE("a budget without end does not overflow") {
  const StopRule rule{{}, 10, {}, std::chrono::nanoseconds::max()};
  CHECK_FALSE(satisfies_stop_rule(rule, {1000, 10s, 3}));
  // 300 commands of a year each: the sum is as much as 64 bits hold, 2562047.8 hours.
  CHECK(rounds_left({{}, 10, {}, 8760h}, {1, 300s, 300}, 1h) == 2562048);
}

TEST_CASE("what rounds take does not overflow, however long one is") {
  CHECK(time_of_rounds(3, 2s) == 6s);
  CHECK(time_of_rounds(1'000'000'000, std::chrono::duration<double>(1e6)) ==
        std::chrono::nanoseconds::max() / 2);
}

using namespace std::chrono_literals;

namespace {

/// Rounds that are run when each takes `round` and block after block comes, in `timed` of timed
/// rounds.
std::vector<std::uint64_t> rounds_by_block(const CountingRoundsRule& rule,
                                           std::chrono::nanoseconds round,
                                           std::chrono::nanoseconds timed) {
  RoundsAndTime spent;
  std::vector<std::uint64_t> by_block;
  for (std::uint64_t block = 0; block < kBlocks; ++block) {
    while (block_needs_more_counting(rule, spent, block, timed)) {
      spent.rounds += rule.passes;
      spent.time += round * static_cast<std::int64_t>(rule.passes);
    }
    by_block.push_back(spent.rounds);
  }
  return by_block;
}

using Rounds = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("counting rounds take a fifth of the time, in four equal blocks") {
  // 4 s of timed rounds leave 1 s: 100 rounds of 10 ms.
  CHECK(rounds_by_block({.passes = 1}, 10ms, 4s) == Rounds{25, 50, 75, 100});
}

TEST_CASE("each pass gets five rounds, whatever they take") {
  CHECK(rounds_by_block({.passes = 1}, 1h, 1s) == Rounds{2, 3, 4, 5});
  CHECK(rounds_by_block({.passes = 3}, 1h, 1s) == Rounds{6, 9, 12, 15});
}

TEST_CASE("with -r, events that were asked for get as many rounds of each pass, and no more") {
  Plan plan;
  plan.setting.events.passes = {Pass{}, {{0}, RoundKind::Counting}, {{1}, RoundKind::Counting}};
  plan.setting.stop.exact_runs = 7;
  plan.events_were_asked_for = true;
  CHECK(rounds_by_block(make_counting_rule(plan, false), 1ns, 10s).back() == 14);
  plan.setting.stop.exact_runs = 2;
  CHECK(rounds_by_block(make_counting_rule(plan, false), 1s, 10s).back() == 4);
  plan.events_were_asked_for = false;
  CHECK(rounds_by_block(make_counting_rule(plan, false), 1h, 10s).back() == 10);
}

TEST_CASE("sampled runs are six at least, and with -r as many") {
  Plan plan;
  plan.setting.events.events = {
      {.name = "sampled_time", .meaning = "", .is_time = true, .role = Role::SampledTime}};
  plan.setting.events.passes = {Pass{}, {{0}, RoundKind::Counting}};
  CHECK(rounds_by_block(make_counting_rule(plan, false), 1h, 1s).back() == 6);
  plan.setting.stop.exact_runs = 9;
  CHECK(rounds_by_block(make_counting_rule(plan, false), 1h, 1s).back() == 9);
}

TEST_CASE("a gate on an event gets ten rounds, and up to half of the time") {
  Plan plan;
  plan.setting.events.passes = {Pass{}, {{0}, RoundKind::Counting}};
  const CountingRoundsRule rule = make_counting_rule(plan, true);
  CHECK(rounds_by_block(rule, 1h, 1s).back() == 10);
  CHECK(rounds_by_block(rule, 10ms, 2s).back() == 200);
}

TEST_CASE("timed rounds leave the counting ones their share of the duration") {
  const StopRule rule{{}, 10, {}, 5s};
  CHECK(timed_rule(rule, {.passes = 1}).budget_per_command == 4s);
  CHECK(timed_rule(rule, {.passes = 0}).budget_per_command == 5s);
  CHECK(timed_rule(rule, {.passes = 1, .share = 0.5}).budget_per_command == 2500ms);
}

TEST_CASE("a block is due with each quarter of the timed rounds") {
  CHECK(blocks_due(0, 0) == 0);
  CHECK(blocks_due(24, 76) == 0);
  CHECK(blocks_due(25, 75) == 1);
  CHECK(blocks_due(99, 1) == 3);
  CHECK(blocks_due(100, 0) == 4);
  CHECK(rounds_to_next_block(0, 100) == 25);
  CHECK(rounds_to_next_block(24, 76) == 1);
  CHECK(rounds_to_next_block(25, 75) == 25);
  CHECK(rounds_to_next_block(0, 1) == 1);
}

TEST_CASE("one round in four is not tuned, in four blocks amid their part of the timed rounds") {
  CHECK(untuned_rounds_due(0, 120) == 0);
  CHECK(untuned_rounds_due(14, 106) == 0);
  CHECK(untuned_rounds_due(15, 105) == 10);
  CHECK(untuned_rounds_due(104, 16) == 30);
  CHECK(untuned_rounds_due(105, 15) == 40);
  CHECK(untuned_rounds_due(120, 0) == 40);
  CHECK(untuned_rounds_due(1, 0) == 1);
  CHECK(rounds_to_next_block(0, 120, kUntunedEarly) == 15);
  CHECK(rounds_to_next_block(14, 106, kUntunedEarly) == 1);
  CHECK(rounds_to_next_block(15, 105, kUntunedEarly) == 30);
  CHECK(rounds_to_next_block(0, 1, kUntunedEarly) == 1);
}

}  // namespace lauka
