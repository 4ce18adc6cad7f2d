#include "stats/delta.h"

#include <vector>

#include <doctest/doctest.h>

namespace lauka::stats {

TEST_CASE("the geometric mean of changes, with the interval that their logarithms' have together") {
  const std::vector<Change> changes = {{0.10, ChangeBounds{0.05, 0.15}},
                                       {-0.10, ChangeBounds{-0.15, -0.05}}};
  const Change mean = geometric_mean(changes);
  REQUIRE(mean.change);
  REQUIRE(mean.bounds);
  // By hand: sqrt(1.1 * 0.9) - 1, and half the root of the squares of ln(1.1/1.05) and ln(0.9/0.85)
  // below, of ln(1.15/1.1) and ln(0.95/0.9) above.
  CHECK(*mean.change == doctest::Approx(-0.005012562893380046));
  CHECK(mean.bounds->low == doctest::Approx(-0.04100890763940971));
  CHECK(mean.bounds->high == doctest::Approx(0.030425742577590915));
}

TEST_CASE("a geometric mean lacks an interval if a change does, and a value without changes") {
  const std::vector<Change> changes = {{0.5, ChangeBounds{0.4, 0.6}}, {0.5, std::nullopt}};
  CHECK(*geometric_mean(changes).change == doctest::Approx(0.5));
  CHECK_FALSE(geometric_mean(changes).bounds);
  const std::vector<Change> lost = {{0.5, ChangeBounds{0.4, 0.6}}, {-1.0, std::nullopt}};
  CHECK_FALSE(geometric_mean(lost).change);
  CHECK_FALSE(geometric_mean({}).change);
  const std::vector<Change> unbounded = {{-0.5, ChangeBounds{-1.0, 0.6}}};
  CHECK_FALSE(geometric_mean(unbounded).bounds);
}

}  // namespace lauka::stats
