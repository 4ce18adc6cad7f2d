#include "stats/summary.h"

#include "stats/noise.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::stats {
namespace {

constexpr int kSummaryTrials = 10000;

}  // namespace

TEST_CASE("an offset of 2.5e15 costs the variance of 1, 2, 3 no digit") {
  const std::vector<double> values{2.5e15 + 1, 2.5e15 + 2, 2.5e15 + 3};
  CHECK(moments(values).variance == 1.0);
  CHECK(moments(values).mean == 2.5e15 + 2);
}

TEST_CASE("a mean that no double can hold does not spoil the variance") {
  // From 2^52 on doubles are integers. Deviations from 2^52: 0, 0, 0, 1; (1 - 1/4) / 3 = 1/4.
  const std::vector<double> values{0x1p52, 0x1p52, 0x1p52, 0x1p52 + 1};
  CHECK(moments(values).variance == 0.25);
}

TEST_CASE("the mean of whole numbers is the nearest double, or its neighbour") {
  noise::Source source(7);
  for (int trial = 0; trial < 200; ++trial) {
    std::int64_t sum = 0;
    std::vector<double> values(1001);
    for (double& value : values) {
      const auto nanoseconds = static_cast<std::int64_t>(1e9 * (1.0 + source.uniform()));
      sum += nanoseconds;
      value = static_cast<double>(nanoseconds);
    }
    const double exact = static_cast<double>(sum) / 1001.0;
    CHECK(std::abs(moments(values).mean - exact) <= std::nextafter(exact, 1e300) - exact);
  }
}

TEST_CASE("equal samples have no variance at all, whatever their value") {
  const std::vector<double> values(37, 0.1);
  CHECK(moments(values).mean == 0.1);
  CHECK(moments(values).variance == 0.0);
  CHECK(moments(values).range() == 0.0);
  CHECK(summarize(values).outliers == 0);
}

TEST_CASE("the order of the samples does not matter to a summary, and is left as it was") {
  const std::vector<double> values{3.0, 1.0, 2.0, 9.0, 4.0};
  const Summary summary = summarize(values);
  CHECK(values == std::vector<double>{3.0, 1.0, 2.0, 9.0, 4.0});
  CHECK(summary.median == 3.0);
  CHECK(summary.median == summarize(sorted(values)).median);
}

TEST_CASE("one sample is described without a deviation or an interval") {
  const std::vector<double> one{0.25};
  const Summary summary = summarize(one);
  CHECK(summary.count == 1);
  CHECK(summary.mean == 0.25);
  CHECK_FALSE(summary.stddev().has_value());
  CHECK_FALSE(mean_half_width(one, 0.95).has_value());
}

TEST_CASE("the harmonic mean of rates is the rate over the whole time") {
  // 60 km at 30 km/h and 60 km at 60 km/h: 120 km in 3 hours.
  CHECK(harmonic_mean(std::vector{30.0, 60.0}) == doctest::Approx(40.0).epsilon(1e-15));
}

TEST_CASE("quantiles are between order statistics as type 7 puts them") {
  const std::vector<double> ten{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  CHECK(quantile(ten, 0.0) == 1.0);
  CHECK(quantile(ten, 0.25) == 3.25);  // h = 9/4: a quarter of the way from the third to the fourth
  CHECK(quantile(ten, 0.5) == 5.5);
  CHECK(quantile(ten, 1.0) == 10.0);
}

TEST_CASE("fences are strict: a sample on the fence is inside") {
  const IntervalEnds fences = tukey_fences(10.0, 14.0, kOutlierReach);
  CHECK_FALSE(fences.leave_out(4.0));
  CHECK_FALSE(fences.leave_out(20.0));
  CHECK(fences.leave_out(20.0001));
  CHECK(fences.leave_out(3.9999));
}

TEST_CASE("the interval of a mean covers the truth as often as promised") {
  noise::Source source(2);
  int covered = 0;
  for (int trial = 0; trial < kSummaryTrials; ++trial) {
    const std::vector<double> values = source.normals(8, 1.0, 0.1);
    const double distance = std::abs(moments(values).mean - 1.0);
    covered += distance <= *mean_half_width(values, 0.9) ? 1 : 0;
  }
  CHECK(covered > 0.891 * kSummaryTrials);  // three standard errors
  CHECK(covered < 0.909 * kSummaryTrials);
}

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
  series[20] = 1.001;  // the clock's tick: 2 is far beyond it
  series[7] = 3.0;
  CHECK(severe_outliers(series).count == 1);
  CHECK(severe_outliers(series).share == 0.025);
  CHECK_FALSE(severe_outliers(series).many);
  series[30] = 3.0;
  CHECK(severe_outliers(series).many);
  series[20] = 1.0;  // all that is known of the tick is that it is at most 2
  CHECK(severe_outliers(series).count == 0);
}

TEST_CASE("what is within 1% of the median is not a severe outlier, however steady the rest") {
  std::vector<double> series(20, 1.0);
  series[9] = 1.0001;
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
  const auto zeros = drift(std::vector<double>(25, 0.0)).value();
  CHECK(zeros.change == 0.0);
  CHECK_FALSE(zeros.drifting);
}

TEST_CASE("two values are infinitely apart, but may be two ticks; others are two modes from 20%") {
  std::vector<double> series(30, 1.0);
  for (std::size_t i = 0; i < 6; ++i) series[5 * i] = 2.0;
  const auto modes = two_modes(series).value();
  CHECK(modes.low_mean == 1.0);
  CHECK(modes.high_mean == 2.0);
  CHECK(modes.separation == std::numeric_limits<double>::infinity());
  CHECK(modes.smaller_share == 0.2);
  CHECK_FALSE(modes.is_bimodal);
  series[1] = 1.1;
  CHECK(two_modes(series)->is_bimodal);
  series[0] = 1.0;
  CHECK_FALSE(two_modes(series)->is_bimodal);
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
    warnings += two_modes(series)->is_bimodal ? 1 : 0;
  }
  INFO(warnings);
  CHECK(warnings <= 0.005 * kSteadinessTrials);  // five kinds at one in a thousand each
}

}  // namespace lauka::stats
