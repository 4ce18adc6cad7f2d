#include "cores/threads.h"
#include "fakes/fake_perf.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::cores {
namespace {

using fakes::FakePerf;

using fakes::kMs;
constexpr int kProcess = 700;

void set_thread(FakePerf& perf, int thread, const std::string& name, int user_ticks,
                int system_ticks, std::uint64_t ns) {
  const std::string folder = "/proc/700/task/" + std::to_string(thread) + "/";
  perf.files[folder + "comm"] = name + "\n";
  // A name with a bracket and blanks in it, as anyone may choose.
  perf.files[folder + "stat"] = std::to_string(thread) + " (" + name +
                                ") 1) S 1 700 700 0 -1 4194304 100 0 0 0 " +
                                std::to_string(user_ticks) + " " + std::to_string(system_ticks) +
                                " 0 0 20 0 2 0 5000 1000 100\n";
  perf.files[folder + "schedstat"] = std::to_string(ns) + " 1000 5\n";
}

/// A process of two threads: 700 has used 1.2 s, 701 has used 3.4 s.
void add_process(FakePerf& perf, int owner = 1000, int self = 1000) {
  perf.files["/proc/700/status"] =
      "Name:\tx\nUid:\t" + std::to_string(owner) + "\t" + std::to_string(owner) + "\t0\t0\n";
  perf.files["/proc/self/status"] =
      "Name:\tlauka\nUid:\t" + std::to_string(self) + "\t" + std::to_string(self) + "\t0\t0\n";
  set_thread(perf, 700, "main", 100, 20, 1'200 * kMs);
  set_thread(perf, 701, "worker", 300, 40, 3'400 * kMs);
}

Result<Threads> threads_of_test(FakePerf& perf, const CoreKinds& kinds, const Wait& wait,
                                std::optional<std::chrono::nanoseconds> during) {
  return threads_of({kProcess, during}, kinds, wait, &perf.calls(), nullptr);
}

}  // namespace

TEST_CASE("without a duration each thread has its times since birth, the busiest first") {
  FakePerf perf;
  add_process(perf);
  const auto threads = threads_of_test(perf, {}, {}, std::nullopt);
  REQUIRE(threads.has_value());
  REQUIRE(threads->lines.size() == 2);
  CHECK(threads->lines[0].id == 701);
  CHECK(threads->lines[0].name == "worker");
  CHECK(threads->lines[0].parts[0].user_seconds == 3.0);
  CHECK(threads->lines[0].parts[0].system_seconds == 0.4);
  CHECK(threads->lines[1].cpu_seconds == doctest::Approx(1.2));
  CHECK(threads->notes.size() == 1);
}

TEST_CASE("with a duration each thread has what it did in it, with cycles and instructions") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  add_process(perf);
  perf.threads[700].ns_on = {{"cpu", 40 * kMs}};
  perf.threads[700].counts = {{{"cpu", fakes::kCycles}, {1000, 200}},
                              {{"cpu", fakes::kInstructions}, {2400, 0}}};
  perf.threads[701] = {};
  const Wait wait = [&](std::chrono::nanoseconds) {
    set_thread(perf, 700, "main", 104, 21, 1'250 * kMs);
  };
  const auto threads = threads_of_test(perf, {}, wait, std::chrono::seconds(1));
  REQUIRE(threads.has_value());
  REQUIRE(threads->columns.size() == 1);
  CHECK(threads->columns[0].has_counts);
  const ThreadLine& main = threads->lines[0];
  CHECK(main.id == 700);
  CHECK(main.cpu_seconds == doctest::Approx(0.05));
  CHECK(main.parts[0].user_seconds == doctest::Approx(0.04));
  CHECK(main.parts[0].cycles == 1200U);
  CHECK(main.parts[0].instructions == 2400U);
  CHECK(threads->lines[1].parts[0].user_seconds == 0.0);
  CHECK(perf.open_now() == 0);
}

TEST_CASE("where each kind of core has a PMU, its counters tell time, cycles and instructions") {
  FakePerf perf;
  fakes::add_two_kinds(perf);
  add_process(perf);
  perf.threads[701].ns_on = {{"cpu_core", 60 * kMs}, {"cpu_atom", 40 * kMs}};
  perf.threads[701].counts = {{{"cpu_core", fakes::kCycles}, {1000, 0}},
                              {{"cpu_atom", fakes::kCycles}, {200, 0}},
                              {{"cpu_atom", fakes::kInstructions}, {150, 0}}};
  perf.threads[700] = {};
  const CoreKinds kinds{{"P", {0, 1, 2, 3}, "cpu_core"}, {"E", {4, 5, 6, 7}, "cpu_atom"}};
  const auto threads = threads_of_test(
      perf, kinds, [](std::chrono::nanoseconds) {}, std::chrono::seconds(1));
  REQUIRE(threads.has_value());
  REQUIRE(threads->columns.size() == 3);
  CHECK(threads->columns[1].title == "P");
  const auto& lines = threads->lines;
  const ThreadLine& worker = lines[0].id == 701 ? lines[0] : lines[1];
  CHECK(worker.parts[1].cpu_seconds == doctest::Approx(0.06));
  CHECK(worker.parts[2].cpu_seconds == doctest::Approx(0.04));
  CHECK(worker.parts[1].cycles == 1000U);
  CHECK(worker.parts[2].cycles == 200U);
  CHECK(worker.parts[2].instructions == 150U);
}

TEST_CASE(
    "a thread whose counters others used has no cycles and instructions, and a note says so") {
  for (const bool two_kinds : {false, true}) {
    CAPTURE(two_kinds);
    FakePerf perf;
    CoreKinds kinds;
    if (two_kinds) {
      fakes::add_two_kinds(perf);
      kinds = {{"P", {0, 1, 2, 3}, "cpu_core"}, {"E", {4, 5, 6, 7}, "cpu_atom"}};
    } else {
      perf.add(fakes::usual_pmu());
    }
    const std::string pmu = two_kinds ? "cpu_atom" : "cpu";
    perf.pmu(pmu).fixed = {};
    perf.pmu(pmu).general = 2;
    perf.pmu(pmu).taken = 1;
    add_process(perf);
    perf.threads[700].ns_on = {{pmu, 60 * kMs}};
    perf.threads[700].counts = {{{pmu, fakes::kCycles}, {1000, 0}}};
    perf.threads[701] = {};
    const auto threads = threads_of_test(
        perf, kinds, [](std::chrono::nanoseconds) {}, std::chrono::seconds(1));
    REQUIRE(threads.has_value());
    for (const ThreadLine& line : threads->lines)
      for (const ThreadPart& part : line.parts)
        if (line.id == 700) CHECK_FALSE(part.cycles.has_value());
    CHECK(std::count(threads->notes.begin(), threads->notes.end(),
                     "other programs used the counters: no cycles and instructions of 1 thread") ==
          1);
  }
}

TEST_CASE("without PMUs, clocks tell the time by kind, also of a thread that sleeps") {
  FakePerf perf;
  add_process(perf);
  perf.threads[700].ns_on_cpu = {{0, 30 * kMs}, {1, 10 * kMs}};
  perf.threads[701].ns_on_cpu = {{0, 0}, {1, 0}};
  const auto threads = threads_of_test(
      perf, {{"P", {0}}, {"E", {1}}}, [](std::chrono::nanoseconds) {}, std::chrono::seconds(1));
  REQUIRE(threads.has_value());
  REQUIRE(threads->columns.size() == 3);
  CHECK_FALSE(threads->columns[0].has_counts);
  REQUIRE(threads->notes.size() == 1);
  CHECK(threads->notes[0].starts_with("no cycles and instructions: there is no PMU here"));
  for (const ThreadLine& line : threads->lines) {
    CHECK(line.parts[1].cpu_seconds == doctest::Approx(line.id == 700 ? 0.03 : 0.0));
    CHECK(line.parts[2].cpu_seconds == doctest::Approx(line.id == 700 ? 0.01 : 0.0));
  }
}

TEST_CASE("threads that end or begin meanwhile have what is known of them") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  add_process(perf);
  perf.threads[700].ns_on = {{"cpu", 40 * kMs}};
  perf.threads[701].ns_on = {{"cpu", 40 * kMs}};
  perf.threads[701].counts = {{{"cpu", fakes::kCycles}, {77, 0}}};
  const Wait wait = [&](std::chrono::nanoseconds) {
    for (const char* file : {"stat", "comm", "schedstat"})
      perf.files.erase(std::string("/proc/700/task/701/") + file);
    set_thread(perf, 702, "young", 5, 0, 50 * kMs);
  };
  const auto threads = threads_of_test(perf, {}, wait, std::chrono::seconds(1));
  REQUIRE(threads.has_value());
  REQUIRE(threads->lines.size() == 3);
  for (const ThreadLine& line : threads->lines) {
    if (line.id == 701) {
      CHECK_FALSE(line.parts[0].user_seconds.has_value());
      CHECK(line.parts[0].cycles == 77U);
    }
    if (line.id == 702) {
      CHECK(line.parts[0].user_seconds == 0.05);
      CHECK_FALSE(line.parts[0].cycles.has_value());
    }
  }
}

TEST_CASE("a process that is not there and one of another user are refused in one line") {
  FakePerf perf;
  CHECK(threads_of_test(perf, {}, {}, std::nullopt).error().line() ==
        "there is no process 700; pgrep -l NAME finds it");
  add_process(perf, 0, 1000);
  CHECK(threads_of_test(perf, {}, {}, std::nullopt).error().line() ==
        "process 700 belongs to another user (uid 0); run lauka as that user, or with sudo");
  add_process(perf, 1000, 0);
  CHECK(threads_of_test(perf, {}, {}, std::nullopt).has_value());
}

TEST_CASE("a kernel that refuses counters says so with the remedy") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  add_process(perf);
  perf.threads[700] = {};
  perf.threads[701] = {};
  perf.descriptor_limit = 1;
  const auto threads = threads_of_test(
      perf, {}, [](std::chrono::nanoseconds) {}, std::chrono::seconds(1));
  REQUIRE_FALSE(threads.has_value());
  CHECK(threads.error().what.find("the limit of open files") != std::string::npos);
  CHECK(perf.open_now() == 0);
}

}  // namespace lauka::cores
