#include "stats/models.h"

#include <vector>

#include <doctest/doctest.h>

namespace lauka::stats {

TEST_CASE("a power law is found if there is one") {
  const std::vector<double> x = {1, 2, 4, 8};
  const std::vector<double> y = {3, 12, 48, 192};
  const auto law = fit_power_law(x, y, 0.95);
  REQUIRE(law);
  CHECK(law->exponent == doctest::Approx(2.0));
  CHECK(law->factor == doctest::Approx(3.0));
  CHECK(law->low == doctest::Approx(2.0));
  CHECK(law->high == doctest::Approx(2.0));
  CHECK(law->r_squared == doctest::Approx(1.0));
}

TEST_CASE("the exponent's interval is a slope's") {
  // Least squares of the logarithms by hand; t(.025, 3) = 3.182446 (tables).
  const std::vector<double> x = {1, 2, 4, 8, 16};
  const std::vector<double> y = {1.1, 1.9, 4.3, 7.8, 17.0};
  const auto law = fit_power_law(x, y, 0.95);
  REQUIRE(law);
  CHECK(law->exponent == doctest::Approx(0.9937393340).epsilon(1e-8));
  CHECK(law->factor == doctest::Approx(1.0397787999).epsilon(1e-8));
  CHECK(law->low == doctest::Approx(0.8861482730).epsilon(1e-6));
  CHECK(law->high == doctest::Approx(1.1013303951).epsilon(1e-6));
  CHECK(law->r_squared == doctest::Approx(0.9965398004).epsilon(1e-8));
}

TEST_CASE("two points, equal places and values without a logarithm have no power law") {
  using Values = std::vector<double>;
  CHECK_FALSE(fit_power_law(Values{1, 2}, Values{1, 2}, 0.95));
  CHECK_FALSE(fit_power_law(Values{2, 2, 2}, Values{1, 2, 3}, 0.95));
  CHECK_FALSE(fit_power_law(Values{0, 1, 2}, Values{1, 2, 3}, 0.95));
  CHECK_FALSE(fit_power_law(Values{1, 2, 3}, Values{1, 0, 3}, 0.95));
}

}  // namespace lauka::stats
