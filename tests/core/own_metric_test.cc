#include "core/own_metric.h"

#include "core/choices.h"

#include <string>
#include <variant>

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
  CHECK(refusal("12.5ms") == "has 'ms' after the number, but the metric's unit is none");
  CHECK(refusal("12.5ms", "MB") == "has 'ms' after the number, but the metric's unit is 'MB'");
  CHECK(refusal("3 apples", "$") == "has 'apples' after the number, but the metric's unit is '$'");
}

TEST_CASE("what is not a number never becomes one") {
  for (const char* text : {"", "nan", "NaN", "inf", "-inf", "-", ".", "e5", "0x10", ",5", "abc"}) {
    CAPTURE(text);
    CHECK(refusal(text) != "accepted");
  }
  CHECK(refusal("1e999") == "is larger than 1e30 or smaller than 1e-30");
  CHECK(refusal("1e-99") == "is larger than 1e30 or smaller than 1e-30");
  CHECK(refusal("1,5") != "accepted");  // a comma as a decimal point, or a slip
  CHECK(refusal("12,34,567") != "accepted");
  CHECK(refusal(std::string(1000, '1')) == "is not a number");
}

TEST_CASE("a metric has a name, and optionally a unit and a direction") {
  const auto plain = parse_own_metric("rate").value();
  CHECK(plain.name == "rate");
  CHECK(plain.better == Better::Less);
  const auto full = parse_own_metric("latency.p99:ms:higher").value();
  CHECK(full.name == "latency.p99");
  CHECK(full.unit.unit == Unit::Seconds);
  CHECK(full.better == Better::More);
  CHECK(make_metric(full, 1.0).shown_in == find_display_unit("ms"));
  const auto direction = parse_own_metric("rate:higher").value();
  CHECK(direction.unit.word.empty());
  CHECK(direction.better == Better::More);
  const auto dollars = parse_own_metric("cost:$").value();
  CHECK(make_metric(dollars, 1.0).metric_suffix == "($)");
  CHECK(refused_head("") == "has the name ''");
  CHECK(refused_head("1x") == "has the name '1x'");
  CHECK(refused_head("a b") == "has the name 'a b'");
  CHECK(refused_head("x:") == "has the unit ''");
  CHECK(refused_head("x:ms:up") == "has 'up', which is neither higher nor lower");
}

namespace {

std::string refusal_of_line(std::string_view line) {
  const auto reported = parse_reported_line(line);
  return reported ? "accepted" : reported.error().what;
}

}  // namespace

TEST_CASE("a line has a name, a value, and perhaps unit, direction and what becomes of several") {
  const auto plain = parse_reported_line("requests 1,234.5").value();
  CHECK(plain.metric.name == "requests");
  CHECK(plain.value == "1,234.5");
  CHECK_FALSE(plain.combine);
  const auto full = parse_reported_line("\tlatency.p99  12.5 ms higher last\r").value();
  CHECK(full.metric.unit.unit == Unit::Seconds);
  CHECK(full.metric.better == Better::More);
  CHECK(full.combine == Combine::Last);
  const auto some = parse_reported_line("bytes 3 sum").value();
  CHECK(some.metric.unit.word.empty());
  CHECK(some.combine == Combine::Sum);
  CHECK(parse_reported_line("t 3ms")->metric.unit.word == "ms");
  CHECK(parse_reported_line("t 3abc")->metric.unit.word.empty());
  CHECK(parse_reported_line("n 3 1 lower")->metric.unit.unit == Unit::Count);
}

TEST_CASE("an invalid line is refused with its fault") {
  CHECK(refusal_of_line("") == "is not of the form NAME VALUE");
  CHECK(refusal_of_line("requests") == "is not of the form NAME VALUE");
  CHECK(refusal_of_line("1x 3") == "has the name '1x'");
  CHECK(refusal_of_line("a 3 ms up") ==
        "has 'up', which is not a unit, higher, lower, sum, mean or last");
  CHECK(refusal_of_line("a 3 higher ms") ==
        "has 'ms', which is not a unit, higher, lower, sum, mean or last");
  CHECK(refusal_of_line("a 3 \x1b[31m") ==
        "has '\\x1b[31m', which is not a unit, higher, lower, sum, mean or last");
}

namespace {

/// Returns it in postfix order, with blanks between; "refused: ..." if it is not a formula.
std::string postfix(std::string_view text) {
  const auto expression = parse_expression(text);
  if (!expression) return "refused: " + expression.error().what;
  std::string line;
  for (const ExpressionTerm& term : *expression) {
    line += line.empty() ? "" : " ";
    if (const auto* name = std::get_if<std::string>(&term)) line += *name;
    if (const auto* number = std::get_if<double>(&term))
      line += std::to_string(static_cast<long long>(*number));
    if (const auto* operation = std::get_if<Operation>(&term))
      line += "+-*/"[static_cast<std::size_t>(*operation)];
  }
  return line;
}

}  // namespace

TEST_CASE("a formula is read with the usual order of operations") {
  CHECK(postfix("1000*cache-misses/instructions") == "1000 cache-misses * instructions /");
  CHECK(postfix("a + b * c - d") == "a b c * + d -");
  CHECK(postfix("a - b - c") == "a b - c -");
  CHECK(postfix("a / b / c") == "a b / c /");
  CHECK(postfix("(a + b) * (c - 1e3)") == "a b + c 1000 - *");
  CHECK(postfix(" ( ( a ) ) ") == "a");
}

TEST_CASE("a dash within a name belongs to it; with a blank it is a minus") {
  CHECK(postfix("wall_time - cpu_time") == "wall_time cpu_time -");
  CHECK(postfix("wall_time-cpu_time") == "wall_time-cpu_time");
  CHECK(postfix("wall_time -1") == "wall_time 1 -");
  CHECK(postfix("2-1") == "2 1 -");
  CHECK(postfix("\"cpu/event=0x3c/\"/cycles:u") == "cpu/event=0x3c/ cycles:u /");
}

TEST_CASE("what is not a formula is refused with what is wrong about it") {
  CHECK(postfix("") == "refused: ends where a metric or a number is missing");
  CHECK(postfix("a +") == "refused: ends where a metric or a number is missing");
  CHECK(postfix("a b") == "refused: has 'b' where + - * or / is missing");
  CHECK(postfix("(a") == "refused: has a ( without a matching )");
  CHECK(postfix("a)") == "refused: has a ) without a matching (");
  CHECK(postfix("()") == "refused: has ')' where a metric or a number is missing");
  CHECK(postfix("-a") == "refused: has a minus with nothing before it");
  CHECK(postfix("1.2.3 * a") == "refused: has '1.2.3 ', which is not a number");
  CHECK(postfix("1e999") == "refused: has '1e999', which is not a number");
  CHECK(postfix("3x") == "refused: has '3x', which is not a number");
  CHECK(postfix("a ^ 2") == "refused: has '^' where + - * or / is missing");
  CHECK(postfix("\"a") == "refused: has a \" that does not begin a name in double quotes");
  CHECK(postfix(std::string(20'000, '(')) == "refused: is too long");
  CHECK(postfix(std::string(9'000, '(') + "a") == "refused: has a ( without a matching )");
}

TEST_CASE("the names of a formula are reported once") {
  const auto expression = parse_expression("a / (b + a) * 2").value();
  CHECK(names_in(expression) == std::vector<std::string>{"a", "b"});
}

}  // namespace lauka
