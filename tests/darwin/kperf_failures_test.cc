#include "darwin/kperf_bench.h"
#include "os/signals.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

// Failures of counters, and how the engine handles them.

namespace lauka::darwin {
namespace {

void check_given_back(KperfBench& bench) {
  bench.armed.clear();
  bench.engine.reset();
  CHECK(bench.driver.host.still_held() == std::vector<std::string>{});
}

}  // namespace

TEST_CASE("without root the engine says how to get it") {
  Setup setup = machine("m1");
  setup.is_root = false;
  KperfBench bench{std::move(setup)};
  CHECK(bench.make() ==
        "counting events needs root; run 'sudo lauka ...'; the commands still run as you");
  check_given_back(bench);
}

TEST_CASE("who holds the counters or the tracing is reported") {
  Setup forced = machine("m1");
  forced.force_is_taken = true;
  KperfBench taken{std::move(forced)};
  CHECK(taken.make() == "another process, such as Instruments, holds the counters; quit it");
  check_given_back(taken);
}

TEST_CASE("the processor's counters in use by the system are a reason") {
  Setup setup = machine("m1");
  setup.cpmu_is_busy = true;
  KperfBench bench{std::move(setup)};
  CHECK(bench.make() ==
        "a service of the system holds the counters; try later, or restart the Mac");
}

TEST_CASE("if another program has the tracing, the whole machine is counted and its owner named") {
  Setup setup = machine("m1");
  setup.tracer = Tool{};
  {
    KperfBench bench{setup};
    REQUIRE(bench.make() == "");
    REQUIRE(bench.select({"instructions", "INST_ALL"}) == "");
    CHECK(has(bench.notes(), "Instruments (process 77) has the kernel's tracing"));
    CHECK(bench.events.events[1].note == "(system-wide) (user)");
    const auto counted = bench.run("run 20ms");
    CHECK(bench.named(counted).at("instructions").value() >= bench.truth().instructions);
    check_given_back(bench);
  }
  KperfBench asked{setup};
  REQUIRE(asked.make(StrategyChoice::AtExit) == "");
  CHECK(has(asked.select({"instructions"}), "Instruments (process 77) has the kernel's tracing"));
  check_given_back(asked);
}

TEST_CASE("an event that this kernel refuses is named, and the others are counted") {
  Setup setup = machine("m1");
  for (const ChipEvent& event : setup.chip.events)
    if (event.name == "INST_BRANCH") setup.pmu.refused_selector = event.number;
  KperfBench bench{std::move(setup)};
  REQUIRE(bench.make() == "");
  REQUIRE(bench.select({"INST_ALL", "INST_BRANCH", "instructions"}) == "");
  CHECK(
      has(bench.notes(), "not counted: inst_branch (this kernel does not allow its selector 0x8d"));
  REQUIRE(bench.events.events.size() == 2);
  const auto counted = bench.run("run 5ms");
  CHECK(bench.named(counted).at("inst_all") == bench.truth().events.at("INST_ALL"));
  CHECK(has(bench.select({"INST_BRANCH"}), "not counted: inst_branch"));
}

TEST_CASE("counters that stay with the power manager are planned without") {
  Setup setup = machine("m4");
  setup.pmu.forcing_frees_nothing = true;
  KperfBench bench{std::move(setup)};
  REQUIRE(bench.make() == "");
  REQUIRE(bench.select({"INST_BRANCH", "INST_INT_LD", "INST_SIMD_LD", "INST_BARRIER",
                        "CORE_ACTIVE_CYCLE", "L1D_TLB_ACCESS", "instructions"}) == "");
  CHECK(bench.events.passes.size() == 2);
  CHECK(has(bench.notes(), "only 5 of 8 configurable counters can be used here"));
  bench.check_passes("run 5ms");
}

TEST_CASE("what a killed run left switched on is reset, and the counts are right") {
  Setup setup = machine("m1");
  setup.has_leftovers = true;
  KperfBench bench{std::move(setup)};
  REQUIRE(bench.make() == "");
  REQUIRE(bench.select() == "");
  CHECK(has(bench.notes(), "reset what a killed session had left switched on"));
  const auto counted = bench.run("run 5ms");
  CHECK(bench.named(counted).at("inst_all") == bench.truth().events.at("INST_ALL"));
  check_given_back(bench);
}

TEST_CASE("words that another client changes in mid-run spoil the run, which must be run again") {
  CallRules rules;
  rules.words_change_in_run = 2;  // the trial is the first
  KperfBench bench{machine("m1"), rules};
  REQUIRE(bench.make() == "");
  REQUIRE(bench.select() == "");
  const auto spoilt = bench.run("run 50ms");
  REQUIRE(spoilt.redo.has_value());
  CHECK(spoilt.redo->why == "another program changed the counters meanwhile");
  CHECK(spoilt.missing.has_value());
  const auto counted = bench.run("run 50ms");
  CHECK_FALSE(counted.redo.has_value());
  CHECK(bench.named(counted).at("inst_all") == bench.truth().events.at("INST_ALL"));
}

TEST_CASE("sampling that the kernel refuses is left, with all that was taken") {
  CallRules rules;
  rules.failures["kperf.sampling"] = {ECANCELED, 1, ~0U};
  KperfBench bench{machine("m1"), rules};
  REQUIRE(bench.make() == "");
  REQUIRE(bench.select({"instructions"}) == "");
  CHECK(has(bench.notes(), "the counts include everything else that ran on the machine"));
  check_given_back(bench);
}

TEST_CASE("a virtual machine has no counters") {
  Setup setup = machine("m1");
  setup.is_virtual = true;
  KperfBench bench{std::move(setup)};
  CHECK(bench.make() == "this kernel has no counters, as in a virtual machine");
}

TEST_CASE("a run of which the trace lost records is not counted, and the next one is") {
  // One read that has records is for the trial.
  for (unsigned read = 1; read <= 3; ++read) {
    for (const std::uint64_t argument : {0U, 1U}) {
      CAPTURE(read);
      CAPTURE(argument);
      Setup setup = machine("m1");
      setup.trace.lose_at_read = read;
      setup.trace.loss_argument = argument;
      KperfBench bench{std::move(setup)};
      REQUIRE(bench.make() == "");
      REQUIRE(bench.select() == "");
      CHECK_FALSE(has(bench.notes(), "not work here"));
      unsigned redone = 0;
      for (int i = 0; i < 2; ++i) {
        const auto counted = bench.run(kWork);
        if (!counted.redo) {
          CHECK(bench.named(counted).at("inst_all") == bench.truth().events.at("INST_ALL"));
          continue;
        }
        ++redone;
        CHECK(counted.redo->at_most == 3);
        CHECK(counted.missing.has_value());
        CHECK_FALSE(bench.named(counted).at("inst_all").has_value());
      }
      CHECK(redone == (read == 1 ? 0 : 1));
    }
  }
}

TEST_CASE("the mark of a wrapped buffer spoils a run that nothing else shows to be short") {
  CallRules rules;
  rules.wrapped_in_run = 2;  // the trial is the first
  KperfBench bench{machine("m1"), rules};
  REQUIRE(bench.make() == "");
  REQUIRE(bench.select() == "");
  const auto counted = bench.run("run 90ms");
  REQUIRE(counted.redo.has_value());
  CHECK(counted.redo->why == "the trace lost records");
}

TEST_CASE("tracing that fell silent is noticed by the missing end of the command") {
  Setup setup = machine("m1");
  setup.trace.silent_after_read = 2;
  KperfBench bench{std::move(setup)};
  REQUIRE(bench.make() == "");
  REQUIRE(bench.select() == "");
  static_cast<void>(bench.run(kWork));
  const auto silent = bench.run("run 90ms");
  REQUIRE(silent.redo.has_value());
  CHECK_FALSE(bench.named(silent).at("inst_all").has_value());
}

TEST_CASE("an event that its counter cannot count shows as a doubtful 0") {
  Setup setup = machine("m4");
  setup.pmu.dead_mask = 0x80;
  KperfBench bench{std::move(setup)};
  REQUIRE(bench.make() == "");
  REQUIRE(bench.select({"INST_LDST", "instructions"}) == "");
  const auto counted = bench.run("run 5ms");
  CHECK(bench.named(counted).at("inst_ldst") == 0);
  CHECK(bench.events.events[0].zero_is_doubtful);
  CHECK_FALSE(bench.events.events[1].zero_is_doubtful);
  CHECK(counted.coverage.value() > 0.9);
}

TEST_CASE("pids that come back soon mix nothing") {
  Setup setup = machine("m1");
  setup.pids_are_few = true;
  setup.neighbours = true;
  KperfBench bench{std::move(setup)};
  REQUIRE(bench.make() == "");
  REQUIRE(bench.select() == "");
  for (int i = 0; i < 3; ++i) {
    const auto counted =
        bench.run("repeat 40 {\nfork {\nrun 100us\n}\nsleep 1ms\nwait\n}\nrun 2ms");
    CHECK(bench.named(counted).at("instructions") == bench.truth().instructions);
    CHECK(bench.named(counted).at("inst_all") == bench.truth().events.at("INST_ALL"));
  }
}

namespace {

/// 0 if all is given back after the user's wish to end at that call. For a child, which leaves
/// without unwinding.
int status_of_interrupted(std::uint64_t call) {
  CallRules rules;
  rules.interrupt_at_call = call;
  os::watch_for_interrupts();
  KperfBench bench{machine("m1"), rules};
  if (bench.make() != "" || bench.select() != "") return 2;
  static_cast<void>(bench.run(kWork));
  bench.armed.clear();
  bench.engine.reset();
  return bench.driver.host.still_held().empty() ? 0 : 1;
}

}  // namespace

TEST_CASE("whenever the user wants to end, everything is given back") {
  // In a child each, since the wish is for the whole process.
  for (std::uint64_t call = 1; call < 260; call += 6) {
    CAPTURE(call);
    const pid_t child = fork();
    if (child == 0) _exit(status_of_interrupted(call));
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
}

TEST_CASE("everything is given back when the process ends without unwinding") {
  std::array ends = {-1, -1};
  REQUIRE(pipe(ends.data()) == 0);
  const pid_t child = fork();
  if (child == 0) {
    // atexit's functions get no argument.
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
    static KperfBench* bench = nullptr;
    static int out = ends[1];
    // Called after the claim's, as it was registered before it.
    std::atexit([] {
      const char held = bench->driver.host.still_held().empty() ? 'n' : 'y';
      static_cast<void>(write(out, &held, 1));
      _exit(0);
    });
    bench = new KperfBench;
    if (bench->make() != "" || bench->select() != "") _exit(2);
    std::exit(0);
  }
  close(ends[1]);
  char held = '?';
  CHECK(read(ends[0], &held, 1) == 1);
  close(ends[0]);
  CHECK(held == 'n');
  waitpid(child, nullptr, 0);
}

TEST_CASE("a way of sampling that was tried in vain is not left on alongside the next") {
  CallRules rules;
  rules.failures["kperf.kdebug.filter"] = {EINVAL, 1, ~0U};  // no sampling at exit
  KperfBench bench{machine("m1"), rules};
  bench.period = std::chrono::seconds(10);  // too seldom to see half of a command
  REQUIRE(bench.make() == "");
  REQUIRE(bench.select() == "");
  CHECK(has(bench.notes(), "sampling running threads does not work here: it saw"));
  bench.run(kWork);
  const std::vector<std::string> held = {"forced counters", "counting"};
  CHECK(bench.driver.host.still_held() == held);
}

}  // namespace lauka::darwin
