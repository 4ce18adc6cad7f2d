#include "plan/plan.h"
#include "plan/rounds.h"

#include <cstdint>
#include <map>
#include <string>

#include <doctest/doctest.h>

namespace lauka {
namespace {

Plan plan_of(std::size_t commands, std::uint64_t seed, Order order = Order::Random) {
  Plan plan;
  plan.commands.resize(commands);
  plan.setting.order = order;
  plan.setting.seed = seed;
  return plan;
}

/// The steps of one round of all commands.
std::vector<Step> whole_round(const Plan& plan, RoundKind kind, std::uint32_t round) {
  return steps_of_round(plan, kind, round, list_commands(plan));
}

/// The commands of a round as letters: "cab".
std::string order_of(const Plan& plan, std::uint32_t round, bool warmup = false) {
  std::string text;
  for (const Step& step : whole_round(plan, warmup ? RoundKind::Warmup : RoundKind::Timed, round))
    text.push_back(static_cast<char>('a' + step.command));
  return text;
}

std::string orders_of(const Plan& plan, std::uint32_t rounds, bool warmup = false) {
  std::string text;
  for (std::uint32_t round = 0; round < rounds; ++round)
    text += (round == 0 ? "" : " ") + order_of(plan, round, warmup);
  return text;
}

/// Pearson's statistic of counts that should all be `expected`.
double chi_square(const std::map<std::string, int>& counts, double expected) {
  double sum = 0.0;
  for (const auto& [key, count] : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

}  // namespace

// From a program of its own in Python, with its own MT19937-64 (which gives the standard's check
// value, 9981545732273789042 as the 10000th number of seed 5489).
TEST_CASE("the order of runs repeats for a seed, on every system") {
  CHECK(orders_of(plan_of(3, 0), 6) == "cba bac abc abc abc acb");
  CHECK(orders_of(plan_of(3, 1), 6) == "acb acb cba bca cba cab");
  CHECK(orders_of(plan_of(5, 42), 6) == "aebdc aecdb cabed cbdea dbcea dacbe");
}

TEST_CASE("warm-up rounds have orders of their own") {
  CHECK(orders_of(plan_of(3, 1), 6, true) == "acb abc abc acb bac cab");
  CHECK(orders_of(plan_of(5, 42), 6, true) == "dbeca edbca ceadb aedbc cbdae abdec");
}

TEST_CASE("a round's order depends on no other round") {
  const Plan plan = plan_of(5, 42);
  CHECK(order_of(plan, 5) == "dacbe");
  CHECK(order_of(plan, 0) == "aebdc");
}

TEST_CASE("interleaved and sequential rounds keep the order of the commands") {
  CHECK(orders_of(plan_of(4, 1, Order::Interleaved), 3) == "abcd abcd abcd");
  CHECK(orders_of(plan_of(4, 1, Order::Sequential), 3) == "abcd abcd abcd");
}

TEST_CASE("a step has its round and whether it is a warm-up") {
  const auto steps = whole_round(plan_of(2, 7), RoundKind::Warmup, 9);
  REQUIRE(steps.size() == 2);
  for (const Step& step : steps) {
    CHECK(step.round == 9);
    CHECK(step.kind == RoundKind::Warmup);
    CHECK(step.pass == 0);
  }
  CHECK(whole_round(plan_of(2, 7), RoundKind::Timed, 9).front().kind == RoundKind::Timed);
}

TEST_CASE("rounds take turns through the passes, and a round serves one of them") {
  Plan plan = plan_of(2, 7);
  plan.setting.events.passes.resize(3);
  std::string passes;
  for (std::uint32_t round = 0; round < 7; ++round)
    for (const Step& step : whole_round(plan, RoundKind::Timed, round))
      passes += std::to_string(step.pass);
  CHECK(passes == "00112200112200");
}

// Critical values at 0.1%: NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.4.
TEST_CASE("every order is as likely as the other, over the rounds of a seed") {
  for (const std::uint64_t seed : {0U, 1U, 12345U}) {
    CAPTURE(seed);
    std::map<std::string, int> three;
    std::map<std::string, int> four;
    for (std::uint32_t round = 0; round < 12000; ++round) {
      ++three[order_of(plan_of(3, seed), round)];
      ++four[order_of(plan_of(4, seed), round)];
    }
    CHECK(three.size() == 6);
    CHECK(chi_square(three, 12000.0 / 6) < 20.515);  // 5 degrees
    CHECK(four.size() == 24);
    CHECK(chi_square(four, 12000.0 / 24) < 49.728);  // 23 degrees
  }
}

TEST_CASE("every order is as likely as the other, over seeds that follow one another") {
  std::map<std::string, int> first;
  for (std::uint64_t seed = 0; seed < 12000; ++seed) ++first[order_of(plan_of(3, seed), 0)];
  CHECK(first.size() == 6);
  CHECK(chi_square(first, 12000.0 / 6) < 20.515);  // 5 degrees
}

TEST_CASE("a round's order says nothing about the next one's, nor a warm-up's about the round's") {
  std::map<std::string, int> next;
  std::map<std::string, int> warmups;
  const Plan plan = plan_of(2, 3);
  for (std::uint32_t round = 0; round < 12000; ++round) {
    ++next[order_of(plan, round) + order_of(plan, round + 1)];
    ++warmups[order_of(plan, round) + order_of(plan, round, true)];
  }
  CHECK(next.size() == 4);
  CHECK(chi_square(next, 12000.0 / 4) < 16.266);  // 3 degrees
  CHECK(warmups.size() == 4);
  CHECK(chi_square(warmups, 12000.0 / 4) < 16.266);
}

}  // namespace lauka
