#include "stats/delta.h"
#include "stats/noise.h"

#include <cmath>
#include <random>
#include <vector>

#include <doctest/doctest.h>

// The expected values are a separate program's (Python 3, statistics.stdev, Student's t by
// Simpson's rule), which follows Miller (1968) for the logarithm of the standard deviation.

namespace lauka::stats {
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
      width_change({reference, candidate}, {more, of_candidate}, true, tails_of(0.95));
  check(found, 1.2601933214, -0.2107909802, 5.4729035297);
  CHECK_FALSE(width_change({}, {more, of_candidate}, true, tails_of(0.95)).change);
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

}  // namespace lauka::stats
