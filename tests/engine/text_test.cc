#include "engine/text.h"

#include <doctest/doctest.h>

namespace lauka::engine {

TEST_CASE("numbers are decimal, or hexadecimal with 0x, and nothing else") {
  CHECK(parse_number("60") == 60);
  CHECK(parse_number("0x3c") == 60);
  CHECK(parse_number("0X3C") == 60);
  CHECK(parse_number("18446744073709551615") == ~std::uint64_t{0});
  for (const char* text : {"", "0x", "-1", "+1", " 1", "1 ", "1.5", "abc", "0x1g",
                           "18446744073709551616", "0x10000000000000000"})
    CHECK_MESSAGE(!parse_number(text).has_value(), text);
}

TEST_CASE("names are listed as in a sentence") {
  const std::vector<std::string> names{"a", "b", "c"};
  CHECK(listed(std::span(names).first(1)) == "a");
  CHECK(listed(std::span(names).first(2)) == "a and b");
  CHECK(listed(names, "or") == "a, b or c");
}

TEST_CASE("the nearest names are those with the fewest typing errors") {
  const std::vector<std::string> names{"cycles", "instructions", "branches", "branch-misses"};
  CHECK(nearest_names("cycels", names) == std::vector<std::string>{"cycles"});
  CHECK(nearest_names("INSTRUCTION", names) == std::vector<std::string>{"instructions"});
  CHECK(nearest_names("branch", names) == std::vector<std::string>{"branches", "branch-misses"});
  CHECK(nearest_names("wall_time", names).empty());
}

}  // namespace lauka::engine
