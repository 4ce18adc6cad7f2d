#include "cores/cores.h"
#include "cores/mac_processes.h"
#include "fakes/fake_pmu.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::cores {
namespace {

using fakes::kMs;

/// Processes of a machine whose mach unit is a nanosecond.
struct Processes : MacProcesses {
  /// `pid` has used so much, on performance and efficiency cores.
  void use(int pid, std::uint64_t p_ms, std::uint64_t e_ms) {
    os::ProcessUsage& usage = all[pid].usage;
    usage.user_time = (p_ms + e_ms) * kMs;
    usage.performance_core_user_time = p_ms * kMs;
  }
  void begin(int pid, int parent, std::uint64_t at) {
    all[pid] = {};
    all[pid].parent = parent;
    all[pid].usage.started_at = at;
  }
};

constexpr int kCommand = 100;

struct Run {
  CoreTimePoller poll;
  explicit Run(std::size_t levels = 2) : poll(MacProcesses::calls(), levels) {
    poll.before_start();
    poll.made(kCommand);
  }
  void look() {
    MacProcesses::current()->now += 10 * kMs;
    poll.running(kCommand);
  }
};

os::AccountedTotals totals(std::uint64_t p_ms, std::uint64_t e_ms) {
  os::AccountedTotals all;
  all.user_ns = (p_ms + e_ms) * kMs;
  all.on_performance_cores_ns = p_ms * kMs;
  return all;
}

os::ThreadCounts time_of(std::uint64_t ms) {
  return {0, 0, ms * kMs, 0, 0};
}

std::string reported(const CoreTimes& times) {
  std::string text;
  for (const std::uint64_t ns : times.ns) text += std::to_string(ns / kMs) + " ";
  return text + "+ " + std::to_string(times.unknown_kind_ns / kMs);
}

}  // namespace

TEST_CASE("descendants are added as last seen; what ended between two looks is reported as such") {
  Processes machine;
  machine.begin(kCommand, 1, 5);
  machine.begin(101, kCommand, 6);
  machine.begin(102, 101, 7);
  Run run;
  machine.use(101, 20, 0);
  machine.use(102, 5, 30);
  run.look();
  machine.all.erase(102);  // reaped by 101, after 7 ms more that were not seen
  machine.use(101, 40, 10);
  run.look();
  machine.all.erase(101);
  // 10 ms of the command, 50 of 101, 42 of 102.
  CHECK(reported(combine_mac_core_times(totals(10, 0), run.poll.sampled_times(), 102 * kMs)) ==
        "55 40 + 7");
}

TEST_CASE("an orphaned daemon is counted as far as seen, and hides nothing that was not") {
  Processes machine;
  machine.begin(kCommand, 1, 5);
  machine.begin(101, kCommand, 6);
  Run run;
  machine.use(101, 0, 50);
  run.look();
  machine.all[101].parent = 1;
  machine.use(101, 0, 80);
  run.look();  // it is an orphan now
  machine.all.erase(kCommand);
  // 20 ms of the command, 9 of a child that came and went between two looks.
  CHECK(reported(combine_mac_core_times(totals(20, 0), run.poll.sampled_times(), 29 * kMs)) ==
        "20 80 + 9");
}

TEST_CASE("a pid that is given to another process is another process") {
  Processes machine;
  machine.begin(kCommand, 1, 5);
  machine.begin(101, kCommand, 6);
  Run run;
  machine.use(101, 50, 0);
  run.look();
  machine.begin(101, kCommand, 600);
  machine.use(101, 0, 3);
  run.look();
  CHECK(run.poll.sampled_times().descendant_times == LevelTimes{50 * kMs, 3 * kMs});
  CHECK(run.poll.sampled_times().vanished_descendants_ns == 50 * kMs);
}

TEST_CASE("what one run showed is gone at the next") {
  Processes machine;
  machine.begin(kCommand, 1, 5);
  machine.begin(101, kCommand, 6);
  machine.use(101, 50, 0);
  Run run;
  run.look();
  run.poll.before_start();
  CHECK(run.poll.sampled_times().descendant_times == LevelTimes{0, 0});
}

TEST_CASE("another user's descendant is time whose kind is not known") {
  Processes machine;
  machine.begin(kCommand, 1, 5);
  machine.begin(101, kCommand, 6);
  machine.all[101].is_foreign = true;
  Run run;
  run.look();
  CHECK(reported(combine_mac_core_times(totals(10, 0), run.poll.sampled_times(), 60 * kMs)) ==
        "10 0 + 50");
}

TEST_CASE("before macOS 13 threads are asked: they move, start and end between looks") {
  Processes machine;
  machine.knows_v6 = false;
  machine.begin(kCommand, 1, 5);
  Run run;
  auto& process = machine.all[kCommand];
  process.threads[1] = {"", {time_of(10), time_of(0)}};
  process.threads[2] = {"", {time_of(0), time_of(4)}};
  machine.use(kCommand, 10, 4);
  run.look();
  process.threads[1] = {"", {time_of(10), time_of(6)}};  // moved to an efficiency core
  process.threads.erase(2);
  process.threads[3] = {"", {time_of(1), time_of(0)}};
  machine.use(kCommand, 11, 11);  // the second thread did 1 ms more before it ended
  run.look();
  CHECK(run.poll.sampled_times().command_times == LevelTimes{11 * kMs, 10 * kMs});
  os::AccountedTotals all = totals(11, 13);
  all.on_performance_cores_ns.reset();
  CHECK(reported(combine_mac_core_times(all, run.poll.sampled_times(), 24 * kMs)) == "11 10 + 3");
}

TEST_CASE("exec copies a thread's counts to a new thread: they are counted once") {
  Processes machine;
  machine.knows_v6 = false;
  machine.begin(kCommand, 1, 5);
  Run run;
  auto& process = machine.all[kCommand];
  process.threads[1] = {"", {time_of(10), time_of(2)}};
  machine.use(kCommand, 10, 2);
  run.look();
  process.threads.clear();
  process.threads[2] = {"", {time_of(13), time_of(2)}};
  machine.use(kCommand, 13, 2);
  run.look();
  CHECK(run.poll.sampled_times().command_times == LevelTimes{13 * kMs, 2 * kMs});
}

TEST_CASE("of three kinds the fastest is the kernel's, the others are as seen") {
  Processes machine;
  machine.begin(kCommand, 1, 5);
  Run run(3);
  machine.all[kCommand].threads[1] = {"", {time_of(9), time_of(5), time_of(3)}};
  machine.use(kCommand, 9, 8);
  run.look();
  CHECK(reported(combine_mac_core_times(totals(12, 9), run.poll.sampled_times(), 21 * kMs)) ==
        "12 5 3 + 1");
}

TEST_CASE("looking takes no more than a hundredth of a core, whatever a call costs") {
  for (const bool knows_v6 : {true, false}) {
    Processes machine;
    machine.knows_v6 = knows_v6;
    machine.cost_of_call = 20'000;  // ten times what is usual
    machine.begin(kCommand, 1, 5);
    for (std::uint64_t id = 1; id <= 64; ++id)
      machine.all[kCommand].threads[id] = {"", {time_of(1), time_of(1)}};
    machine.use(kCommand, 64, 64);
    Run run;
    const std::uint64_t begin = machine.now;
    for (int i = 0; i < 2000; ++i) run.look();
    const std::uint64_t spent = machine.calls_made * machine.cost_of_call;
    CHECK(machine.calls_made > 100);
    CHECK(spent * 100 <= machine.now - begin + 100 * 70 * machine.cost_of_call);
  }
}

TEST_CASE("without the kernel's totals there are no times") {
  CHECK(combine_mac_core_times(std::nullopt, {LevelTimes(2), LevelTimes(2)}, 5).ns.empty());
}

}  // namespace lauka::cores
