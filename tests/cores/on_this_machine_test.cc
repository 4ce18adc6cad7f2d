#include "core/machine.h"
#include "cores/cores.h"
#include "engine/perf/counters.h"
#include "must.h"
#include "os/linux_calls.h"
#include "os/process.h"
#include "places.h"
#include "skip.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

// The kernel's own clocks, on two CPUs of this machine that stand for two kinds.

namespace lauka::cores {
namespace {

/// Returns why clocks cannot be tested here; empty if they can.
std::string why_skipped() {
  if (os::linux_calls() == nullptr) return "this is not Linux";
  if (const auto able = engine::perf::can_count(*os::linux_calls()); !able)
    return able.error().line();
  const auto cpus = os::linux_calls()->allowed_cpus();
  if (cpus.size() < 2) return "it takes two CPUs";
  return "";
}

/// Every CPU that is there; the first that this test may use is P.
CoreKinds kinds_of_test() {
  const os::LinuxCalls& calls = *os::linux_calls();
  const std::uint32_t fast = calls.allowed_cpus().front();
  CoreKinds kinds{{"P", {fast}}, {"E", {}}};
  const auto online = parse_cpu_list(calls.read_file("/sys/devices/system/cpu/online").value());
  for (const std::uint32_t cpu : online.value())
    if (cpu != fast) kinds[1].cpus.push_back(cpu);
  return kinds;
}

class Counted {
 public:
  explicit Counted(std::vector<os::CounterRequest> requests)
      : launcher_(must(os::start_launcher())), counters_(must(launcher_->add_counters(requests))) {}

  /// Runs a fixture `count` times, on `cpus` only unless that is empty.
  std::vector<os::Ended> runs(std::vector<std::string> words, std::size_t count,
                              std::vector<std::uint32_t> cpus = {}) {
    words.front() = std::string(places::kFixtures) + "/" + words.front();
    os::ProgramSpec spec;
    spec.words = std::move(words);
    spec.cpus = std::move(cpus);
    const os::ProgramId program = must(launcher_->add_program(spec));
    std::vector<os::Ended> all;
    while (all.size() < count) {
      const std::vector<os::Launch> launches(std::min<std::size_t>(count - all.size(), 50),
                                             {program, counters_});
      const auto ended = must(launcher_->run(launches, os::AfterFailure::Stop, {}));
      REQUIRE(ended.size() == launches.size());
      all.insert(all.end(), ended.begin(), ended.end());
    }
    return all;
  }

 private:
  std::unique_ptr<os::Launcher> launcher_;
  os::CounterSetId counters_;
};

/// One clock for all CPUs, then one for each CPU, including those that Clocks leaves out.
std::vector<os::CounterRequest> a_clock_for_each_cpu() {
  CoreKinds kinds = kinds_of_test();
  CoreKinds none_left_out{{"all", {}}};
  for (const CoreKind& kind : kinds)
    for (const std::uint32_t cpu : kind.cpus) none_left_out.front().cpus.push_back(cpu);
  // The largest kind has no clocks: one that is larger and made up.
  none_left_out.push_back({"made up", std::vector<std::uint32_t>(1000, 0)});
  return KindClocks(none_left_out).clock_requests(0);
}

}  // namespace

TEST_CASE("the times on each CPU sum up to the time on all, to a millionth, in 200 runs of each") {
  if (const std::string why = why_skipped(); !why.empty()) return skip(why);
  Counted counted(a_clock_for_each_cpu());
  const std::vector<std::vector<std::string>> programs = {
      {"short_threads", "5", "100"}, {"family", "3", "500us"}, {"burn", "1ms", "2"}};
  for (const auto& words : programs) {
    CAPTURE(words);
    for (const os::Ended& ended : counted.runs(words, 200)) {
      REQUIRE(succeeded(ended.outcome));
      REQUIRE(ended.readings.size() > 2);
      double sum = 0.0;
      for (std::size_t i = 1; i < ended.readings.size(); ++i)
        sum += static_cast<double>(ended.readings[i].value);
      const auto all = static_cast<double>(ended.readings.front().value);
      REQUIRE(all > 0);
      REQUIRE(std::abs(sum - all) <= 1e-6 * all);
    }
  }
}

TEST_CASE("time spent on one CPU, the other or both in turn is reported as it is") {
  if (const std::string why = why_skipped(); !why.empty()) return skip(why);
  const CoreKinds kinds = kinds_of_test();
  const KindClocks clocks(kinds);
  Counted counted(clocks.clock_requests(0));
  const auto conditions = engine::perf::read_conditions(*os::linux_calls());
  const std::uint32_t p = kinds[0].cpus.front();
  const std::uint32_t e = os::linux_calls()->allowed_cpus().back();
  struct Case {
    std::vector<std::string> words;  // the program starts on the CPU of the first
    std::uint64_t fast_ms;
    std::uint64_t slow_ms;
  };
  const std::string on_p = std::to_string(p) + ":";
  const std::string on_e = std::to_string(e) + ":";
  const std::vector<Case> cases = {
      {{"on_cpus", on_p + "40ms"}, 40, 0},
      {{"on_cpus", on_e + "40ms"}, 0, 40},
      {{"on_cpus", on_p + "36ms", on_e + "12ms", on_p + "24ms", on_e + "8ms"}, 60, 20},
      {{"on_cpus", on_e + "36ms", on_p + "12ms", on_e + "24ms", on_p + "8ms"}, 20, 60}};
  for (const Case& one : cases) {
    CAPTURE(one.words);
    const std::uint32_t first = one.words[1].starts_with(on_p) ? p : e;
    const os::Ended ended = counted.runs(one.words, 1, {first}).front();
    REQUIRE(succeeded(ended.outcome));
    const CoreTimes times = clocks.times_by_kind(ended.readings, 0, conditions);
    REQUIRE(times.ns.size() == 2);
    // The fixture's clock includes more of each switch to another program.
    CHECK(times.ns[0] >= one.fast_ms * 900'000);
    CHECK(times.ns[1] >= one.slow_ms * 900'000);
    CHECK(times.ns[0] + times.ns[1] <=
          static_cast<std::uint64_t>(ended.time_with_preparation.count()));
    if (one.fast_ms == 0) CHECK(times.ns[0] == 0);
    if (one.slow_ms == 0) CHECK(times.ns[1] == 0);
  }
}

TEST_CASE("leftovers of a run never add to a later run") {
  if (const std::string why = why_skipped(); !why.empty()) return skip(why);
  const CoreKinds kinds = kinds_of_test();
  const KindClocks clocks(kinds);
  Counted counted(clocks.clock_requests(0));
  const auto conditions = engine::perf::read_conditions(*os::linux_calls());
  for (const os::Ended& ended : counted.runs({"leaves_a_child", "30"}, 20)) {
    const CoreTimes times = clocks.times_by_kind(ended.readings, 0, conditions);
    // When the kernel switches from the command to its child it may exchange their clocks. If those
    // of single CPUs then contradict the clock of all, no time is better than a wrong one.
    REQUIRE(times.ns.empty() == times.why_no_times.has_value());
    if (times.ns.empty()) continue;
    // The command and its child are two at once, at most.
    CHECK(times.ns[0] + times.ns[1] <=
          2 * static_cast<std::uint64_t>(ended.time_with_preparation.count()));
  }
}

}  // namespace lauka::cores
