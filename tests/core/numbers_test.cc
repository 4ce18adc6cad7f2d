#include "core/numbers.h"

#include "has.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

std::string whole_fault(std::string_view text) {
  const auto result = parse_whole_number(text, 1, 100);
  return result ? "accepted" : result.error().line();
}

std::string decimal_fault(std::string_view text) {
  const auto result = parse_decimal(text, {-100.0, false}, {50.0, true});
  return result ? "accepted" : result.error().line();
}

}  // namespace

TEST_CASE("a whole number is digits within its range, both ends included") {
  CHECK(*parse_whole_number("1", 1, 100) == 1);
  CHECK(*parse_whole_number("100", 1, 100) == 100);
  CHECK(*parse_whole_number("007", 1, 100) == 7);
  CHECK(*parse_whole_number("18446744073709551615", 0, UINT64_MAX) == UINT64_MAX);
}

TEST_CASE("a whole number outside its range is refused with the right one") {
  const std::string out = "is out of range; write a whole number from 1 to 100";
  CHECK(whole_fault("0") == out);
  CHECK(whole_fault("101") == out);
  CHECK(whole_fault("-1") == out);
  CHECK(whole_fault("-0") == out);
  CHECK(whole_fault("18446744073709551616") == out);
}

TEST_CASE("what is not digits is not a whole number") {
  const std::string not_one = "is not a whole number; write a whole number from 1 to 100";
  for (const char* text : {"", "-", "+5", " 5", "5 ", "5x", "x", "1.0", "1e1", "0x10", "--1"}) {
    CAPTURE(text);
    CHECK(whole_fault(text) == not_one);
  }
}

TEST_CASE("a decimal may have a sign and a point") {
  CHECK(*parse_decimal("5", {0.0, false}, {10.0, false}) == 5.0);
  CHECK(*parse_decimal("+0.25", {0.0, false}, {10.0, false}) == 0.25);
  CHECK(*parse_decimal("-.5", {-1.0, false}, {10.0, false}) == -0.5);
  CHECK(*parse_decimal("5.", {0.0, false}, {10.0, false}) == 5.0);
}

TEST_CASE("the ends of a decimal's range belong to it where it says so") {
  const std::string out = "is out of range; write a number above -100 and at most 50";
  CHECK(decimal_fault("50") == "accepted");
  CHECK(decimal_fault("50.01") == out);
  CHECK(decimal_fault("-99.99") == "accepted");
  CHECK(decimal_fault("-100") == out);
  const auto from = parse_decimal("1.5", {2.0, true}, {3.0, false});
  CHECK(from.error().line() == "is out of range; write a number from 2 and below 3");
}

TEST_CASE("what only strtod takes for a number is refused") {
  for (const char* text :
       {"", "nan", "inf", "-inf", "1e3", "0x1p3", " 1", "1 ", "1,5", ".", "-", "+-1", "1.2.3"}) {
    CAPTURE(text);
    CHECK(decimal_fault(text) == "is not a number; write a number above -100 and at most 50");
  }
}

TEST_CASE("a time of day has three digits of its second, before 1970 too") {
  const auto text_of = [](std::int64_t since_1970) {
    return rfc3339(UtcTime(std::chrono::milliseconds(since_1970)));
  };
  CHECK(text_of(1'795'424'400'123) == "2026-11-23T09:00:00.123Z");
  CHECK(text_of(1'795'424'400'007) == "2026-11-23T09:00:00.007Z");
  CHECK(text_of(0) == "1970-01-01T00:00:00.000Z");
  CHECK(text_of(-1) == "1969-12-31T23:59:59.999Z");
  CHECK(rfc3339(std::chrono::sys_seconds()) == "1970-01-01T00:00:00Z");
}

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
  CHECK(refusal("4", "1", "1") == "'4' is above '1'; write the smaller number first");
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

using std::chrono::nanoseconds;

namespace {

std::string fault(std::string_view text) {
  const auto result = parse_duration(text);
  return result ? "accepted" : result.error().line();
}

}  // namespace

TEST_CASE("a time is a number and a unit, and a bare number is seconds") {
  CHECK(*parse_duration("5s") == nanoseconds(5'000'000'000));
  CHECK(*parse_duration("500ms") == nanoseconds(500'000'000));
  CHECK(*parse_duration("2m") == nanoseconds(120'000'000'000));
  CHECK(*parse_duration("1h") == nanoseconds(3'600'000'000'000));
  CHECK(*parse_duration("100us") == nanoseconds(100'000));
  CHECK(*parse_duration("7ns") == nanoseconds(7));
  CHECK(*parse_duration("0.5") == nanoseconds(500'000'000));
  CHECK(*parse_duration(".1s") == nanoseconds(100'000'000));
  CHECK(*parse_duration("1.000000001") == nanoseconds(1'000'000'001));
  CHECK(*parse_duration("8760h") == kMaxDuration);
}

TEST_CASE("what is not a time is refused with examples of one") {
  for (const char* text : {"", "s", "nan", "inf", "-1", "+1", "1e3", "5 s", "5sec", "1.2.3s", "5S",
                           "0x1s", "1h30m", "."}) {
    CAPTURE(text);
    CHECK(fault(text) == "is not a time; write 5s, 500ms or 2m (a bare number is seconds)");
  }
}

TEST_CASE("a time of nothing, or of more than a year, is out of range") {
  for (const char* text : {"0", "0s", "0.1ns", "8761h", "99999999999999999999999999999h"}) {
    CAPTURE(text);
    CHECK(fault(text) == "is out of range; write a time above 0 and at most 8760h");
  }
}

}  // namespace lauka
