#include "engine/armed.h"
#include "engine/perf/counters.h"
#include "engine/perf/layout.h"
#include "engine/perf/perf_engine.h"
#include "fakes/fake_perf.h"
#include "has.h"
#include "must.h"

#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::engine::perf {
namespace {

using fakes::FakePerf;
using fakes::kMs;
using Names = std::vector<std::string>;

const Names kSix{"cycles",       "instructions",  "cache-references",
                 "cache-misses", "branch-misses", "branches"};
const Names kFive{kSix.begin(), kSix.end() - 1};

std::vector<PmuCounters> pmus_of(const FakePerf& perf) {
  auto pmus = try_pmus(Prober(perf.calls(), false));
  CHECK(perf.open_now() == 0);
  return pmus;
}

/// The counters of a machine with one PMU.
PmuCounters only_pmu_of(const FakePerf& perf) {
  const auto pmus = pmus_of(perf);
  REQUIRE(pmus.size() == 1);
  return pmus.front();
}

/// 10 ms, with another amount of each of the six events.
FakePerf::Program program_of_six() {
  FakePerf::Program program;
  program.ns_on = {{"cpu", 10 * kMs}};
  program.usage.user_ns = 10 * kMs;
  program.counts = {{{"cpu", fakes::kCycles}, {30'000'000, 0}},
                    {{"cpu", fakes::kInstructions}, {60'000'000, 0}},
                    {{"cpu", fakes::kCacheReferences}, {900, 0}},
                    {{"cpu", fakes::kCacheMisses}, {500, 0}},
                    {{"cpu", fakes::kBranchMisses}, {70'000, 0}},
                    {{"cpu", fakes::kBranches}, {9'000'000, 0}}};
  return program;
}

/// Returns the counts of one run in each pass, in the order of the events; nullopt: absent.
Counts counted(FakePerf& perf, const Names& names, const FakePerf::Program& program,
               std::string* why = nullptr) {
  const auto engine = make_perf_engine(perf.calls(), false);
  const EventSet set = must(engine->select({names, false}));
  Counts all(set.events.size());
  for (std::size_t pass = 0; pass < set.passes.size(); ++pass) {
    const auto counting = must(engine->arm(pass));
    const CountsOfRun run = counting->finish(perf.run(counting->requests(), program), 0);
    if (why != nullptr && run.why_missing_counts) *why = run.why_missing_counts->what;
    for (std::size_t i = 0; i < set.passes[pass].event_indices.size(); ++i)
      all[set.passes[pass].event_indices[i]] = run.counts[i];
  }
  return all;
}

/// An engine that has selected `names`, in one pass if that is possible.
std::unique_ptr<CounterEngine> select(const FakePerf& perf, const Names& names) {
  auto engine = make_perf_engine(perf.calls(), false);
  REQUIRE(engine->select({names, false}).has_value());
  return engine;
}

/// Returns the holders of counters; empty if none.
std::string held(CounterEngine& engine) {
  const auto by = engine.held_by_others();
  return by ? by->what : "";
}

const Counts kTruth{30'000'000, 60'000'000, 900, 500, 70'000, 9'000'000};

}  // namespace

TEST_CASE("counters that are all alive are found with one group") {
  FakePerf perf(fakes::usual_pmu());
  // Four general ones, and the one of instructions.
  CHECK(only_pmu_of(perf).instructions_trial == CounterTrial{5, 5, 5, 5});
  CHECK_FALSE(only_pmu_of(perf).has_dead());
}

TEST_CASE("a counter that runs and counts nothing is dead") {
  FakePerf perf(fakes::virtual_pmu());
  CHECK(only_pmu_of(perf).instructions_trial == CounterTrial{6, 6, 5, 5});
  CHECK(only_pmu_of(perf).has_dead());
}

TEST_CASE("counters that another program holds differ from dead ones") {
  FakePerf perf;
  perf.add(fakes::virtual_pmu()).taken = 2;
  CHECK(only_pmu_of(perf).instructions_trial == CounterTrial{6, 4, 3, 3});
}

TEST_CASE("an event with a counter of its own does not cost one that is alive") {
  FakePerf perf;
  perf.add(fakes::usual_pmu()).dead = {3};
  const PmuCounters pmu = only_pmu_of(perf);
  CHECK(pmu.branches_trial.usable_size == 3);
  CHECK(pmu.has_own_cycles_counter);
  CHECK(pmu.has_own_instructions_counter);
  // Two with their own counters and three others: one pass, as if there were no fourth counter.
  const auto engine = make_perf_engine(perf.calls(), false);
  CHECK(engine->select({kFive, true}).has_value());
  CHECK_FALSE(engine->select({kSix, true}).has_value());
  CHECK(counted(perf, kSix, program_of_six()) == kTruth);
}

TEST_CASE("six events on six counters one of which is dead take two passes and are exact") {
  FakePerf perf(fakes::virtual_pmu());
  CHECK(make_perf_engine(perf.calls(), false)->select({kSix, false})->passes.size() == 2);
  CHECK(counted(perf, kSix, program_of_six()) == kTruth);
}

TEST_CASE("the default events fit the five that are alive, and what is free is filled up") {
  FakePerf perf(fakes::virtual_pmu());
  CHECK(armed(perf, kFive, false, true).requests.size() == 6);
}

TEST_CASE("a dead counter in the middle is kept from the events, too") {
  FakePerf perf;
  perf.add(fakes::virtual_pmu()).dead = {2};
  CHECK(counted(perf, kSix, program_of_six()) == kTruth);
}

TEST_CASE("a neighbour that takes a counter during a run leaves no wrong count") {
  for (const std::size_t held : {1U, 2U, 3U, 6U}) {
    CAPTURE(held);
    FakePerf perf(fakes::virtual_pmu());
    auto program = program_of_six();
    program.phases = {{600, 0}, {400, held}};
    std::string why;
    CHECK(counted(perf, kFive, program, &why) == Counts(5));
    CHECK(has(why, "other programs"));
  }
}

TEST_CASE("counters that come free may be dead ones: such a run is not counted") {
  FakePerf perf;
  perf.add(fakes::virtual_pmu()).taken =
      1;  // while the passes are planned: five run, the last is dead
  auto program = program_of_six();
  program.phases = {{1000, 0}};
  std::string why;
  CHECK(counted(perf, {"cycles", "branches"}, program, &why) == Counts(2));
  CHECK(why == "other programs took some of the counters");
}

TEST_CASE("each PMU of a machine with several kinds of core is tried on its own CPUs") {
  fakes::FakeHybrid perf;
  const auto pmus = pmus_of(perf);
  REQUIRE(pmus.size() == 2);
  CHECK(pmus[0].pmu == "cpu_atom");
  CHECK(pmus[0].instructions_trial.running_group_size == 4);
  CHECK(pmus[1].instructions_trial.running_group_size == 5);
  CHECK(perf.thread_cpus == perf.allowed);  // given back
}

TEST_CASE("where lauka may run on one kind of core only the other is not tried") {
  fakes::FakeHybrid perf;
  perf.allowed = {0, 1};
  CHECK(only_pmu_of(perf).pmu == "cpu_core");
}

TEST_CASE("the holder of a counter is named before, during and after the runs") {
  FakePerf perf(fakes::virtual_pmu());
  const auto engine = select(perf, kFive);
  CHECK(held(*engine) == "");
  perf.pmu("cpu").taken = 2;
  CHECK(held(*engine) == "another program holds 2 of the 6 counters");
  perf.pmu("cpu").taken = 6;
  CHECK(has(held(*engine), " all 6 "));
  perf.pmu("cpu").taken = 0;
  CHECK(held(*engine) == "");
  perf.pmu("cpu").dead = {3, 5};
  CHECK(held(*engine) ==
        "1 of the 6 counters stopped counting, because the host of this virtual machine took it; "
        "the counts since then may be wrong");
}

TEST_CASE("on Arm no counter is missed that was never there") {
  // Six general counters, with a counter for cycles alone and without one.
  for (const auto& own : {std::set<fakes::EventKey>{fakes::kCycles}, std::set<fakes::EventKey>{}}) {
    FakePerf perf;
    perf.validates_like_arm = true;
    perf.add(fakes::small_pmu(6)).fixed = own;
    CHECK(only_pmu_of(perf).instructions_trial.accepted_size == 6);
    CHECK(only_pmu_of(perf).instructions_trial.running_group_size == 6);
    const auto engine = select(perf, kFive);
    CHECK(held(*engine) == "");
    perf.pmu("cpu").taken = 1;
    CHECK(has(held(*engine), "program holds 1 of the 6 "));
  }
}

TEST_CASE("on Arm with two kinds of core no counter is missed either") {
  fakes::FakeHybrid perf;
  perf.validates_like_arm = true;
  const auto pmus = pmus_of(perf);
  REQUIRE(pmus.size() == 2);
  CHECK(pmus[0].instructions_trial.accepted_size == 4);
  CHECK(pmus[1].instructions_trial.accepted_size == 5);
  for (const PmuCounters& one : pmus)
    CHECK(one.instructions_trial.running_group_size == one.instructions_trial.accepted_size);
}

TEST_CASE("on Arm with two PMUs of six counters and one of cycles each, none is missed") {
  FakePerf perf;
  perf.validates_like_arm = true;
  const auto add = [&](const char* name, std::uint32_t type, const char* cpus) {
    perf.add({name, type, cpus, false, 6, {fakes::kCycles}, fakes::usual_events()});
  };
  add("armv8_cortex_a53", 8, "0-3");
  add("armv8_cortex_a72", 9, "4-7");
  const auto pmus = pmus_of(perf);
  REQUIRE(pmus.size() == 2);
  for (const PmuCounters& one : pmus) {
    CHECK(one.instructions_trial.accepted_size == 6);
    CHECK(one.instructions_trial.running_group_size == 6);
    CHECK(one.instructions_trial.live_counters == 6);
  }
  const auto engine = make_perf_engine(perf.calls(), false);
  CHECK(must(engine->select({kSix, false})).passes.size() == 1);
  CHECK(held(*engine) == "");
  perf.pmu("armv8_cortex_a72").taken = 1;
  CHECK(held(*engine).ends_with("1 of the 6 counters of armv8_cortex_a72"));
}

TEST_CASE("a watchdog that is switched on during the session is no other program") {
  FakePerf perf(fakes::virtual_pmu());
  const auto engine = select(perf, kFive);
  perf.files["/proc/sys/kernel/nmi_watchdog"] = "1\n";
  perf.pmu("cpu").taken = 1;
  CHECK(held(*engine) == "");
  perf.pmu("cpu").taken = 2;
  CHECK(has(held(*engine), "program holds 1 of the 6 "));
}

TEST_CASE(
    "a counter that was never free is not blamed on a program when the watchdog takes another") {
  FakePerf perf;
  perf.add(fakes::virtual_pmu()).taken = 1;
  const auto engine = select(perf, kFive);
  perf.files["/proc/sys/kernel/nmi_watchdog"] = "1\n";
  perf.pmu("cpu").taken = 2;
  CHECK(held(*engine) == "only 4 of the 6 counters can be used");
}

TEST_CASE("a program that takes the counter which the watchdog left is named") {
  FakePerf perf;
  perf.files["/proc/sys/kernel/nmi_watchdog"] = "1\n";
  perf.add(fakes::usual_pmu()).taken = 1;
  const auto engine = select(perf, kFive);
  perf.files["/proc/sys/kernel/nmi_watchdog"] = "0\n";
  CHECK(has(held(*engine), "program holds 1 of the 5 "));
}

TEST_CASE(
    "runs next to a watchdog that was switched on meanwhile are not blamed on other programs") {
  FakePerf perf(fakes::usual_pmu());
  const Armed it = armed(perf, kSix);
  auto program = program_of_six();
  program.phases = {{600, 0}, {400, 1}};
  CHECK(has(it.count(perf, program).why_missing_counts.value().what, "other programs"));
  perf.files["/proc/sys/kernel/nmi_watchdog"] = "1\n";
  const CountsOfRun beside = it.count(perf, program);
  CHECK(beside.why_missing_counts.value().what ==
        "the NMI watchdog was switched on and took a counter");
  CHECK(beside.redo.value().why == beside.why_missing_counts->what);
}

TEST_CASE("counters that were never free are not said to be another program's") {
  FakePerf perf;
  perf.add(fakes::virtual_pmu()).taken = 2;
  const auto engine = select(perf, kFive);
  CHECK(has(held(*engine), "only 4 of the 6 "));
}

TEST_CASE("the NMI watchdog's counter is not another program's") {
  FakePerf perf;
  perf.files["/proc/sys/kernel/nmi_watchdog"] = "1\n";
  perf.add(fakes::usual_pmu()).taken = 1;
  const auto engine = select(perf, kFive);
  CHECK(held(*engine) == "");
  perf.pmu("cpu").taken = 2;
  CHECK(has(held(*engine), "program holds 1 of the 5 "));
}

TEST_CASE("a session without events of the cores looks for no holder") {
  FakePerf perf(fakes::virtual_pmu());
  const auto engine = select(perf, {"task-clock"});
  perf.pmu("cpu").taken = 6;
  CHECK(held(*engine) == "");
}

}  // namespace lauka::engine::perf
