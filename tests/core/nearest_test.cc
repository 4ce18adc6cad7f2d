#include "core/nearest.h"

#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {

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

}  // namespace lauka
