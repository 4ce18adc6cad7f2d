#include "core/call_paths.h"

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

double total_of(const PathTable& table, std::size_t round) {
  double total = 0.0;
  for (std::size_t path = 0; path < table.size(); ++path)
    total += value_in(table.values_of(path), round);
  return total;
}

}  // namespace

TEST_CASE("a path has a value for each round, which is 0 in rounds that lack the path") {
  PathTable table;
  table.add_round(std::vector<PathCounts>{{kNoCaller, "prog", 0}, {0, "main", 4}, {1, "f", 6}},
                  2.0);
  table.add_round(std::vector<PathCounts>{{kNoCaller, "prog", 0}, {0, "main", 8}, {1, "g", 2}},
                  2.0);
  REQUIRE(table.size() == 4);
  CHECK(table.rounds() == 2);
  CHECK(table.name_of(3) == "g");
  CHECK(table.caller_of(3) == 1);
  CHECK(table.caller_of(0) == kNoCaller);
  CHECK(table.values_of(0).empty());
  CHECK(table.values_of(1) == RoundValues{2.0, 4.0});
  CHECK(table.values_of(2) == RoundValues{3.0, 0.0});
  CHECK(table.values_of(3) == RoundValues{0.0, 1.0});
}

TEST_CASE(
    "the same function through two paths is two paths, and recursion is a path for each call") {
  PathTable table;
  table.add_round(
      std::vector<PathCounts>{
          {kNoCaller, "prog", 0}, {0, "f", 1}, {1, "f", 1}, {2, "f", 1}, {0, "g", 1}, {4, "f", 1}},
      1.0);
  CHECK(table.size() == 6);
  CHECK(table.names() == std::vector<std::string>{"prog", "f", "g"});
}

TEST_CASE("paths beyond the limit keep their time, below a frame that says so") {
  PathTable table;
  std::vector<PathCounts> run = {{kNoCaller, "prog", 0}};
  for (std::uint32_t i = 0; i < PathTable::kMaxPaths + 1000; ++i) run.push_back({i, "f", 1});
  table.add_round(run, 1.0);
  CHECK(table.has_left_out_paths());
  CHECK(table.size() <= PathTable::kMaxPaths + 2);
  CHECK(table.name_of(table.size() - 2) == kTooManyPaths);
  CHECK(table.caller_of(table.size() - 2) == 0);
  CHECK(table.name_of(table.size() - 1) == "f");
  CHECK(total_of(table, 0) == static_cast<double>(run.size() - 1));
}

TEST_CASE("a path that is read needs a caller that was read before, and is read once") {
  PathTable table;
  CHECK(table.add_path(kNoCaller, "prog", {}, 3));
  CHECK(table.add_path(0, "f", {1.0, 2.0, 3.0}, 3));
  CHECK_FALSE(table.add_path(0, "f", {}, 3));
  CHECK_FALSE(table.add_path(7, "g", {}, 3));
  CHECK(table.size() == 2);
  CHECK(table.rounds() == 3);
}

}  // namespace lauka
