#include "bisect/rules.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::bisect {
namespace {

struct Walk {
  std::vector<std::size_t> tested{};
  double error = 0.0;
};

/// Searches with a measurement that is always right. `answer` tells what is true of a commit.
template <typename Answer>
Walk walk(Search& search, const Answer& answer) {
  Walk walk;
  while (const auto step = search.next_step()) {
    walk.tested.push_back(step->commit);
    const StepAnswer is = answer(step->commit);
    if (is != StepAnswer::Untestable) walk.error += step->error;
    search.take({step->commit, is});
  }
  return walk;
}

constexpr auto changed_from(std::size_t culprit) {
  return [culprit](std::size_t commit) {
    return commit < culprit ? StepAnswer::Before : StepAnswer::After;
  };
}

TEST_CASE("the number of steps is the logarithm of the number of commits, rounded up") {
  CHECK(steps_for(1) == 0);
  CHECK(steps_for(2) == 1);
  CHECK(steps_for(3) == 2);
  CHECK(steps_for(128) == 7);
  CHECK(steps_for(129) == 8);
}

TEST_CASE("a commit whose parent is the good end is found without a step") {
  const Search search(1, 0.025);
  CHECK(search.is_found());
  CHECK_FALSE(search.next_step());
}

TEST_CASE("every culprit is found in at most ceil(log2 n) steps, within the error") {
  for (const std::size_t commits : std::vector<std::size_t>{2, 3, 7, 16, 100, 128}) {
    for (std::size_t culprit = 1; culprit <= commits; ++culprit) {
      Search search(commits, 0.025);
      const Walk done = walk(search, changed_from(culprit));
      REQUIRE(search.is_found());
      REQUIRE(search.first_after() == culprit);
      REQUIRE(done.tested.size() <= steps_for(commits));
      REQUIRE(done.error < 0.025);
    }
  }
}

TEST_CASE("commits that do not build cost no step besides their own builds") {
  // Of 128 commits, some do not build: single ones, a block in the middle, and a long one at an
  // end.
  using Block = std::pair<std::size_t, std::size_t>;
  for (const auto& [begin, end] :
       std::vector<Block>{{64, 65}, {63, 66}, {50, 80}, {1, 60}, {33, 127}, {90, 128}}) {
    for (std::size_t culprit = 1; culprit <= 128; ++culprit) {
      std::size_t failed = 0;
      const auto answer = [&, first = begin, last = end](std::size_t commit) {
        if (commit < first || commit >= last) return changed_from(culprit)(commit);
        ++failed;
        return StepAnswer::Untestable;
      };
      Search search(128, 0.025);
      const Walk done = walk(search, answer);
      const std::vector<std::size_t> suspects = search.suspects();
      REQUIRE((suspects.empty() ? search.first_after() : suspects.front()) <= culprit);
      REQUIRE(search.first_after() >= culprit);
      REQUIRE(done.tested.size() - failed <= steps_for(128));
    }
  }
}

TEST_CASE("the middle is the one of the commits that can still be tested") {
  Search search(16, 0.025);
  for (const std::size_t commit : std::vector<std::size_t>{8, 9, 7, 10, 6, 11, 5}) {
    CHECK(search.next_step()->commit == commit);
    search.take({commit, StepAnswer::Untestable});
  }
  search.take({12, StepAnswer::After});
  CHECK(search.steps_left() == 3);
  CHECK(search.next_step()->commit == 3);
  CHECK(search.suspects() == std::vector<std::size_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
}

TEST_CASE("steps that halve evenly share the error evenly, with one share in reserve") {
  Search search(128, 0.024);
  while (const auto step = search.next_step()) {
    CHECK(step->error == doctest::Approx(0.003));
    search.take({step->commit, StepAnswer::After});
  }
}

TEST_CASE("the neighbours of a commit that does not build are tried, the newer one first") {
  Search search(16, 0.025);
  CHECK(search.next_step()->commit == 8);
  search.take({8, StepAnswer::Untestable});
  CHECK(search.next_step()->commit == 9);
  search.take({9, StepAnswer::Untestable});
  CHECK(search.next_step()->commit == 7);
}

TEST_CASE("a search takes commits in the order that it is given") {
  // Two branches of one commit each, and their merge.
  const Ranking branches = [](const Known& known) {
    std::vector<std::size_t> left;
    for (const std::size_t commit : std::vector<std::size_t>{2, 1})
      if (commit < known.after && std::ranges::find(known.before, commit) == known.before.end())
        left.push_back(commit);
    return known.after == 3 ? left : std::vector<std::size_t>{};
  };
  Search search(3, 0.025, branches);
  const Walk done = walk(search, [](std::size_t) { return StepAnswer::Before; });
  CHECK(done.tested == std::vector<std::size_t>{2, 1});
  CHECK(search.is_found());
  CHECK(search.first_after() == 3);

  Search on_branch(3, 0.025, branches);
  walk(on_branch, [](std::size_t) { return StepAnswer::After; });
  CHECK(on_branch.is_found());
  CHECK(on_branch.first_after() == 2);
}

TEST_CASE("a commit that does not build costs no part of the error") {
  Search search(16, 0.025);
  const double error = search.next_step()->error;
  search.take({8, StepAnswer::Untestable});
  CHECK(search.next_step()->error == error);
}

TEST_CASE("the answer is the smallest range if the commits within do not build") {
  Search search(16, 0.025);
  walk(search, [](std::size_t commit) {
    if (commit >= 5 && commit <= 7) return StepAnswer::Untestable;
    return commit < 7 ? StepAnswer::Before : StepAnswer::After;
  });
  CHECK_FALSE(search.is_found());
  CHECK(search.suspects() == std::vector<std::size_t>{5, 6, 7});
  CHECK(search.first_after() == 8);
}

TEST_CASE("a search ends with a range after three undecided steps") {
  Search search(64, 0.025);
  const Walk done = walk(search, [](std::size_t) { return StepAnswer::Undecided; });
  CHECK(done.tested.size() == kMaxUndecidedCommits);
  CHECK(done.error < 0.025);
  CHECK_FALSE(search.is_found());
}

TEST_CASE("a level near the middle sends the search into the part with the larger change") {
  Search later(16, 0.025);
  later.take({8, StepAnswer::Undecided, Level{.low = 0.3, .estimate = 0.4, .high = 0.5}});
  CHECK(later.suspects().front() == 9);
  CHECK(later.first_after() == 16);
  CHECK(later.next_step()->dividing_level == doctest::Approx(0.7));

  Search earlier(16, 0.025);
  earlier.take({8, StepAnswer::Undecided, Level{.low = 0.5, .estimate = 0.6, .high = 0.7}});
  CHECK(earlier.first_after() == 8);
  CHECK(earlier.next_step()->dividing_level == doctest::Approx(0.3));
}

TEST_CASE("a level whose interval leaves the middle half proves nothing about both sides") {
  Search search(16, 0.025);
  search.take({8, StepAnswer::Undecided, Level{.low = 0.2, .estimate = 0.5, .high = 0.7}});
  CHECK(search.suspects().front() == 1);
  CHECK(search.first_after() == 16);
  CHECK(search.next_step()->commit == 8);
}

TEST_CASE(
    "an undecided commit is asked about again, at the quarter that is farther from its level") {
  Search search(16, 0.025);
  const double error = search.next_step()->error;
  search.take({8, StepAnswer::Undecided, Level{.low = 0.2, .estimate = 0.55, .high = 0.9}});
  const auto below = search.next_step();
  REQUIRE(below);
  CHECK(below->commit == 8);
  CHECK(below->asks_again);
  CHECK(below->dividing_level == doctest::Approx(0.25));
  CHECK(error + below->error < 0.025);

  Search other(16, 0.025);
  other.take({8, StepAnswer::Undecided, Level{.low = 0.1, .estimate = 0.45, .high = 0.8}});
  CHECK(other.next_step()->dividing_level == doctest::Approx(0.75));
}

TEST_CASE(
    "the answer about a quarter leads to a part with a change, from the level that was seen") {
  const Level near_middle{.low = 0.2, .estimate = 0.55, .high = 0.9};
  Search earlier(16, 0.025);
  earlier.take({8, StepAnswer::Undecided, near_middle});
  earlier.take({8, StepAnswer::After, Level{.low = 0.26, .estimate = 0.5, .high = 0.8}});
  CHECK(earlier.first_after() == 8);
  CHECK(earlier.next_step()->dividing_level == doctest::Approx(0.25));
  CHECK_FALSE(earlier.next_step()->asks_again);

  Search later(16, 0.025);
  later.take({8, StepAnswer::Undecided, near_middle});
  later.take({8, StepAnswer::Before, Level{.low = 0.0, .estimate = 0.1, .high = 0.2}});
  CHECK(later.suspects().front() == 9);
  CHECK(later.next_step()->dividing_level == doctest::Approx(0.55));
}

TEST_CASE("a commit that is undecided twice is passed over") {
  Search search(16, 0.025);
  const Level unclear{.low = -0.5, .estimate = 0.5, .high = 1.5};
  search.take({8, StepAnswer::Undecided, unclear});
  search.take({8, StepAnswer::Undecided, unclear});
  CHECK(search.next_step()->commit == 9);
  CHECK_FALSE(search.next_step()->asks_again);
  CHECK(search.first_after() == 16);
}

TEST_CASE("with undecided commits, a search tests no more commits than without them") {
  const Level unclear{.low = -0.5, .estimate = 0.5, .high = 1.5};
  for (std::size_t culprit = 1; culprit <= 128; ++culprit) {
    for (std::size_t which = 0; which < 7; ++which) {
      Search search(128, 0.025);
      std::size_t tested = 0;
      double error = 0.0;
      while (const auto step = search.next_step()) {
        if (!step->asks_again) ++tested;
        error += step->error;
        const bool is_undecided = tested == which + 1;
        search.take({step->commit,
                     is_undecided ? StepAnswer::Undecided : changed_from(culprit)(step->commit),
                     is_undecided ? std::optional(unclear) : std::nullopt});
      }
      const std::vector<std::size_t> suspects = search.suspects();
      REQUIRE(tested <= steps_for(128));
      REQUIRE(error < 0.025);
      REQUIRE((suspects.empty() ? search.first_after() : suspects.front()) <= culprit);
      REQUIRE(search.first_after() >= culprit);
    }
  }
}

TEST_CASE(
    "on branches that cannot be halved, an undecided commit does not end the search at once") {
  // Sixteen branches of one commit each, and their merge.
  const Ranking branches = [](const Known& known) {
    std::vector<std::size_t> left;
    for (std::size_t commit = 1; commit <= 16; ++commit)
      if (std::ranges::find(known.before, commit) == known.before.end()) left.push_back(commit);
    return left;
  };
  Search search(17, 0.025, branches);
  for (int i = 0; i < 8; ++i) search.take({search.next_step()->commit, StepAnswer::Before, {}});
  search.take({search.next_step()->commit, StepAnswer::Undecided, {}});
  CHECK(search.next_step());
}

TEST_CASE("of two changes of 60 and 40 percent, the larger one is found") {
  for (const std::size_t larger : std::vector<std::size_t>{20, 90}) {
    const std::size_t smaller = larger == 20 ? 90 : 20;
    Search search(128, 0.025);
    while (const auto step = search.next_step()) {
      const double level =
          (step->commit >= larger ? 0.6 : 0.0) + (step->commit >= smaller ? 0.4 : 0.0);
      const StepAnswer answer =
          level > step->dividing_level ? StepAnswer::After : StepAnswer::Before;
      search.take({step->commit, answer, Level{level - 0.05, level, level + 0.05}});
    }
    CHECK(search.is_found());
    CHECK(search.first_after() == larger);
  }
}

TEST_CASE("the limit of a step follows from the near end of the interval of both ends") {
  CHECK(limit_percent({.change = 0.05, .near_end = 0.04}, 0.5) == doctest::Approx(2.0));
  CHECK(limit_percent({.change = -0.05, .near_end = -0.04}, 0.5) == doctest::Approx(-2.0));
  CHECK(level_of({.change = -0.05, .near_end = -0.04}, -0.03) == doctest::Approx(0.75));
}

TEST_CASE("the change of both ends is precise if its near end is half of it or more") {
  CHECK(EndsChange{.change = -0.04, .near_end = -0.02}.is_precise());
  CHECK_FALSE(EndsChange{.change = 0.04, .near_end = 0.019}.is_precise());
}

}  // namespace
}  // namespace lauka::bisect
