#include "cores/threads.h"

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::cores {
namespace {

constexpr std::uint32_t kP = 1;
constexpr std::uint32_t kE = 2;
constexpr std::uint32_t kSuper = 4;

/// All moves that these looks, one after the other, take at least.
std::uint64_t moves_of(const std::vector<std::uint32_t>& looks) {
  SeenMoves moves;
  std::uint64_t all = 0;
  for (const std::uint32_t kinds : looks) all += moves.see(kinds);
  return all;
}

}  // namespace

TEST_CASE("moves: one that stays where it is, or does not run, does not move") {
  CHECK(moves_of({kP}) == 0);
  CHECK(moves_of({kP, kP, 0, kP}) == 0);
}

TEST_CASE("moves: each look that finds it on another kind is one") {
  CHECK(moves_of({kP, kE, kP}) == 2);
  CHECK(moves_of({kP, 0, kE}) == 1);
}

TEST_CASE("moves: to be on both takes one, wherever it began, and it ends on the other") {
  CHECK(moves_of({kP | kE}) == 1);
  CHECK(moves_of({kP, kP | kE}) == 1);
  CHECK(moves_of({kP, kP | kE, kE}) == 1);
  CHECK(moves_of({kP, kP | kE, kP}) == 2);
  CHECK(moves_of({kP, kP | kE, kP | kE, kP | kE}) == 3);
  CHECK(moves_of({kP | kE, kP}) == 1);  // it may have begun on the other
}

TEST_CASE("moves: of three kinds the fewest are reported") {
  CHECK(moves_of({kP | kE | kSuper}) == 2);
  CHECK(moves_of({kP, kE | kSuper}) == 2);
  CHECK(moves_of({kP, kP | kE | kSuper, kP}) == 3);
  CHECK(moves_of({kP, kP | kE | kSuper, kE}) == 2);
}

}  // namespace lauka::cores
