#include "stats/models.h"

#include "stats/golden.h"
#include "stats/noise.h"

#include <limits>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::stats {
namespace {

bool is_near(double value, const golden::Json& expected) {
  return value == doctest::Approx(expected.get<double>()).epsilon(1e-6);
}

}  // namespace

TEST_CASE("published data sets are combined as metafor combines them") {
  for (const golden::Json& expected : golden::section("cases", "meta-analysis.json")) {
    CAPTURE(expected.at("name").get<std::string>());
    const auto values = golden::series(expected, "values");
    const auto variances = golden::series(expected, "variances");
    std::vector<Effect> effects;
    for (std::size_t i = 0; i < values.size(); ++i) effects.push_back({values[i], variances[i]});
    const auto all = combine(effects, 0.95).value();
    CHECK(is_near(all.value, expected.at("value")));
    CHECK(is_near(all.standard_error, expected.at("standard_error")));
    CHECK(is_near(all.bounds.low, expected.at("low")));
    CHECK(is_near(all.bounds.high, expected.at("high")));
    CHECK(is_near(all.deviation_between_machines, expected.at("between")));
    CHECK(is_near(all.heterogeneity, expected.at("heterogeneity")));
    CHECK(is_near(all.p_same, expected.at("p_same")));
  }
}

TEST_CASE("of several maxima of the likelihood the highest is taken") {
  const std::vector<Effect> effects = {
      {0.3871, 0.14657}, {-2.8171, 365.7406}, {7.9068, 2.81509}, {0.6017, 0.00897}};
  const auto all = combine(effects, 0.95).value();
  CHECK(all.deviation_between_machines * all.deviation_between_machines ==
        doctest::Approx(14.8).epsilon(0.01));
}

TEST_CASE("the interval holds the truth as often as promised") {
  noise::Source source(17);
  for (const std::size_t machines : {2U, 3U, 5U, 10U}) {
    for (const double between : {0.0, 0.5, 2.0}) {
      constexpr int kTrials = 2'000;
      int held = 0;
      for (int trial = 0; trial < kTrials; ++trial) {
        std::vector<Effect> effects(machines);
        for (Effect& effect : effects) {
          const double error = 0.5 + source.uniform();  // machines are not equally steady
          effect = {1.0 + between * source.normal() + error * source.normal(), error * error};
        }
        const auto all = combine(effects, 0.95).value();
        if (all.bounds.low <= 1.0 && all.bounds.high >= 1.0) ++held;
      }
      CAPTURE(machines);
      CAPTURE(between);
      CHECK(held >= kTrials * 0.925);
      MESSAGE(machines, " machines, ", between, " between them: ", 100.0 * held / kTrials, " %");
    }
  }
}

TEST_CASE("one machine has its own interval; what is no number is not an effect") {
  const std::vector<Effect> one = {{0.02, 0.0001}};
  const auto all = combine(one, 0.95).value();
  CHECK(all.bounds.high == doctest::Approx(0.02 + 1.959964 * 0.01));
  CHECK(all.deviation_between_machines == 0.0);
  CHECK_FALSE(combine({}, 0.95));
  CHECK_FALSE(combine(std::vector<Effect>{{1.0, 0.0}}, 0.95));
  CHECK_FALSE(combine(
      std::vector<Effect>{{1.0, 1.0}, {std::numeric_limits<double>::infinity(), 1.0}}, 0.95));
}

TEST_CASE("a power law is found if there is one") {
  const std::vector<double> x = {1, 2, 4, 8};
  const std::vector<double> y = {3, 12, 48, 192};
  const auto law = fit_power_law(x, y, 0.95).value();
  CHECK(law.exponent == doctest::Approx(2.0));
  CHECK(law.factor == doctest::Approx(3.0));
  CHECK(law.exponent_low == doctest::Approx(2.0));
  CHECK(law.exponent_high == doctest::Approx(2.0));
  CHECK(law.r_squared == doctest::Approx(1.0));
}

TEST_CASE("the exponent's interval is a slope's") {
  // Least squares of the logarithms by hand; t(.025, 3) = 3.182446 (tables).
  const std::vector<double> x = {1, 2, 4, 8, 16};
  const std::vector<double> y = {1.1, 1.9, 4.3, 7.8, 17.0};
  const auto law = fit_power_law(x, y, 0.95).value();
  CHECK(law.exponent == doctest::Approx(0.9937393340).epsilon(1e-8));
  CHECK(law.factor == doctest::Approx(1.0397787999).epsilon(1e-8));
  CHECK(law.exponent_low == doctest::Approx(0.8861482730).epsilon(1e-6));
  CHECK(law.exponent_high == doctest::Approx(1.1013303951).epsilon(1e-6));
  CHECK(law.r_squared == doctest::Approx(0.9965398004).epsilon(1e-8));
}

TEST_CASE("two points, equal places and values without a logarithm have no power law") {
  using Values = std::vector<double>;
  CHECK_FALSE(fit_power_law(Values{1, 2}, Values{1, 2}, 0.95));
  CHECK_FALSE(fit_power_law(Values{2, 2, 2}, Values{1, 2, 3}, 0.95));
  CHECK_FALSE(fit_power_law(Values(6, 10.0), Values{1, 2, 3, 4, 5, 6}, 0.95));
  CHECK_FALSE(fit_power_law(Values{0, 1, 2}, Values{1, 2, 3}, 0.95));
  CHECK_FALSE(fit_power_law(Values{1, 2, 3}, Values{1, 0, 3}, 0.95));
}

}  // namespace lauka::stats
