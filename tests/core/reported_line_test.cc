#include "core/own_metric.h"

#include <string>

#include <doctest/doctest.h>

namespace lauka {
namespace {

std::string refusal_of_line(std::string_view line) {
  const auto reported = parse_reported_line(line);
  return reported ? "accepted" : reported.error().what;
}

}  // namespace

TEST_CASE(
    "a line has a name and a value, and perhaps a unit, a direction and what becomes of "
    "several") {
  const auto plain = parse_reported_line("requests 1,234.5");
  REQUIRE(plain);
  CHECK(plain->metric.name == "requests");
  CHECK(plain->value == "1,234.5");
  CHECK_FALSE(plain->combine);
  const auto full = parse_reported_line("\tlatency.p99  12.5 ms higher last\r");
  REQUIRE(full);
  CHECK(full->metric.unit.unit == Unit::Seconds);
  CHECK(full->metric.better == Better::More);
  CHECK(full->combine == Combine::Last);
  const auto some = parse_reported_line("bytes 3 sum");
  REQUIRE(some);
  CHECK(some->metric.unit.word.empty());
  CHECK(some->combine == Combine::Sum);
  CHECK(parse_reported_line("t 3ms")->metric.unit.word == "ms");
  CHECK(parse_reported_line("t 3abc")->metric.unit.word.empty());
  CHECK(parse_reported_line("n 3 1 lower")->metric.unit.unit == Unit::Count);
}

TEST_CASE("an invalid line is refused with its fault") {
  CHECK(refusal_of_line("") == "is not NAME VALUE");
  CHECK(refusal_of_line("requests") == "is not NAME VALUE");
  CHECK(refusal_of_line("1x 3") == "has '1x' for a name");
  CHECK(refusal_of_line("a 3 ms up") ==
        "has 'up', which is not a unit, higher, lower, sum, mean or last");
  CHECK(refusal_of_line("a 3 higher ms") ==
        "has 'ms', which is not a unit, higher, lower, sum, mean or last");
  CHECK(refusal_of_line("a 3 \x1b[31m") ==
        "has '\\x1b[31m', which is not a unit, higher, lower, sum, mean or last");
}

}  // namespace lauka
