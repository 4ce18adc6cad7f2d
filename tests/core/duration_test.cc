#include "core/numbers.h"

#include <string>

#include <doctest/doctest.h>

namespace lauka {

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
  CHECK(*parse_duration("8760h") == kLongestDuration);
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
