#include "core/record.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <variant>

#include <doctest/doctest.h>

namespace lauka {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

RunRecord odd_run() {
  RunRecord run;
  run.step = {70'000, 3, 300, RoundKind::Counting};
  run.outcome = TimedOut{std::chrono::seconds(3), false, 12};
  std::uint64_t number = 0;
  for (const auto field : kUsageFields) run.usage.*field = number = number * 259 + 1;
  run.usage.block_writes = kMax;
  run.counts = {0, std::nullopt, kMax, 255, 256};
  run.instruction_coverage = 0.1;
  run.own_process_counts = {std::nullopt, 7};
  run.below_overhead = true;
  run.number_in_suite = 99;
  run.reported = {-1.5, std::nullopt, 1e300};
  return run;
}

void check_same(const RunRecord& run, const RunRecord& as) {
  CHECK(run.step.command == as.step.command);
  CHECK(run.step.round == as.step.round);
  CHECK(run.step.pass == as.step.pass);
  CHECK(run.step.kind == as.step.kind);
  CHECK(run.outcome.index() == as.outcome.index());
  for (const auto field : kUsageFields) CHECK(run.usage.*field == as.usage.*field);
  CHECK(run.counts == as.counts);
  CHECK(run.instruction_coverage == as.instruction_coverage);
  CHECK(run.own_process_counts == as.own_process_counts);
  CHECK(run.below_overhead == as.below_overhead);
  CHECK(run.number_in_suite == as.number_in_suite);
  CHECK(run.reported == as.reported);
}

TEST_CASE("a list of runs gives back all of each run, whatever was read before it") {
  RunRecord plain;
  plain.outcome = Exited{3};
  RunList list{plain, odd_run(), plain};
  const RunList copy = list;
  list.clear();
  CHECK(list.empty());
  REQUIRE(copy.size() == 3);
  RunRecord run;
  for (const std::size_t index : {1U, 0U, 1U, 2U}) {
    copy.read(index, run);
    check_same(run, index == 1 ? odd_run() : plain);
  }
  CHECK(std::get<Exited>(copy[2].outcome).status == 3);
  const auto late = std::get<TimedOut>(copy[1].outcome);
  CHECK(late.limit == std::chrono::seconds(3));
  CHECK_FALSE(late.has_started);
  CHECK(late.survivor == 12);
}

TEST_CASE("a list of runs has room for many, and for one that is larger than a block") {
  RunList list;
  RunRecord large = odd_run();
  large.counts.assign(100'000, kMax);
  for (std::uint32_t i = 0; i < 5000; ++i) {
    RunRecord run = odd_run();
    run.step.round = i;
    list.push_back(run);
    if (i == 2500) list.push_back(large);
  }
  std::uint32_t round = 0;
  for (const RunRecord& run : list) {
    if (run.counts.size() == large.counts.size()) continue;
    CHECK(run.step.round == round++);
  }
  CHECK(round == 5000);
  check_same(list[2501], large);
}

}  // namespace
}  // namespace lauka
