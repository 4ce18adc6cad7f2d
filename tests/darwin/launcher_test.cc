#include "darwin/driver.h"
#include "darwin/folder.h"
#include "fakes/darwin/programs.h"
#include "os/darwin_calls.h"
#include "os/signals.h"
#include "os/spawning_launcher.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sys/wait.h>

// The launcher of macOS, on the model: what Linux's promises, this one promises too.

namespace lauka::os {
namespace {

using namespace std::chrono_literals;
using darwin::CallRules;
using darwin::Driver;
using darwin::Folder;
using darwin::machine;
using std::chrono::nanoseconds;

struct Bench {
  explicit Bench(const CallRules& rules = {}, darwin::Setup setup = machine("m1"))
      : driver(std::move(setup), rules) {
    driver.host.kernel.load = darwin::loader_of_files();
    auto started = start_spawning_launcher(driver.calls);
    REQUIRE(started.has_value());
    launcher = *std::move(started);
  }

  ProgramId add(const std::string& script, const Output& output = {},
                std::optional<nanoseconds> timeout = {}) {
    ProgramSpec spec;
    spec.words = {folder.program("work", script)};
    spec.output = output;
    spec.timeout = timeout;
    return add(spec);
  }
  ProgramId add(const ProgramSpec& spec) const {
    const auto id = launcher->add_program(spec);
    REQUIRE_MESSAGE(id.has_value(), (id ? "" : id.error().what));
    return *id;
  }

  Ended run(ProgramId id, RunWatch* watch = nullptr, const Tick& tick = {}) const {
    Launch launch{id};
    if (watch != nullptr) launch.watches = {watch};
    const auto all = launcher->run({&launch, 1}, false, tick);
    REQUIRE(all.has_value());
    REQUIRE(all->size() == 1);
    return all->front();
  }
  Ended run(const std::string& script) { return run(add(script)); }

  bool is_alive(pid_t pid) {
    const darwin::Process* process = driver.host.kernel.find(pid);
    return process != nullptr && process->life == darwin::Life::Alive;
  }

  Driver driver;
  Folder folder;
  std::unique_ptr<Launcher> launcher;
};

/// Writes down when it is called.
class LoggingWatch final : public RunWatch {
 public:
  explicit LoggingWatch(Bench& bench) : bench_(bench) {}
  void before_start() override { log += "before "; }
  void made(int pid) override {
    log += "made ";
    ran_before = bench_.driver.host.kernel.find(pid)->threads.front()->ran.total();
  }
  void running(int pid) override {
    CHECK(bench_.is_alive(pid));
    ++looks;
  }
  nanoseconds interval() const override { return 20ms; }

  std::string log;
  std::uint64_t ran_before = 1;
  int looks = 0;

 private:
  Bench& bench_;
};

nanoseconds wall(const Ended& ended) {
  return nanoseconds(ended.usage.wall_ns);
}

}  // namespace

TEST_CASE("macOS: the exit status or the signal of a run is its outcome") {
  Bench bench;
  CHECK(std::get<Exited>(bench.run("run 1ms\nexit 7").outcome).status == 7);
  CHECK(std::get<Signalled>(bench.run("run 1ms\nsignal 11").outcome).signal == SIGSEGV);
  CHECK(succeeded(bench.run("run 1ms").outcome));
}

TEST_CASE(
    "macOS: wall time goes from the resuming to the end, and CPU time is what the kernel counted") {
  Bench bench;
  const Ended ended = bench.run("run 40ms kernel=250\nsleep 20ms\nfork {\nrun 10ms\n}\nwait");
  CHECK(wall(ended) >= 70ms);
  CHECK(wall(ended) < 71ms);
  CHECK(nanoseconds(ended.usage.user_ns) == 40ms);  // the reaped child's 10 ms included
  CHECK(nanoseconds(ended.usage.system_ns) >= 10ms);
  CHECK(nanoseconds(ended.usage.system_ns) < 11ms);
  CHECK(ended.usage.peak_rss_bytes == 1'458'176);
  CHECK(ended.usage.peak_rss_is_known());
  CHECK(ended.whole >= wall(ended));
  REQUIRE(ended.totals.has_value());
  CHECK(nanoseconds(ended.totals->user_ns) == 30ms);  // its own alone
  CHECK(ended.totals->instructions > 30'000'000ULL * 112 / 10);
}

TEST_CASE(
    "macOS: the part on performance cores is reported, and is absent where the kernel is older") {
  Bench bench;
  const auto totals = bench.run("run 4ms\nrun 4ms e").totals;
  REQUIRE(totals.has_value());
  REQUIRE(totals->on_performance_cores.has_value());
  CHECK(nanoseconds(totals->on_performance_cores->user_ns) == 4ms);
  CHECK(totals->on_performance_cores->instructions < totals->instructions);
}

TEST_CASE("macOS 12: the totals come from the older flavour") {
  CallRules rules;
  rules.newest_rusage = 5;
  Bench bench(rules);
  const auto totals = bench.run("run 4ms").totals;
  REQUIRE(totals.has_value());
  CHECK(totals->instructions > 4'000'000 * 112 / 10);
  CHECK_FALSE(totals->energy_nj.has_value());
  CHECK_FALSE(totals->on_performance_cores.has_value());
}

TEST_CASE("macOS: times are right where a mach unit is a nanosecond") {
  darwin::Setup setup = machine("m1");
  setup.timebase_numerator = setup.timebase_denominator = 1;
  Bench bench({}, setup);
  CHECK(nanoseconds(bench.run("run 9ms").usage.user_ns) == 9ms);
}

TEST_CASE("mach units become nanoseconds without overflow, years after the start") {
  constexpr std::uint64_t ten_years = 24'000'000ULL * 86'400 * 3'650;
  CHECK(ns_of_mach(ten_years, {125, 3}) == 86'400ULL * 3'650 * 1'000'000'000);
  CHECK(ns_of_mach(1, {125, 3}) == 41);
  CHECK(ns_of_mach(7, {1, 1}) == 7);
}

TEST_CASE(
    "macOS: a run is watched from before its birth, and has run nothing when it is made known") {
  Bench bench;
  LoggingWatch watch(bench);
  bench.run(bench.add("run 205ms"), &watch);
  CHECK(watch.log == "before made ");
  CHECK(watch.ran_before == 0);
  CHECK(watch.looks == 10);
}

TEST_CASE("macOS: ticks come five times a second") {
  Bench bench;
  int ticks = 0;
  bench.run(bench.add("run 2100ms"), nullptr, [&ticks] { ++ticks; });
  CHECK(ticks == 10);
}

TEST_CASE(
    "macOS: the end of standard error is there, from the file or through a pipe, of the last run") {
  Bench bench;
  bench.run("write err the disk is made of cheese\nexit 3");
  CHECK(bench.launcher->error_output_end() == "the disk is made of cheese");
  bench.run("run 1ms");
  CHECK(bench.launcher->error_output_end().empty());
  bench.run(bench.add("write err through a pipe\nwrite out not this\nexit 3", {Sink::Pipe}));
  CHECK(bench.launcher->error_output_end() == "through a pipe");
}

TEST_CASE("macOS: an output file holds what the last run wrote") {
  Bench bench;
  const std::string file = bench.folder.file("output");
  const ProgramId id = bench.add("write out one\nwrite err two", {Sink::File, file});
  for (int i = 0; i < 2; ++i) bench.run(id);
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  CHECK(text.str() == "one\ntwo\n");
}

TEST_CASE("macOS: what could not be opened or executed is reported with its errno") {
  Bench bench;
  ProgramSpec spec;
  spec.words = {bench.folder.program("work", "run 1ms")};
  spec.input.path = "/nonexistent/input";
  const NotStarted no_input = std::get<NotStarted>(bench.run(bench.add(spec)).outcome);
  CHECK(no_input.step == LaunchStep::OpenInput);
  CHECK(no_input.error == ENOENT);
  spec.input.path.reset();
  spec.output = {Sink::File, "/nonexistent/output"};
  CHECK(std::get<NotStarted>(bench.run(bench.add(spec)).outcome).step == LaunchStep::OpenOutput);
  spec.output = {};
  std::ofstream(bench.folder.file("work")) << "echo without a first line\n";
  const NotStarted no_format = std::get<NotStarted>(bench.run(bench.add(spec)).outcome);
  CHECK(no_format.step == LaunchStep::Execute);
  CHECK(no_format.error == ENOEXEC);
}

TEST_CASE("macOS: a time-out kills the whole tree, also what has left the process group") {
  Bench bench;
  const ProgramId id =
      bench.add("fork group {\nignore 15\nfork {\nsleep 90s\n}\nsleep 90s\n}\nsleep 90s", {}, 50ms);
  const Ended ended = bench.run(id);
  CHECK(std::get<TimedOut>(ended.outcome).limit == 50ms);
  CHECK(wall(ended) >= 50ms);
  CHECK(wall(ended) < 51ms);
  int processes = 0;
  for (const auto& process : bench.driver.host.kernel.processes()) {
    if (process->name != "work") continue;
    ++processes;
    CHECK_FALSE(bench.is_alive(process->pid));
  }
  CHECK(processes == 3);
}

TEST_CASE("macOS: a run that ends in time is not touched by its time-out, nor by the run before") {
  Bench bench;
  const ProgramId slow = bench.add("sleep 9s", {}, 10ms);
  ProgramSpec quick_spec;
  quick_spec.words = {bench.folder.program("quick", "run 9ms")};
  quick_spec.timeout = 10ms;
  const ProgramId quick = bench.add(quick_spec);
  for (int i = 0; i < 3; ++i) {
    CHECK(std::holds_alternative<TimedOut>(bench.run(slow).outcome));
    CHECK(succeeded(bench.run(quick).outcome));
  }
}

TEST_CASE("macOS: a command that is stopped is killed and told, not waited for") {
  Bench bench;
  const Ended ended = bench.run("run 1ms\nsignal " + std::to_string(SIGSTOP) + "\nrun 1ms");
  CHECK(std::get<Stopped>(ended.outcome).signal == SIGSTOP);
  CHECK(wall(ended) < 2ms);
}

TEST_CASE("macOS: a child that outlives the command is not waited for") {
  Bench bench;
  const Ended ended = bench.run("daemon {\nsleep 50s\n}\nrun 1ms");
  CHECK(succeeded(ended.outcome));
  CHECK(wall(ended) < 2ms);
}

TEST_CASE("macOS: a batch ends after a failed run, or goes on where failures are allowed") {
  Bench bench;
  const ProgramId id = bench.add("exit 1");
  const std::vector<Launch> launches = {{id}, {id}, {id}};
  CHECK(bench.launcher->run(launches, false, {})->size() == 1);
  CHECK(bench.launcher->run(launches, true, {})->size() == 3);
  const ProgramId late = bench.add("sleep 9s", {}, 10ms);
  const std::vector<Launch> slow = {{late}, {late}};
  CHECK(bench.launcher->run(slow, true, {})->size() == 1);
}

namespace {

/// In a child, which leaves without unwinding: what it made is gone by then.
bool is_cancelled_at(std::uint64_t call) {
  CallRules rules;
  rules.interrupt_at_call = call;
  Bench bench(rules);
  watch_for_interrupts();
  const ProgramId id = bench.add("fork group {\nsleep 90s\n}\nsleep 90s");
  const Ended ended = bench.run(id);
  bool all_dead = true;
  for (const auto& process : bench.driver.host.kernel.processes())
    all_dead = all_dead && !(process->name == "work" && bench.is_alive(process->pid));
  return std::holds_alternative<Cancelled>(ended.outcome) && all_dead;
}

}  // namespace

TEST_CASE("macOS: the user's wish to end kills the run at once, at whichever call it comes") {
  // In a child each, since the wish is for the whole process. The run takes some forty calls.
  for (std::uint64_t call = 9; call < 40; ++call) {
    CAPTURE(call);
    const pid_t child = fork();
    if (child == 0) _exit(is_cancelled_at(call) ? 0 : 1);
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
}

TEST_CASE("macOS: every run is reaped and nothing is left behind") {
  Bench bench;
  bench.run("run 1ms");
  bench.run(bench.add("sleep 9s", {}, 10ms));
  bench.run("signal " + std::to_string(SIGSTOP));
  CHECK(bench.driver.host.still_held().empty());
}

}  // namespace lauka::os
