#include "run/stopping.h"

#include <doctest/doctest.h>

namespace lauka {

using namespace std::chrono_literals;

TEST_CASE("an exact number of runs is neither more nor less, whatever time says") {
  const StopRule rule{7, 10, {}, 1ms};
  CHECK_FALSE(is_enough(rule, {6, 10s, 1}));
  CHECK(is_enough(rule, {7, 0s, 1}));
  CHECK(rounds_left(rule, {2, 10s, 1}, 1s) == 5);
}

TEST_CASE(
    "time alone is not enough before the least number of runs, nor runs alone before the time") {
  const StopRule rule{{}, 10, {}, 5s};
  CHECK_FALSE(is_enough(rule, {9, 60s, 1}));
  CHECK_FALSE(is_enough(rule, {1000, 4999ms, 1}));
  CHECK(is_enough(rule, {10, 5s, 1}));
}

TEST_CASE("the greatest number of runs ends counting before time does") {
  const StopRule rule{{}, 10, 20, 5s};
  CHECK(is_enough(rule, {20, 0s, 1}));
  CHECK(rounds_left(rule, {15, 0s, 1}, 1ms) == 5);
}

TEST_CASE("commands that take turns may together use the sum of their budgets") {
  const StopRule rule{{}, 10, {}, 5s};
  CHECK_FALSE(is_enough(rule, {10, 9s, 2}));
  CHECK(is_enough(rule, {10, 10s, 2}));
}

TEST_CASE("the rest is estimated by time or by the least number of runs, whichever is more") {
  const StopRule rule{{}, 10, {}, 5s};
  CHECK(rounds_left(rule, {4, 1s, 1}, 1s) == 6);
  CHECK(rounds_left(rule, {4, 1s, 1}, 100ms) == 40);
  CHECK(rounds_left(rule, {12, 4999ms, 1}, 0ns) >= 1);
}

TEST_CASE("gates may go on to a round, within four budgets and the greatest number of runs") {
  const StopRule rule = extended_to({{}, 10, {}, 5s}, 20);
  CHECK_FALSE(is_enough(rule, {19, 19s, 1}));
  CHECK(is_enough(rule, {20, 1s, 1}));
  CHECK(is_enough(rule, {11, 20s, 1}));
  CHECK(rounds_left(rule, {17, 5s, 1}, 1ms) == 3);
  CHECK(is_enough(extended_to({{}, 10, 15, 5s}, 20), {15, 1s, 1}));
  CHECK(is_enough(extended_to({12, 10, {}, 5s}, 20), {12, 1s, 1}));
  CHECK_FALSE(is_enough(extended_to({{}, 1, {}, std::chrono::nanoseconds::max()}, 9), {1, 1h, 2}));
}

TEST_CASE("a budget without end does not overflow") {
  const StopRule rule{{}, 10, {}, std::chrono::nanoseconds::max()};
  CHECK_FALSE(is_enough(rule, {1000, 10s, 3}));
  // 300 commands of a year each: the sum is as much as 64 bits hold, 2562047.8 hours.
  CHECK(rounds_left({{}, 10, {}, 8760h}, {1, 300s, 300}, 1h) == 2562048);
}

TEST_CASE("what rounds take does not overflow, however long one is") {
  CHECK(time_of_rounds(3, 2s) == 6s);
  CHECK(time_of_rounds(1'000'000'000, std::chrono::duration<double>(1e6)) ==
        std::chrono::nanoseconds::max() / 2);
}

}  // namespace lauka
