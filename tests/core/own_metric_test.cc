#include "core/own_metric.h"

#include "core/choices.h"

#include <string>

#include <doctest/doctest.h>

namespace lauka {
namespace {

double value(std::string_view text, std::string_view unit = "") {
  const auto read = parse_own_value(text, parse_own_unit(unit));
  CAPTURE(text);
  if (!read) FAIL("refused: " << read.error().line());
  return *read;
}

std::string refusal(std::string_view text, std::string_view unit = "") {
  const auto read = parse_own_value(text, parse_own_unit(unit));
  return read ? "accepted" : read.error().what;
}

std::string refused_head(std::string_view head) {
  const auto read = parse_own_metric(head);
  return read ? "accepted" : read.error().what;
}

}  // namespace

TEST_CASE("a number is read as programs print them") {
  CHECK(value("42") == 42.0);
  CHECK(value(" -3.5 ") == -3.5);
  CHECK(value("1,234.5") == 1234.5);
  CHECK(value("1,234,567") == 1234567.0);
  CHECK(value("1.2e6") == 1.2e6);
  CHECK(value("+.5E-3") == 0.0005);
  CHECK(value("0") == 0.0);
}

TEST_CASE("a unit after the number wins over the metric's, if it is of the same kind") {
  CHECK(value("12.5ms", "s") == doctest::Approx(0.0125));
  CHECK(value("12.5", "ms") == doctest::Approx(0.0125));
  CHECK(value("3 s", "ms") == 3.0);
  CHECK(value("2 MiB", "B") == 2097152.0);
  CHECK(value("40%", "%") == doctest::Approx(0.4));
  CHECK(value("1.5M", "1") == 1.5e6);
  CHECK(value("3.5$", "$") == 3.5);
  CHECK(refusal("12.5ms") == "has 'ms' after the number, but its unit is none");
  CHECK(refusal("12.5ms", "MB") == "has 'ms' after the number, but its unit is 'MB'");
  CHECK(refusal("3 apples", "$") == "has 'apples' after the number, but its unit is '$'");
}

TEST_CASE("what is not a number never becomes one") {
  for (const char* text : {"", "nan", "NaN", "inf", "-inf", "-", ".", "e5", "0x10", ",5", "abc"}) {
    CAPTURE(text);
    CHECK(refusal(text) != "accepted");
  }
  CHECK(refusal("1e999") == "is beyond 1e30, or below 1e-30");
  CHECK(refusal("1e-99") == "is beyond 1e30, or below 1e-30");
  CHECK(refusal("1,5") != "accepted");  // a comma as a decimal point, or a slip
  CHECK(refusal("12,34,567") != "accepted");
  CHECK(refusal(std::string(1000, '1')) == "is not a number");
}

TEST_CASE("a metric has a name, and optionally a unit and a direction") {
  const auto plain = parse_own_metric("rate");
  REQUIRE(plain);
  CHECK(plain->name == "rate");
  CHECK(plain->better == Better::Less);
  const auto full = parse_own_metric("latency.p99:ms:higher");
  REQUIRE(full);
  CHECK(full->name == "latency.p99");
  CHECK(full->unit.unit == Unit::Seconds);
  CHECK(full->better == Better::More);
  CHECK(make_metric(*full, 1.0).shown_in == find_display_unit("ms"));
  const auto direction = parse_own_metric("rate:higher");
  REQUIRE(direction);
  CHECK(direction->unit.word.empty());
  CHECK(direction->better == Better::More);
  const auto dollars = parse_own_metric("cost:$");
  REQUIRE(dollars);
  CHECK(make_metric(*dollars, 1.0).note == "($)");
  CHECK(refused_head("") == "has '' for a name");
  CHECK(refused_head("1x") == "has '1x' for a name");
  CHECK(refused_head("a b") == "has 'a b' for a name");
  CHECK(refused_head("x:") == "has '' for a unit");
  CHECK(refused_head("x:ms:up") == "has 'up', which is neither higher nor lower");
}

}  // namespace lauka
