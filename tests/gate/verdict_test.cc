#include "gate/verdict.h"

#include "fakes/one_look.h"
#include "stats/delta.h"
#include "stats/noise.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::gate {
namespace {

const Condition kTenPercent{.metric = "wall_time", .limit = GateLimit::of_change(10.0)};

struct Samples {
  std::vector<double> reference;
  std::vector<double> candidate;

  Samples(std::uint64_t seed, std::size_t rounds, double change, double noise) {
    noise::Source source(seed);
    reference = source.normals(rounds, 1.0, noise);
    candidate = source.normals(rounds, 1.0 + change, noise);
  }

  Evidence evidence(bool paired = true) const { return {reference, candidate, paired}; }
};

}  // namespace

TEST_CASE("a verdict has what was asked, about which command, and after how many rounds") {
  const Samples samples(40, 20, 0.3, 0.01);
  const Verdict verdict = decide(kTenPercent, 2, samples.evidence(), 0.95, 1);
  CHECK(verdict.condition.metric == "wall_time");
  CHECK(verdict.condition.limit == GateLimit::of_change(10.0));
  CHECK(verdict.candidate == 2);
  CHECK(verdict.rounds == 20);
  CHECK(verdict.look == 1);
  CHECK(verdict.answer == Answer::Fail);
  CHECK(verdict.decided_by == DecidedBy::Both);
  CHECK(verdict.p_value_of_fail < 1e-4);
  CHECK(verdict.p_value_of_pass == 1.0);
  CHECK_FALSE(verdict.rounds_factor.has_value());
}

TEST_CASE("of verdicts with the same number of rounds, the first one has the most rounds") {
  std::vector<Verdict> verdicts(4);
  for (std::size_t i = 0; i < verdicts.size(); ++i) verdicts[i].candidate = i;
  verdicts[1].rounds = verdicts[2].rounds = 20;
  verdicts[3].rounds = 10;
  CHECK(find_verdict_with_most_rounds(verdicts).candidate == 1);
}

TEST_CASE("a verdict's delta is the one of the table at one look, and wider at one of several") {
  const Samples samples(41, 10, 0.3, 0.01);
  const Verdict once = decide(kTenPercent, 1, samples.evidence(), 0.95, 1);
  const auto shown = stats::estimate_delta(
      {.reference = samples.reference, .candidate = samples.candidate, .paired = true},
      stats::tails_of(0.95));
  CHECK(*once.delta.change == *shown.change);
  CHECK(once.delta.bounds->low == shown.bounds->low);

  Verdict first_of_five{.condition = kTenPercent, .candidate = 1};
  REQUIRE(decide_at_look(first_of_five, {.samples = comparison_of(samples.evidence())},
                         Schedule(0.95, 1, 1, LookTiming::Planned).planned_levels(), {1, false}));
  CHECK(*first_of_five.delta.change == *shown.change);
  // Of ten rounds the 9th Walsh average from either end is the bound at .025, the 5th at .0081.
  CHECK(first_of_five.delta.bounds->low < shown.bounds->low);
  CHECK(first_of_five.delta.bounds->high > shown.bounds->high);
  CHECK(first_of_five.delta.change_of_mean.bounds->low == shown.change_of_mean.bounds->low);
}

TEST_CASE("where ranks would pass and the mean speaks against it, no more rounds are promised") {
  std::vector<double> candidate;
  for (int i = 0; i < 40; ++i)
    candidate.push_back(i % 20 == 7 ? 5.0 : 0.95 + 1e-4 * (7 * i % 40));  // in no order
  const std::vector<double> reference(candidate.size(), 1.0);
  const Verdict verdict = decide(kTenPercent, 1, {reference, candidate, true}, 0.95, 1);
  CHECK(verdict.answer == Answer::Inconclusive);
  CHECK(verdict.p_value_of_pass < verdict.spendable_error / 10);
  CHECK_FALSE(verdict.rounds_factor.has_value());
}

TEST_CASE("a gate below its limit fails where the value drops") {
  const Condition drop{
      .metric = "ipc", .limit = GateLimit::of_change(-5.0), .fails_below_limit = true};
  const Samples lower(42, 40, -0.2, 0.01);
  CHECK(decide(drop, 1, lower.evidence(), 0.95, 1).answer == Answer::Fail);
  const Samples higher(43, 40, 0.2, 0.01);
  CHECK(decide(drop, 1, higher.evidence(), 0.95, 1).answer == Answer::Pass);
}

TEST_CASE("an early look that comes late takes the place of those before it") {
  Schedule schedule(0.95, 1, 10, LookTiming::Early);
  CHECK(*schedule.rounds_at_next_early_look() == 10);
  static_cast<void>(schedule.look_early(100));
  CHECK(*schedule.rounds_at_next_early_look() > 100);
}

TEST_CASE("a candidate of zeros has a verdict, and one against zeros has no delta") {
  const std::vector<double> some(10, 3.0);
  const std::vector<double> zeros(10, 0.0);
  const Verdict appeared = decide(kTenPercent, 1, {zeros, some, true}, 0.95, 1);
  CHECK(appeared.answer == Answer::Fail);
  CHECK_FALSE(appeared.delta.change.has_value());
  CHECK(decide(kTenPercent, 1, {some, zeros, true}, 0.95, 1).answer == Answer::Pass);
  CHECK(decide(kTenPercent, 1, {zeros, zeros, true}, 0.95, 1).answer == Answer::Pass);
}

// With p = .16, the change is one standard error from the limit. In a session with k times as many
// rounds it is normal around sqrt(k) standard errors with the variance k + 1, and 5% needs 1.645.
TEST_CASE("an inconclusive verdict shows how many times the rounds decide in four of five cases") {
  const auto above = [](double z) { return std::erfc(z / std::sqrt(2.0)) / 2.0; };
  bool reported = false;
  for (std::uint64_t seed = 50; seed < 60; ++seed) {
    const Verdict verdict =
        decide(kTenPercent, 1, Samples(seed, 20, 0.11, 0.03).evidence(), 0.95, 1);
    const double p = std::min(verdict.p_value_of_fail, verdict.p_value_of_pass);
    if (verdict.answer != Answer::Inconclusive || !verdict.rounds_factor) continue;
    reported = true;
    // The deviate of p by bisection of erfc; for .05 it is 1.6449.
    double low = 0.0;
    double high = 10.0;
    while (high - low > 1e-12) {
      const double middle = (low + high) / 2.0;
      (above(middle) > p ? low : high) = middle;
    }
    const double k = *verdict.rounds_factor;
    const double spread = std::sqrt(k + 1.0);
    CHECK(above((1.6448536 - std::sqrt(k) * low) / spread) +
              above((1.6448536 + std::sqrt(k) * low) / spread) ==
          doctest::Approx(0.85).epsilon(1e-5));
    CHECK(k <= 50.0);
  }
  CHECK(reported);
}

TEST_CASE("of few rounds, and of independent sides, no more rounds are promised") {
  const auto count_promises = [](std::size_t rounds, bool paired) {
    int promises = 0;
    for (std::uint64_t seed = 50; seed < 60; ++seed) {
      const Samples samples(seed, rounds, 0.11, 0.03);
      Evidence evidence = samples.evidence();
      evidence.paired = paired;
      const Verdict verdict = decide(kTenPercent, 1, evidence, 0.95, 1);
      if (verdict.answer == Answer::Inconclusive && verdict.rounds_factor) ++promises;
    }
    return promises;
  };
  CHECK(count_promises(2, true) == 0);
  CHECK(count_promises(9, true) == 0);
  CHECK(count_promises(20, true) > 0);
  CHECK(count_promises(20, false) == 0);
}

TEST_CASE("where more rounds are hopeless no number of them is reported") {
  // Half of the rounds are above the threshold by the factor by which the others are below it.
  std::vector<double> reference;
  std::vector<double> candidate;
  for (int i = 0; i < 20; ++i) {
    reference.push_back(1.0);
    candidate.push_back(i % 2 == 0 ? 1.1 * 1.01 : 1.1 / 1.01);
  }
  const Verdict verdict = decide(kTenPercent, 1, {reference, candidate, true}, 0.95, 1);
  CHECK(verdict.answer == Answer::Inconclusive);
  CHECK_FALSE(verdict.rounds_factor.has_value());
}

TEST_CASE("among ten gates a fail needs a tenth of the error, a pass needs all of it") {
  const LookErrors one = errors_of_only_look(0.95, 1);
  const LookErrors ten = errors_of_only_look(0.95, 10);
  CHECK(*one.error_of_false_fail == doctest::Approx(0.05).epsilon(1e-12));
  CHECK(*ten.error_of_false_fail == doctest::Approx(0.005).epsilon(1e-12));
  CHECK(ten.error_of_false_pass == one.error_of_false_pass);
  CHECK(ten.tails.tail_of_delta == one.tails.tail_of_delta);
  CHECK(one.tails.tail_of_delta == doctest::Approx(0.025).epsilon(1e-12));
}

TEST_CASE("few first rounds have looks in order, and never none") {
  for (std::size_t first = 1; first <= 300; ++first) {
    const auto looks = look_rounds(first);
    CHECK(looks.front() == first);
    CHECK(looks.back() == 4 * first);
    CHECK(std::is_sorted(looks.begin(), looks.end()));
  }
}

namespace {

constexpr LookErrors kFivePercent{
    .error_of_false_fail = 0.05, .error_of_false_pass = 0.05, .tails = {}};

/// Rounds that are all `change` above a reference that varies, with a little noise of fixed signs.
struct Rounds {
  std::vector<double> reference;
  std::vector<double> candidate;

  /// `step`: of the places, in no order if it is not 1.
  Rounds(std::size_t count, double change, std::size_t step = 7) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto place = static_cast<double>(step * i % count);
      reference.push_back(1.0 + 0.01 * place);
      candidate.push_back((1.0 + change + 0.001 * (place + 1.0)) * reference.back());
    }
  }

  Evidence evidence(bool paired = true) const { return {reference, candidate, paired}; }
};

/// At the last look, whether the value is more than `limit` above the reference.
Judgement judged(const Evidence& evidence, double limit, const LookErrors& levels = kFivePercent) {
  return judge(evidence, {.limit = limit, .levels = levels, .is_last_look = true});
}

}  // namespace

TEST_CASE("before the last look what is not decided goes on, at the last it is inconclusive") {
  Rounds rounds(10, 0.1);
  std::reverse(rounds.candidate.begin(), rounds.candidate.end());  // noise without a direction
  CHECK_FALSE(judge(rounds.evidence(), {.limit = 0.1, .levels = kFivePercent}).answer.has_value());
  CHECK(judged(rounds.evidence(), 0.1).answer == Answer::Inconclusive);
}

TEST_CASE("an answer is given before the last look where it can be") {
  const Rounds rounds(10, 0.2);
  CHECK(judge(rounds.evidence(), {.limit = 0.1, .levels = kFivePercent}).answer == Answer::Fail);
  CHECK(judge(rounds.evidence(), {.limit = 0.3, .levels = kFivePercent}).answer == Answer::Pass);
}

TEST_CASE("four rounds leave the whole error to the mean, five share it with the ranks") {
  // 2^-4 = .0625 is above 80% of 5%; 2^-5 = .03125 is not.
  const Judgement four = judged(Rounds(4, 0.1).evidence(), 0.1);
  CHECK(four.answer == Answer::Fail);
  CHECK(four.decided_by == DecidedBy::Mean);
  CHECK(four.p_value_of_fail == four.mean_test_tails.above);

  const Judgement five = judged(Rounds(5, 0.1).evidence(), 0.1);
  CHECK(five.rank_test_tails.above == 1.0 / 32);
  CHECK(five.answer == Answer::Fail);
  CHECK(five.p_value_of_fail ==
        std::min(five.rank_test_tails.above / 0.8, five.mean_test_tails.above / 0.2));
}

TEST_CASE("independent samples share the error from five of each on") {
  CHECK(judged(Rounds(4, 1.0).evidence(false), 0.1).decided_by == DecidedBy::Mean);
  CHECK(judged(Rounds(5, 1.0).evidence(false), 0.1).decided_by == DecidedBy::Both);
}

TEST_CASE("a candidate that is slow in one round of ten does not pass by its typical round") {
  std::vector<double> reference;
  std::vector<double> candidate;
  for (int i = 0; i < 60; ++i) {
    reference.push_back(1.0 + 0.001 * (i % 7));
    candidate.push_back((1.0 + 0.001 * (i % 5)) * (i % 10 == 3 ? 3.0 : 1.0));
  }
  const Judgement judgement = judged({reference, candidate, true}, 0.1);
  CHECK(judgement.rank_test_tails.below < 1e-4);  // the ranks alone would pass it
  CHECK(judgement.mean_difference > 0);
  CHECK(judgement.answer != Answer::Pass);
}

TEST_CASE("spikes that hide a slow-down from the mean do not hide it from the ranks") {
  Rounds rounds(20, 0.1);
  rounds.reference[4] *= 2.0;
  rounds.candidate[4] = rounds.reference[4] * 1.2;
  rounds.candidate[5] *= 4.0;
  const Judgement judgement = judged(rounds.evidence(), 0.05);
  CHECK(judgement.answer == Answer::Fail);
  CHECK(judgement.decided_by == DecidedBy::Ranks);
  CHECK(judgement.mean_test_tails.above > 0.05);
}

TEST_CASE("the level belongs to the answer on the delta's side") {
  const LookErrors levels{.error_of_false_fail = 0.01, .error_of_false_pass = 0.05, .tails = {}};
  CHECK(judged(Rounds(10, 0.2).evidence(), 0.1, levels).allowed_error == 0.01);
  CHECK(judged(Rounds(10, 0.0).evidence(), 0.1, levels).allowed_error == 0.05);
}

TEST_CASE("equal counts pass a gate of zero and more, and fail one below") {
  const std::vector<double> counts(10, 412.0);
  CHECK(judged({counts, counts, true}, 0.0).answer == Answer::Pass);
  CHECK(judged({counts, counts, true}, 0.01).answer == Answer::Pass);
  CHECK(judged({counts, counts, true}, -0.01).answer == Answer::Fail);
}

TEST_CASE("rounds that are all at the limit do not support a fail, on whichever side it is") {
  const std::vector<double> zeros(20, 0.0);
  for (const FailsWhen side : {FailsWhen::Above, FailsWhen::Below}) {
    for (const bool paired : {true, false}) {
      const Judgement judgement =
          judge({zeros, zeros, paired},
                {.limit = 0.05, .fails_when = side, .levels = kFivePercent, .is_last_look = true});
      CHECK(judgement.answer == Answer::Pass);
      CHECK(judgement.p_value_of_fail == 1.0);
      CHECK(judgement.p_value_of_pass < 1e-10);
    }
    const std::vector<double> equal(20, 7.0);
    const auto of_quantile =
        judge({equal, equal, true, 0.5},
              {.limit = 0.0, .fails_when = side, .levels = kFivePercent, .is_last_look = true});
    CHECK(of_quantile.answer == Answer::Pass);
    CHECK(of_quantile.p_value_of_fail == 1.0);
  }
}

TEST_CASE("the bound of a decision is the limit at which it would just have been the same") {
  const Rounds rounds(20, 0.2);
  const stats::Delta delta = stats::estimate_delta({.reference = rounds.evidence().reference,
                                                    .candidate = rounds.evidence().candidate,
                                                    .paired = true},
                                                   {});
  for (const double limit : {0.05, 0.4}) {
    const Judgement judgement = judged(rounds.evidence(), limit);
    const auto bounds = decision_bounds(judgement, rounds.evidence(),
                                        {.limit = limit, .levels = kFivePercent}, delta);
    REQUIRE(bounds.ranks.has_value());
    const bool is_fail = judgement.answer == Answer::Fail;
    CHECK(is_fail == (limit < 0.2));
    CHECK((is_fail ? *bounds.ranks > limit : *bounds.ranks < limit));
    CHECK((is_fail ? *bounds.ranks <= *delta.change : *bounds.ranks >= *delta.change));
    CHECK(judged(rounds.evidence(), *bounds.ranks).answer == judgement.answer);
  }
}

TEST_CASE("the bound of values that repeat exactly is their change, to the last digit") {
  const std::vector<double> reference(3, 55130276.0);
  const std::vector<double> candidate(3, 56230242.0);
  const stats::Delta delta =
      stats::estimate_delta({.reference = reference, .candidate = candidate, .paired = true}, {});
  const Judgement judgement = judged({reference, candidate, true}, 0.01);
  REQUIRE(judgement.answer == Answer::Fail);
  const auto bounds = decision_bounds(judgement, {reference, candidate, true},
                                      {.limit = 0.01, .levels = kFivePercent}, delta);
  CHECK(bounds.mean == delta.change_of_mean.change);
}

TEST_CASE("the boundary is farther if neighbouring rounds resemble each other") {
  for (const bool paired : {true, false}) {
    const double change = paired ? 0.098 : 0.18;
    const Judgement plain = judged(Rounds(20, change).evidence(paired), 0.1);
    const Judgement widened = judged(Rounds(20, change, 1).evidence(paired), 0.1);
    CHECK(widened.mean_difference == doctest::Approx(plain.mean_difference));
    CHECK(widened.p_value_of_fail > 2.0 * plain.p_value_of_fail);
    CHECK(plain.answer == Answer::Fail);
    CHECK(widened.answer == Answer::Inconclusive);
  }
}

TEST_CASE("one round, and none, decide nothing") {
  const Rounds one(1, 5.0);
  CHECK(judged(one.evidence(), 0.1).answer == Answer::Inconclusive);
  CHECK(judged(one.evidence(false), 0.1).answer == Answer::Inconclusive);
  CHECK(judged({}, 0.1).answer == Answer::Inconclusive);
  CHECK_FALSE(judge({}, {.limit = 0.1, .levels = kFivePercent}).answer.has_value());
}

TEST_CASE("a gate below its limit fails and passes where the one above passes and fails") {
  for (const double change : {-0.2, -0.1, 0.0, 0.1, 0.2}) {
    const Rounds rounds(20, change);
    const auto answer_of = [&](FailsWhen fails_when) {
      return judge(rounds.evidence(), {.limit = 0.05,
                                       .fails_when = fails_when,
                                       .levels = kFivePercent,
                                       .is_last_look = true})
          .answer.value();
    };
    const bool is_above = change > 0.05;
    CHECK(answer_of(FailsWhen::Above) == (is_above ? Answer::Fail : Answer::Pass));
    CHECK(answer_of(FailsWhen::Below) == (is_above ? Answer::Pass : Answer::Fail));
  }
  const std::vector<double> counts(10, 412.0);
  CHECK(judge({counts, counts, true}, {.limit = 0.0,
                                       .fails_when = FailsWhen::Below,
                                       .levels = kFivePercent,
                                       .is_last_look = true})
            .answer == Answer::Pass);
}

TEST_CASE("ranks fail although spikes of the reference hold the mean below the limit") {
  Rounds rounds(20, 0.2);
  rounds.reference[7] *= 20.0;
  const Judgement judgement = judged(rounds.evidence(), 0.1);
  CHECK(judgement.mean_difference < 0);
  CHECK(judgement.answer == Answer::Fail);
  CHECK(judgement.decided_by == DecidedBy::Ranks);
}

TEST_CASE("a look that is not taken for an answer does not give it") {
  const LookErrors for_fail{.error_of_false_fail = 0.05, .tails = {}};
  CHECK(judged(Rounds(30, 0.0).evidence(), 0.1, for_fail).answer == Answer::Inconclusive);
  CHECK(judged(Rounds(30, 0.2).evidence(), 0.1, for_fail).answer == Answer::Fail);
}

TEST_CASE(
    "failure rates differ by Fisher's test at 1%, or where one command alone never succeeds") {
  // Of 12 runs each: p is .0137 for 6 and 0, .0046 for 7 and 0.
  CHECK_FALSE(failures_differ({0, 12}, {6, 12}));
  CHECK(failures_differ({0, 12}, {7, 12}));
  CHECK(failures_differ({7, 12}, {0, 12}));
  CHECK(failures_differ({0, 2}, {2, 2}));
  CHECK_FALSE(failures_differ({2, 2}, {2, 2}));
  CHECK_FALSE(failures_differ({0, 0}, {2, 2}));  // nothing is known of the reference
}

TEST_CASE("a verdict that is held back stays inconclusive when its job is settled") {
  const Samples samples(43, 20, 0.3, 0.01);
  Findings findings{{decide(kTenPercent, 1, samples.evidence(), 0.95, 1)}};
  REQUIRE(findings.verdicts[0].answer == Answer::Fail);
  findings.verdicts[0].p_over_all_looks = findings.verdicts[0].p_value_of_fail;
  make_inconclusive(findings.verdicts[0], {Obstacle::FailureRates});
  for (const ErrorRate risk : {ErrorRate::AnyFalseFail, ErrorRate::ShareOfFalseFails}) {
    const std::vector<Findings*> all = {&findings};
    fail_gates_by_error_rate(all, 0.05, risk);
    CHECK(findings.verdicts[0].answer == Answer::Inconclusive);
    CHECK(findings.verdicts[0].hindrance.obstacle == Obstacle::FailureRates);
  }
}

TEST_CASE("a fixed bound also judges the layouts of which only an upper bound is known") {
  Condition condition;
  condition.limit = GateLimit::of_value(64.0);
  Series series{{10.0, 11.0}, {}};
  series.layouts = {0, 1};
  series.largest_bound = 20.0;
  series.runs_with_bound = 2;
  series.layouts_of_bounded_runs = {2, 3};
  const Comparison all = samples_against_limit(condition, series);
  CHECK(all.candidate == std::vector{10.0, 11.0, 20.0, 20.0});
  CHECK(all.candidate_layouts == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(all.reference_layouts == all.candidate_layouts);
  CHECK(all.reference == std::vector(4, 64.0));
  series.failed_layouts = {1};
  CHECK(samples_against_limit(condition, series).candidate == std::vector{10.0, 20.0, 20.0});
  condition.limit = GateLimit::of_value(15.0);
  CHECK(samples_against_limit(condition, series).candidate.empty());
}

}  // namespace lauka::gate
