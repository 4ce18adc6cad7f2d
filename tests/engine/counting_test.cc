#include "engine/armed.h"
#include "engine/perf/counters.h"
#include "engine/perf/perf_engine.h"
#include "fakes/fake_perf.h"
#include "has.h"
#include "must.h"
#include "os/linux_calls.h"

#include <array>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::engine::perf {

namespace {

using fakes::FakePerf;
using fakes::kMs;
using Names = std::vector<std::string>;

/// Runs the program under the model of the kernel, and counts it.
CountsOfRun count(FakePerf& perf, const Names& names, const FakePerf::Program& program,
                  bool user_only = false) {
  return armed(perf, names, user_only).count(perf, program);
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

TEST_CASE("a run's counts are its counters', in the order of the events") {
  FakePerf perf(fakes::usual_pmu());
  const CountsOfRun counted =
      count(perf, {"instructions", "page-faults", "cycles"}, plain_program());
  CHECK(counted.counts == Counts{2500, 46, 1300});
  CHECK_FALSE(counted.why_missing_counts.has_value());
}

TEST_CASE("with --user-only the kernel's part is not in the counts, and faults are the run's") {
  FakePerf perf(fakes::usual_pmu());
  auto program = plain_program();
  program.usage.minor_faults = 47;
  CHECK(count(perf, {"instructions", "page-faults", "cycles"}, program, true).counts ==
        Counts{2000, 47, 1000});
}

TEST_CASE("a counter that was not on all the time gives no value and the reason") {
  // One counter is free when the events are selected, none when the command runs.
  FakePerf perf;
  perf.add(fakes::small_pmu(1)).taken = 1;
  const CountsOfRun counted = count(perf, {"branches", "task-clock"}, plain_program());
  CHECK(counted.counts == Counts{std::nullopt, std::nullopt});
  CHECK(counted.why_missing_counts.value().what == "other programs used the counters");
  CHECK(counted.why_missing_counts->remedy ==
        "end it (sudo find /proc/[0-9]*/fd -lname '*perf_event*' finds it), or count fewer events");
}

TEST_CASE("a nanosecond without counters is enough to give no value") {
  // Second reading: the counters of the core; first: the kernel's own, which must run as well.
  for (const std::size_t which : {0U, 1U}) {
    CAPTURE(which);
    FakePerf perf(fakes::usual_pmu());
    const Armed it = armed(perf, {"task-clock", "cycles"});
    os::Ended ended = perf.run(it.requests, plain_program());
    CHECK(it.counting->finish(ended, 0).counts[1] == 1300);
    ended.readings[which].running_ns -= 1;
    CHECK(it.counting->finish(ended, 0).counts == Counts{std::nullopt, std::nullopt});
  }
}

TEST_CASE("where the watchdog holds a counter the remedy is to switch it off") {
  FakePerf perf;
  perf.add(fakes::small_pmu(1)).taken = 1;
  perf.files["/proc/sys/kernel/nmi_watchdog"] = "1\n";
  CHECK(count(perf, {"branches"}, plain_program()).why_missing_counts.value().remedy ==
        "run sudo sysctl kernel.nmi_watchdog=0 to free one, or count fewer events");
}

TEST_CASE(
    "a command whose program loses its counters has neither counts nor a reason in each run") {
  FakePerf perf(fakes::usual_pmu());
  perf.programs["/bin/sh"] = {.owner = 1, .mode = 0104755, .first_bytes = "\177ELF"};
  const Armed it = armed(perf, {"cycles", "page-faults"}, true);
  CHECK(it.engine->find_counter_loss_file(0, {{"/bin/sh"}}).value().loss == CounterLoss::SetUser);
  CHECK_FALSE(it.engine->find_counter_loss_file(1, {{"/bin/cat"}}).has_value());
  auto program = plain_program();
  program.is_setuid = true;
  program.usage.minor_faults = 47;
  const CountsOfRun lost = it.counting->finish(perf.run(it.requests, program), 0);
  CHECK(lost.counts == Counts{std::nullopt, 47});  // the kernel's account goes on
  CHECK_FALSE(lost.why_missing_counts.has_value());
  CHECK_FALSE(lost.redo.has_value());
  CHECK(it.counting->finish(perf.run(it.requests, plain_program()), 1).counts[0] == 1000);
}

TEST_CASE("a session that opens no counter looks no program up") {
  FakePerf perf;
  perf.programs["/bin/sh"] = {.owner = 1, .mode = 0104755, .first_bytes = "\177ELF"};
  perf.set_paranoid(2);
  CHECK_FALSE(
      armed(perf, {"page-faults"}).engine->find_counter_loss_file(0, {{"/bin/sh"}}).has_value());
}

TEST_CASE("CPU time that no counter saw is no reason to drop counts") {
  FakePerf perf(fakes::usual_pmu());
  auto program = plain_program();
  program.ns_on = {{"cpu", 25'000}};
  program.usage.system_ns = 22 * kMs;  // 100 MB of memory were taken down
  CHECK(count(perf, {"cycles"}, program).counts == Counts{1300});
}

TEST_CASE("a run next to others is repeated, unless eight in a row were of no use") {
  FakePerf perf(fakes::usual_pmu());
  const Armed it = armed(perf, {"cycles", "branches"});
  auto shared = plain_program();
  shared.phases = {{700, 0}, {300, 4}};
  const auto redo_of = [&](const FakePerf::Program& program) {
    return it.count(perf, program).redo;
  };
  for (int i = 0; i < 8; ++i) {
    const RepeatRequest redo = redo_of(shared).value();
    CHECK(redo.reason == RedoReason::Counting);
    CHECK(redo.max_repetitions == 3);
  }
  CHECK_FALSE(redo_of(shared).has_value());
  CHECK_FALSE(redo_of(plain_program()).has_value());
  CHECK(redo_of(shared).has_value());  // there is hope again
}

TEST_CASE("of a run with one count that cannot be true the others are kept") {
  FakePerf perf(fakes::usual_pmu());
  auto program = plain_program();
  program.silent = {fakes::kInstructions};
  const CountsOfRun counted = count(perf, {"cycles", "instructions", "page-faults"}, program);
  CHECK(counted.counts == Counts{1300, std::nullopt, 46});
  CHECK(counted.why_missing_counts.value().what == "instructions was 0");
  CHECK(counted.redo.value().why == "instructions was 0");
}

TEST_CASE("with one kind of core a nanosecond less is not all the time") {
  CHECK(ran_all_the_time(1000, 1000, false));
  CHECK_FALSE(ran_all_the_time(999, 1000, false));
}

TEST_CASE("with several kinds of core the clocks may differ by what was measured, not by more") {
  CHECK(ran_all_the_time(99'900'000, 100 * kMs, true));
  CHECK_FALSE(ran_all_the_time(99 * kMs, 100 * kMs, true));
  CHECK_FALSE(ran_all_the_time(0, 4'000, true));
}

TEST_CASE("a counter that could not be opened for a run gives no value and its reason") {
  FakePerf perf(fakes::usual_pmu());
  const Armed it = armed(perf, {"cycles", "branches"});
  perf.descriptor_limit = 1;
  const CountsOfRun counted = it.count(perf, plain_program());
  CHECK(counted.counts == Counts{std::nullopt, std::nullopt});
  CHECK(counted.why_missing_counts.value().what ==
        "the limit of open files leaves no room for counters");
}

TEST_CASE("a command that was not started has no counts") {
  FakePerf perf;
  perf.set_paranoid(2);
  const CountsOfRun counted =
      armed(perf, {"page-faults", "task-clock"}).counting->finish({NotStarted{}, {}}, 0);
  CHECK(counted.counts == Counts{std::nullopt, std::nullopt});
  CHECK(counted.why_missing_counts.has_value());
}

TEST_CASE("readings that do not belong to the pass are not taken for counts") {
  FakePerf perf(fakes::usual_pmu());
  os::Ended ended{Exited{0}, {}};
  ended.readings = {{5, 1000, 1000}};
  CHECK(armed(perf, {"cycles", "branches"}).counting->finish(ended, 0).counts ==
        Counts{std::nullopt, std::nullopt});
}

namespace {

using Doubts = std::vector<std::string>;

Tally cycles(std::uint64_t count, std::uint64_t ns = kMs) {
  return {"cycles", Role::Cycles, 0, count, ns};
}

Tally instructions(std::uint64_t count, std::uint64_t ns = kMs) {
  return {"instructions", Role::Instructions, 0, count, ns};
}

Tally misses(std::uint64_t count, std::uint64_t ns = kMs) {
  return {"branch-misses", Role::Other, 0, count, ns};
}

Doubts doubts_of(const std::vector<Tally>& tallies) {
  double fastest = 0.0;
  return CountChecker(fastest).doubts(0, tallies);
}

}  // namespace

TEST_CASE("a run without a cycle or an instruction is not believed") {
  CHECK(doubts_of({cycles(0), instructions(500)}) == Doubts{"cycles was 0", ""});
  CHECK(doubts_of({cycles(900), instructions(0)}) == Doubts{"", "instructions was 0"});
  CHECK(doubts_of({cycles(900), instructions(500)}) == Doubts{"", ""});
  // A kind of core that the run was never on, and an impossible one without a hypervisor.
  CHECK(doubts_of({cycles(0, 0)}) == Doubts{""});
  Tally of_hypervisor = cycles(0);
  of_hypervisor.attribute_flags = os::kPerfExcludeUser | os::kPerfExcludeKernel;
  CHECK(doubts_of({of_hypervisor}) == Doubts{""});
}

TEST_CASE("more than sixteen instructions a cycle are not believed, nor are their cycles") {
  CHECK(doubts_of({cycles(10'000), instructions(160'000)}) == Doubts{"", ""});
  const std::string why =
      "instructions was larger than is possible in the counted cycles or the time for which it was "
      "counted";
  CHECK(doubts_of({cycles(10'000), instructions(160'001)}) == Doubts{why, why});
  // Cycles of user space say nothing about instructions of both.
  Tally of_user = cycles(10'000);
  of_user.attribute_flags = os::kPerfExcludeKernel;
  CHECK(doubts_of({of_user, instructions(160'001)}) == Doubts{"", ""});
}

TEST_CASE("cycles and instructions beyond what time allows are not believed") {
  // Ten a nanosecond, and 10,000 at the edges.
  CHECK(doubts_of({cycles(10 * kMs + 10'000)}) == Doubts{""});
  CHECK(doubts_of({cycles(10 * kMs + 10'001)}) ==
        Doubts{"cycles was larger than is possible in the time for which it was counted"});
  CHECK(doubts_of({instructions(160 * kMs + 10'000)}) == Doubts{""});
  CHECK(doubts_of({instructions(160 * kMs + 10'001)}).front() != "");
}

TEST_CASE("the fastest clock of the session narrows what instructions without cycles may be") {
  double fastest = 0.0;
  CountChecker with_cycles(fastest);
  CountChecker without(fastest);
  CHECK(with_cycles.doubts(0, std::vector<Tally>{cycles(3 * kMs)}).front().empty());
  CHECK(fastest == 3.0);
  // 16 * 1.25 * 3 GHz * 1 ms is 60 million, and 10,000 at the edges.
  CHECK(without.doubts(0, std::vector<Tally>{instructions(60'010'000)}).front().empty());
  CHECK_FALSE(without.doubts(0, std::vector<Tally>{instructions(60'010'001)}).front().empty());
}

TEST_CASE("none of what the command's other runs have many of is not believed") {
  double fastest = 0.0;
  CountChecker judge(fastest);
  const auto doubt = [&](std::size_t command, std::uint64_t count) {
    return judge.doubts(command, std::vector<Tally>{cycles(50'000, 20'000), misses(count, 20'000)})
        .back();
  };
  CHECK(doubt(0, 0).empty());  // of 20 us there may be none
  CHECK(doubt(0, 80).empty());
  CHECK(doubt(0, 0) == "branch-misses was 0, so its counter seems not to work");
  CHECK(doubt(0, 50).empty());
  CHECK_FALSE(doubt(0, 0).empty());
  CHECK(doubt(0, 49).empty());  // so few may well be none another time
  CHECK(doubt(0, 0).empty());
  CHECK(doubt(1, 0).empty());  // another command's history
}

TEST_CASE("none in a long run is believed when it comes again and again") {
  double fastest = 0.0;
  CountChecker judge(fastest);
  const std::vector<Tally> run{cycles(900'000), misses(0)};
  for (int i = 0; i < 3; ++i) CHECK_FALSE(judge.doubts(0, run).back().empty());
  CHECK(judge.doubts(0, run).back().empty());
  CHECK_FALSE(judge.doubts(1, run).back().empty());
}

namespace {

const Names kSixPlausible{"cycles",       "instructions",  "cache-references",
                          "cache-misses", "branch-misses", "branches"};

/// A command that counts the same in every run, of 2 to 20 ms.
FakePerf::Program some_program(std::mt19937_64& random) {
  const auto up_to = [&](std::uint64_t most) { return random() % most; };
  const std::uint64_t ns = 2 * kMs + up_to(18 * kMs);
  FakePerf::Program program;
  program.ns_on = {{"cpu", ns}};
  program.usage.user_ns = ns;
  program.counts = {{{"cpu", fakes::kCycles}, {ns * 2 + up_to(ns), ns / 10}},
                    {{"cpu", fakes::kInstructions}, {ns + up_to(ns * 4), ns / 10}},
                    {{"cpu", fakes::kCacheReferences}, {1000 + up_to(100'000), 500}},
                    {{"cpu", fakes::kCacheMisses}, {100 + up_to(1000), 50}},
                    {{"cpu", fakes::kBranchMisses}, {200 + up_to(10'000), 100}},
                    {{"cpu", fakes::kBranches}, {ns / 5 + up_to(ns), ns / 20}}};
  return program;
}

constexpr std::array<fakes::EventKey, 6> kKeys = {fakes::kCycles,          fakes::kInstructions,
                                                  fakes::kCacheReferences, fakes::kCacheMisses,
                                                  fakes::kBranchMisses,    fakes::kBranches};

/// Disturbs a run, or most often does not: a neighbour takes 1 to 3 counters for all or a part of
/// it, or the host keeps an event from counting.
void disturb(FakePerf::Program& program, std::mt19937_64& random, std::size_t held_before) {
  const std::uint64_t part = 1 + random() % 999;
  const std::size_t held = 1 + random() % 3;
  program.phases = {{1000, held_before}};
  switch (random() % 10) {
    case 0:
      program.phases = {{1000, held}};
      break;
    case 1:
      program.phases = {{part, held_before}, {1000 - part, held}};
      break;
    case 2:
      program.phases = {{part, held}, {1000 - part, 0}};
      break;
    case 3:
      program.silent = {kKeys[random() % kKeys.size()]};
      break;
    default:
      break;
  }
}

struct Shown {
  unsigned runs = 0;
  unsigned counts = 0;
  unsigned absent_without_reason = 0;
  unsigned wrong = 0;
};

/// Runs one session of two commands like the runner: runs are repeated as often as requested.
void run_session(std::uint64_t seed, Shown& shown) {
  std::mt19937_64 random(seed);
  FakePerf perf;
  auto pmu = random() % 4 == 0 ? fakes::usual_pmu() : fakes::virtual_pmu();
  if (random() % 4 == 0) pmu.dead = {};
  const std::size_t held_before = random() % 3 == 0 ? 1 + random() % 3 : 0;
  // One that is hidden below a neighbour's can be found when that is gone: see held_by_others.
  if (random() % 4 == 0) pmu.dead.insert(held_before + random() % (pmu.general - held_before));
  pmu.taken = held_before;
  perf.add(pmu);
  const auto engine = make_perf_engine(perf.calls(), false);
  const Names names(kSixPlausible.begin(),
                    kSixPlausible.begin() + 1 + static_cast<long>(random() % kSixPlausible.size()));
  const EventSet set = must(engine->select({names, false}));
  const std::vector<FakePerf::Program> commands{some_program(random), some_program(random)};
  for (std::size_t pass = 0; pass < set.passes.size(); ++pass) {
    const auto counting = must(engine->arm(pass));
    for (int run = 0; run < 24; ++run) {
      const std::size_t command = static_cast<std::size_t>(run) % 2;
      CountsOfRun counted;
      unsigned again = 0;
      do {
        FakePerf::Program program = commands[command];
        disturb(program, random, held_before);
        counted = counting->finish(perf.run(counting->requests(), program), command);
      } while (counted.redo && again++ < counted.redo->max_repetitions);
      ++shown.runs;
      for (std::size_t i = 0; i < counted.counts.size(); ++i) {
        const auto& truth =
            commands[command].counts.at({"cpu", kKeys[set.passes[pass].event_indices[i]]});
        if (counted.counts[i]) ++shown.counts;
        if (!counted.counts[i] && !counted.why_missing_counts) ++shown.absent_without_reason;
        if (counted.counts[i] && *counted.counts[i] != truth.user + truth.kernel) ++shown.wrong;
      }
    }
  }
}

}  // namespace

TEST_CASE("200 sessions next to neighbours and a host that take counters show no wrong count") {
  Shown shown;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) run_session(seed, shown);
  CAPTURE(shown.runs);
  CHECK(shown.wrong == 0);
  CHECK(shown.absent_without_reason == 0);
  CHECK(shown.counts > shown.runs);
}

}  // namespace lauka::engine::perf
