#include "stats/quantiles.h"

#include "core/metric.h"
#include "stats/delta.h"
#include "stats/noise.h"
#include "stats/summary.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

// Expected values are sums of binomial probabilities and roots of the incomplete beta function, by
// SciPy 1.10 (binom.cdf, betainc with brentq) and NumPy 1.24.

namespace lauka::stats {
namespace {

std::vector<double> mixed(std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<double>(i * 7919 % 1009) / 100.0 + 1.0;
  return values;
}

std::vector<double> slower(const std::vector<double>& values) {
  std::vector<double> result;
  for (std::size_t i = 0; i < values.size(); ++i)
    result.push_back(values[i] * 1.1 + static_cast<double>(i * 31 % 17) / 10.0);
  return result;
}

}  // namespace

TEST_CASE("an interval of a quantile ends at the samples that binomial sums give") {
  struct Case {
    std::size_t count;
    double share;
    double tail;
    std::size_t low;  // the place of the sample, from 1
    std::size_t high;
    double fine_low;
    double fine_high;
    double value;
  };
  constexpr auto cases = std::to_array<Case>({
      {6, 0.5, 0.025, 1, 6, 1.1941241133789589, 5.805875886621042, 5.735},
      {30, 0.5, 0.025, 10, 21, 10.17498718558488, 20.82501281441512, 6.335},
      {36, 0.9, 0.025, 29, 36, 29.05862792255974, 35.951372595849065, 9.995},
      {100, 0.9, 0.025, 84, 96, 84.28352216046191, 95.94613530521542, 10.104},
      {400, 0.99, 0.025, 392, 400, 392.200984677053, 399.83907127189997, 10.9803},
      {400, 0.5, 0.005, 174, 227, 174.77199832210724, 226.22800167789296, 6.075},
      {53, 0.1, 0.05, 2, 10, 2.480479550289336, 9.583775499292901, 1.96},
  });
  for (const Case& it : cases) {
    CAPTURE(it.count);
    const auto places = quantile_places(it.count, it.share, it.tail).value();
    CHECK(places.low == doctest::Approx(it.fine_low).epsilon(1e-9));
    CHECK(places.high == doctest::Approx(it.fine_high).epsilon(1e-9));
    const std::vector<double> ascending = sorted(mixed(it.count));
    const auto found = quantile_estimate(ascending, it.share, it.tail).value();
    CHECK(found.value == doctest::Approx(it.value).epsilon(1e-12));
    CHECK(found.low == ascending[it.low - 1]);
    CHECK(found.high == ascending[it.high - 1]);
  }
}

TEST_CASE("with fewer samples than all can lie on one side of, a quantile has no interval") {
  CHECK(fewest_runs_for_quantile(0.5, 0.025) == 6);
  CHECK(fewest_runs_for_quantile(0.9, 0.025) == 36);
  CHECK(fewest_runs_for_quantile(0.99, 0.025) == 368);
  CHECK(fewest_runs_for_quantile(0.999, 0.025) == 3688);
  CHECK(fewest_runs_for_quantile(0.1, 0.025) == 36);
  CHECK_FALSE(quantile_estimate(sorted(mixed(35)), 0.9, 0.025).has_value());
  CHECK(quantile_estimate(sorted(mixed(36)), 0.9, 0.025).has_value());
  const Delta delta =
      estimate_delta({.reference = mixed(35), .candidate = slower(mixed(35)), .paired = true},
                     tails_of(0.95), 0.9);
  CHECK(delta.change.has_value());
  CHECK_FALSE(delta.bounds.has_value());
}

TEST_CASE("the change of a quantile puts the arms of both intervals together") {
  struct Case {
    double share;
    double tail;
    bool paired;
    double change;
    double low;
    double high;
  };
  constexpr auto cases = std::to_array<Case>({
      {0.5, 0.025, true, 0.22266775777414072, 0.16065589665159372, 0.3068547479464654},
      {0.5, 0.025, false, 0.22266775777414072, 0.001501353882099062, 0.5073744685427225},
      {0.9, 0.025, true, 0.17657363420427566, 0.12463921299785403, 0.23978155662629774},
      {0.9, 0.025, false, 0.17657363420427566, 0.09252963295423373, 0.281496940370996},
      {0.9, 0.004, true, 0.17657363420427566, 0.10594499173831703, 0.2528081245863607},
      {0.9, 0.004, false, 0.17657363420427566, 0.0657626694433143, 0.30351346428316434},
  });
  const std::vector<double> reference = mixed(120);
  for (const Case& it : cases) {
    CAPTURE(it.share);
    const Change found = quantile_change(
        {.reference = reference, .candidate = slower(reference), .paired = it.paired}, it.share,
        it.tail);
    REQUIRE(found.bounds.has_value());
    CHECK(*found.change == doctest::Approx(it.change).epsilon(1e-9));
    CHECK(found.bounds->low == doctest::Approx(it.low).epsilon(1e-9));
    CHECK(found.bounds->high == doctest::Approx(it.high).epsilon(1e-9));
  }
  const Change uneven = quantile_change(
      {.reference = mixed(150), .candidate = slower(reference), .paired = false}, 0.8, 0.025);
  CHECK(uneven.bounds->low == doctest::Approx(0.07031376709060395).epsilon(1e-9));
  CHECK(uneven.bounds->high == doctest::Approx(0.3243713675753994).epsilon(1e-9));
}

TEST_CASE("a quantile of 0 has no ratio, and a sample of 0 no lower end") {
  std::vector<double> some(40, 1.0);
  CHECK_FALSE(quantile_change(
                  {.reference = std::vector<double>(40, 0.0), .candidate = some, .paired = true},
                  0.5, 0.025)
                  .change);
  CHECK(quantile_change(
            {.reference = some, .candidate = std::vector<double>(40, 0.0), .paired = true}, 0.5,
            0.025)
            .change == -1.0);
  std::vector<double> with_zeros = mixed(40);
  std::fill(with_zeros.begin(), with_zeros.begin() + 18, 0.0);
  const Change change = quantile_change(
      {.reference = mixed(40), .candidate = with_zeros, .paired = false}, 0.5, 0.025);
  CHECK(change.change.has_value());
  CHECK_FALSE(change.bounds.has_value());
}

TEST_CASE("the chance of so much is the tail at which the interval just leaves the ratio out") {
  const std::vector<double> reference = mixed(120);
  const std::vector<double> candidate = slower(reference);
  for (const double ratio : {1.0, 1.1, 1.15}) {
    const TailProbabilities tails = quantile_tails(
        {.reference = reference, .candidate = candidate, .paired = true}, 0.9, ratio);
    REQUIRE(tails.above < 0.5);
    const auto low = [&](double tail) {
      return quantile_change({.reference = reference, .candidate = candidate, .paired = true}, 0.9,
                             tail)
          .bounds->low;
    };
    if (tails.above > 1e-4) {  // else the bounds need more samples than there are
      CHECK(low(tails.above * 1.001) > ratio - 1.0);
      CHECK_FALSE(low(tails.above * 0.999) > ratio - 1.0);
    }
    CHECK(tails.below == 1.0);
  }
  CHECK(quantile_tails({.reference = reference, .candidate = candidate, .paired = true}, 0.9, 1.5)
            .below < 1e-5);
}

TEST_CASE("against a limit, the tails are the binomial distribution") {
  // 3 of 53 samples are above the limit: P(Binomial(53, 0.9) >= 50), by SciPy.
  std::vector<double> samples = sorted(mixed(53));
  const double limit = (samples[49] + samples[50]) / 2.0;
  const std::vector<double> limits(53, limit);
  CHECK(
      quantile_tails({.reference = limits, .candidate = samples, .paired = true}, 0.9, 1.0).below ==
      doctest::Approx(0.21053172).epsilon(1e-5));
  // All of ten above it: a chance of 1e-10, though the upper end is not known.
  const std::vector<double> ten(10, samples.front() / 2.0);
  const auto few = std::vector<double>(samples.begin(), samples.begin() + 10);
  CHECK(quantile_tails({.reference = ten, .candidate = few, .paired = true}, 0.9, 1.0).above <
        1e-6);
  CHECK(
      quantile_tails(
          {.reference = std::vector<double>(10, 100.0), .candidate = few, .paired = true}, 0.9, 1.0)
          .below > 0.3);
}

TEST_CASE("intervals of a quantile and of its change hold the truth as often as promised") {
  constexpr std::size_t trials = 1200;
  noise::Source source(20261122);
  for (const std::size_t count : {std::size_t{30}, std::size_t{100}}) {
    const double share = count == 30 ? 0.5 : 0.9;
    const double truth = share == 0.5 ? 0.0 : 1.2815515655446004;  // of the standard normal
    std::size_t held = 0;
    std::size_t changes_held = 0;
    for (std::size_t i = 0; i < trials; ++i) {
      std::vector<double> reference = source.normals(count, 100.0, 5.0);
      const std::vector<double> candidate = source.normals(count, 100.0, 5.0);
      const auto one = quantile_estimate(sorted(reference), share, 0.025);
      const double there = 100.0 + 5.0 * truth;
      if (one->low <= there && there <= one->high) ++held;
      if (!quantile_change({.reference = reference, .candidate = candidate, .paired = true}, share,
                           0.025)
               .is_significant())
        ++changes_held;
    }
    CAPTURE(count);
    CHECK(held > trials * 93 / 100);
    CHECK(changes_held > trials * 94 / 100);
    CHECK(changes_held < trials * 985 / 1000);
  }
}

}  // namespace lauka::stats
