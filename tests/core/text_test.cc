#include "core/text.h"

#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {

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

TEST_CASE("text is broken at blanks, and in a long word after a comma") {
  CHECK(wrapped("one two three", 7) == std::vector<std::string_view>{"one two", "three"});
  CHECK(wrapped("one two three", 0) == std::vector<std::string_view>{"one two three"});
  CHECK(wrapped("a,bb,cc dd", 5) == std::vector<std::string_view>{"a,bb,", "cc dd"});
  CHECK(wrapped("endless word", 3) == std::vector<std::string_view>{"endless", "word"});
  CHECK(wrapped("", 3) == std::vector<std::string_view>{""});
}

TEST_CASE("the nearest name is a few slips of the finger away, or none is meant") {
  const std::vector<std::string_view> names = {"runs", "min-runs", "export-csv", "export-runs",
                                               "color"};
  CHECK(nearest("rusn", names) == "runs");              // a swap
  CHECK(nearest("rns", names) == "runs");               // a letter left out
  CHECK(nearest("ruuns", names) == "runs");             // a letter too many
  CHECK(nearest("rune", names) == "runs");              // another letter
  CHECK(nearest("exprot-cvs", names) == "export-csv");  // two swaps
  CHECK(nearest("colour", names) == "color");
  CHECK(nearest("rabs", names).empty());  // two of four letters
  CHECK(nearest("", names).empty());
}

TEST_CASE("an abbreviation is nearer than a slip of the finger, the first of several first") {
  const std::vector<std::string_view> names = {"expert", "export-csv", "export-runs"};
  CHECK(nearest("export", names) == "export-csv");
}

TEST_CASE("the value of a key is on its first line, without blanks and quotes around it") {
  CHECK(find_value("a: 1\nmodel name\t: Some CPU \nmodel name : other\n", "model name", ':') ==
        "Some CPU");
  CHECK(find_value("PRETTY_NAME=\"Some OS 1\"\n", "PRETTY_NAME", '=') == "Some OS 1");
  CHECK(find_value("A='x y'", "A", '=') == "x y");
  CHECK(find_value("A=\"", "A", '=') == "\"");
  CHECK_FALSE(find_value("AB=1\n", "A", '=').has_value());
  CHECK(find_value("A=\n", "A", '=') == "");
}

}  // namespace lauka
