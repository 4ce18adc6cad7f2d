#include "cores/mac_processes.h"
#include "cores/threads.h"
#include "must.h"

#include <cerrno>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::cores {
namespace {

/// Process 42 of a Mac.
struct Script : MacProcesses {
  Script() { base = {125, 3}; }

  Process& process = all[42];
  std::map<std::uint64_t, Thread>& threads = process.threads;
};

constexpr std::uint64_t kMachPerSecond = 24'000'000;

/// {instructions, cycles, user, system, energy}
os::ThreadCounts counts(std::uint64_t instructions, std::uint64_t cycles, std::uint64_t user_s,
                        std::uint64_t system_s) {
  return {instructions, cycles, user_s * kMachPerSecond, system_s * kMachPerSecond, 0};
}

Result<ThreadTable> look(const WaitFunction& wait = {},
                         std::optional<std::chrono::nanoseconds> during = std::nullopt) {
  return sample_threads({.process = 42, .during = during, .wait = wait}, nullptr,
                        &MacProcesses::calls());
}

}  // namespace

TEST_CASE("on macOS every thread has its times and counts by kind of core since birth") {
  Script script;
  script.threads[12801] = {"",
                           {counts(7641724509498, 4326344607684, 1269, 240),
                            counts(1082602205470, 1555603231945, 624, 249)}};
  script.threads[12826] = {
      "com.apple.NSEventThread",
      {counts(167413362041, 151211531442, 34, 27), counts(82421607487, 152207562562, 36, 53)}};
  const ThreadTable threads = must(look());
  CHECK(threads.notes.empty());
  REQUIRE(threads.column_groups.size() == 2);
  CHECK(threads.column_groups[0].title == "PERFORMANCE");
  CHECK(threads.column_groups[1].title == "EFFICIENCY");
  REQUIRE(threads.thread_rows.size() == 2);
  CHECK(threads.thread_rows[0].id == 12801);
  CHECK(threads.thread_rows[0].cpu_seconds == doctest::Approx(1269 + 240 + 624 + 249));
  CHECK(threads.thread_rows[1].name == "com.apple.NSEventThread");
  CHECK(threads.thread_rows[1].work_by_column_group[1].system_seconds == doctest::Approx(53));
  CHECK(threads.thread_rows[1].work_by_column_group[0].cycles == 151211531442U);
}

TEST_CASE("with a duration it is the difference; a thread that is born meanwhile has all it did") {
  Script script;
  script.threads[1] = {"a", {counts(100, 200, 5, 1), counts(10, 20, 1, 0)}};
  const WaitFunction wait = [&](std::chrono::nanoseconds) {
    script.threads[1].levels = {counts(150, 260, 7, 1), counts(10, 20, 1, 0)};
    script.threads[2] = {"b", {counts(3, 4, 1, 0), counts(0, 0, 0, 0)}};
  };
  const ThreadTable threads = must(look(wait, std::chrono::seconds(1)));
  REQUIRE(threads.thread_rows.size() == 2);
  CHECK(threads.thread_rows[0].work_by_column_group[0].user_seconds == doctest::Approx(2));
  CHECK(threads.thread_rows[0].work_by_column_group[0].instructions == 50U);
  CHECK(threads.thread_rows[0].work_by_column_group[1].cycles == 0U);
  CHECK(threads.thread_rows[1].work_by_column_group[0].cycles == 4U);
}

TEST_CASE("more threads than the first buffer holds are all there") {
  Script script;
  for (std::uint64_t id = 1; id <= 200; ++id)
    script.threads[id] = {"", {counts(1, 1, 0, 0), counts(0, 0, 0, 0)}};
  CHECK(look()->thread_rows.size() == 200);
}

TEST_CASE("more than two performance levels have a group of columns each, named by the system") {
  Script script;
  script.levels = {"Super", "Performance", "Efficiency"};
  script.threads[1] = {"", {counts(1, 2, 3, 0), counts(4, 5, 6, 0), counts(7, 8, 9, 0)}};
  const ThreadTable threads = must(look());
  REQUIRE(threads.column_groups.size() == 3);
  CHECK(threads.column_groups[0].title == "SUPER");
  CHECK(threads.thread_rows[0].work_by_column_group[2].cycles == 8U);
}

TEST_CASE("a virtual machine counts no cycles: they are missing, not 0") {
  Script script;
  script.threads[1] = {"", {counts(0, 0, 3, 0), counts(0, 0, 1, 0)}};
  const ThreadTable threads = must(look());
  CHECK_FALSE(threads.column_groups[0].has_cycle_columns);
  CHECK_FALSE(threads.thread_rows[0].work_by_column_group[0].cycles.has_value());
  CHECK(threads.notes.size() == 1);
}

TEST_CASE("what macOS refuses is reported in one line") {
  Script script;
  script.process.is_foreign = true;
  CHECK(look().error().line() ==
        "process 42 belongs to another user; run lauka as that user, or with sudo");
  script.process.is_foreign = false;
  script.threads[1] = {"", {counts(1, 1, 1, 1), counts(1, 1, 1, 1)}};
  const WaitFunction it_ends = [&](std::chrono::nanoseconds) { script.all.clear(); };
  CHECK(look(it_ends, std::chrono::seconds(1)).error().what ==
        "process 42 ended before --duration was over");
  CHECK(look().error().line() == "there is no process 42; pgrep -l NAME finds it");
  Script without_levels;
  without_levels.levels.clear();
  CHECK_FALSE(look().has_value());
}

TEST_CASE("on macOS a stream has times, counts and energy by kind of core of each interval") {
  using namespace std::chrono_literals;
  Script script;
  script.threads[7] = {"worker", {counts(1000, 500, 1, 0), counts(100, 50, 1, 1)}};
  const auto stream = must(stream_threads({42}, {}, nullptr, &MacProcesses::calls()));
  CHECK(stream->kinds() == std::vector<std::string>{"Performance", "Efficiency"});
  CHECK(stream->read(0s).empty());
  script.threads[7].levels = {counts(5000, 2500, 2, 0), counts(100, 50, 1, 2)};
  script.threads[7].levels[0].energy_nj = 2'000'000'000;
  script.threads[8] = {"new", {counts(10, 20, 0, 0), counts(0, 0, 0, 0)}};
  const auto all = stream->read(4s);
  REQUIRE(all.size() == 2);
  CHECK(all[0].thread_id == 7);
  CHECK(all[0].name == "worker");
  CHECK(all[0].since_previous_read == 4s);
  CHECK(all[0].work_by_kind.at(0).user_seconds == doctest::Approx(1.0));
  CHECK(all[0].work_by_kind.at(1).system_seconds == doctest::Approx(1.0));
  CHECK(all[0].work_by_kind.at(0).instructions == 4000U);
  CHECK(all[0].work_by_kind.at(0).joules == doctest::Approx(2.0));
  CHECK(all[0].work_on_all_kinds.cpu_seconds == doctest::Approx(2.0));
  CHECK(all[0].work_on_all_kinds.cycles == 2000U);
  CHECK(all[0].core_kind_moves == 1U);  // it was on both
  CHECK(all[1].is_new);
  CHECK(all[1].work_on_all_kinds.cycles == 20U);
  CHECK(all[1].core_kind_moves == 0U);
  script.threads.erase(8);
  const auto gone = stream->read(5s);
  REQUIRE(gone.size() == 2);
  CHECK(gone[1].has_ended);
  CHECK_FALSE(gone[1].core_kind_moves);
  script.all.clear();
  CHECK(stream->read(6s).size() == 1);
  CHECK_FALSE(stream->has_live_process());
}

TEST_CASE("on macOS the work of a thread that cannot be read for once is in its next sample") {
  using namespace std::chrono_literals;
  Script script;
  MacProcesses::Thread& thread = script.threads[7];
  thread = {"worker", {counts(1000, 500, 1, 0), counts(0, 0, 0, 0)}};
  const auto stream = must(stream_threads({42}, {}, nullptr, &MacProcesses::calls()));
  CHECK(stream->read(0s).empty());
  thread.levels[0] = counts(2000, 1000, 2, 0);
  thread.error_of_counts = EIO;
  CHECK(stream->read(1s).empty());
  thread.levels[0] = counts(5000, 2500, 4, 0);
  thread.error_of_counts = 0;
  const auto samples = stream->read(2s);
  REQUIRE(samples.size() == 1);
  CHECK_FALSE(samples[0].is_new);
  CHECK(samples[0].since_previous_read == 2s);
  CHECK(samples[0].work_on_all_kinds.instructions == 4000U);
}

TEST_CASE("on macOS a stream of another user's process, or without levels, is refused") {
  Script script;
  script.process.is_foreign = true;
  CHECK_FALSE(stream_threads({42}, {}, nullptr, &MacProcesses::calls()).has_value());
  script.process.is_foreign = false;
  script.levels = {};
  CHECK_FALSE(stream_threads({42}, {}, nullptr, &MacProcesses::calls()).has_value());
}

}  // namespace lauka::cores
