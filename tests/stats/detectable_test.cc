#include "stats/detectable.h"

#include "stats/distributions.h"
#include "stats/noise.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <doctest/doctest.h>

namespace lauka::stats {
namespace {

using doctest::Approx;

constexpr double kTail = 0.025;

/// The probability that a session finds a difference of `errors` of another session's standard
/// errors, by a formula that shares nothing with the code: the power of a t test (Boost's
/// noncentral t), averaged over the other session's standard error (chi).
double power_by_noncentral_t(double errors, double tail, double degrees) {
  const boost::math::chi_squared squares(degrees);
  const double needed = student_t_quantile_above(tail, degrees);
  constexpr int steps = 4000;
  double sum = 0.0;
  for (int i = 0; i < steps; ++i) {
    const double probability = (i + 0.5) / steps;
    const double error = std::sqrt(boost::math::quantile(squares, probability) / degrees);
    const boost::math::non_central_t shifted(degrees, errors * error);
    sum += boost::math::cdf(boost::math::complement(shifted, needed));
  }
  return sum / steps;
}

Delta typical(double low, double high) {
  Delta delta;
  delta.change = 0.0;
  delta.bounds = IntervalEnds{low, high};
  delta.basis = Basis::Typical;
  return delta;
}

/// A side whose neighbours do not resemble each other.
std::vector<double> restless(std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = i % 2 == 0 ? 1.01 : 0.99;
  return values;
}

}  // namespace

TEST_CASE("without uncertainty of the noise, the detectable difference is that of two quantiles") {
  // Cohen, Statistical Power Analysis for the Behavioral Sciences, 1988: 1.9600 + 0.8416.
  CHECK(detectable_errors(0.025, 1e7) == Approx(2.8016).epsilon(1e-4));
  CHECK(detectable_errors(0.005, 1e7) == Approx(2.5758 + 0.8416).epsilon(1e-4));
}

TEST_CASE(
    "four of five sessions find the detectable difference, by the noncentral t distribution") {
  for (const double degrees : {2.0, 3.0, 7.0, 11.0, 19.0, 59.0})
    for (const double tail : {0.025, 0.0081}) {
      INFO(degrees, " degrees, ", tail);
      CHECK(power_by_noncentral_t(detectable_errors(tail, degrees), tail, degrees) ==
            Approx(0.8).epsilon(0.001));
    }
}

TEST_CASE("the fewer layouts, the larger is what would have been found beyond the interval") {
  double before = 1e9;
  for (const double degrees : {3.0, 7.0, 15.0, 99.0}) {
    const double errors = detectable_errors(kTail, degrees);
    CHECK(errors > student_t_quantile_above(kTail, degrees) +
                       student_t_quantile_above(1.0 - kShareThatFinds, degrees));
    CHECK(errors < before);
    before = errors;
  }
}

TEST_CASE("the detectable change follows from the width of the interval, in logarithms") {
  const double half_width = 0.01;
  const Delta delta = typical(std::expm1(-half_width), std::expm1(half_width));
  const std::vector<double> reference(20, 1.0);
  const std::vector<double> candidate = restless(20);
  const double growth = detectable_errors(kTail, 19.0) / student_t_quantile_above(kTail, 19.0);

  const auto found = detectable_change(delta, kTail, {reference, candidate, true});
  REQUIRE(found);
  CHECK(*found == Approx(std::expm1(half_width * growth)));

  // Where the interval lies does not matter.
  const Delta shifted = typical(std::expm1(0.5 - half_width), std::expm1(0.5 + half_width));
  CHECK(detectable_change(shifted, kTail, {reference, candidate, true}).value() == Approx(*found));

  const auto over_layouts = detectable_change_by_t(delta, kTail, 7.0);
  CHECK(over_layouts.value() == Approx(std::expm1(half_width * detectable_errors(kTail, 7.0) /
                                                  student_t_quantile_above(kTail, 7.0))));
}

TEST_CASE("the detectable change of a mean is a part of the reference, not of a logarithm") {
  Delta delta = typical(-0.2, 0.2);
  delta.basis = Basis::Mean;
  const std::vector<double> values = restless(5);
  CHECK(detectable_change(delta, kTail, {values, values, true}).value() ==
        Approx(0.2 * detectable_errors(kTail, 4.0) / student_t_quantile_above(kTail, 4.0)));
}

TEST_CASE("noise that lasts makes the detectable change larger than the interval alone does") {
  noise::Source source(7);
  const std::vector<double> reference(60, 1.0);
  std::vector<double> candidate = source.waves(60, 0.6);
  for (double& value : candidate) value = std::exp(0.01 * value);
  const std::vector<double> without_memory = restless(60);

  Delta delta = typical(-0.01, 0.01);
  const double plain = detectable_change(delta, kTail, {reference, without_memory, true}).value();
  CHECK(detectable_change(delta, kTail, {reference, candidate, true}).value() > 1.5 * plain);

  // The interval of such a session is already widened, so less is left to add.
  delta.widening = 2.0;
  const double widened = detectable_change(delta, kTail, {reference, candidate, true}).value();
  CHECK(widened > plain);
  CHECK(widened < 1.5 * plain);
}

TEST_CASE("nothing is said where the noise is unknown, or where there is none") {
  const std::vector<double> values = restless(20);
  const ComparedSamples samples{values, values, true};
  CHECK(detectable_change(typical(-0.01, 0.01), kTail, samples).has_value());

  Delta without_interval;
  without_interval.change = 0.1;
  CHECK_FALSE(detectable_change(without_interval, kTail, samples));
  CHECK_FALSE(detectable_change(typical(0.0, 0.0), kTail, samples));

  Delta exact = typical(-0.01, 0.01);
  exact.is_exact = true;
  CHECK_FALSE(detectable_change(exact, kTail, samples));

  Delta of_quantile = typical(-0.01, 0.01);
  of_quantile.basis = Basis::Quantile;
  CHECK_FALSE(detectable_change(of_quantile, kTail, samples));

  CHECK_FALSE(detectable_change_by_t(typical(-0.01, 0.01), kTail, 1.0));
}

}  // namespace lauka::stats
