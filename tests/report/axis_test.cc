#include "report/charts.h"

#include <vector>

#include <doctest/doctest.h>

namespace lauka::report {

using doctest::Approx;

TEST_CASE("an axis holds its values with room on both sides, and round numbers") {
  const Axis axis = axis_over(0.125, 0.605);
  CHECK(axis.low == Approx(0.125 - 0.04 * 0.48));
  CHECK(axis.high == Approx(0.605 + 0.04 * 0.48));
  REQUIRE(axis.ticks.size() == 3);
  CHECK(axis.ticks[0] == Approx(0.2));
  CHECK(axis.ticks[2] == Approx(0.6));
  CHECK(axis.percent(0.125) == Approx(100 * 0.0192 / 0.5184));
  CHECK(axis.percent(axis.low) == 0.0);
  CHECK(axis.percent(axis.high) == 100.0);
}

TEST_CASE("equal values are in the middle of their axis") {
  CHECK(axis_over(5, 5).percent(5) == Approx(50));
  CHECK(axis_over(0, 0).percent(0) == Approx(50));
  CHECK(axis_over(5, 5).ticks.size() >= 1);
}

TEST_CASE("an axis never has more ticks than fit") {
  for (const double high : {1.1, 2.3, 4.9, 5.1, 9.9, 1234.5, 1e-9}) {
    CHECK(axis_over(0, high).ticks.size() <= 6);
    CHECK(axis_over(0, high).ticks.size() >= 2);
  }
}

TEST_CASE("a logarithmic axis has powers of ten, or 1, 2 and 5 of them where it is short") {
  const Axis wide = logarithmic_axis(3e-6, 9e-2);
  CHECK(wide.percent(3e-6) == Approx(100 * 0.04 / 1.08));
  CHECK(wide.percent(9e-2) == Approx(100 * 1.04 / 1.08));
  REQUIRE(wide.ticks.size() == 5);
  CHECK(wide.ticks[0] == Approx(1e-5));
  CHECK(wide.ticks[4] == Approx(1e-1));
  const Axis narrow = logarithmic_axis(10, 80);
  REQUIRE(narrow.ticks.size() == 3);
  CHECK(narrow.ticks[1] == Approx(20));
  CHECK(logarithmic_axis(1e-12, 1e12).ticks.size() <= 6);
}

TEST_CASE("values a factor of more than 50 apart span decades, and zero never does") {
  CHECK(spans_decades(1, 51));
  CHECK_FALSE(spans_decades(1, 49));
  CHECK_FALSE(spans_decades(0, 1));
}

}  // namespace lauka::report
