#include "stats/delta.h"

#include "stats/noise.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::stats {

namespace {

constexpr int kTrials = 10000;

std::vector<double> times(std::vector<double> values, double factor) {
  std::for_each(values.begin(), values.end(), [factor](double& value) { value *= factor; });
  return values;
}

}  // namespace

TEST_CASE("one round has a delta without an interval") {
  const std::vector<double> reference{2.0};
  const std::vector<double> candidate{3.0};
  for (const Delta& delta :
       {paired_delta(reference, candidate, 0.95), unpaired_delta(reference, candidate, 0.95)}) {
    CHECK(delta.change == 0.5);
    CHECK_FALSE(delta.half_width.has_value());
    CHECK_FALSE(delta.significant);
  }
}

TEST_CASE("against a reference of zero only zero has a delta") {
  const std::vector<double> zeros(4, 0.0);
  const std::vector<double> some{0.0, 1.0, 0.0, 0.0};
  CHECK_FALSE(paired_delta(zeros, some, 0.95).change.has_value());
  CHECK_FALSE(unpaired_delta(zeros, some, 0.95).change.has_value());
  CHECK(paired_delta(zeros, zeros, 0.95).change == 0.0);
  CHECK_FALSE(paired_delta(zeros, zeros, 0.95).half_width.has_value());
  CHECK(paired_delta(some, zeros, 0.95).change == -1.0);
}

TEST_CASE("metrics without noise have an interval of no width") {
  const std::vector<double> reference(5, 0.1);
  const std::vector<double> candidate(5, 0.3);
  for (const Delta& delta :
       {paired_delta(reference, candidate, 0.95), unpaired_delta(reference, candidate, 0.95)}) {
    CHECK(*delta.change == doctest::Approx(2.0).epsilon(1e-12));
    CHECK(delta.half_width == 0.0);
    CHECK(delta.significant);
  }
  CHECK_FALSE(paired_delta(reference, reference, 0.95).significant);
}

TEST_CASE("rounding of a constant ratio is not taken for noise") {
  noise::Source source(3);
  const std::vector<double> reference = source.normals(12, 0.7, 0.05);
  std::vector<double> candidate = reference;
  std::for_each(candidate.begin(), candidate.end(), [](double& value) { value /= 3.0; });
  const Delta delta = paired_delta(reference, candidate, 0.95);
  CHECK(*delta.change == doctest::Approx(-2.0 / 3.0).epsilon(1e-12));
  CHECK(delta.half_width == 0.0);
}

TEST_CASE("a reference that cannot be told from zero bounds no ratio") {
  // Fieller: t(.025, 3) = 3.182, s = 0.5, mean 0.25: 3.182 * 0.5 / 2 = 0.80 > 0.25.
  const std::vector<double> reference{0.0, 0.0, 0.0, 1.0};
  const std::vector<double> candidate{1.0, 2.0, 1.0, 2.0};
  CHECK(paired_delta(reference, candidate, 0.95).change == 5.0);
  CHECK_FALSE(paired_delta(reference, candidate, 0.95).half_width.has_value());
  CHECK_FALSE(unpaired_delta(reference, candidate, 0.95).half_width.has_value());
}

TEST_CASE("a delta does not depend on the unit") {
  noise::Source source(4);
  const std::vector<double> reference = source.normals(15, 1.0, 0.05);
  const std::vector<double> candidate = source.normals(15, 1.2, 0.05);
  for (const auto compare : {paired_delta, unpaired_delta}) {
    const Delta seconds = compare(reference, candidate, 0.95);
    const Delta nanoseconds = compare(times(reference, 1e9), times(candidate, 1e9), 0.95);
    CHECK(*nanoseconds.change == doctest::Approx(*seconds.change).epsilon(1e-12));
    CHECK(*nanoseconds.half_width == doctest::Approx(*seconds.half_width).epsilon(1e-12));
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
  CHECK(paired_delta(reference, candidate, 0.95).significant);
  CHECK_FALSE(unpaired_delta(reference, candidate, 0.95).significant);
}

TEST_CASE("intervals of ten rounds cover the true delta in 93% to 97% of cases") {
  noise::Source source(6);
  int paired = 0;
  int unpaired = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const std::vector<double> reference = source.normals(10, 1.0, 0.03);
    const std::vector<double> candidate = source.normals(10, 1.1, 0.06);
    const auto covers = [](const Delta& delta) {
      return std::abs(*delta.change - 0.1) <= *delta.half_width ? 1 : 0;
    };
    paired += covers(paired_delta(reference, candidate, 0.95));
    unpaired += covers(unpaired_delta(reference, candidate, 0.95));
  }
  INFO("paired ", paired, ", unpaired ", unpaired);
  CHECK(paired > 0.93 * kTrials);
  CHECK(paired < 0.97 * kTrials);
  CHECK(unpaired > 0.93 * kTrials);
  CHECK(unpaired < 0.97 * kTrials);
}

TEST_CASE("faster and slower are two faces of one interval") {
  // -78% +- 0.5 points: 1 / 0.22 = 4.545, and 0.005 / 0.22^2 = 0.103.
  const auto faster = relative_speed({.change = -0.78, .half_width = 0.005, .significant = true});
  REQUIRE(faster.has_value());
  CHECK(faster->faster);
  CHECK(faster->ratio == doctest::Approx(4.5454545454).epsilon(1e-9));
  CHECK(*faster->half_width == doctest::Approx(0.10330578512).epsilon(1e-9));

  const auto slower = relative_speed({.change = 0.25, .half_width = 0.01, .significant = true});
  REQUIRE(slower.has_value());
  CHECK_FALSE(slower->faster);
  CHECK(slower->ratio == 1.25);
  CHECK(slower->half_width == 0.01);
}

TEST_CASE("a speed is told without an interval where the delta has none, or not at all") {
  CHECK_FALSE(relative_speed({.change = -0.5})->half_width.has_value());
  CHECK_FALSE(relative_speed({}).has_value());
  CHECK_FALSE(relative_speed({.change = -1.0}).has_value());
}

}  // namespace lauka::stats
