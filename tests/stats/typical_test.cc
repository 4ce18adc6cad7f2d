#include "stats/delta.h"
#include "stats/noise.h"
#include "stats/rank_tests.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::stats {

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
    const auto typical = typical_change(reference, candidate, true, 0.025);
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
  const auto typical = typical_change(reference, candidate, true, 0.025).value();
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
    const auto typical = typical_change(reference, candidate, true, 0.025);
    covered += typical->bounds.low <= 0.2 && 0.2 <= typical->bounds.high ? 1 : 0;
  }
  INFO(covered);
  CHECK(covered >= 0.94 * kTypicalTrials);
  CHECK(covered <= 0.97 * kTypicalTrials);
}

TEST_CASE("there is no typical round where a value is zero, or with five rounds at 95%") {
  const std::vector<double> ones(7, 1.0);
  std::vector<double> with_zero = ones;
  with_zero[3] = 0.0;
  for (const bool paired : {true, false}) {
    CHECK(typical_change(ones, ones, paired, 0.025));
    CHECK_FALSE(typical_change(ones, with_zero, paired, 0.025));
    CHECK_FALSE(typical_change(with_zero, ones, paired, 0.025));
    CHECK_FALSE(typical_change({}, {}, paired, 0.025));
  }
  const std::vector<double> five(5, 1.0);
  CHECK_FALSE(typical_change(five, five, true, 0.025));
  CHECK(typical_change(five, five, false, 0.025));
}

TEST_CASE("a log ratio of few rounds is the mean of logarithms with its standard error") {
  // ln 1.1 and ln 1.2: deviation (ln 1.2 - ln 1.1) / sqrt 2, error that / sqrt 2.
  const std::vector<double> reference = {1.0, 2.0};
  const std::vector<double> candidate = {1.1, 2.4};
  const auto paired = log_ratio(reference, candidate, true).value();
  CHECK(paired.value == doctest::Approx((std::log(1.1) + std::log(1.2)) / 2));
  CHECK(paired.error.value_or(0.0) == doctest::Approx((std::log(1.2) - std::log(1.1)) / 2));
  const auto independent = log_ratio(reference, candidate, false).value();
  CHECK(independent.value == doctest::Approx(paired.value));
  CHECK(independent.error.value_or(0.0) ==
        doctest::Approx(std::hypot(std::log(2.0) / 2, std::log(2.4 / 1.1) / 2)));
  const auto single = log_ratio(std::vector{2.0}, std::vector{1.0}, true).value();
  CHECK(single.value == doctest::Approx(-std::log(2.0)));
  CHECK_FALSE(single.error);
  CHECK_FALSE(log_ratio(std::vector{0.0}, std::vector{1.0}, true));
  CHECK_FALSE(log_ratio({}, {}, false));
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
    const auto ratio = log_ratio(reference, candidate, true).value();
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
  const auto typical = typical_change(reference, candidate, false, 0.025);
  const std::size_t place = mann_whitney_place(30, 41, 0.025);
  REQUIRE(typical.has_value());
  CHECK(typical->change == doctest::Approx(std::expm1(median_of(differences))).epsilon(1e-10));
  CHECK(typical->bounds.low == doctest::Approx(std::expm1(differences[place - 1])).epsilon(1e-10));
  CHECK(typical->bounds.high ==
        doctest::Approx(std::expm1(differences[differences.size() - place])).epsilon(1e-10));
}

}  // namespace lauka::stats
