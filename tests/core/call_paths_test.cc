#include "core/call_paths.h"

#include <algorithm>
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

TEST_CASE("a first call is one whose function is in none of its callers' paths") {
  // prog > f > g > f > h, prog > f > g > g, prog > h > f, other > f
  PathTree paths;
  enum : std::uint64_t { Prog, F, G, H, Other };
  const std::uint32_t prog = paths.add({kNoCaller, Prog});
  const std::uint32_t f = paths.add({prog, F});
  const std::uint32_t h = paths.add({prog, H});
  const std::uint32_t other = paths.add({kNoCaller, Other});
  const std::uint32_t g = paths.add({f, G});
  const std::uint32_t again = paths.add({g, F});
  paths.add({h, F});
  paths.add({again, H});
  paths.add({g, G});
  paths.add({other, F});
  CHECK(find_outermost_calls(paths) ==
        std::vector<bool>{true, true, true, true, true, false, true, true, false, true});
  CHECK(find_outermost_calls({}).empty());
}

TEST_CASE("a recursion of a million calls has one first call") {
  PathTree paths;
  std::uint32_t last = paths.add({kNoCaller, 0});
  for (int call = 0; call < 1'000'000; ++call) last = paths.add({last, 1});
  const std::vector<bool> are_first = find_outermost_calls(paths);
  CHECK(std::ranges::count(are_first, true) == 2);
  CHECK(are_first[1]);
}

TEST_CASE("each path of a tree is found again, however many there are") {
  PathTree paths;
  CHECK_FALSE(paths.find({kNoCaller, 0}).has_value());
  for (std::uint32_t i = 0; i < 10'000; ++i)
    CHECK(paths.add({i % 7 == 0 ? kNoCaller : i - 1, i / 3}) == i);
  CHECK(paths.size() == 10'000);
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    const PathStep step = paths[i];
    CHECK(paths.find(step) == i);
    CHECK(paths.add(step) == i);
  }
  CHECK_FALSE(paths.find({5, 123'456}).has_value());
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
