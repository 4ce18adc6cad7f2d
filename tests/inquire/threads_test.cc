
#include "inquire/lists.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace lauka::inquire {

namespace {

using cores::ThreadTable;
using cores::ThreadWork;

ThreadWork part(double user, double system, std::uint64_t cycles, std::uint64_t instructions) {
  return {user, system, std::nullopt, cycles, instructions};
}

}  // namespace

// The rows are from the article on thread-counters.
TEST_CASE(
    "threads are shown with times, cycles, instructions and IPC by kind of core, and totals") {
  ThreadTable threads;
  threads.column_groups = {{"PERFORMANCE", true, false, true}, {"EFFICIENCY", true, false, true}};
  threads.thread_rows = {
      {12801,
       "",
       0,
       {part(1268.98, 240.38, 4326344607684, 7641724509498),
        part(624.59, 249.13, 1555603231945, 1082602205470)}},
      {12826,
       "com.apple.NSEventThread",
       0,
       {part(34.08, 27.24, 151211531442, 167413362041),
        part(36.63, 53.61, 152207562562, 82421607487)}},
      {49215,
       "caulk.messenger.shared:high",
       0,
       {part(0.0, 0.0, 7387, 16106), part(0.0, 0.0, 0, 0)}},
  };
  CHECK(
      threads_table(threads) ==
      R"(        |                      PERFORMANCE                      |                      EFFICIENCY                       |
    TID |      usr      sys          cycles           insns IPC |      usr      sys          cycles           insns IPC |
  12801 |  1268.98   240.38   4326344607684   7641724509498 1.8 |   624.59   249.13   1555603231945   1082602205470 0.7 |
  12826 |    34.08    27.24    151211531442    167413362041 1.1 |    36.63    53.61    152207562562     82421607487 0.5 | com.apple.NSEventThread
  49215 |     0.00     0.00            7387           16106 2.2 |     0.00     0.00               0               0 0.0 | caulk.messenger.shared:high
  total |  1303.06   267.62   4477556146513   7809137887645 1.7 |   661.22   302.74   1707810794507   1165023812957 0.7 | 3 threads
)");
}

TEST_CASE("what is not known is a dash, and adds nothing to the total") {
  ThreadTable threads;
  threads.column_groups = {{"ALL", true, false, false}, {"P", false, true, false}};
  threads.thread_rows = {{7, "a\x1b[2Jb", 0, {{}, {std::nullopt, std::nullopt, 0.25}}},
                         {8, "", 0, {part(1.0, 0.5, 0, 0), {}}}};
  const std::string text = threads_table(threads);
  CHECK(text.find("      7 |        -        - |     0.25 |") != std::string::npos);
  CHECK(text.find("      8 |     1.00     0.50 |        - |") != std::string::npos);
  CHECK(text.find("  total |     1.00     0.50 |     0.25 | 2 threads") != std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
}

namespace {

using namespace std::chrono_literals;
using cores::ThreadSample;
using std::chrono::nanoseconds;

/// One thread, read at the times that are written down.
class FakeStream final : public cores::ThreadStream {
 public:
  std::vector<nanoseconds> read_at;
  std::size_t reads = 1'000;  ///< until the process ends

  FakeStream() : ThreadStream(1, {}) {}
  std::vector<std::string> notes() const override { return {}; }

 private:
  bool read_process(std::size_t /*process*/, nanoseconds now,
                    std::vector<ThreadSample>& samples) override {
    read_at.push_back(now);
    if (!previous_read_time()) return true;
    ThreadSample sample;
    sample.since_previous_read = now - *previous_read_time();
    samples.push_back(sample);
    return read_at.size() < reads;
  }
};

/// A world whose clock moves only in waits.
struct World {
  FakeStream stream;
  nanoseconds clock{100ms};
  nanoseconds late{};  ///< so much longer each wait takes
  std::string text;
  std::size_t ends_after = 1'000;  ///< waits, until the user wants an end
  std::size_t waits = 0;
  bool is_deaf = false;

  Result<void> watch(nanoseconds interval, std::optional<nanoseconds> during) {
    return watch_threads(stream, {.interval = interval,
                                  .max_duration = during,
                                  .utc_minus_now = 1000s,
                                  .now = [this] { return clock; },
                                  .wait =
                                      [this](nanoseconds time) {
                                        clock += time + late;
                                        ++waits;
                                      },
                                  .must_stop = [this] { return waits >= ends_after; },
                                  .write = [this](std::string_view more) -> Result<void> {
                                    if (is_deaf) return Error{"nobody reads", ""};
                                    text += more;
                                    return {};
                                  }});
  }
};

std::string thread_line(const ThreadSample& sample, const std::vector<std::string>& kinds,
                        nanoseconds time) {
  std::string text;
  add_thread_line(sample, kinds, time, text);
  return text;
}

nlohmann::json parse_line(const std::string& line) {
  REQUIRE(line.ends_with("}\n"));
  return nlohmann::json::parse(line);
}

}  // namespace

TEST_CASE("a line has what a thread did, and null for what is not known") {
  ThreadSample sample;
  sample.process_id = 7;
  sample.thread_id = 8;
  sample.name = "a \"b\"\n\xff";
  sample.since_previous_read = 10ms;
  sample.is_new = true;
  sample.runnable_wait_seconds = 0.001;
  sample.work_on_all_kinds.cpu_seconds = 0.005;
  sample.work_on_all_kinds.cycles = 15'000'000;
  const std::string line = thread_line(sample, {}, 1'700'000'000s + 250ms);
  CHECK(std::count(line.begin(), line.end(), '\n') == 1);
  CHECK(line.find("\"time\":1700000000.250000,") != std::string::npos);
  const nlohmann::json json = parse_line(line);
  CHECK(json.at("pid") == 7);
  CHECK(json.at("tid") == 8);
  CHECK(json.at("name") == "a \"b\"\n\xef\xbf\xbd");
  CHECK(json.at("interval") == doctest::Approx(0.01));
  CHECK(json.at("new") == true);
  CHECK(json.at("ended") == false);
  CHECK(json.at("cpu_time") == doctest::Approx(0.005));
  CHECK(json.at("wait_time") == doctest::Approx(0.001));
  CHECK(json.at("cycles") == 15'000'000);
  CHECK(json.at("clock") == doctest::Approx(3e9));
  for (const char* unknown :
       {"user_time", "system_time", "instructions", "energy", "power", "p_share", "moves"})
    CHECK_MESSAGE(json.at(unknown).is_null(), unknown);
  CHECK(json.at("kinds").empty());
}

TEST_CASE("with several kinds of core a line has each, and the share of the first") {
  ThreadSample sample;
  sample.since_previous_read = 500ms;
  sample.core_kind_moves = 3;
  sample.work_by_kind = {{.cpu_seconds = 0.3, .cycles = 900'000'000, .joules = 1.5},
                         {.cpu_seconds = 0.1, .cycles = 100'000'000, .joules = 0.1}};
  const nlohmann::json json = parse_line(thread_line(sample, {"P", "E"}, 1s));
  CHECK(json.at("p_share") == doctest::Approx(0.75));
  CHECK(json.at("moves") == 3);
  CHECK(json.at("kinds").at("P").at("clock") == doctest::Approx(3e9));
  CHECK(json.at("kinds").at("P").at("power") == doctest::Approx(3.0));
  CHECK(json.at("kinds").at("E").at("energy") == doctest::Approx(0.1));
  CHECK(json.at("kinds").at("E").at("instructions").is_null());
}

TEST_CASE("readings are due at whole intervals from the start, however late each one is") {
  World world;
  world.late = 3ms;
  REQUIRE(world.watch(10ms, 1s));
  // The first, and a hundred.
  REQUIRE(world.stream.read_at.size() == 101);
  for (std::size_t i = 1; i <= 100; ++i)
    CHECK(world.stream.read_at[i] == 100ms + static_cast<int>(i) * 10ms + 3ms);
  CHECK(std::count(world.text.begin(), world.text.end(), '\n') == 100);
  CHECK(world.text.find("\"time\":1000.113000") != std::string::npos);
}

TEST_CASE("what could not be read in time is left out, and the next line is of a longer time") {
  World world;
  world.late = 25ms;
  REQUIRE(world.watch(10ms, 100ms));
  const auto& at = world.stream.read_at;
  REQUIRE(at.size() >= 3);
  CHECK(at[1] == 135ms);
  CHECK(at[2] == 165ms);
  for (std::size_t i = 1; i < at.size(); ++i) CHECK((at[i] - 125ms) % 10ms == 0ms);
}

TEST_CASE("it ends with the processes, when the user wants it, and without a reader") {
  World ended;
  ended.stream.reads = 4;
  CHECK(ended.watch(10ms, std::nullopt).has_value());
  CHECK(ended.stream.read_at.size() == 4);
  World interrupted;
  interrupted.ends_after = 3;
  CHECK(interrupted.watch(10ms, std::nullopt).has_value());
  CHECK(std::count(interrupted.text.begin(), interrupted.text.end(), '\n') == 2);
  World unheard;
  unheard.is_deaf = true;
  CHECK_FALSE(unheard.watch(10ms, std::nullopt).has_value());
  CHECK(unheard.stream.read_at.size() == 2);
}

TEST_CASE("the longest time to watch is no overflow") {
  World world;
  world.ends_after = 2;
  CHECK(world.watch(10ms, nanoseconds::max()).has_value());
}

}  // namespace lauka::inquire
