#include "gate/lord.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::gate {
namespace {

/// The sequence of the R package onlineFDR, for which levels were published.
double published_weight(std::size_t j) {
  const auto number = static_cast<double>(j);
  return 0.07720838 * std::log(std::max(number, 2.0)) /
         (number * std::exp(std::sqrt(std::log(number))));
}

}  // namespace

TEST_CASE("LORD++ gives the 15 published levels and keeps candidates 1, 6 and 10") {
  // R package onlineFDR 2, commit 1d89c48f, LORD with its default version and data.
  constexpr auto p =
      std::to_array<double>({2.90e-8, .06743, .01514, .08174, .00171, 3.60e-5, .79149, .27201,
                             .28295, 7.59e-8, .69274, .30443, .00136, .72342, .54757});
  constexpr auto published =
      std::to_array<double>({.0002675839, .0024664457, .0005732818, .0004872805, .0004059066,
                             .0003447286, .0029745013, .0008450114, .0007305648, .0006243143,
                             .0032185913, .0010617227, .0009256825, .0008019657, .0007059610});

  const SeriesErrors errors{.error = 0.05, .initial_wealth = 0.005};
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double level = level_by_lord(i + 1, kept, errors, published_weight);
    CAPTURE(i);
    CHECK(level == doctest::Approx(published.at(i)).epsilon(1e-6));
    if (p.at(i) <= level) kept.push_back(i + 1);
  }
  CHECK(kept == std::vector<std::size_t>{1, 6, 10});
}

TEST_CASE("the weights of a series have the sum 1 and never increase") {
  double sum = 0.0;
  double last = 1.0;
  constexpr std::size_t most = 100'000;
  for (std::size_t j = 1; j <= most; ++j) {
    const double weight = weight_of_short_series(j);
    CHECK_MESSAGE(weight < last, j);
    last = weight;
    sum += weight;
  }

  // What follows is the integral of x^-1.2 from most + 1/2 on, divided by zeta(1.2).
  const double rest = std::pow(static_cast<double>(most) + 0.5, -0.2) / 0.2 / 5.5916;
  CHECK(sum + rest == doctest::Approx(1.0).epsilon(1e-5));
}

TEST_CASE("the first level is 0.9 times the error times the first weight") {
  CHECK(level_of_candidate(1, {}, 0.95) == doctest::Approx(0.9 * 0.05 / 5.5916).epsilon(1e-5));
  CHECK(level_of_candidate(1, {}, 0.99) == doctest::Approx(0.9 * 0.01 / 5.5916).epsilon(1e-5));
}

TEST_CASE("levels fall while nothing is kept, and rise after a candidate was kept") {
  CHECK(level_of_candidate(7, {}, 0.95) < level_of_candidate(6, {}, 0.95));
  const std::vector<std::size_t> one{6};
  CHECK(level_of_candidate(7, one, 0.95) > level_of_candidate(7, {}, 0.95));
  CHECK(level_of_candidate(8, one, 0.95) < level_of_candidate(7, one, 0.95));
}

TEST_CASE("the first kept candidate earns the rest of the error, each later one the whole error") {
  const double without = level_of_candidate(9, {}, 0.95);
  const double one = level_of_candidate(9, std::vector<std::size_t>{8}, 0.95);
  const double two = level_of_candidate(9, std::vector<std::size_t>{2, 8}, 0.95);
  CHECK(one - without == doctest::Approx(0.1 * 0.05 * weight_of_short_series(1)));
  CHECK(two - without ==
        doctest::Approx(0.1 * 0.05 * weight_of_short_series(7) + 0.05 * weight_of_short_series(1)));
}

TEST_CASE("a level depends on earlier candidates only") {
  const std::vector<std::size_t> kept{2, 5, 6, 9};
  CHECK(level_of_candidate(5, kept, 0.95) ==
        level_of_candidate(5, std::vector<std::size_t>{2}, 0.95));
}

TEST_CASE("all levels together are at most the error times the number kept, at least 1") {
  std::vector<std::size_t> kept;
  double spent = 0.0;
  for (std::size_t candidate = 1; candidate <= 2000; ++candidate) {
    spent += level_of_candidate(candidate, kept, 0.95);
    CHECK_MESSAGE(spent <= 0.05 * std::max<double>(1.0, static_cast<double>(kept.size())),
                  candidate);
    if (candidate % 37 == 1) kept.push_back(candidate);
  }
}

}  // namespace lauka::gate
