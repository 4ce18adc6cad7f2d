#include "cores/threads.h"
#include "fakes/fake_perf.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

// The threads of a running process on Linux, read again and again.

namespace lauka::cores {
namespace {

using namespace std::chrono_literals;
using fakes::FakePerf;

using fakes::kMs;

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

/// Process 700 of user 1000, who asks.
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
    auto made = stream_threads({700}, kinds, &perf.calls(), nullptr);
    REQUIRE(made.has_value());
    stream = *std::move(made);
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
  CHECK(first[0].process == 700);
  CHECK(first[0].thread == 700);
  CHECK(first[0].name == "name 700");
  CHECK(first[0].interval == 10ms);
  CHECK(first[0].all.cpu_seconds == doctest::Approx(0.008));
  CHECK(first[0].waited_seconds == doctest::Approx(0.001));
  CHECK_FALSE(first[0].all.cycles);
  CHECK_FALSE(first[0].is_new);
  const auto second = it.stream->read(1s + 25ms);
  REQUIRE(second.size() == 1);
  CHECK(second[0].all.cpu_seconds == 0.0);
  CHECK(second[0].interval == 15ms);
  CHECK(it.stream->goes_on());
}

TEST_CASE("stream: a thread that appears has all that it did, and one that goes is reported once") {
  Watched it;
  it.begin();
  static_cast<void>(it.stream->read(0s));
  set_thread(it.perf, "701", 4 * kMs);
  const auto born = it.stream->read(10ms);
  REQUIRE(born.size() == 2);
  CHECK(born[1].thread == 701);
  CHECK(born[1].is_new);
  CHECK(born[1].all.cpu_seconds == doctest::Approx(0.004));
  end_thread(it.perf, "701");
  const auto gone = it.stream->read(20ms);
  REQUIRE(gone.size() == 2);
  CHECK(gone[1].thread == 701);
  CHECK(gone[1].has_ended);
  CHECK_FALSE(gone[1].all.cpu_seconds);
  CHECK(it.stream->read(30ms).size() == 1);
  end_thread(it.perf, "700");
  CHECK(it.stream->read(40ms).size() == 1);
  CHECK_FALSE(it.stream->goes_on());
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
  CHECK(ended[1].all.cpu_seconds == doctest::Approx(0.001));
  CHECK(it.stream->read(20ms).size() == 1);
}

TEST_CASE("stream: cycles and instructions come by kind of core where each has a PMU") {
  Watched it;
  fakes::add_two_kinds(it.perf);
  it.perf.threads[700] = {};
  it.begin({{"P", {0, 1, 2, 3}, "cpu_core"}, {"E", {4, 5, 6, 7}, "cpu_atom"}});
  CHECK(it.stream->kinds() == std::vector<std::string>{"P", "E"});
  static_cast<void>(it.stream->read(0s));
  it.perf.threads[700].ns_on = {{"cpu_core", 6 * kMs}, {"cpu_atom", 4 * kMs}};
  it.perf.threads[700].counts = {{{"cpu_core", fakes::kCycles}, {1000, 0}},
                                 {{"cpu_atom", fakes::kCycles}, {200, 0}},
                                 {{"cpu_atom", fakes::kInstructions}, {150, 0}}};
  const auto all = it.stream->read(10ms);
  REQUIRE(all.size() == 1);
  REQUIRE(all[0].by_kind.size() == 2);
  CHECK(all[0].by_kind[0].cpu_seconds == doctest::Approx(0.006));
  CHECK(all[0].by_kind[1].cpu_seconds == doctest::Approx(0.004));
  CHECK(all[0].by_kind[0].cycles == 1000U);
  CHECK(all[0].by_kind[1].instructions == 150U);
  CHECK(all[0].all.cycles == 1200U);
  // What was counted before is not counted again.
  const auto more = it.stream->read(20ms);
  CHECK(more.at(0).all.cycles == 0U);
  it.stream.reset();
  CHECK(it.perf.open_now() == 0);
}

namespace {

const CoreKinds kTwoKinds = {{"P", {0, 1, 2, 3}, "cpu_core"}, {"E", {4, 5, 6, 7}, "cpu_atom"}};

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
    return it.stream->read(10ms).at(0).moves;
  };
  CHECK(moves_to(3) == 0U);
  CHECK(moves_to(5) == 1U);
  CHECK(moves_to(7) == 0U);
  CHECK(moves_to(0) == 1U);
  CHECK_FALSE(moves_to(99));  // no kind has that one
  it.perf.files.erase("/proc/700/task/700/stat");
  CHECK_FALSE(it.stream->read(20ms).at(0).moves);
}

TEST_CASE("stream: a move there and back is seen by the counters of both kinds") {
  Watched it;
  fakes::add_two_kinds(it.perf);
  it.perf.threads[700] = {};
  put_on_cpu(it.perf, "700", 1);
  it.begin(kTwoKinds);
  static_cast<void>(it.stream->read(0s));
  it.perf.threads[700].ns_on = {{"cpu_core", 6 * kMs}, {"cpu_atom", 4 * kMs}};
  CHECK(it.stream->read(10ms).at(0).moves == 2U);
  CHECK(it.stream->read(20ms).at(0).moves == 0U);
}

TEST_CASE("stream: where there is one kind of core there are no moves to tell") {
  Watched it;
  put_on_cpu(it.perf, "700", 1);
  it.begin();
  static_cast<void>(it.stream->read(0s));
  CHECK_FALSE(it.stream->read(10ms).at(0).moves);
}

TEST_CASE("stream: a process that is not there, or another user's, is refused") {
  Watched it;
  const auto gone = stream_threads({700, 701}, {}, &it.perf.calls(), nullptr);
  REQUIRE_FALSE(gone.has_value());
  CHECK(gone.error().what == "there is no process 701");
  it.perf.files["/proc/700/status"] = "Name:\tx\nUid:\t0\t0\t0\t0\n";
  CHECK_FALSE(stream_threads({700}, {}, &it.perf.calls(), nullptr).has_value());
  CHECK_FALSE(stream_threads({700}, {}, nullptr, nullptr).has_value());
}

}  // namespace lauka::cores
