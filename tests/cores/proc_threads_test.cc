#include "cores/threads.h"
#include "fakes/fake_perf.h"
#include "has.h"
#include "must.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
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

const CoreKinds kTwoKinds = {{"P", {0, 1, 2, 3}, "cpu_core"}, {"E", {4, 5, 6, 7}, "cpu_atom"}};

/// The threads since their birth.
Result<ThreadTable> since_birth(const FakePerf& perf) {
  return sample_threads({.process = kProcess}, &perf.calls(), nullptr);
}

/// The threads in a second, while `wait` happens.
Result<ThreadTable> in_a_second(
    const FakePerf& perf, const CoreKinds& kinds = {},
    const WaitFunction& wait = [](std::chrono::nanoseconds) {}) {
  return sample_threads(
      {.process = kProcess, .during = std::chrono::seconds(1), .kinds = kinds, .wait = wait},
      &perf.calls(), nullptr);
}

}  // namespace

TEST_CASE("without a duration each thread has its times since birth, the busiest first") {
  FakePerf perf;
  add_process(perf);
  const ThreadTable threads = must(since_birth(perf));
  REQUIRE(threads.thread_rows.size() == 2);
  CHECK(threads.thread_rows[0].id == 701);
  CHECK(threads.thread_rows[0].name == "worker");
  CHECK(threads.thread_rows[0].work_by_column_group[0].user_seconds == 3.0);
  CHECK(threads.thread_rows[0].work_by_column_group[0].system_seconds == 0.4);
  CHECK(threads.thread_rows[1].cpu_seconds == doctest::Approx(1.2));
  CHECK(threads.notes.size() == 1);
}

TEST_CASE("with a duration each thread has what it did in it, with cycles and instructions") {
  FakePerf perf(fakes::usual_pmu());
  add_process(perf);
  perf.threads[700].ns_on = {{"cpu", 40 * kMs}};
  perf.threads[700].counts = {{{"cpu", fakes::kCycles}, {1000, 200}},
                              {{"cpu", fakes::kInstructions}, {2400, 0}}};
  perf.threads[701] = {};
  const WaitFunction wait = [&](std::chrono::nanoseconds) {
    set_thread(perf, 700, "main", 104, 21, 1'250 * kMs);
  };
  const ThreadTable threads = must(in_a_second(perf, {}, wait));
  REQUIRE(threads.column_groups.size() == 1);
  CHECK(threads.column_groups[0].has_cycle_columns);
  const ThreadRow& main = threads.thread_rows[0];
  CHECK(main.id == 700);
  CHECK(main.cpu_seconds == doctest::Approx(0.05));
  CHECK(main.work_by_column_group[0].user_seconds == doctest::Approx(0.04));
  CHECK(main.work_by_column_group[0].cycles == 1200U);
  CHECK(main.work_by_column_group[0].instructions == 2400U);
  CHECK(threads.thread_rows[1].work_by_column_group[0].user_seconds == 0.0);
  CHECK(perf.open_now() == 0);
}

TEST_CASE("if each kind of core has a PMU, its counters give time, cycles and instructions") {
  fakes::FakeHybrid perf;
  add_process(perf);
  perf.threads[701].ns_on = {{"cpu_core", 60 * kMs}, {"cpu_atom", 40 * kMs}};
  perf.threads[701].counts = {{{"cpu_core", fakes::kCycles}, {1000, 0}},
                              {{"cpu_atom", fakes::kCycles}, {200, 0}},
                              {{"cpu_atom", fakes::kInstructions}, {150, 0}}};
  perf.threads[700] = {};
  const ThreadTable threads = must(in_a_second(perf, kTwoKinds));
  REQUIRE(threads.column_groups.size() == 3);
  CHECK(threads.column_groups[1].title == "P");
  const auto& lines = threads.thread_rows;
  const ThreadRow& worker = lines[0].id == 701 ? lines[0] : lines[1];
  CHECK(worker.work_by_column_group[1].cpu_seconds == doctest::Approx(0.06));
  CHECK(worker.work_by_column_group[2].cpu_seconds == doctest::Approx(0.04));
  CHECK(worker.work_by_column_group[1].cycles == 1000U);
  CHECK(worker.work_by_column_group[2].cycles == 200U);
  CHECK(worker.work_by_column_group[2].instructions == 150U);
}

TEST_CASE(
    "a thread whose counters others used has no cycles and instructions, and a note says so") {
  for (const bool two_kinds : {false, true}) {
    CAPTURE(two_kinds);
    FakePerf perf;
    CoreKinds kinds;
    if (two_kinds) {
      fakes::add_two_kinds(perf);
      kinds = kTwoKinds;
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
    const ThreadTable threads = must(in_a_second(perf, kinds));
    for (const ThreadRow& line : threads.thread_rows)
      for (const ThreadWork& part : line.work_by_column_group)
        if (line.id == 700) CHECK_FALSE(part.cycles.has_value());
    CHECK(std::count(threads.notes.begin(), threads.notes.end(),
                     "other programs used the counters, so there are no cycles and instructions of "
                     "1 thread") == 1);
  }
}

TEST_CASE("without PMUs, clocks give the time by kind, also of a thread that sleeps") {
  FakePerf perf;
  add_process(perf);
  perf.threads[700].ns_on_cpu = {{0, 30 * kMs}, {1, 10 * kMs}};
  perf.threads[701].ns_on_cpu = {{0, 0}, {1, 0}};
  const ThreadTable threads = must(in_a_second(perf, {{"P", {0}}, {"E", {1}}}));
  REQUIRE(threads.column_groups.size() == 3);
  CHECK_FALSE(threads.column_groups[0].has_cycle_columns);
  REQUIRE(threads.notes.size() == 1);
  CHECK(threads.notes[0].starts_with(
      "there are no cycles and instructions: there are no counters here"));
  for (const ThreadRow& line : threads.thread_rows) {
    CHECK(line.work_by_column_group[1].cpu_seconds == doctest::Approx(line.id == 700 ? 0.03 : 0.0));
    CHECK(line.work_by_column_group[2].cpu_seconds == doctest::Approx(line.id == 700 ? 0.01 : 0.0));
  }
}

TEST_CASE("threads that end or begin meanwhile have what is known of them") {
  FakePerf perf(fakes::usual_pmu());
  add_process(perf);
  perf.threads[700].ns_on = {{"cpu", 40 * kMs}};
  perf.threads[701].ns_on = {{"cpu", 40 * kMs}};
  perf.threads[701].counts = {{{"cpu", fakes::kCycles}, {77, 0}}};
  const WaitFunction wait = [&](std::chrono::nanoseconds) {
    for (const char* file : {"stat", "comm", "schedstat"})
      perf.files.erase(std::string("/proc/700/task/701/") + file);
    set_thread(perf, 702, "young", 5, 0, 50 * kMs);
  };
  const ThreadTable threads = must(in_a_second(perf, {}, wait));
  REQUIRE(threads.thread_rows.size() == 3);
  for (const ThreadRow& line : threads.thread_rows) {
    if (line.id == 701) {
      CHECK_FALSE(line.work_by_column_group[0].user_seconds.has_value());
      CHECK(line.work_by_column_group[0].cycles == 77U);
    }
    if (line.id == 702) {
      CHECK(line.work_by_column_group[0].user_seconds == 0.05);
      CHECK_FALSE(line.work_by_column_group[0].cycles.has_value());
    }
  }
}

TEST_CASE("a process that is not there and one of another user are refused in one line") {
  FakePerf perf;
  CHECK(since_birth(perf).error().line() == "there is no process 700; pgrep -l NAME finds it");
  add_process(perf, 0, 1000);
  CHECK(since_birth(perf).error().line() ==
        "process 700 belongs to another user (uid 0); run lauka as that user, or with sudo");
  add_process(perf, 1000, 0);
  CHECK(since_birth(perf).has_value());
}

TEST_CASE("a kernel that refuses counters says so with the remedy") {
  FakePerf perf(fakes::usual_pmu());
  add_process(perf);
  perf.threads[700] = {};
  perf.threads[701] = {};
  perf.descriptor_limit = 1;
  CHECK(in_a_second(perf).error().what.find("the limit of open files") != std::string::npos);
  CHECK(perf.open_now() == 0);
}

// The threads of a running process on Linux, read again and again.

namespace {

using namespace std::chrono_literals;

void set_thread(FakePerf& perf, const std::string& thread, std::uint64_t on_cpu_ns,
                std::uint64_t waiting_ns = 0) {
  const std::string folder = "/proc/700/task/" + thread + "/";
  perf.files[folder + "comm"] = "name " + thread + "\n";
  perf.files[folder + "schedstat"] =
      std::to_string(on_cpu_ns) + " " + std::to_string(waiting_ns) + " 5\n";
}

void end_thread(FakePerf& perf, const std::string& thread) {
  perf.files.erase("/proc/700/task/" + thread + "/comm");
  perf.files.erase("/proc/700/task/" + thread + "/schedstat");
}

/// Process 700 of user 1000, the caller.
struct Watched {
  FakePerf perf;
  std::unique_ptr<ThreadStream> stream;

  Watched() {
    perf.files["/proc/700/status"] = "Name:\tx\nUid:\t1000\t1000\t0\t0\n";
    perf.files["/proc/self/status"] = "Name:\tlauka\nUid:\t1000\t1000\t0\t0\n";
    perf.files["/proc/self/schedstat"] = "1 1 1\n";
    set_thread(perf, "700", 1'000 * kMs, 10 * kMs);
  }

  void begin(const CoreKinds& kinds = {}) {
    stream = must(stream_threads({700}, kinds, &perf.calls(), nullptr));
  }
};

}  // namespace

TEST_CASE("stream: each reading has what a thread did since the one before") {
  Watched it;
  it.begin();
  CHECK(it.stream->read(1s).empty());
  set_thread(it.perf, "700", 1'008 * kMs, 11 * kMs);
  const auto first = it.stream->read(1s + 10ms);
  REQUIRE(first.size() == 1);
  CHECK(first[0].process_id == 700);
  CHECK(first[0].thread_id == 700);
  CHECK(first[0].name == "name 700");
  CHECK(first[0].since_previous_read == 10ms);
  CHECK(first[0].work_on_all_kinds.cpu_seconds == doctest::Approx(0.008));
  CHECK(first[0].runnable_wait_seconds == doctest::Approx(0.001));
  CHECK_FALSE(first[0].work_on_all_kinds.cycles);
  CHECK_FALSE(first[0].is_new);
  const auto second = it.stream->read(1s + 25ms);
  REQUIRE(second.size() == 1);
  CHECK(second[0].work_on_all_kinds.cpu_seconds == 0.0);
  CHECK(second[0].since_previous_read == 15ms);
  CHECK(it.stream->has_live_process());
}

TEST_CASE("stream: a thread that appears has all that it did, and one that goes is reported once") {
  Watched it;
  it.begin();
  static_cast<void>(it.stream->read(0s));
  set_thread(it.perf, "701", 4 * kMs);
  const auto born = it.stream->read(10ms);
  REQUIRE(born.size() == 2);
  CHECK(born[1].thread_id == 701);
  CHECK(born[1].is_new);
  CHECK(born[1].work_on_all_kinds.cpu_seconds == doctest::Approx(0.004));
  end_thread(it.perf, "701");
  const auto gone = it.stream->read(20ms);
  REQUIRE(gone.size() == 2);
  CHECK(gone[1].thread_id == 701);
  CHECK(gone[1].has_ended);
  CHECK_FALSE(gone[1].work_on_all_kinds.cpu_seconds);
  CHECK(it.stream->read(30ms).size() == 1);
  end_thread(it.perf, "700");
  CHECK(it.stream->read(40ms).size() == 1);
  CHECK_FALSE(it.stream->has_live_process());
  CHECK(it.stream->read(50ms).empty());
}

TEST_CASE("stream: a number that another thread has now is an end and a beginning") {
  Watched it;
  it.begin();
  static_cast<void>(it.stream->read(0s));
  set_thread(it.perf, "700", 1 * kMs);
  const auto ended = it.stream->read(10ms);
  REQUIRE(ended.size() == 2);
  CHECK(ended[0].has_ended);
  CHECK(ended[1].is_new);
  CHECK(ended[1].work_on_all_kinds.cpu_seconds == doctest::Approx(0.001));
  CHECK(it.stream->read(20ms).size() == 1);
}

TEST_CASE("stream: cycles and instructions come by kind of core where each has a PMU") {
  Watched it;
  fakes::add_two_kinds(it.perf);
  it.perf.threads[700] = {};
  it.begin(kTwoKinds);
  CHECK(it.stream->kinds() == std::vector<std::string>{"P", "E"});
  static_cast<void>(it.stream->read(0s));
  it.perf.threads[700].ns_on = {{"cpu_core", 6 * kMs}, {"cpu_atom", 4 * kMs}};
  it.perf.threads[700].counts = {{{"cpu_core", fakes::kCycles}, {1000, 0}},
                                 {{"cpu_atom", fakes::kCycles}, {200, 0}},
                                 {{"cpu_atom", fakes::kInstructions}, {150, 0}}};
  const auto all = it.stream->read(10ms);
  REQUIRE(all.size() == 1);
  REQUIRE(all[0].work_by_kind.size() == 2);
  CHECK(all[0].work_by_kind[0].cpu_seconds == doctest::Approx(0.006));
  CHECK(all[0].work_by_kind[1].cpu_seconds == doctest::Approx(0.004));
  CHECK(all[0].work_by_kind[0].cycles == 1000U);
  CHECK(all[0].work_by_kind[1].instructions == 150U);
  CHECK(all[0].work_on_all_kinds.cycles == 1200U);
  // Earlier counts are not counted again.
  const auto more = it.stream->read(20ms);
  CHECK(more.at(0).work_on_all_kinds.cycles == 0U);
  it.stream.reset();
  CHECK(it.perf.open_now() == 0);
}

namespace {

/// Says on which CPU the thread was last.
void put_on_cpu(FakePerf& perf, const std::string& thread, int cpu) {
  // A name may have blanks and parentheses; the CPU is the 39th word.
  std::string stat = thread + " (a) S (b) R 1";
  for (int i = 0; i < 33; ++i) stat += " 123456789";
  perf.files["/proc/700/task/" + thread + "/stat"] =
      stat + " 17 " + std::to_string(cpu) + " 0 0 0\n";
}

}  // namespace

TEST_CASE("stream: moves between kinds of core are seen by the CPU that a thread was last on") {
  Watched it;
  put_on_cpu(it.perf, "700", 1);
  it.begin(kTwoKinds);
  static_cast<void>(it.stream->read(0s));
  const auto moves_to = [&](int cpu) {
    put_on_cpu(it.perf, "700", cpu);
    return it.stream->read(10ms).at(0).core_kind_moves;
  };
  CHECK(moves_to(3) == 0U);
  CHECK(moves_to(5) == 1U);
  CHECK(moves_to(7) == 0U);
  CHECK(moves_to(0) == 1U);
  CHECK_FALSE(moves_to(99));  // no kind has that one
  it.perf.files.erase("/proc/700/task/700/stat");
  CHECK_FALSE(it.stream->read(20ms).at(0).core_kind_moves);
}

TEST_CASE("stream: a move there and back is seen by the counters of both kinds") {
  Watched it;
  fakes::add_two_kinds(it.perf);
  it.perf.threads[700] = {};
  put_on_cpu(it.perf, "700", 1);
  it.begin(kTwoKinds);
  static_cast<void>(it.stream->read(0s));
  it.perf.threads[700].ns_on = {{"cpu_core", 6 * kMs}, {"cpu_atom", 4 * kMs}};
  CHECK(it.stream->read(10ms).at(0).core_kind_moves == 2U);
  CHECK(it.stream->read(20ms).at(0).core_kind_moves == 0U);
}

TEST_CASE("stream: with one kind of core there are no moves") {
  Watched it;
  put_on_cpu(it.perf, "700", 1);
  it.begin();
  static_cast<void>(it.stream->read(0s));
  CHECK_FALSE(it.stream->read(10ms).at(0).core_kind_moves);
}

TEST_CASE("stream: a process that is not there, or another user's, is refused") {
  Watched it;
  CHECK(has(stream_threads({700, 701}, {}, &it.perf.calls(), nullptr).error().what, "701"));
  it.perf.files["/proc/700/status"] = "Name:\tx\nUid:\t0\t0\t0\t0\n";
  CHECK_FALSE(stream_threads({700}, {}, &it.perf.calls(), nullptr).has_value());
  CHECK_FALSE(stream_threads({700}, {}, nullptr, nullptr).has_value());
}

namespace {

constexpr std::uint32_t kP = 1;
constexpr std::uint32_t kE = 2;
constexpr std::uint32_t kSuper = 4;

/// All moves that these looks, one after the other, take at least.
std::uint64_t moves_of(const std::vector<std::uint32_t>& looks) {
  KindMoveCounter moves;
  std::uint64_t all = 0;
  for (const std::uint32_t kinds : looks) all += moves.count_kind_moves(kinds);
  return all;
}

}  // namespace

TEST_CASE("moves: the fewest that the kinds of each look take are counted") {
  struct Case {
    const char* why;
    std::vector<std::uint32_t> looks;
    std::uint64_t moves;
  };
  const std::vector<Case> cases = {
      {"one that stays where it is does not move", {kP}, 0},
      {"nor one that does not run", {kP, kP, 0, kP}, 0},
      {"each look that finds it on another kind is one", {kP, kE, kP}, 2},
      {"also after a pause", {kP, 0, kE}, 1},
      {"to be on both takes one", {kP | kE}, 1},
      {"wherever it began", {kP, kP | kE}, 1},
      {"and it ends on the other", {kP, kP | kE, kE}, 1},
      {"or goes back", {kP, kP | kE, kP}, 2},
      {"again and again", {kP, kP | kE, kP | kE, kP | kE}, 3},
      {"it may have begun on the other", {kP | kE, kP}, 1},
      {"of three kinds", {kP | kE | kSuper}, 2},
      {"of three kinds, from one to the others", {kP, kE | kSuper}, 2},
      {"of three kinds, and back", {kP, kP | kE | kSuper, kP}, 3},
      {"of three kinds, to stay", {kP, kP | kE | kSuper, kE}, 2}};
  for (const Case& one : cases) CHECK_MESSAGE(moves_of(one.looks) == one.moves, one.why);
}

}  // namespace lauka::cores
