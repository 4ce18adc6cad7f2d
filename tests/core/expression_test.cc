#include "core/own_metric.h"

#include <string>
#include <variant>

#include <doctest/doctest.h>

namespace lauka {
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
  CHECK(postfix("(a") == "refused: has a ( without its )");
  CHECK(postfix("a)") == "refused: has a ) without its (");
  CHECK(postfix("()") == "refused: has ')' where a metric or a number is missing");
  CHECK(postfix("-a") == "refused: has a minus with nothing before it");
  CHECK(postfix("1.2.3 * a") == "refused: has '1.2.3 ', which is not a number");
  CHECK(postfix("1e999") == "refused: has '1e999', which is not a number");
  CHECK(postfix("3x") == "refused: has '3x', which is not a number");
  CHECK(postfix("a ^ 2") == "refused: has '^' where + - * or / is missing");
  CHECK(postfix("\"a") == "refused: has a \" without a name and another one");
  CHECK(postfix(std::string(20'000, '(')) == "refused: is too long");
  CHECK(postfix(std::string(9'000, '(') + "a") == "refused: has a ( without its )");
}

TEST_CASE("the names of a formula are reported once") {
  const auto expression = parse_expression("a / (b + a) * 2");
  REQUIRE(expression);
  CHECK(names_in(*expression) == std::vector<std::string>{"a", "b"});
}

}  // namespace lauka
