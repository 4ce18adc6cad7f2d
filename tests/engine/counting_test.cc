#include "engine/perf/counting.h"

#include "engine/perf/perf_engine.h"
#include "fakes/fake_perf.h"

#include <memory>

#include <doctest/doctest.h>

namespace lauka::engine::perf {
namespace {

using fakes::CapturingLauncher;
using fakes::FakePerf;
using Counts = std::vector<std::optional<std::uint64_t>>;

constexpr std::uint64_t kMs = 1'000'000;

/// Selects, arms, runs the program under the model of the kernel and finishes.
Counted count(FakePerf& perf, const std::vector<std::string>& names,
              const FakePerf::Program& program, bool user_only = false) {
  const auto engine = make_perf_engine(perf.calls(), user_only);
  REQUIRE(engine->select({names, false}).has_value());
  CapturingLauncher launcher;
  auto counting = engine->arm(0, launcher);
  REQUIRE(counting.has_value());
  REQUIRE((*counting)->on_launcher() == 0);
  return (*counting)->finish(perf.run(launcher.sets.front(), program));
}

/// 100 ms on the one kind of core.
FakePerf::Program plain_program() {
  FakePerf::Program program;
  program.ns_on = {{"cpu", 100 * kMs}};
  program.counts = {{{"cpu", fakes::kCycles}, {1000, 300}},
                    {{"cpu", fakes::kInstructions}, {2000, 500}},
                    {{"cpu", fakes::kBranches}, {150, 50}},
                    {{"software", {1, 2}}, {40, 6}}};
  program.usage.user_ns = 80 * kMs;
  program.usage.system_ns = 20 * kMs;
  return program;
}

}  // namespace

TEST_CASE("a run's counts are those of its counters, in the order of the events") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  const Counted counted = count(perf, {"instructions", "page-faults", "cycles"}, plain_program());
  CHECK(counted.counts == Counts{2500, 46, 1300});
  CHECK_FALSE(counted.missing.has_value());
}

TEST_CASE("with --user-only the kernel's part is not in the counts, and faults are the run's") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  auto program = plain_program();
  program.usage.minor_faults = 47;
  CHECK(count(perf, {"instructions", "page-faults", "cycles"}, program, true).counts ==
        Counts{2000, 47, 1000});
}

TEST_CASE("a counter that was not on all the time gives no value and the reason") {
  // One counter is free when the events are selected, none when the command runs.
  FakePerf perf;
  auto pmu = fakes::usual_pmu();
  pmu.general = 1;
  pmu.taken = 1;
  perf.add(pmu);
  const Counted counted = count(perf, {"branches", "task-clock"}, plain_program());
  CHECK(counted.counts == Counts{std::nullopt, std::nullopt});
  REQUIRE(counted.missing.has_value());
  CHECK(counted.missing->why == "the counters did not hold the events all the time");
  CHECK(counted.missing->remedy == "end other programs that count, or count fewer events");
}

TEST_CASE("a nanosecond without counters is enough to give no value") {
  // Second reading: the counters of the core; first: the kernel's own, which must run as well.
  for (const std::size_t which : {0U, 1U}) {
    FakePerf perf;
    perf.add(fakes::usual_pmu());
    const auto engine = make_perf_engine(perf.calls(), false);
    REQUIRE(engine->select({{"task-clock", "cycles"}, false}).has_value());
    CapturingLauncher launcher;
    auto counting = engine->arm(0, launcher);
    REQUIRE(counting.has_value());
    os::Ended ended = perf.run(launcher.sets.front(), plain_program());
    CHECK((*counting)->finish(ended).counts[1] == 1300);
    ended.readings[which].running_ns -= 1;
    CHECK((*counting)->finish(ended).counts == Counts{std::nullopt, std::nullopt});
  }
}

TEST_CASE("where the watchdog holds a counter the remedy is to switch it off") {
  FakePerf perf;
  auto pmu = fakes::usual_pmu();
  pmu.general = 1;
  pmu.taken = 1;
  perf.add(pmu);
  perf.files["/proc/sys/kernel/nmi_watchdog"] = "1\n";
  const Counted counted = count(perf, {"branches"}, plain_program());
  REQUIRE(counted.missing.has_value());
  CHECK(counted.missing->remedy ==
        "sudo sysctl kernel.nmi_watchdog=0 frees one; or count fewer events");
}

TEST_CASE("a program that lost its counters at exec gives no value and the reason") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  auto program = plain_program();
  program.is_setuid = true;
  const Counted counted = count(perf, {"cycles"}, program);
  CHECK(counted.counts == Counts{std::nullopt});
  REQUIRE(counted.missing.has_value());
  CHECK(counted.missing->why ==
        "the counters stopped when the program began, as for one that is setuid or unreadable");
}

TEST_CASE("counters were lost when they saw less than half of what is surely theirs") {
  // 9 us of 250 ms is what a setuid program leaves; 0 what an event that stopped leaves.
  CHECK(was_lost(9'000, 250 * kMs));
  CHECK(was_lost(0, 0));
  CHECK(was_lost(0, 80'000));
  // An unreadable program of 119 us: 4 us until its exec was done.
  CHECK(was_lost(4'560, 119'000));
  CHECK_FALSE(was_lost(41'000, 123'000));
  // A run of 1 ms: 0.4 ms is half of what lies above 0.2 ms.
  CHECK(was_lost(399'999, kMs));
  CHECK_FALSE(was_lost(400'000, kMs));
  // A tiny program: 50 us seen of 75 us.
  CHECK_FALSE(was_lost(50'000, 75'000));
  // Programs with hundreds of short children are seen for 87%.
  CHECK_FALSE(was_lost(87 * kMs, 100 * kMs));
  CHECK_FALSE(was_lost(100 * kMs, 51 * kMs));
}

TEST_CASE("with one kind of core a nanosecond less is not all the time") {
  CHECK(held_all_the_time(1000, 1000, false));
  CHECK_FALSE(held_all_the_time(999, 1000, false));
}

TEST_CASE("with several kinds of core the clocks may differ by what was measured, not by more") {
  CHECK(held_all_the_time(99'900'000, 100 * kMs, true));
  CHECK_FALSE(held_all_the_time(99 * kMs, 100 * kMs, true));
  CHECK_FALSE(held_all_the_time(0, 4'000, true));
}

TEST_CASE("a counter that could not be opened for a run gives no value and its reason") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  const auto engine = make_perf_engine(perf.calls(), false);
  REQUIRE(engine->select({{"cycles", "branches"}, false}).has_value());
  CapturingLauncher launcher;
  auto counting = engine->arm(0, launcher);
  REQUIRE(counting.has_value());
  perf.descriptor_limit = 1;
  const Counted counted = (*counting)->finish(perf.run(launcher.sets.front(), plain_program()));
  CHECK(counted.counts == Counts{std::nullopt, std::nullopt});
  REQUIRE(counted.missing.has_value());
  CHECK(counted.missing->why == "the limit of open files leaves no room for counters");
}

TEST_CASE("a command that was not started has no counts") {
  FakePerf perf;
  perf.set_paranoid(2);
  const auto engine = make_perf_engine(perf.calls(), false);
  REQUIRE(engine->select({{"page-faults", "task-clock"}, false}).has_value());
  CapturingLauncher launcher;
  auto counting = engine->arm(0, launcher);
  REQUIRE(counting.has_value());
  const Counted counted = (*counting)->finish({NotStarted{}, {}});
  CHECK(counted.counts == Counts{std::nullopt, std::nullopt});
  CHECK(counted.missing.has_value());
}

TEST_CASE("readings that do not belong to the pass are not taken for counts") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  const auto engine = make_perf_engine(perf.calls(), false);
  REQUIRE(engine->select({{"cycles", "branches"}, false}).has_value());
  CapturingLauncher launcher;
  auto counting = engine->arm(0, launcher);
  REQUIRE(counting.has_value());
  os::Ended ended{Exited{0}, {}};
  ended.readings = {{5, 1000, 1000}};
  CHECK((*counting)->finish(ended).counts == Counts{std::nullopt, std::nullopt});
}

}  // namespace lauka::engine::perf
