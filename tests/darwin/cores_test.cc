#include "cores/cores.h"

#include "cores/mac_threads.h"
#include "cores/threads.h"
#include "darwin/launched.h"
#include "engine/engine.h"
#include "fakes/darwin/kernel.h"
#include "must.h"
#include "os/process.h"

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <string>

#include <doctest/doctest.h>

// Times by kind of core on the model of Darwin, whose accounting follows facts about the real one
// and was written independently of the tested code.

namespace lauka::darwin {
namespace {

using cores::CoreTimePoller;
using cores::CoreTimes;

constexpr std::uint64_t kMs = 1'000'000;

/// Runs a script with the poll looking at it every 10 ms, as the launcher does.
struct PollResult {
  Driver driver;
  CoreTimePoller poll;
  CoreTimes times{};
  Work truth{};  ///< of the command and of all that descends from it

  explicit PollResult(const std::string& script, CallRules rules = {}, std::size_t levels = 2)
      : driver(machine("m2"), std::move(rules)), poll(driver.calls, levels) {
    driver.programs["it"] = read_script(script);
    poll.before_start();
    const pid_t pid = driver.spawn_suspended("it");
    Process* process = driver.host.kernel.find(pid);
    REQUIRE(process != nullptr);
    const std::uint64_t unique = process->unique_id;
    poll.made(pid);
    driver.calls.kill(pid, SIGCONT);
    while (process->life != Life::Zombie) {
      driver.host.kernel.wait_until([&] { return process->life == Life::Zombie; }, 10 * kMs);
      if (process->life != Life::Zombie) poll.running(pid);
    }
    os::ProcessUsage usage;
    REQUIRE(driver.calls.proc_pid_rusage(pid, driver.host.rules.newest_rusage >= 6 ? 6 : 4,
                                         reinterpret_cast<void**>(&usage)) == 0);
    os::AccountedTotals totals;
    totals.user_ns = ns(usage.user_time);
    totals.system_ns = ns(usage.system_time);
    if (driver.host.rules.newest_rusage >= 6)
      totals.on_performance_cores_ns =
          ns(usage.performance_core_user_time) + ns(usage.performance_core_system_time);
    const std::uint64_t reaped =
        totals.user_ns + totals.system_ns + ns(usage.child_user_time) + ns(usage.child_system_time);
    times = cores::combine_mac_core_times(totals, poll.sampled_times(), reaped);
    for (const auto& one : driver.host.kernel.processes())
      if (one->unique_id == unique || one->root_id == unique) add(*one);
  }

  std::uint64_t reported() const { return times.ns.at(0) + times.ns.at(1) + times.unknown_kind_ns; }

  std::uint64_t ns(std::uint64_t mach) const { return driver.host.kernel.ns_of_mach(mach); }

  void add(const Process& process) {
    truth += process.life == Life::Alive ? driver.host.kernel.recounted(process) : process.cached;
  }

  std::uint64_t truth_of(Level level) const {
    return truth.at(level, Mode::User) + truth.at(level, Mode::Kernel);
  }
  double share() const {
    return static_cast<double>(times.ns.at(0)) /
           static_cast<double>(times.ns.at(0) + times.ns.at(1));
  }
  double true_share() const {
    return static_cast<double>(truth_of(Level::Performance)) / static_cast<double>(truth.total());
  }
};

/// Conversions from mach units round down, a few times.
void check_close(std::uint64_t reported, std::uint64_t truth, std::uint64_t within = 1000) {
  CHECK(reported <= truth + within);
  CHECK(truth <= reported + within);
}

}  // namespace

TEST_CASE(
    "a run that spends a known share on E is reported so, exactly, however short its threads") {
  for (const char* script :
       {"run 30ms\nrun 10ms e", "threads 200 {\nrun 100us\nrun 300us e\n}\njoin",
        "repeat 20 {\nrun 1ms\nrun 1ms e\n}", "run 200us e"}) {
    CAPTURE(script);
    const PollResult run(script);
    check_close(run.times.ns.at(0), run.truth_of(Level::Performance));
    check_close(run.times.ns.at(1), run.truth_of(Level::Efficiency));
    CHECK(run.times.unknown_kind_ns < 1000);
    CHECK(std::abs(run.share() - run.true_share()) < 0.001);
  }
}

TEST_CASE("exec doubles nothing, with kernels that report kinds and with older ones") {
  for (const int newest : {6, 4}) {
    CallRules rules;
    rules.newest_rusage = newest;
    PollResult run("run 25ms\nrun 15ms e\nfailed_exec\nrun 5ms", rules);
    check_close(run.reported(), run.truth.total());
  }
}

TEST_CASE(
    "descendants that live long enough to be seen are divided, the rest is reported as such") {
  const PollResult run("fork {\nrun 60ms e\n}\nfork {\nrun 2ms\n}\nrun 20ms\nwait");
  check_close(run.reported(), run.truth.total(), 5000);
  CHECK(run.times.ns.at(1) > 45 * kMs);  // the last look was less than 10 ms before
  CHECK(run.times.ns.at(1) <= run.truth_of(Level::Efficiency) + 1000);
  CHECK(run.times.unknown_kind_ns < 20 * kMs);
  CHECK(run.times.unknown_kind_ns > 2 * kMs - 1000);  // the short child was never seen
}

TEST_CASE("a daemon that is launchd's child from the first is not the command's any more") {
  CHECK(PollResult("daemon {\nrun 500ms e\n}\nrun 50ms").times.ns.at(1) == 0);
}

TEST_CASE("threads of a running process are listed by kind of core, with names") {
  Driver driver(machine("m2"));
  driver.programs["it"] =
      read_script("name main\nthreads 2 {\nname worker\nrun 20ms\nrun 40ms e\nsleep 10s\n}\njoin");
  const pid_t pid = driver.spawn_suspended("it");
  driver.calls.kill(pid, SIGCONT);
  driver.host.kernel.wait_until([] { return false; }, 500 * kMs);
  const cores::ThreadTable threads =
      must(cores::sample_threads({.process = pid}, nullptr, &driver.calls));
  REQUIRE(threads.column_groups.size() == 2);
  CHECK(threads.column_groups[0].title == "PERFORMANCE");
  REQUIRE(threads.thread_rows.size() == 3);
  for (std::size_t i = 0; i < 2; ++i) {
    const cores::ThreadRow& line = threads.thread_rows[i];
    CHECK(line.name == "worker");
    const auto seconds = [](const cores::ThreadWork& part) {
      return *part.user_seconds + *part.system_seconds;
    };
    CHECK(seconds(line.work_by_column_group[0]) == doctest::Approx(0.020).epsilon(0.02));
    CHECK(seconds(line.work_by_column_group[1]) == doctest::Approx(0.040).epsilon(0.02));
    CHECK(*line.work_by_column_group[0].cycles > *line.work_by_column_group[0].instructions / 12);
  }
  CHECK(cores::sample_threads({.process = 4711}, nullptr, &driver.calls).error().what ==
        "there is no process 4711");
}

TEST_CASE("a command whose efficiency cores are preferred runs there, and nowhere else") {
  Launched mac(machine("m2"));
  const auto share_of = [&](CorePreference prefer) {
    os::ProgramSpec spec = mac.program("run 20ms");
    spec.prefer = prefer;
    CoreTimePoller poll(mac.driver.calls, 2);
    const CoreTimes times =
        cores::combine_mac_core_times(mac.run_once(spec).totals, poll.sampled_times(), 0);
    return static_cast<double>(times.ns.at(0)) /
           static_cast<double>(times.ns.at(0) + times.ns.at(1));
  };
  CHECK(share_of(CorePreference::Efficiency) == 0.0);
  CHECK(share_of(CorePreference::Performance) > 0.99);
}

TEST_CASE("through the launcher a run of known shares is reported within a tenth of a point") {
  Launched mac(machine("m2"));
  cores::CoreDecision decided;
  decided.session_kinds = {{"P", {}}, {"E", {}}};
  decided.core_plan.timed_kinds = {"P", "E"};
  const auto engine = cores::add_core_time_measurement(engine::make_accounted_engine(std::nullopt),
                                                       decided, nullptr, &mac.driver.calls);
  const auto counting = must(engine->arm(0));
  os::Launch launch;
  launch.run_observers = counting->prepare_run();
  const auto counted = counting->finish(
      mac.run_once(mac.program("threads 40 {\nrun 3ms\nrun 1ms e\n}\njoin"), launch), 0);
  REQUIRE(counted.counts.size() == 3);
  const auto p = static_cast<double>(counted.counts[0].value());
  const auto e = static_cast<double>(counted.counts[1].value());
  CHECK(std::abs(p / (p + e) - 0.75) < 0.001 + 0.01);  // the kernel's own part of each is on P
  CHECK(counted.counts[2].value() < 1'000'000);
}

TEST_CASE("model: a watched thread's moves between kinds are seen, each once") {
  Driver driver(machine("m2"), {});
  driver.programs["it"] = read_script("repeat 5 {\nrun 4ms\nrun 4ms e\n}\nsleep 20ms");
  const pid_t pid = driver.spawn_suspended("it");
  const auto stream = must(cores::open_darwin_thread_stream({pid}, driver.calls));
  driver.calls.kill(pid, SIGCONT);
  std::uint64_t moves = 0;
  double cpu_seconds = 0.0;
  for (int i = 0; i < 50; ++i) {
    for (const cores::ThreadSample& sample : stream->read(std::chrono::milliseconds(i))) {
      moves += sample.core_kind_moves.value_or(0);
      cpu_seconds += sample.work_on_all_kinds.cpu_seconds.value_or(0.0);
    }
    driver.host.kernel.wait_until([] { return false; }, kMs);
  }
  CHECK(cpu_seconds == doctest::Approx(0.04).epsilon(0.01));
  CHECK(moves == 9);
}

}  // namespace lauka::darwin
