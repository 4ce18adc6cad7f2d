#include "core/numbers.h"

#include <chrono>
#include <cstdint>
#include <string>

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
    return rfc3339(TimeOfDay(std::chrono::milliseconds(since_1970)));
  };
  CHECK(text_of(1'795'424'400'123) == "2026-11-23T09:00:00.123Z");
  CHECK(text_of(1'795'424'400'007) == "2026-11-23T09:00:00.007Z");
  CHECK(text_of(0) == "1970-01-01T00:00:00.000Z");
  CHECK(text_of(-1) == "1969-12-31T23:59:59.999Z");
  CHECK(rfc3339(std::chrono::sys_seconds()) == "1970-01-01T00:00:00Z");
}

}  // namespace lauka
