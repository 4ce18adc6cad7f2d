#include "engine/perf/counting.h"

#include "engine/perf/perf_engine.h"
#include "fakes/fake_perf.h"

#include <memory>

#include <doctest/doctest.h>

namespace lauka::engine::perf {
namespace {

using fakes::FakePerf;
using Counts = std::vector<std::optional<std::uint64_t>>;

using fakes::kMs;

/// Selects, arms, runs the program under the model of the kernel and finishes.
Counted count(FakePerf& perf, const std::vector<std::string>& names,
              const FakePerf::Program& program, bool user_only = false) {
  const auto engine = make_perf_engine(perf.calls(), user_only);
  REQUIRE(engine->select({names, false}).has_value());
  auto counting = engine->arm(0);
  REQUIRE(counting.has_value());
  REQUIRE_FALSE((*counting)->requests().empty());
  return (*counting)->finish(perf.run((*counting)->requests(), program), 0);
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
  CHECK(counted.missing->what == "other programs used the counters");
  CHECK(counted.missing->remedy ==
        "end it (sudo find /proc/[0-9]*/fd -lname '*perf_event*' finds it), or count fewer events");
}

TEST_CASE("a nanosecond without counters is enough to give no value") {
  // Second reading: the counters of the core; first: the kernel's own, which must run as well.
  for (const std::size_t which : {0U, 1U}) {
    FakePerf perf;
    perf.add(fakes::usual_pmu());
    const auto engine = make_perf_engine(perf.calls(), false);
    REQUIRE(engine->select({{"task-clock", "cycles"}, false}).has_value());
    auto counting = engine->arm(0);
    REQUIRE(counting.has_value());
    os::Ended ended = perf.run((*counting)->requests(), plain_program());
    CHECK((*counting)->finish(ended, 0).counts[1] == 1300);
    ended.readings[which].running_ns -= 1;
    CHECK((*counting)->finish(ended, 0).counts == Counts{std::nullopt, std::nullopt});
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
  CHECK(counted.missing->what ==
        "the counters stopped where a program began, as at one that is setuid or unreadable");
}

TEST_CASE("a run beside others is made again, unless eight in a row were of no use") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  const auto engine = make_perf_engine(perf.calls(), false);
  REQUIRE(engine->select({{"cycles", "branches"}, false}).has_value());
  const auto counting = engine->arm(0);
  REQUIRE(counting.has_value());
  auto shared = plain_program();
  shared.phases = {{700, 0}, {300, 4}};
  const auto redo_of = [&](const FakePerf::Program& program) {
    return (*counting)->finish(perf.run((*counting)->requests(), program), 0).redo;
  };
  for (int i = 0; i < 8; ++i) {
    const auto redo = redo_of(shared);
    REQUIRE(redo.has_value());
    CHECK(redo->why == "other programs used the counters");
    CHECK(redo->at_most == 3);
  }
  CHECK_FALSE(redo_of(shared).has_value());
  CHECK_FALSE(redo_of(plain_program()).has_value());
  CHECK(redo_of(shared).has_value());  // there is hope again
}

TEST_CASE("a program that lost its counters is not run again: it would lose them again") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  auto program = plain_program();
  program.is_setuid = true;
  CHECK_FALSE(count(perf, {"cycles"}, program).redo.has_value());
}

TEST_CASE("a short program beside others is not taken for a setuid one") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  const auto engine = make_perf_engine(perf.calls(), false);
  REQUIRE(engine->select({{"cycles"}, false}).has_value());
  const auto counting = engine->arm(0);
  REQUIRE(counting.has_value());
  os::Ended ended{Exited{0}, {}};
  ended.usage.user_ns = 1'200'000;  // most of it goes to the counters' coming and going
  ended.readings = {{5'000, 300'000, 90'000}};
  const Counted counted = (*counting)->finish(ended, 0);
  REQUIRE(counted.missing.has_value());
  CHECK(counted.missing->what == "other programs used the counters");
}

TEST_CASE("of a run with one count that cannot be true the others are kept") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  auto program = plain_program();
  program.silent = {fakes::kInstructions};
  const Counted counted = count(perf, {"cycles", "instructions", "page-faults"}, program);
  CHECK(counted.counts == Counts{1300, std::nullopt, 46});
  REQUIRE(counted.missing.has_value());
  CHECK(counted.missing->what == "instructions was 0");
  REQUIRE(counted.redo.has_value());
  CHECK(counted.redo->why == "instructions was 0");
}

TEST_CASE("counters were lost when they saw less than four fifths of what is surely theirs") {
  const auto lost = [](std::uint64_t enabled_ns, std::uint64_t cpu_ns, std::uint64_t switches = 0) {
    Usage usage;
    usage.user_ns = cpu_ns;
    usage.voluntary_switches = switches;
    return was_lost(enabled_ns, usage, 5);
  };
  // 9 us of 250 ms is what a setuid program leaves; 0 what an event that stopped leaves.
  CHECK(lost(9'000, 250 * kMs));
  CHECK(lost(0, 0));
  CHECK(lost(0, 80'000));
  // An unreadable program of 119 us: 4 us until its exec was done.
  CHECK(lost(4'560, 119'000));
  CHECK_FALSE(lost(41'000, 123'000));
  // A run of 1 ms: 0.64 ms is four fifths of what lies above 0.2 ms.
  CHECK(lost(639'999, kMs));
  CHECK_FALSE(lost(640'000, kMs));
  // A tiny program: 50 us seen of 75 us.
  CHECK_FALSE(lost(50'000, 75'000));
  // Programs with hundreds of short children are seen for 87%.
  CHECK_FALSE(lost(87 * kMs, 100 * kMs));
  CHECK_FALSE(lost(100 * kMs, 51 * kMs));
  // A setuid child that took a third of the time.
  CHECK(lost(67 * kMs, 100 * kMs));
  // A ping-pong of 1000 switches on a virtual machine: 37 us each, much of it not the counters'.
  CHECK_FALSE(lost(20 * kMs, 41 * kMs, 1000));
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
  auto counting = engine->arm(0);
  REQUIRE(counting.has_value());
  perf.descriptor_limit = 1;
  const Counted counted =
      (*counting)->finish(perf.run((*counting)->requests(), plain_program()), 0);
  CHECK(counted.counts == Counts{std::nullopt, std::nullopt});
  REQUIRE(counted.missing.has_value());
  CHECK(counted.missing->what == "the limit of open files leaves no room for counters");
}

TEST_CASE("a command that was not started has no counts") {
  FakePerf perf;
  perf.set_paranoid(2);
  const auto engine = make_perf_engine(perf.calls(), false);
  REQUIRE(engine->select({{"page-faults", "task-clock"}, false}).has_value());
  auto counting = engine->arm(0);
  REQUIRE(counting.has_value());
  const Counted counted = (*counting)->finish({NotStarted{}, {}}, 0);
  CHECK(counted.counts == Counts{std::nullopt, std::nullopt});
  CHECK(counted.missing.has_value());
}

TEST_CASE("readings that do not belong to the pass are not taken for counts") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  const auto engine = make_perf_engine(perf.calls(), false);
  REQUIRE(engine->select({{"cycles", "branches"}, false}).has_value());
  auto counting = engine->arm(0);
  REQUIRE(counting.has_value());
  os::Ended ended{Exited{0}, {}};
  ended.readings = {{5, 1000, 1000}};
  CHECK((*counting)->finish(ended, 0).counts == Counts{std::nullopt, std::nullopt});
}

}  // namespace lauka::engine::perf
