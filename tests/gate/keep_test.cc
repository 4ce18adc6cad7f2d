// Conditions for keeping: a pass keeps the candidate at its level, a fail discards it cheaply.

#include "gate/schedule.h"
#include "gate/verdict.h"

#include <optional>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::gate {
namespace {

constexpr double kLevel = 1e-3;

Schedule schedule_of_keeping(LookTiming looks) {
  return Schedule::for_keeping(0.95, kLevel, 10, looks);
}

Verdict kept_if(double limit_percent, Answer answer, double low, double high) {
  Verdict verdict;
  verdict.condition = {.metric = "wall_time",
                       .limit = GateLimit::of_change(limit_percent),
                       .purpose = ConditionPurpose::Keep};
  verdict.answer = answer;
  verdict.delta.change = (low + high) / 2.0;
  verdict.delta.bounds = stats::IntervalEnds{low, high};
  return verdict;
}

}  // namespace

TEST_CASE("keeping spends its level over all looks, and a discard that of the interval at each") {
  Schedule schedule = schedule_of_keeping(LookTiming::Planned);
  const LookErrors levels = schedule.look_as_planned(25, false);
  CHECK(levels.error_of_false_pass == doctest::Approx(level_of_planned_look(kLevel, 0)));
  CHECK(levels.error_of_false_fail == doctest::Approx(0.025));
  CHECK(levels.pass_keeps);
}

TEST_CASE("a single look may spend the whole level") {
  Schedule schedule = schedule_of_keeping(LookTiming::Once);
  CHECK(schedule.look_as_planned(25, true).error_of_false_pass == doctest::Approx(kLevel));
}

TEST_CASE("an early look can discard after ten rounds, and keep once the ranks can show it") {
  Schedule schedule = schedule_of_keeping(LookTiming::Early);
  const auto first = schedule.look_early(10);
  REQUIRE(first);
  CHECK(first->error_of_false_fail == doctest::Approx(0.025));
  CHECK_FALSE(first->error_of_false_pass);

  const auto later = schedule.look_early(20);
  REQUIRE(later);
  CHECK(later->error_of_false_pass == doctest::Approx(level_of_early_look(kLevel)));
}

TEST_CASE("the mean alone keeps nothing that varies, though it would pass a gate") {
  // Seven rounds cannot reach the level by ranks (2^-7), but by Student's t.
  const std::vector<double> reference(7, 1.0);
  const std::vector<double> candidate{0.50, 0.51, 0.49, 0.50, 0.52, 0.48, 0.50};
  LookErrors levels{.error_of_false_pass = kLevel};
  CHECK(judge({reference, candidate}, {.limit = 0.0, .levels = levels, .is_last_look = true})
            .answer == Answer::Pass);
  levels.pass_keeps = true;
  CHECK(judge({reference, candidate}, {.limit = 0.0, .levels = levels, .is_last_look = true})
            .answer == Answer::Inconclusive);
}

TEST_CASE("a metric that never varies is kept by its equal differences") {
  const std::vector<double> reference(7, 1.0);
  const std::vector<double> candidate(7, 0.9);
  const LookErrors levels{.error_of_false_pass = kLevel, .pass_keeps = true};
  CHECK(judge({reference, candidate}, {.limit = 0.0, .levels = levels, .is_last_look = true})
            .answer == Answer::Pass);
}

TEST_CASE("equal constants are not kept, though a gate would pass, and are shown to be equal") {
  const std::vector<double> same(20, 1.0);
  LookErrors levels{.error_of_false_fail = 0.025, .error_of_false_pass = kLevel};
  for (const FailsWhen fails_when : {FailsWhen::Above, FailsWhen::Below}) {
    levels.pass_keeps = false;
    CHECK(judge({same, same},
                {.limit = 0.0, .fails_when = fails_when, .levels = levels, .is_last_look = true})
              .answer == Answer::Pass);
    levels.pass_keeps = true;
    CHECK(judge({same, same},
                {.limit = 0.0, .fails_when = fails_when, .levels = levels, .is_last_look = true})
              .answer == Answer::Fail);
  }
}

TEST_CASE("the chance to keep follows from the estimate, its noise and the remaining rounds") {
  // At the deviate 0, z of the error / sqrt((1 - share) / share) remain to be reached.
  CHECK(chance_to_pass_at_last_look(0.5, 0.5, 0.001) == doctest::Approx(0.001).epsilon(1e-6));
  CHECK(chance_to_pass_at_last_look(0.5, 0.1, 0.025) == doctest::Approx(0.25681).epsilon(1e-3));
  // A deviate of 2 at a quarter of the rounds is expected to become 4.
  CHECK(chance_to_pass_at_last_look(0.0227501, 0.25, 3.16712e-5) ==
        doctest::Approx(0.5).epsilon(1e-3));
  CHECK(chance_to_pass_at_last_look(1.0, 0.01, 0.05) < 1e-3);
}

TEST_CASE("a candidate that would hardly be kept is given up before the last look") {
  Verdict verdict;
  verdict.condition = {.metric = "wall_time", .purpose = ConditionPurpose::Keep};
  Comparison samples;
  for (int round = 0; round < 20; ++round) {
    samples.reference.push_back(1.0);
    samples.candidate.push_back(round % 2 == 0 ? 0.9 - 0.001 * round : 1.1 + 0.0005 * round);
  }
  samples.paired = true;
  const LookErrors levels = *schedule_of_keeping(LookTiming::Early).look_early(20);
  Look look{.last = false, .rounds_at_last_look = 10'000};
  CHECK_FALSE(decide_at_look(verdict, {.samples = samples}, levels, look));

  look.rounds_at_last_look = 30;
  REQUIRE(decide_at_look(verdict, {.samples = samples}, levels, look));
  CHECK(verdict.is_given_up);
  CHECK(verdict.decision() == Decision::Undecided);
}

TEST_CASE("a look that is too early to keep a candidate does not give up a good one") {
  Verdict verdict;
  verdict.condition = {.metric = "wall_time", .purpose = ConditionPurpose::Keep};
  const std::vector<double> reference(10, 1.0);
  const Look look{.last = false, .rounds_at_last_look = 200};
  const LookErrors levels = *schedule_of_keeping(LookTiming::Early).look_early(10);
  REQUIRE_FALSE(levels.error_of_false_pass);

  const std::vector<double> faster{0.90, 0.91, 0.89, 0.92, 0.88, 0.90, 0.91, 0.89, 0.90, 0.91};
  const std::vector<double> always_as_fast(10, 0.9);
  for (const std::vector<double>& candidate : {faster, always_as_fast})
    CHECK_FALSE(decide_at_look(verdict, {.samples = {reference, candidate}}, levels, look));
}

TEST_CASE("a decision says if the command was kept, worse, equal or undecided") {
  CHECK(kept_if(-1, Answer::Pass, -0.05, -0.03).decision() == Decision::Kept);
  CHECK(kept_if(-1, Answer::Fail, 0.01, 0.02).decision() == Decision::Worse);
  CHECK(kept_if(-1, Answer::Fail, -0.005, 0.005).decision() == Decision::Equal);
  CHECK(kept_if(-1, Answer::Inconclusive, -0.02, 0.005).decision() == Decision::Undecided);

  // A rate that should rise by 5 %.
  Verdict rate = kept_if(5, Answer::Fail, -0.02, -0.01);
  rate.condition.fails_below_limit = true;
  CHECK(rate.decision() == Decision::Worse);
  rate.delta.bounds = stats::IntervalEnds{0.01, 0.02};
  CHECK(rate.decision() == Decision::Equal);

  Verdict gate;
  gate.answer = Answer::Fail;
  CHECK(gate.decision() == Decision::Fail);
}

TEST_CASE("each decision has the answer of its verdict") {
  for (const Answer answer : {Answer::Pass, Answer::Fail, Answer::Inconclusive}) {
    CHECK(answer_of(kept_if(-1, answer, -0.005, 0.005).decision()) == answer);
    CHECK(answer_of(kept_if(-1, answer, 0.01, 0.02).decision()) == answer);
    Verdict gate;
    gate.answer = answer;
    CHECK(answer_of(gate.decision()) == answer);
  }
}

}  // namespace lauka::gate
