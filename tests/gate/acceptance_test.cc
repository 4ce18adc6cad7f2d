#include "gate/verdict.h"

#include <array>
#include <optional>

#include <doctest/doctest.h>

namespace lauka::gate {
namespace {

using enum AcceptanceUse;

/// A verdict on a change of `low` to `high` (fractions) by a gate of 2% that accepts 5%.
Verdict verdict_on(Answer answer, double low, double high, bool fails_below = false) {
  const double sign = fails_below ? -1.0 : 1.0;
  Verdict verdict;
  verdict.condition = {.metric = "cpu_time",
                       .limit = GateLimit::of_change(sign * 5.0),
                       .fails_below_limit = fails_below,
                       .acceptance = Acceptance{.own_limit = GateLimit::of_change(sign * 2.0)}};
  verdict.answer = answer;
  verdict.delta.change = (low + high) / 2.0;
  verdict.delta.bounds = stats::IntervalEnds{low, high};
  return verdict;
}

}  // namespace

TEST_CASE("an acceptance is used between the gate's own limit and the accepted one") {
  struct Row {
    Answer answer;
    double low;
    double high;
    AcceptanceUse use;
  };
  constexpr auto rows = std::to_array<Row>({
      {Answer::Pass, 0.025, 0.035, Used},      // between the limits
      {Answer::Pass, 0.015, 0.035, Used},      // reaches below the gate's own limit
      {Answer::Pass, -0.01, 0.021, Used},      // nearly needs it no more
      {Answer::Pass, -0.01, 0.02, Unneeded},   // within the gate's own limit
      {Answer::Pass, -0.05, -0.03, Unneeded},  // an improvement
      {Answer::Fail, 0.055, 0.07, Exceeded},
      {Answer::Inconclusive, 0.03, 0.07, Undecided},
      {Answer::Inconclusive, 0.0, 0.01, Undecided},
  });
  for (const Row& row : rows) {
    CAPTURE(row.low);
    CAPTURE(row.high);
    CHECK(acceptance_use_of(verdict_on(row.answer, row.low, row.high)) == row.use);
    // The same downwards, for a gate on a drop.
    CHECK(acceptance_use_of(verdict_on(row.answer, -row.high, -row.low, true)) == row.use);
  }
}

TEST_CASE("an exact change, or one without an interval, needs no interval to use an acceptance") {
  Verdict exact = verdict_on(Answer::Pass, 0.0, 0.0);
  exact.delta.bounds.reset();
  exact.delta.is_exact = true;
  exact.delta.change = 0.02;
  CHECK(acceptance_use_of(exact) == Unneeded);
  exact.delta.change = 0.021;
  CHECK(acceptance_use_of(exact) == Used);

  Verdict without_interval = verdict_on(Answer::Pass, 0.0, 0.0);
  without_interval.delta.bounds.reset();
  CHECK(acceptance_use_of(without_interval) == Used);
}

TEST_CASE("the limits of an acceptance may be values, which the change is compared with") {
  Verdict verdict;
  verdict.condition = {.metric = "wall_time",
                       .limit = GateLimit::of_value(0.25),
                       .acceptance = Acceptance{.own_limit = GateLimit::of_value(0.2)}};
  verdict.answer = Answer::Pass;
  verdict.delta.change = -0.16;                              // 210 ms of at most 250 ms
  verdict.delta.bounds = stats::IntervalEnds{-0.18, -0.14};  // 205 to 215 ms
  CHECK(acceptance_use_of(verdict) == Used);
  verdict.delta.bounds = stats::IntervalEnds{-0.24, -0.21};  // 190 to 197.5 ms
  CHECK(acceptance_use_of(verdict) == Unneeded);
}

TEST_CASE("without an entry nothing is accepted, and an expired entry accepts nothing") {
  Verdict verdict = verdict_on(Answer::Pass, 0.0, 0.01);
  verdict.condition.acceptance->has_expired = true;
  for (const Answer answer : {Answer::Pass, Answer::Fail, Answer::Inconclusive}) {
    verdict.answer = answer;
    CHECK(acceptance_use_of(verdict) == Expired);
  }
  verdict.condition.acceptance.reset();
  CHECK(acceptance_use_of(verdict) == None);
}

}  // namespace lauka::gate
