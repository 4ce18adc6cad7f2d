#include "core/pattern.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace lauka {
namespace {

/// The last group; "none", or "refused: ...".
std::string last(std::string_view expression, std::string_view text, std::size_t from = 0,
                 bool is_beginning = true, std::size_t to = std::string_view::npos) {
  const auto pattern = Pattern::compile(expression);
  if (!pattern) return "refused: " + pattern.error().what;
  const auto group = pattern->group_in_last_match(
      {text, from, std::min(to, text.size()), is_beginning}, [] { return true; });
  if (!group) return "refused: " + group.error().what;
  return std::string(group->value_or("none"));
}

}  // namespace

TEST_CASE("the first group of the last match is found") {
  CHECK(last("rate ([0-9.]+)(x?)", "rate 1\nrate 2.5x\nother 3\n") == "2.5");
  CHECK(last("rate ([0-9.]+)", "nothing") == "none");
  CHECK(last("([0-9]*)", "ab12") == "");  // the empty match at the end is the last
  CHECK(last("(a)|b", "ab") == "a");      // a match without the group does not count
  CHECK(last("^n=(\\d+)$", "n=1\nn=2\r\nn=3 \n") == "2");
  CHECK(last("(?i)TOOK (\\S+)", std::string("took 1s \0 took 3s", 17)) == "3s");
  CHECK(last("x=(.)", "x=\xff\xfe") == "\xff");  // no UTF-8
}

TEST_CASE("a match may begin only after the context") {
  CHECK(last("(\\d+)", "12 34", 3) == "34");
  CHECK(last("\\b(\\d+)", "12345", 3) == "none");
  CHECK(last("^(\\d+)", "12\n34", 0, false) == "34");
  CHECK(last("^(\\d+)", "12 34", 0, false) == "none");
  CHECK(last("v=(\\d+)$", "v=1\nv=23\nv=", 0, true, 5) == "23");  // begins where it may
  CHECK(last("(\\d+)", "12 34", 0, true, 2) == "12");             // 34 would begin later
}

TEST_CASE("many places are tried, and matches far apart found") {
  const std::string text = "v=1;" + std::string(100'000, 'x') + "v=22;" + std::string(5'000, ' ');
  CHECK(last("v=([0-9]+)", text) == "22");
  CHECK(last("v=([0-9]+);x", text) == "1");
}

TEST_CASE("what is not an expression is refused, and so is one without a group") {
  CHECK(last("rate [0-9]+", "") == "refused: has no group");
  CHECK(last("([0-9]+", "") ==
        "refused: is not a regular expression: missing closing parenthesis, at character 8");
  CHECK(last(std::string(20'000, 'a') + "(b)", "")
            .starts_with("refused: is not a regular expression"));
  CHECK(last("(*UTF)(a)", "a").starts_with("refused: is not a regular expression"));
}

TEST_CASE("an expression that explodes ends, without a value") {
  CHECK(last("(a+)+$", std::string(50, 'a') + "b") == "refused: needs too many steps to match");
  CHECK(last("((a|b|ab)*)*[cd]", std::string(10'000, 'a')) ==
        "refused: needs too many steps to match");
  const auto pattern = Pattern::compile("x(.*?)y").value();
  int asked = 0;
  const std::string text(300'000, 'x');
  const auto group =
      pattern.group_in_last_match({text, 0, text.size()}, [&] { return ++asked < 3; });
  CHECK_FALSE(group);
  CHECK(asked == 3);
}

}  // namespace lauka
