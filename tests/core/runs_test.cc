#include "core/runs.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

/// A row in which no field has its usual value.
RunRow odd_row(std::size_t command, std::size_t round) {
  return {.command = command,
          .round = round,
          .pass = 300,
          .status = 3,
          .ending = Ending::Failed,
          .kind = RoundKind::Counting,
          .instruction_coverage = 0.1,
          .own_process_counts = {{"cycles", UINT64_MAX}, {"instructions", round}},
          .reason = RedoReason::Throttled,
          .redo_text = "hot",
          .wall_seconds = 0.25,
          .details = {.below_overhead = true, .number_in_suite = 99, .outlived = 7},
          .layout = 5};
}

RunRow plain_row(std::size_t command, std::size_t round) {
  return {.command = command, .round = round, .status = 0, .ending = Ending::Succeeded};
}

std::vector<std::uint32_t> of(const Runs& runs, std::size_t command) {
  return {runs.of_command(command).begin(), runs.of_command(command).end()};
}

/// Plain runs of command 0 and odd ones of command 1 take turns; metric 1 has the round's number.
Runs made(std::size_t rounds) {
  Runs runs;
  for (std::size_t round = 0; round < rounds; ++round) {
    runs.set_value(runs.add(plain_row(0, round)), 1, static_cast<double>(round));
    runs.set_bound(runs.add(odd_row(1, round)), 1, 100.0);
  }
  return runs;
}

}  // namespace

TEST_CASE("a value may be set in any order of the runs, and once more") {
  Runs runs;
  for (std::size_t round = 0; round < 600; ++round) runs.add(plain_row(0, round));
  runs.set_value(500, 1, 5.0);
  runs.set_value(300, 1, 3.0);
  runs.set_value(500, 1, 6.0);
  CHECK(runs.value(500, 1) == 6.0);
  CHECK(runs.value(300, 1) == 3.0);
  CHECK_FALSE(runs.value(499, 1));
  CHECK_FALSE(runs.value(301, 1));
  CHECK_FALSE(runs.value(0, 1));
}

TEST_CASE("a store gives back all of each run") {
  const Runs runs = made(3);
  REQUIRE(runs.size() == 6);
  for (std::size_t round = 0; round < 3; ++round) {
    CHECK(runs.row(2 * round) == plain_row(0, round));
    CHECK(runs.row(2 * round + 1) == odd_row(1, round));
    CHECK(runs.value(2 * round, 1) == static_cast<double>(round));
    CHECK_FALSE(runs.bound(2 * round, 1));
    CHECK(runs.bound(2 * round + 1, 1) == 100.0);
    CHECK_FALSE(runs.value(2 * round + 1, 1));
    CHECK_FALSE(runs.value(2 * round, 0));
    CHECK_FALSE(runs.value(2 * round, 2));
  }
  CHECK(of(runs, 0) == std::vector<std::uint32_t>{0, 2, 4});
  CHECK(of(runs, 1) == std::vector<std::uint32_t>{1, 3, 5});
  CHECK(of(runs, 2).empty());
  CHECK(runs.facts(3).pass == 300);
  CHECK(runs.facts(3).layout == 5);
}

TEST_CASE("an unknown status, coverage or value is not 0, and a negative zero keeps its sign") {
  Runs runs;
  runs.add({});
  runs.set_value(0, 0, -0.0);
  CHECK_FALSE(runs.row(0).status);
  CHECK(runs.row(0).ending == Ending::Unknown);
  CHECK_FALSE(runs.row(0).instruction_coverage);
  CHECK(std::signbit(*runs.value(0, 0)));
}

TEST_CASE("runs that are put into another order keep all that they have") {
  Runs runs = made(2);
  runs.reorder(std::array<std::uint32_t, 4>{3, 0, 2, 1});
  CHECK(runs.row(0) == odd_row(1, 1));
  CHECK(runs.row(1) == plain_row(0, 0));
  CHECK(runs.row(2) == plain_row(0, 1));
  CHECK(runs.row(3) == odd_row(1, 0));
  CHECK(runs.value(2, 1) == 1.0);
  CHECK(runs.bound(0, 1) == 100.0);
  CHECK(of(runs, 0) == std::vector<std::uint32_t>{1, 2});
  CHECK(of(runs, 1) == std::vector<std::uint32_t>{0, 3});
}

TEST_CASE("joined runs keep all that they have, with the joined session's commands and metrics") {
  Runs joined;
  const std::vector<std::optional<std::size_t>> same = {0, 1};
  joined.append(made(1), {0, 0, same});
  const std::vector<std::optional<std::size_t>> other = {1, std::nullopt};
  Runs second = made(2);
  joined.append(std::move(second), {2, 10, other});
  REQUIRE(joined.size() == 6);
  CHECK(joined.row(1) == odd_row(1, 0));
  RunRow expected = odd_row(3, 1);
  expected.pass = 310;
  CHECK(joined.row(5) == expected);
  CHECK(joined.row(4).pass == 10);
  CHECK(joined.value(0, 1) == 0.0);
  CHECK_FALSE(joined.value(4, 1));
  CHECK(joined.value(4, 0) == 1.0);
  CHECK(joined.bound(5, 0) == 100.0);
  CHECK(of(joined, 2) == std::vector<std::uint32_t>{2, 4});
}

TEST_CASE("a percentile has the values of the metric that it summarizes") {
  Metric wall{.name = "wall_time", .role = Role::WallTime};
  Metric tail{.name = "wall_time.p90", .percentile = Percentile{"wall_time", 0.9}};
  Runs runs({tail, wall});
  RunRow row = plain_row(0, 0);
  runs.set_value(runs.add(row), 1, 0.5);
  CHECK(runs.value(0, 0) == 0.5);
  row.wall_seconds = 0.5;
  CHECK(runs.row(0) == row);
  CHECK(runs.wall_seconds(0) == 0.5);
}

TEST_CASE("a recorder stores what a run measured, and what programs reported unannounced") {
  const Metric wall{.name = "wall_time",
                    .source = UsageFunction{[](const Usage& u) { return to_seconds(u.wall_ns); }},
                    .role = Role::WallTime};
  const Metric counted{.name = "cycles", .source = CountedEvent{0}, .kind = RoundKind::Counting};
  EventSet events{.events = {{.name = "cycles", .meaning = ""}},
                  .passes = {Pass{}, Pass{{0}, RoundKind::Counting}},
                  .notes = {}};
  RunRecorder recorder({wall, counted}, events, IgnoreFailure{false, {4}}, 0);
  Runs runs({wall, counted});

  RunRecord run{{1, 7, 0, RoundKind::Timed, 2}, Exited{4}, {.wall_ns = 1'500'000'000}, {}};
  run.reported = {3.0, std::nullopt};
  recorder.add(run, runs);
  run = {{1, 7, 1, RoundKind::Counting}, Signalled{9}, {.wall_ns = 2'000'000'000}, {12}};
  run.own_process_counts = {11};
  recorder.add(RedoneRun{run, RedoReason::Counting, "lost"}, runs);

  CHECK(runs.value(0, 0) == 1.5);
  CHECK_FALSE(runs.value(0, 1));
  CHECK(runs.value(0, 2) == 3.0);
  CHECK_FALSE(runs.value(0, 3));
  CHECK(runs.row(0).ending == Ending::Succeeded);
  CHECK(runs.row(0).status == 4);
  CHECK(runs.row(0).layout == 2);
  CHECK(runs.row(0).wall_seconds == 1.5);
  CHECK_FALSE(runs.value(1, 0));
  CHECK(runs.value(1, 1) == 12.0);
  CHECK(runs.row(1).wall_seconds == 2.0);
  CHECK(runs.row(1).status == 137);
  CHECK(runs.row(1).redo_text == "lost");
  CHECK(runs.row(1).own_process_counts == std::vector<NamedCount>{{"cycles", 11}});
}

}  // namespace lauka
