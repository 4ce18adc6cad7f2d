#include "stats/distributions.h"

#include "stats/delta.h"

#include <array>
#include <cmath>
#include <initializer_list>
#include <numbers>

#include <doctest/doctest.h>

namespace lauka::stats {
namespace {

struct Published {
  double degrees;
  double t;  // two-sided 95%
};

/// Abramowitz and Stegun 1964, table 26.10.
constexpr auto kTable = std::to_array<Published>({{1, 12.706},
                                                  {2, 4.303},
                                                  {3, 3.182},
                                                  {4, 2.776},
                                                  {5, 2.571},
                                                  {6, 2.447},
                                                  {7, 2.365},
                                                  {8, 2.306},
                                                  {9, 2.262},
                                                  {10, 2.228},
                                                  {15, 2.131},
                                                  {20, 2.086},
                                                  {28, 2.048},
                                                  {29, 2.045},
                                                  {30, 2.042},
                                                  {40, 2.021},
                                                  {60, 2.000},
                                                  {120, 1.980}});

bool is_rounded_to(double value, double published, double unit) {
  return std::abs(value - published) <= unit / 2.0 + 1e-12;
}

}  // namespace

TEST_CASE("student t agrees with published tables from 1 to 120 degrees, 28 and 29 in order") {
  for (const Published& row : kTable) {
    INFO(row.degrees);
    CHECK(is_rounded_to(student_t_quantile_above(0.025, row.degrees), row.t, 0.001));
  }
}

TEST_CASE("the t of one degree of freedom is Cauchy's, in the far tail as well") {
  // P(T >= t) = atan(1/t) / pi for t > 0.
  for (const double t : {0.5, 3.0, 1e3, 1e9})
    CHECK(student_t_above(t, 1.0) ==
          doctest::Approx(std::atan(1.0 / t) / std::numbers::pi).epsilon(1e-12));
  CHECK(student_t_above(0.0, 7.5) == 0.5);
}

TEST_CASE("the normal's far tail keeps its digits") {
  // erfc(z / sqrt 2) / 2; at 20 it is 2.75e-89, which 1 - cdf would give as 0.
  for (const double z : {-3.0, 0.0, 1.0, 6.0, 20.0})
    CHECK(normal_above(z) == doctest::Approx(std::erfc(z / std::sqrt(2.0)) / 2.0).epsilon(1e-13));
}

TEST_CASE("Welch's degrees are of both samples together where their errors are alike") {
  CHECK(welch_degrees(0.5, 10, 0.5, 10) == doctest::Approx(18.0).epsilon(1e-14));
  CHECK(welch_degrees(0.0, 10, 0.5, 4) == doctest::Approx(3.0).epsilon(1e-14));
  CHECK(welch_degrees(0.0, 10, 0.0, 4) == 12.0);
  // Squares of the squares of nanoseconds in seconds are out of a double's range.
  CHECK(welch_degrees(1e-200, 10, 1e-200, 10) == doctest::Approx(18.0).epsilon(1e-14));
}

TEST_CASE("Fisher's exact test agrees with published values, whichever share is the first") {
  // R's fisher.test: the tea tasting of Fisher 1935, and the convictions of twins of its example.
  CHECK(is_rounded_to(fisher_exact({3, 4}, {1, 4}), 0.4857, 1e-4));
  CHECK(is_rounded_to(fisher_exact({2, 17}, {10, 13}), 0.0005367, 1e-7));
  CHECK(is_rounded_to(fisher_exact({10, 13}, {2, 17}), 0.0005367, 1e-7));
  // By hand: 2 of the C(8, 4) = 70 tables, and 2 of C(24, 12) = 2704156.
  CHECK(fisher_exact({0, 4}, {4, 4}) == doctest::Approx(2.0 / 70.0).epsilon(1e-12));
  CHECK(fisher_exact({12, 12}, {0, 12}) == doctest::Approx(2.0 / 2704156.0).epsilon(1e-12));
  CHECK(fisher_exact({0, 5}, {0, 9}) == 1.0);
  CHECK(fisher_exact({7, 7}, {3, 3}) == 1.0);
  CHECK(fisher_exact({0, 0}, {0, 0}) == 1.0);
  CHECK(fisher_exact({0, 1'000'000}, {1'000'000, 1'000'000}) == 0.0);
}

}  // namespace lauka::stats
