#include "stats/delta.h"

#include "stats/noise.h"
#include "stats/rank_tests.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::stats {
namespace {

constexpr int kDeltaTrials = 3000;

Delta at_95(const std::vector<double>& reference, const std::vector<double>& candidate,
            bool paired = true) {
  return estimate_delta({.reference = reference, .candidate = candidate, .paired = paired},
                        tails_of(0.95));
}

std::vector<double> times(std::vector<double> values, double factor) {
  std::for_each(values.begin(), values.end(), [factor](double& value) { value *= factor; });
  return values;
}

}  // namespace

TEST_CASE("one round has a delta without an interval") {
  const std::vector<double> reference{2.0};
  const std::vector<double> candidate{3.0};
  for (const bool paired : {true, false}) {
    const Delta delta = at_95(reference, candidate, paired);
    CHECK(delta.change == 0.5);
    CHECK_FALSE(delta.bounds.has_value());
    CHECK_FALSE(delta.is_significant());
  }
}

TEST_CASE("two rounds have no interval, and equal ones as few as gates decide with") {
  for (const bool paired : {true, false}) {
    for (const std::vector<double>& candidate : {std::vector{6.0, 6.0}, std::vector{6.0, 6.1}}) {
      const Delta delta = at_95(std::vector{5.0, 5.0}, candidate, paired);
      CHECK(delta.change.has_value());
      CHECK_FALSE(delta.bounds.has_value());
    }
    const std::vector<double> fives(3, 5.0);
    const std::vector<double> sixes(3, 6.0);
    CHECK(at_95(fives, sixes, paired).half_width() == 0.0);  // 4^-3 is 1.6%
    CHECK_FALSE(
        estimate_delta({.reference = fives, .candidate = sixes, .paired = paired}, tails_of(0.99))
            .bounds.has_value());
  }
}

TEST_CASE("against a reference of zero only zero has a delta") {
  const std::vector<double> zeros(7, 0.0);
  const std::vector<double> some{0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 2.0};
  for (const bool paired : {true, false}) {
    CHECK_FALSE(at_95(zeros, some, paired).change.has_value());
    CHECK(at_95(zeros, zeros, paired).change == 0.0);
    CHECK_FALSE(at_95(zeros, zeros, paired).bounds.has_value());
    CHECK(at_95(some, zeros, paired).change == -1.0);
  }
}

TEST_CASE("metrics without noise have an interval of no width, on either basis") {
  for (const std::size_t rounds : {std::size_t{5}, std::size_t{9}}) {
    const std::vector<double> reference(rounds, 0.1);
    const std::vector<double> candidate(rounds, 0.3);
    const Delta delta = at_95(reference, candidate);
    CHECK(delta.basis == (rounds == 5 ? Basis::Mean : Basis::Typical));
    CHECK(*delta.change == doctest::Approx(2.0).epsilon(1e-12));
    CHECK(delta.half_width() == 0.0);
    CHECK(delta.is_significant());
    CHECK_FALSE(at_95(reference, reference).is_significant());
  }
}

TEST_CASE("rounding of a constant ratio is not taken for noise") {
  noise::Source source(3);
  for (const std::size_t rounds : {std::size_t{5}, std::size_t{12}}) {
    const std::vector<double> reference = source.normals(rounds, 0.7, 0.05);
    const Delta delta = at_95(reference, times(reference, 1.0 / 3.0));
    CHECK(*delta.change == doctest::Approx(-2.0 / 3.0).epsilon(1e-12));
    CHECK(delta.half_width() == 0.0);
  }
}

TEST_CASE("two samples without any overlap differ, however long their tails are") {
  // Largest of one 3.4, smallest of the other 9.3; the mean's interval by the delta method held 0.
  const std::vector<double> reference{1.0, 1.1, 1.0, 1.2, 3.4, 1.1, 1.0};
  const std::vector<double> candidate{9.3, 9.9, 9.5, 240.0, 9.4, 9.8, 9.6};
  for (const bool paired : {true, false})
    CHECK(at_95(reference, candidate, paired).is_significant());
}

TEST_CASE("a value of zero is no reason to drop a round: then the mean is reported") {
  const std::vector<double> reference{3.0, 2.0, 4.0, 3.0, 2.0, 3.0, 4.0, 2.0};
  std::vector<double> candidate = times(reference, 2.0);
  CHECK(at_95(reference, candidate).basis == Basis::Typical);
  candidate[2] = 0.0;
  const Delta delta = at_95(reference, candidate);
  CHECK(delta.basis == Basis::Mean);
  CHECK(*delta.change == doctest::Approx(38.0 / 23.0 - 1.0));
  CHECK(delta.change_of_mean.change == delta.change);
}

TEST_CASE("a reference that may be zero bounds no ratio") {
  // Fieller: t(.025, 3) = 3.182, s = 0.5, mean 0.25: 3.182 * 0.5 / 2 = 0.80 > 0.25.
  const std::vector<double> reference{0.0, 0.0, 0.0, 1.0};
  const std::vector<double> candidate{1.0, 2.0, 1.0, 2.0};
  for (const bool paired : {true, false}) {
    CHECK(at_95(reference, candidate, paired).change == 5.0);
    CHECK_FALSE(at_95(reference, candidate, paired).bounds.has_value());
  }
}

TEST_CASE("a delta does not depend on the unit") {
  noise::Source source(4);
  for (const std::size_t rounds : {std::size_t{3}, std::size_t{15}}) {
    const std::vector<double> reference = source.normals(rounds, 1.0, 0.05);
    const std::vector<double> candidate = source.normals(rounds, 1.2, 0.05);
    for (const bool paired : {true, false}) {
      const Delta seconds = at_95(reference, candidate, paired);
      const Delta nanoseconds = at_95(times(reference, 1e9), times(candidate, 1e9), paired);
      CHECK(*nanoseconds.change == doctest::Approx(*seconds.change).epsilon(1e-12));
      CHECK(nanoseconds.bounds->low == doctest::Approx(seconds.bounds->low).epsilon(1e-9));
      CHECK(nanoseconds.bounds->high == doctest::Approx(seconds.bounds->high).epsilon(1e-9));
    }
  }
}

TEST_CASE("pairs take out what both commands of a round share, independent samples do not") {
  noise::Source source(5);
  std::vector<double> reference;
  std::vector<double> candidate;
  for (int round = 0; round < 20; ++round) {
    const double weather = 1.0 + 0.02 * round;
    reference.push_back(weather * (1.0 + 0.001 * source.normal()));
    candidate.push_back(weather * (1.01 + 0.001 * source.normal()));
  }
  CHECK(at_95(reference, candidate).is_significant());
  CHECK_FALSE(at_95(reference, candidate, false).is_significant());
}

TEST_CASE("intervals cover the true delta as often as promised, on either basis") {
  noise::Source source(6);
  for (const std::size_t rounds : {std::size_t{4}, std::size_t{10}}) {
    for (const bool paired : {true, false}) {
      int covered = 0;
      for (int trial = 0; trial < kDeltaTrials; ++trial) {
        const Delta delta = at_95(source.normals(rounds, 1.0, 0.03),
                                  times(source.normals(rounds, 1.0, 0.03), 1.1), paired);
        covered += delta.bounds && !delta.bounds->leave_out(0.1) ? 1 : 0;
      }
      INFO(rounds, " rounds, paired ", paired, ": ", covered);
      CHECK(covered > 0.93 * kDeltaTrials);
      CHECK(covered < 0.985 * kDeltaTrials);
    }
  }
}

TEST_CASE("rare long runs are reported for the mean, noise is not") {
  noise::Source source(7);
  std::vector<double> reference = source.normals(100, 1.0, 0.01);
  std::vector<double> candidate = source.normals(100, 1.0, 0.01);
  CHECK_FALSE(at_95(reference, candidate).mean_and_typical_differ);
  for (std::size_t round = 3; round < 100; round += 8) candidate[round] *= 3.0;
  const Delta slower = at_95(reference, candidate);
  CHECK(slower.mean_and_typical_differ);
  CHECK(*slower.change_of_mean.change > 0.1);
  CHECK(std::abs(*slower.change) < 0.02);
  CHECK_FALSE(at_95(candidate, candidate).mean_and_typical_differ);
}

TEST_CASE("faster and slower are two faces of one interval") {
  // 1 / 0.22 = 4.545, 1 / 0.225 = 4.444 and 1 / 0.215 = 4.651.
  const auto faster = relative_speed({-0.78, IntervalEnds{-0.785, -0.775}});
  REQUIRE(faster.has_value());
  CHECK(faster->faster);
  CHECK(faster->speed_factor == doctest::Approx(4.5454545454).epsilon(1e-9));
  CHECK(faster->bounds->low == doctest::Approx(4.4444444444).epsilon(1e-9));
  CHECK(faster->bounds->high == doctest::Approx(4.6511627907).epsilon(1e-9));

  const auto slower = relative_speed({0.25, IntervalEnds{0.24, 0.27}}).value();
  CHECK_FALSE(slower.faster);
  CHECK(slower.speed_factor == 1.25);
  CHECK(slower.bounds->high == 1.27);
}

TEST_CASE("a speed is reported without an interval where the delta has none, or not at all") {
  CHECK_FALSE(relative_speed({-0.5, std::nullopt})->bounds.has_value());
  CHECK_FALSE(relative_speed({-0.9, IntervalEnds{-1.0, -0.7}})->bounds.has_value());
  CHECK_FALSE(relative_speed({}).has_value());
  CHECK_FALSE(relative_speed({-1.0, std::nullopt}).has_value());
}

TEST_CASE("the geometric mean of changes, with the interval that their logarithms' have together") {
  const std::vector<Change> changes = {{0.10, IntervalEnds{0.05, 0.15}},
                                       {-0.10, IntervalEnds{-0.15, -0.05}}};
  const Change mean = geometric_mean(changes);
  REQUIRE(mean.change);
  REQUIRE(mean.bounds);
  // By hand: sqrt(1.1 * 0.9) - 1, and half the root of the squares of ln(1.1/1.05) and ln(0.9/0.85)
  // below, of ln(1.15/1.1) and ln(0.95/0.9) above.
  CHECK(*mean.change == doctest::Approx(-0.005012562893380046));
  CHECK(mean.bounds->low == doctest::Approx(-0.04100890763940971));
  CHECK(mean.bounds->high == doctest::Approx(0.030425742577590915));
}

TEST_CASE("a geometric mean lacks an interval if a change does, and a value without changes") {
  const std::vector<Change> changes = {{0.5, IntervalEnds{0.4, 0.6}}, {0.5, std::nullopt}};
  CHECK(*geometric_mean(changes).change == doctest::Approx(0.5));
  CHECK_FALSE(geometric_mean(changes).bounds);
  const std::vector<Change> lost = {{0.5, IntervalEnds{0.4, 0.6}}, {-1.0, std::nullopt}};
  CHECK_FALSE(geometric_mean(lost).change);
  CHECK_FALSE(geometric_mean({}).change);
  const std::vector<Change> unbounded = {{-0.5, IntervalEnds{-1.0, 0.6}}};
  CHECK_FALSE(geometric_mean(unbounded).bounds);
}

// The expected values are a separate program's (Python 3, statistics.stdev, Student's t by
// Simpson's rule), which follows Miller (1968) for the logarithm of the standard deviation.

namespace {

void check(const Change& found, double change, double low, double high) {
  REQUIRE(found.change);
  REQUIRE(found.bounds);
  CHECK(*found.change == doctest::Approx(change).epsilon(1e-9));
  CHECK(found.bounds->low == doctest::Approx(low).epsilon(1e-7));
  CHECK(found.bounds->high == doctest::Approx(high).epsilon(1e-7));
}

const std::vector<double> kSteady{10.0, 10.3, 9.9,  10.6, 10.2, 10.1,
                                  11.2, 9.8,  10.4, 10.3, 10.0, 10.5};

}  // namespace

TEST_CASE("the change of the standard deviation is Miller's jackknife") {
  const std::vector<double> noisy{10.2, 11.9, 9.8, 13.5, 10.1, 12.4, 16.3, 9.9, 11.0, 10.7};
  check(spread_change(noisy, kSteady, 0.025), -0.8216196034, -0.9494593221, -0.3704167172);
}

TEST_CASE("of more than 20 samples, groups of neighbours are left out") {
  std::vector<double> many;
  for (int i = 0; i < 45; ++i)
    many.push_back(10 + (i * 37 % 45) / 45.0 * 2 + (i % 11 == 0 ? 3 : 0));
  check(spread_change(many, kSteady, 0.025), -0.4966092171, -0.7926743365, 0.2222427076);
}

TEST_CASE("samples without noise, or too few of them, have no change of spread") {
  CHECK_FALSE(spread_change(std::vector{1.0, 1.0, 1.0}, kSteady, 0.025).change);
  CHECK_FALSE(spread_change(kSteady, std::vector{1.0, 2.0}, 0.025).change);
  CHECK_FALSE(spread_change(kSteady, std::vector<double>{}, 0.025).change);
}

TEST_CASE("the width of a delta's interval is compared at the same number of rounds") {
  const std::vector<double> reference{10.2, 11.9, 9.8, 13.5, 10.1, 12.4, 16.3, 9.9};
  const std::vector<double> candidate{11.0, 12.2, 11.5, 13.1, 11.9, 12.0, 17.5, 10.8};
  std::vector<double> more;
  std::vector<double> of_candidate;
  for (int i = 0; i < 24; ++i) {
    more.push_back(10 + i * 7 % 24 / 24.0);
    of_candidate.push_back(11 + i * 11 % 24 / 20.0);
  }
  const Change found =
      width_change({.reference = reference, .candidate = candidate, .paired = true},
                   {.reference = more, .candidate = of_candidate, .paired = true}, tails_of(0.95));
  check(found, 1.2601933214, -0.2107909802, 5.4729035297);
  CHECK_FALSE(
      width_change({}, {.reference = more, .candidate = of_candidate}, tails_of(0.95)).change);
}

TEST_CASE("the interval of a change of spread holds for times with long tails") {
  // Log-normal times with sigma 0.5: their kurtosis is 8.9, for which the F test covers 74%.
  constexpr int trials = 2000;
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> time(0.0, 0.5);
  int covered = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> untuned(30);
    std::vector<double> tuned(90);
    for (double& one : untuned) one = 10 + 2 * time(random);
    for (double& one : tuned) one = 10 + time(random);
    const Change change = spread_change(untuned, tuned, 0.025);
    covered += change.bounds->low <= -0.5 && -0.5 <= change.bounds->high ? 1 : 0;
  }
  CHECK(covered > 0.88 * trials);
  CHECK(covered < 0.97 * trials);
}

namespace {

constexpr int kTypicalTrials = 4000;

/// All averages of two, each with itself as well, in ascending order.
std::vector<double> walsh_averages(const std::vector<double>& reference,
                                   const std::vector<double>& candidate) {
  std::vector<double> averages;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    for (std::size_t j = i; j < reference.size(); ++j)
      averages.push_back(
          (std::log(candidate[i] / reference[i]) + std::log(candidate[j] / reference[j])) / 2.0);
  }
  std::sort(averages.begin(), averages.end());
  return averages;
}

double median_of(const std::vector<double>& ascending) {
  const std::size_t half = ascending.size() / 2;
  return ascending.size() % 2 != 0 ? ascending[half]
                                   : (ascending[half - 1] + ascending[half]) / 2.0;
}

}  // namespace

TEST_CASE("the typical round is what listing all Walsh averages gives") {
  noise::Source source(20);
  for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{50},
                                  std::size_t{51}, std::size_t{300}}) {
    INFO(count, " rounds");
    const std::vector<double> reference = source.normals(count, 1.0, 0.05);
    const std::vector<double> candidate = source.normals(count, 1.0, 0.05);
    const std::vector<double> averages = walsh_averages(reference, candidate);
    const auto typical =
        typical_change({.reference = reference, .candidate = candidate, .paired = true}, 0.025);
    const std::size_t place = signed_rank_place(count, 0.025);
    REQUIRE(typical.has_value() == (place > 0));
    if (typical) {
      CHECK(typical->change == doctest::Approx(std::exp(median_of(averages)) - 1.0).epsilon(1e-10));
      CHECK(typical->bounds.low ==
            doctest::Approx(std::exp(averages[place - 1]) - 1.0).epsilon(1e-10));
      CHECK(typical->bounds.high ==
            doctest::Approx(std::exp(averages[averages.size() - place]) - 1.0).epsilon(1e-10));
    }
  }
}

TEST_CASE("of 5000 rounds the bounds are where the signed-rank test changes its mind") {
  noise::Source source(21);
  const std::vector<double> reference = source.normals(5000, 1.0, 0.05);
  const std::vector<double> candidate = source.normals(5000, 1.03, 0.05);
  const auto typical =
      typical_change({.reference = reference, .candidate = candidate, .paired = true}, 0.025)
          .value();
  const auto tails = [&](double change) {
    return signed_rank(reference, candidate, 1.0 + change).tails;
  };
  CHECK(tails(typical.bounds.low - 1e-5).above < 0.025);
  CHECK(tails(typical.bounds.low + 1e-5).above > 0.025);
  CHECK(tails(typical.bounds.high + 1e-5).below < 0.025);
  CHECK(tails(typical.bounds.high - 1e-5).below > 0.025);
  CHECK(tails(typical.change).above == doctest::Approx(0.5).epsilon(0.01));
}

TEST_CASE("the bounds cover the typical round as often as promised") {
  noise::Source source(22);
  int covered = 0;
  for (int trial = 0; trial < kTypicalTrials; ++trial) {
    const std::vector<double> reference = source.normals(12, 1.0, 0.05);
    std::vector<double> candidate = source.normals(12, 1.0, 0.05);
    std::for_each(candidate.begin(), candidate.end(), [](double& value) { value *= 1.2; });
    const auto typical =
        typical_change({.reference = reference, .candidate = candidate, .paired = true}, 0.025);
    covered += typical->bounds.low <= 0.2 && 0.2 <= typical->bounds.high ? 1 : 0;
  }
  INFO(covered);
  CHECK(covered >= 0.94 * kTypicalTrials);
  CHECK(covered <= 0.97 * kTypicalTrials);
}

TEST_CASE("there is no typical round where a value is not positive, or with five rounds at 95%") {
  const std::vector<double> ones(7, 1.0);
  const std::vector<double> below_zero(7, -1.0);
  std::vector<double> with_zero = ones;
  with_zero[3] = 0.0;
  for (const bool paired : {true, false}) {
    CHECK(typical_change({.reference = ones, .candidate = ones, .paired = paired}, 0.025));
    CHECK_FALSE(
        typical_change({.reference = ones, .candidate = with_zero, .paired = paired}, 0.025));
    CHECK_FALSE(
        typical_change({.reference = with_zero, .candidate = ones, .paired = paired}, 0.025));
    CHECK_FALSE(typical_change({.reference = below_zero, .candidate = below_zero, .paired = paired},
                               0.025));
    CHECK_FALSE(typical_change({.reference = {}, .candidate = {}, .paired = paired}, 0.025));
  }
  const std::vector<double> five(5, 1.0);
  CHECK_FALSE(typical_change({.reference = five, .candidate = five, .paired = true}, 0.025));
  CHECK(typical_change({.reference = five, .candidate = five, .paired = false}, 0.025));
}

TEST_CASE("a log ratio of few rounds is the mean of logarithms with its standard error") {
  // ln 1.1 and ln 1.2: deviation (ln 1.2 - ln 1.1) / sqrt 2, error that / sqrt 2.
  const std::vector<double> reference = {1.0, 2.0};
  const std::vector<double> candidate = {1.1, 2.4};
  const auto paired =
      log_ratio({.reference = reference, .candidate = candidate, .paired = true}).value();
  CHECK(paired.value == doctest::Approx((std::log(1.1) + std::log(1.2)) / 2));
  CHECK(paired.error.value_or(0.0) == doctest::Approx((std::log(1.2) - std::log(1.1)) / 2));
  const auto independent =
      log_ratio({.reference = reference, .candidate = candidate, .paired = false}).value();
  CHECK(independent.value == doctest::Approx(paired.value));
  CHECK(independent.error.value_or(0.0) ==
        doctest::Approx(std::hypot(std::log(2.0) / 2, std::log(2.4 / 1.1) / 2)));
  const auto single =
      log_ratio({.reference = std::vector{2.0}, .candidate = std::vector{1.0}, .paired = true})
          .value();
  CHECK(single.value == doctest::Approx(-std::log(2.0)));
  CHECK_FALSE(single.error);
  CHECK_FALSE(
      log_ratio({.reference = std::vector{0.0}, .candidate = std::vector{1.0}, .paired = true}));
  CHECK_FALSE(log_ratio({.reference = {}, .candidate = {}, .paired = false}));
}

TEST_CASE("a log ratio's error is the typical round's, as often as one sigma says") {
  noise::Source source(29);
  int inside = 0;
  for (int trial = 0; trial < kTypicalTrials / 4; ++trial) {
    std::vector<double> reference;
    std::vector<double> candidate;
    for (int round = 0; round < 20; ++round) {
      reference.push_back(1.0);
      candidate.push_back(std::exp(0.1 + 0.05 * source.normal()));
    }
    const auto ratio =
        log_ratio({.reference = reference, .candidate = candidate, .paired = true}).value();
    if (std::fabs(ratio.value - 0.1) <= ratio.error.value_or(0.0)) ++inside;
  }
  CHECK(inside / (kTypicalTrials / 4.0) == doctest::Approx(0.683).epsilon(0.06));
}

TEST_CASE("of independent samples it is what listing all differences of logarithms gives") {
  noise::Source source(23);
  const std::vector<double> reference = source.normals(30, 1.0, 0.05);
  const std::vector<double> candidate = source.normals(41, 1.1, 0.05);
  std::vector<double> differences;
  for (const double r : reference) {
    for (const double c : candidate) differences.push_back(std::log(c) - std::log(r));
  }
  std::sort(differences.begin(), differences.end());
  const auto typical =
      typical_change({.reference = reference, .candidate = candidate, .paired = false}, 0.025);
  const std::size_t place = mann_whitney_place(30, 41, 0.025);
  REQUIRE(typical.has_value());
  CHECK(typical->change == doctest::Approx(std::expm1(median_of(differences))).epsilon(1e-10));
  CHECK(typical->bounds.low == doctest::Approx(std::expm1(differences[place - 1])).epsilon(1e-10));
  CHECK(typical->bounds.high ==
        doctest::Approx(std::expm1(differences[differences.size() - place])).epsilon(1e-10));
}

}  // namespace lauka::stats
