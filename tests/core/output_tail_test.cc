#include "core/text.h"

#include <string>

#include <doctest/doctest.h>

namespace lauka {

TEST_CASE("the end of a text is its last lines, whole") {
  CHECK(last_lines_of("").empty());
  CHECK(last_lines_of("a\nb\n\n") == "a\nb");
  std::string lines;
  for (int i = 1; i <= 100; ++i) lines += std::to_string(i) + "\n";
  const std::string shown = last_lines_of(lines);
  CHECK(shown.starts_with("81\n82\n"));
  CHECK(shown.ends_with("\n100"));
  // Of a long one its whole lines; of a single long line, its end.
  const std::string wide(3'000, 'x');
  CHECK(last_lines_of("y" + wide + "\nz" + wide) == "z" + wide);
  CHECK(last_lines_of(wide + wide).size() == OutputTail::kShown);
}

TEST_CASE("a text that comes in pieces has the same end, and little is kept of it") {
  OutputTail tail;
  std::string whole;
  for (int i = 0; i < 5'000; ++i) {
    const std::string piece = "line " + std::to_string(i) + "\n";
    tail.add(piece);
    whole += piece;
  }
  CHECK(tail.last_lines() == last_lines_of(whole));
  tail.add(std::string(100'000, 'x'));
  CHECK(tail.last_lines() == std::string(OutputTail::kShown, 'x'));
  tail.clear();
  CHECK(tail.last_lines().empty());
}

}  // namespace lauka
