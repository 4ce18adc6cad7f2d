#include "core/result.h"

#include <doctest/doctest.h>

namespace lauka {

TEST_CASE("a result holds a value or an error") {
  const Result<int> good = 3;
  const Result<int> bad = Error{"no number", "write one"};
  CHECK(*good == 3);
  CHECK_FALSE(bad.has_value());
  CHECK(bad.error().line() == "no number; write one");
}

TEST_CASE("an error without a remedy is what happened alone") {
  CHECK(Error{"disk full", ""}.line() == "disk full");
}

}  // namespace lauka
