#include "stats/noise.h"
#include "stats/summary.h"

#include <limits>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::stats {

namespace {

constexpr int kSteadinessTrials = 5000;

}  // namespace

TEST_CASE("a first run is slow only against five runs, and by more than 5%") {
  CHECK_FALSE(first_run(std::vector<double>{9.0, 1.0, 1.0, 1.0}).has_value());
  const auto slow = first_run(std::vector<double>{2.0, 1.0, 1.01, 1.0, 0.99});
  REQUIRE(slow.has_value());
  CHECK(slow->slow);
  CHECK(slow->first == 2.0);
  CHECK(slow->median_of_rest == 1.0);
  CHECK_FALSE(first_run(std::vector<double>{1.04, 1.0, 1.0, 1.0, 1.0})->slow);
  CHECK(first_run(std::vector<double>{1.06, 1.0, 1.0, 1.0, 1.0})->slow);
  CHECK_FALSE(first_run(std::vector<double>{2.0, 1.0, 1.0, 2.1, 1.0})->slow);
  // Q1 = 1, Q3 = 1.4 of the rest: 2 is not above 1.4 + 3 * 0.4.
  CHECK_FALSE(first_run(std::vector<double>{2.0, 1.0, 1.0, 1.2, 1.4, 1.4})->slow);
}

TEST_CASE("severe outliers are many from 5% of the runs on") {
  std::vector<double> series(40, 1.0);
  series[7] = 3.0;
  CHECK(severe_outliers(series).count == 1);
  CHECK(severe_outliers(series).share == 0.025);
  CHECK_FALSE(severe_outliers(series).many);
  series[30] = 3.0;
  CHECK(severe_outliers(series).many);
}

TEST_CASE("what is within 1% of the median is not a severe outlier, however steady the rest") {
  std::vector<double> series(20, 1.0);
  series[3] = 1.009;
  CHECK(severe_outliers(series).count == 0);
  series[3] = 1.011;
  CHECK(severe_outliers(series).count == 1);
}

TEST_CASE("alternating runs are not slow noise, slow waves are") {
  std::vector<double> alternating;
  std::vector<double> waves;
  for (int i = 0; i < 40; ++i) {
    alternating.push_back(i % 2 == 0 ? 1.0 : 2.0);
    waves.push_back(1.0 + 0.1 * std::sin(0.3 * i));
  }
  CHECK(slow_noise(alternating)->autocorrelation == doctest::Approx(-39.0 / 40.0).epsilon(1e-12));
  CHECK_FALSE(slow_noise(alternating)->slow);
  CHECK(slow_noise(waves)->slow);
  CHECK_FALSE(slow_noise(std::vector<double>(19, 1.0)).has_value());
}

TEST_CASE("a rising series drifts, one that rises by less than 2% does not") {
  std::vector<double> rising;
  std::vector<double> creeping;
  for (int i = 0; i < 30; ++i) {
    rising.push_back(1.0 + 0.01 * i);
    creeping.push_back(1.0 + 0.0009 * i);
  }
  const auto drifting = drift(rising);
  REQUIRE(drifting.has_value());
  CHECK(drifting->rank_correlation == doctest::Approx(1.0).epsilon(1e-12));
  // The middle of the last ten is 1.245, of the first ten 1.045.
  CHECK(drifting->change == doctest::Approx(0.2 / 1.045).epsilon(1e-12));
  CHECK(drifting->drifting);
  CHECK_FALSE(drift(creeping)->drifting);
}

TEST_CASE("a series of zeros drifts nowhere") {
  const auto zeros = drift(std::vector<double>(25, 0.0));
  REQUIRE(zeros.has_value());
  CHECK(zeros->change == 0.0);
  CHECK_FALSE(zeros->drifting);
}

TEST_CASE("two values are two modes, infinitely apart, if the rarer has its 20%") {
  std::vector<double> series(30, 1.0);
  for (std::size_t i = 0; i < 6; ++i) series[5 * i] = 2.0;
  const auto modes = two_modes(series);
  REQUIRE(modes.has_value());
  CHECK(modes->low_mean == 1.0);
  CHECK(modes->high_mean == 2.0);
  CHECK(modes->separation == std::numeric_limits<double>::infinity());
  CHECK(modes->smaller_share == 0.2);
  CHECK(modes->two);
  series[0] = 1.0;
  CHECK_FALSE(two_modes(series)->two);
}

TEST_CASE("quiet noise warns of next to nothing") {
  noise::Source source(30);
  int warnings = 0;
  for (int trial = 0; trial < kSteadinessTrials; ++trial) {
    const std::vector<double> series = source.normals(50, 0.1, 0.002);
    warnings += first_run(series)->slow ? 1 : 0;
    warnings += severe_outliers(series).many ? 1 : 0;
    warnings += slow_noise(series)->slow ? 1 : 0;
    warnings += drift(series)->drifting ? 1 : 0;
    warnings += two_modes(series)->two ? 1 : 0;
  }
  INFO(warnings);
  CHECK(warnings <= 0.005 * kSteadinessTrials);  // five kinds at one in a thousand each
}

}  // namespace lauka::stats
