#include "core/numbers.h"
#include "has.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

using Words = std::vector<std::string>;

Words values(std::string_view min, std::string_view max, std::string_view step) {
  const auto all = list_decimals(min, max, step, 1000);
  return all ? *all : Words{"refused: " + all.error().line()};
}

std::string refusal(std::string_view min, std::string_view max, std::string_view step) {
  const auto all = list_decimals(min, max, step, 1000);
  return all ? "accepted" : all.error().line();
}

}  // namespace

TEST_CASE("steps are exact: 0.1 and 0.2 make 0.3") {
  CHECK(values("0.1", "0.5", "0.1") == Words{"0.1", "0.2", "0.3", "0.4", "0.5"});
  CHECK(values("0", "1", "0.25") == Words{"0", "0.25", "0.5", "0.75", "1"});
  CHECK(values("0.001", "0.0030", ".001") == Words{"0.001", "0.002", "0.003"});
}

TEST_CASE("whole numbers stay whole, whatever the ends look like") {
  CHECK(values("1", "4", "1") == Words{"1", "2", "3", "4"});
  CHECK(values("08", "12.0", "2") == Words{"8", "10", "12"});
  CHECK(values("1", "2", "0.5") == Words{"1", "1.5", "2"});
  CHECK(values("100", "300", "100") == Words{"100", "200", "300"});
}

TEST_CASE("a range may go below 0, hold one value, and end before its maximum") {
  CHECK(values("-1", "1", "0.5") == Words{"-1", "-0.5", "0", "0.5", "1"});
  CHECK(values("-0.05", "+0.05", "0.05") == Words{"-0.05", "0", "0.05"});
  CHECK(values("7", "7", "1") == Words{"7"});
  CHECK(values("1", "6", "2") == Words{"1", "3", "5"});
}

TEST_CASE("18 digits are exact too") {
  CHECK(values("999999999999999998", "999999999999999999", "1") ==
        Words{"999999999999999998", "999999999999999999"});
  CHECK(values("0.000000000000000001", "0.000000000000000003", "0.000000000000000001") ==
        Words{"0.000000000000000001", "0.000000000000000002", "0.000000000000000003"});
  CHECK(refusal("1000000000000000000", "1", "1") ==
        "'1000000000000000000' is not a number; write a decimal of at most 18 digits");
  CHECK(refusal("999999999999", "1000000000000", "0.0000001") ==
        "the numbers have more than 18 digits together; write fewer digits");
}

TEST_CASE("what makes no range is refused") {
  CHECK(refusal("1", "4", "0") ==
        "the step '0' is not above 0; write a step above 0, and the smaller end first");
  CHECK(refusal("1", "4", "-1").starts_with("the step '-1' is not above 0"));
  CHECK(refusal("4", "1", "1") == "'4' is above '1'; write the smaller one first");
  for (const char* const text : {"a", "", "1e3", "0x10", "1.2.3", "nan", "."}) {
    CAPTURE(text);
    CHECK(has(refusal(text, "4", "1"), "is not a number"));
    CHECK(has(refusal("1", text, "1"), "is not a number"));
    CHECK(has(refusal("1", "4", text), "is not a number"));
  }
  CHECK(refusal("1", "1001", "1") ==
        "1001 values are more than the 1000 that are allowed; write a larger step (-D)");
  CHECK(values("1", "1000", "1").size() == 1000);
  CHECK(has(refusal("-999999999999999999", "999999999999999999", "1"), "more than the 1000"));
}

}  // namespace lauka
