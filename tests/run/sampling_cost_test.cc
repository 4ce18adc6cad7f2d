#include "run/sampling_cost.h"

#include "run/bench.h"

#include <string>

#include <doctest/doctest.h>

namespace lauka {
namespace {

Plan sampled_plan() {
  Plan plan = plan_of({"old"});
  plan.setting.events.events = {
      {.name = "sampled_time", .meaning = "", .is_time = true, .role = Role::SampledTime},
      {.name = "cycles", .meaning = ""}};
  plan.setting.events.passes = {Pass{}, Pass{{0}, RoundKind::Counting},
                                Pass{{1}, RoundKind::Counting}};
  return plan;
}

/// Adds twelve runs of a pass, which used about `user_ms` milliseconds each.
void add(SamplingCost& cost, std::uint32_t pass, std::uint64_t user_ms) {
  const RoundKind kind = pass == 0 ? RoundKind::Timed : RoundKind::Counting;
  for (std::uint32_t round = 0; round < 12; ++round) {
    RunRecord run{Step{0, round, pass, kind}, Exited{0}, {}, {}};
    run.usage.user_ns = user_ms * 1'000'000 + round % 3 * 10'000;
    cost.add(run);
  }
}

}  // namespace

TEST_CASE("sampled runs that use much more CPU time than timed runs are said to") {
  const Plan plan = sampled_plan();
  SamplingCost cost(plan);
  add(cost, 0, 100);
  add(cost, 1, 120);
  const auto note = cost.note();
  REQUIRE(note.has_value());
  CHECK(note->kind == "sampling_cost");
  CHECK(note->text.starts_with("sampled runs of 'old' used 20% more CPU time than its timed runs"));
}

TEST_CASE("nothing is said of sampling that costs little, nor of runs that count events") {
  const Plan plan = sampled_plan();
  SamplingCost cost(plan);
  add(cost, 0, 100);
  add(cost, 1, 104);
  add(cost, 2, 150);
  CHECK_FALSE(cost.note().has_value());
}

TEST_CASE("too few runs say nothing of what sampling costs") {
  const Plan plan = sampled_plan();
  SamplingCost cost(plan);
  add(cost, 0, 100);
  for (std::uint32_t round = 0; round < 2; ++round) {
    RunRecord run{Step{0, round, 1, RoundKind::Counting}, Exited{0}, {}, {}};
    run.usage.user_ns = 200'000'000;
    cost.add(run);
  }
  CHECK_FALSE(cost.note().has_value());
}

}  // namespace lauka
