#include "darwin/kperf_bench.h"
#include "os/signals.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

// Failures of counters, as far as on_model/failures_test.cc does not see them in the whole program.

namespace lauka::darwin {

TEST_CASE("an event that this kernel refuses is named, and the others are counted") {
  Setup setup = machine("m1");
  for (const ChipEvent& event : setup.chip.events)
    if (event.name == "INST_BRANCH") setup.pmu.refused_selector = event.number;
  KperfBench bench{std::move(setup)};
  bench.begin({"INST_ALL", "INST_BRANCH", "instructions"});
  CHECK(note_of(bench.notes(), "events_left_out") ==
        "inst_branch cannot be counted, because this kernel does not allow its selector 0x8d "
        "here");
  REQUIRE(bench.events.events.size() == 2);
  const auto counts = bench.counts_of("run 5ms");
  CHECK(counts.at("inst_all") == bench.truth().events.at("INST_ALL"));
  CHECK(has(bench.select({"INST_BRANCH"}), "inst_branch"));
}

TEST_CASE("counters that stay with the power manager are planned without") {
  Setup setup = machine("m4");
  setup.pmu.forcing_frees_nothing = true;
  KperfBench bench{std::move(setup)};
  bench.begin({"INST_BRANCH", "INST_INT_LD", "INST_SIMD_LD", "INST_BARRIER", "CORE_ACTIVE_CYCLE",
               "L1D_TLB_ACCESS", "instructions"});
  CHECK(bench.events.passes.size() == 2);
  CHECK(has(note_of(bench.notes(), "counters_in_use"), "5 of 8"));
  bench.check_passes("run 5ms");
}

TEST_CASE("sampling that the kernel refuses is left, with all that was taken") {
  CallRules rules;
  rules.failures["kperf.sampling"] = {ECANCELED, 1, ~0U};
  KperfBench bench{machine("m1"), rules};
  bench.begin({"instructions"});
  CHECK(has(bench.notes(), "whole_machine"));
  CHECK(bench.end() == std::vector<std::string>{});
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
      bench.begin();
      CHECK_FALSE(has(bench.notes(), "other_strategy"));
      unsigned redone = 0;
      for (int i = 0; i < 2; ++i) {
        const auto counted = bench.run(kWork);
        if (!counted.redo) {
          CHECK(bench.named(counted).at("inst_all") == bench.truth().events.at("INST_ALL"));
          continue;
        }
        ++redone;
        CHECK(counted.redo->max_repetitions == 3);
        CHECK(counted.why_missing_counts.has_value());
        CHECK_FALSE(bench.named(counted).at("inst_all").has_value());
      }
      CHECK(redone == (read == 1 ? 0 : 1));
    }
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
  return bench.end().empty() ? 0 : 1;
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
  bench.begin();
  CHECK(has(bench.notes(), "other_strategy"));
  bench.run(kWork);
  const std::vector<std::string> held = {"forced counters", "counting"};
  CHECK(bench.driver.host.still_held() == held);
}

}  // namespace lauka::darwin
