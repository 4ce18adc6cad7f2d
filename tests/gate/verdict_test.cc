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

const Condition kTenPercent{.metric = "wall_time", .limit_percent = 10.0};

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
  CHECK(verdict.condition.limit_percent == 10.0);
  CHECK(verdict.candidate == 2);
  CHECK(verdict.rounds == 20);
  CHECK(verdict.look == 1);
  CHECK(verdict.answer == Answer::Fail);
  CHECK(verdict.decided_by == DecidedBy::Both);
  CHECK(verdict.p_fail < 1e-4);
  CHECK(verdict.p_pass == 1.0);
  CHECK_FALSE(verdict.times_as_many.has_value());
}

TEST_CASE("a verdict's delta is the one of the table at one look, and wider at one of several") {
  const Samples samples(41, 10, 0.3, 0.01);
  const Verdict once = decide(kTenPercent, 1, samples.evidence(), 0.95, 1);
  const auto shown =
      stats::estimate_delta(samples.reference, samples.candidate, true, stats::tails_of(0.95));
  CHECK(*once.delta.change == *shown.change);
  CHECK(once.delta.bounds->low == shown.bounds->low);

  const auto first_of_five =
      decide_at_look({kTenPercent, 1, 0}, comparison_of(samples.evidence()), std::nullopt,
                     Schedule(0.95, 1, 1, WatchSchedule::Planned).late(), {1, false})
          .value();
  CHECK(*first_of_five.delta.change == *shown.change);
  // Of ten rounds the 9th Walsh average from either end is the bound at .025, the 5th at .0081.
  CHECK(first_of_five.delta.bounds->low < shown.bounds->low);
  CHECK(first_of_five.delta.bounds->high > shown.bounds->high);
  CHECK(first_of_five.delta.mean.bounds->low == shown.mean.bounds->low);
}

TEST_CASE("where ranks would pass and the mean speaks against it, no more rounds are promised") {
  std::vector<double> candidate;
  for (int i = 0; i < 40; ++i) candidate.push_back(i % 20 == 7 ? 5.0 : 0.95 + 1e-4 * i);
  const std::vector<double> reference(candidate.size(), 1.0);
  const Verdict verdict = decide(kTenPercent, 1, {reference, candidate, true}, 0.95, 1);
  CHECK(verdict.answer == Answer::Inconclusive);
  CHECK(verdict.p_pass < verdict.level / 10);
  CHECK_FALSE(verdict.times_as_many.has_value());
}

TEST_CASE("a gate below its limit fails where the value drops") {
  const Condition drop{.metric = "ipc", .limit_percent = -5.0, .below = true};
  const Samples lower(42, 40, -0.2, 0.01);
  CHECK(decide(drop, 1, lower.evidence(), 0.95, 1).answer == Answer::Fail);
  const Samples higher(43, 40, 0.2, 0.01);
  CHECK(decide(drop, 1, higher.evidence(), 0.95, 1).answer == Answer::Pass);
}

TEST_CASE("an early look that comes late takes the place of those before it") {
  Schedule schedule(0.95, 1, 10, WatchSchedule::Early);
  CHECK(*schedule.next_early() == 10);
  static_cast<void>(schedule.look_early(100));
  CHECK(*schedule.next_early() > 100);
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

TEST_CASE("an inconclusive verdict shows how many times the rounds would decide") {
  // One-sided p of .16 is one standard error away; 5% needs 1.645 of them, thus 1.645^2 = 2.7 times
  // the rounds. The smaller probability decides.
  bool reported = false;
  for (std::uint64_t seed = 50; seed < 60; ++seed) {
    const Verdict verdict =
        decide(kTenPercent, 1, Samples(seed, 20, 0.11, 0.03).evidence(), 0.95, 1);
    const double p = std::min(verdict.p_fail, verdict.p_pass);
    if (verdict.answer != Answer::Inconclusive || !verdict.times_as_many) continue;
    reported = true;
    // The deviate of p by bisection of erfc; for .05 it is 1.6449.
    double low = 0.0;
    double high = 10.0;
    while (high - low > 1e-12) {
      const double middle = (low + high) / 2.0;
      (std::erfc(middle / std::sqrt(2.0)) / 2.0 > p ? low : high) = middle;
    }
    CHECK(*verdict.times_as_many == doctest::Approx(std::pow(1.6448536 / low, 2.0)).epsilon(1e-5));
    CHECK(*verdict.times_as_many >= 1.0);
    CHECK(*verdict.times_as_many <= 50.0);
  }
  CHECK(reported);
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
  CHECK_FALSE(verdict.times_as_many.has_value());
}

TEST_CASE("among ten gates a fail needs a tenth of the error, a pass needs all of it") {
  const Levels one = levels_of_one_look(0.95, 1);
  const Levels ten = levels_of_one_look(0.95, 10);
  CHECK(*one.fail == doctest::Approx(0.05).epsilon(1e-12));
  CHECK(*ten.fail == doctest::Approx(0.005).epsilon(1e-12));
  CHECK(ten.pass == one.pass);
  CHECK(ten.tails.tail == one.tails.tail);
  CHECK(one.tails.tail == doctest::Approx(0.025).epsilon(1e-12));
}

TEST_CASE("few first rounds have looks in order, and never none") {
  for (std::size_t first = 1; first <= 300; ++first) {
    const auto looks = look_rounds(first);
    CHECK(looks.front() == first);
    CHECK(looks.back() == 4 * first);
    CHECK(std::is_sorted(looks.begin(), looks.end()));
  }
}

}  // namespace lauka::gate
