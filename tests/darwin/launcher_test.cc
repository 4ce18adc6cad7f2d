#include "darwin/launched.h"
#include "fakes/darwin/kernel.h"
#include "must.h"
#include "os/darwin_calls.h"
#include "os/descriptor.h"
#include "os/process.h"
#include "os/signals.h"
#include "os/spawning_launcher.h"
#include "skip.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// NOLINTNEXTLINE: POSIX wants this global declared by its users
extern char** environ;

namespace lauka::os {

// The launcher of macOS, on the model: it keeps the promises of Linux's.

namespace {

using namespace std::chrono_literals;
using darwin::CallRules;
using darwin::machine;
using std::chrono::nanoseconds;

struct Bench : darwin::Launched {
  using Launched::Launched;

  /// Returns a program that may take no longer.
  ProgramSpec slow(const std::string& script, nanoseconds timeout) {
    ProgramSpec spec = program(script);
    spec.timeout = timeout;
    return spec;
  }

  Ended run(const std::string& script) { return run_once(program(script)); }

  bool is_alive(pid_t pid) {
    const darwin::Process* process = driver.host.kernel.find(pid);
    return process != nullptr && process->life == darwin::Life::Alive;
  }

  /// Returns how many processes lauka's commands had, or still have.
  long processes(bool that_live) const {
    const auto& all = driver.host.kernel.processes();
    return std::count_if(all.begin(), all.end(), [that_live](const auto& process) {
      return process->root_id != 0 && (!that_live || process->life == darwin::Life::Alive);
    });
  }
};

/// Writes down when it is called.
class LoggingWatch final : public RunObserver {
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
  CHECK(ended.time_with_preparation >= wall(ended));
  CHECK(nanoseconds(ended.totals.value().user_ns) == 30ms);  // its own alone
  CHECK(ended.totals->instructions > 30'000'000ULL * 112 / 10);
}

TEST_CASE(
    "macOS: the part on performance cores is reported, and is absent where the kernel is older") {
  Bench bench;
  const AccountedTotals totals = bench.run("run 4ms\nrun 4ms e").totals.value();
  CHECK(nanoseconds(totals.on_performance_cores_ns.value()) >= 4ms);
  CHECK(*totals.on_performance_cores_ns < totals.user_ns);
}

TEST_CASE("macOS 12: the totals come from the older flavour") {
  CallRules rules;
  rules.newest_rusage = 5;
  Bench bench(machine("m1"), rules);
  const AccountedTotals totals = bench.run("run 4ms").totals.value();
  CHECK(totals.instructions > 4'000'000 * 112 / 10);
  CHECK_FALSE(totals.energy_nj.has_value());
  CHECK_FALSE(totals.on_performance_cores_ns.has_value());
}

TEST_CASE("macOS: times are right where a mach unit is a nanosecond") {
  darwin::Setup setup = machine("m1");
  setup.timebase_numerator = setup.timebase_denominator = 1;
  Bench bench(setup);
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
  Launch launch;
  launch.run_observers = {&watch};
  bench.run_once(bench.program("run 205ms"), launch);
  CHECK(watch.log == "before made ");
  CHECK(watch.ran_before == 0);
  CHECK(watch.looks == 10);
}

TEST_CASE("macOS: ticks come five times a second") {
  Bench bench;
  int ticks = 0;
  bench.run_once(bench.program("run 2100ms"), {}, [&ticks] { ++ticks; });
  CHECK(ticks == 10);
}

TEST_CASE(
    "macOS: the end of standard error is there, from the file or through a pipe, of the last run") {
  Bench bench;
  bench.run("write err the disk is made of cheese\nexit 3");
  CHECK(bench.launcher->error_output_end() == "the disk is made of cheese");
  bench.run("run 1ms");
  CHECK(bench.launcher->error_output_end().empty());
  ProgramSpec piped = bench.program("write err through a pipe\nwrite out not this\nexit 3");
  piped.output.sink = OutputKind::Pipe;
  bench.run_once(piped);
  CHECK(bench.launcher->error_output_end() == "through a pipe");
}

TEST_CASE("macOS: an output file holds what the last run wrote") {
  Bench bench;
  const std::string file = bench.folder.file("output");
  ProgramSpec spec = bench.program("write out one\nwrite err two");
  spec.output = {OutputKind::File, file};
  for (int i = 0; i < 2; ++i) bench.run_once(spec);
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  CHECK(text.str() == "one\ntwo\n");
}

TEST_CASE("macOS: what could not be opened or executed is reported with its errno") {
  Bench bench;
  ProgramSpec spec = bench.program("run 1ms");
  spec.input_path = "/nonexistent/input";
  const NotStarted no_input = std::get<NotStarted>(bench.run_once(spec).outcome);
  CHECK(no_input.step == LaunchStep::OpenInput);
  CHECK(no_input.error == ENOENT);
  spec.input_path.reset();
  spec.output = {OutputKind::File, "/nonexistent/output"};
  CHECK(std::get<NotStarted>(bench.run_once(spec).outcome).step == LaunchStep::OpenOutput);
  spec.output = {};
  std::ofstream(spec.words.front()) << "echo without a first line\n";
  const NotStarted no_format = std::get<NotStarted>(bench.run_once(spec).outcome);
  CHECK(no_format.step == LaunchStep::Execute);
  CHECK(no_format.error == ENOEXEC);
}

TEST_CASE("macOS: a time-out kills the whole tree, also what has left the process group") {
  Bench bench;
  const Ended ended = bench.run_once(
      bench.slow("fork group {\nignore 15\nfork {\nsleep 90s\n}\nsleep 90s\n}\nsleep 90s", 50ms));
  CHECK(std::get<TimedOut>(ended.outcome).limit == 50ms);
  CHECK(wall(ended) >= 50ms);
  CHECK(wall(ended) < 51ms);
  CHECK(bench.processes(false) == 3);
  CHECK(bench.processes(true) == 0);
}

TEST_CASE("macOS: a run that ends in time is not touched by its time-out, nor by the run before") {
  Bench bench;
  const ProgramSpec slow = bench.slow("sleep 9s", 10ms);
  const ProgramSpec quick = bench.slow("run 9ms", 10ms);
  for (int i = 0; i < 3; ++i) {
    CHECK(std::holds_alternative<TimedOut>(bench.run_once(slow).outcome));
    CHECK(succeeded(bench.run_once(quick).outcome));
  }
}

TEST_CASE("macOS: a command that is stopped is killed and reported, not waited for") {
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
  const std::vector<Launch> launches(3,
                                     {must(bench.launcher->add_program(bench.program("exit 1")))});
  CHECK(bench.launcher->run(launches, AfterFailure::Stop, {})->size() == 1);
  CHECK(bench.launcher->run(launches, AfterFailure::GoOn, {})->size() == 3);
  std::vector<Launch> timed(3, {must(bench.launcher->add_program(bench.program("sleep 50ms")))});
  timed[0].latest_start = timed[2].latest_start = 60ms;
  CHECK(bench.launcher->run(timed, AfterFailure::Stop, {})->size() == 2);
  const ProgramSpec late = bench.slow("sleep 9s", 10ms);
  const std::vector<Launch> slow(2, {must(bench.launcher->add_program(late))});
  CHECK(bench.launcher->run(slow, AfterFailure::GoOn, {})->size() == 1);
}

namespace {

// In a child, which leaves without unwinding, so its files must be gone by then.
bool is_cancelled_at(std::uint64_t call) {
  CallRules rules;
  rules.interrupt_at_call = call;
  Bench bench(machine("m1"), rules);
  watch_for_interrupts();
  const Ended ended = bench.run("fork group {\nsleep 90s\n}\nsleep 90s");
  return std::holds_alternative<Cancelled>(ended.outcome) && bench.processes(true) == 0;
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

TEST_CASE("macOS: every run is reaped and no process remains") {
  Bench bench;
  bench.run("run 1ms");
  bench.run_once(bench.slow("sleep 9s", 10ms));
  bench.run("signal " + std::to_string(SIGSTOP));
  CHECK(bench.driver.host.still_held().empty());
}

// macOS's launcher's requests to posix_spawn.

namespace {

/// The last request, copied: what it points to is gone when the run is over.
struct KernelRequest {
  bool own_environment = false;
  std::vector<std::string> environment{};
  std::optional<User> user{};
  bool same_output = false;
  bool closes_others = false;
  std::vector<int> inherited{};
};

// A table of calls has plain functions, so they record into globals.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
KernelRequest asked;
const DarwinCalls* model_calls = nullptr;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

int spawn_and_note(const SpawnRequest& request, pid_t* pid) {
  asked = KernelRequest{};
  asked.own_environment = request.environment == environ;
  for (char* const* variable = request.environment; *variable != nullptr; ++variable)
    asked.environment.emplace_back(*variable);
  if (request.identity != nullptr) {
    const SpawnIdentity& identity = *request.identity;
    asked.user = User{identity.user,
                      identity.group,
                      {identity.groups, identity.groups + identity.group_count},
                      "",
                      ""};
  }
  asked.same_output = request.output == request.error;
  asked.closes_others = (request.flags & 0x4000U) != 0;  // POSIX_SPAWN_CLOEXEC_DEFAULT
  asked.inherited = {request.inherited, request.inherited + request.inherited_count};
  return model_calls->spawn(request, pid);
}

struct SpawnBench : darwin::Launched {
  SpawnBench() : spec(program("run 1ms")) {
    model_calls = &driver.calls;
    calls = driver.calls;
    calls.spawn = &spawn_and_note;
    launcher.reset();
    launcher = must(start_spawning_launcher(calls));
  }

  DarwinCalls calls{};
  ProgramSpec spec;
};

bool has(const std::vector<std::string>& all, const std::string& one) {
  return std::count(all.begin(), all.end(), one) == 1;
}

}  // namespace

TEST_CASE("macOS: a command gets lauka's own environment as it is, unless something is set") {
  SpawnBench bench;
  CHECK(succeeded(bench.run_once(bench.spec).outcome));
  CHECK(asked.own_environment);
  bench.spec.environment_changes = {"A=two words"};
  bench.spec.launch_variable = "RUN";
  CHECK(succeeded(bench.run_once(bench.spec, {.launch_variable_value = "warmup-0"}).outcome));
  CHECK(has(asked.environment, "A=two words"));
  CHECK(has(asked.environment, "RUN=warmup-0"));
  CHECK_FALSE(asked.user.has_value());
}

TEST_CASE("macOS: what is captured is both outputs") {
  SpawnBench bench;
  bench.spec.output.sink = OutputKind::Capture;
  CHECK(succeeded(bench.run_once(bench.spec).outcome));
  CHECK(asked.same_output);
}

TEST_CASE("macOS: a command inherits what lauka was started with, and nothing of lauka's own") {
  const Descriptor given(dup(STDIN_FILENO));
  SpawnBench bench;
  const Descriptor own(dup(STDIN_FILENO));
  CHECK(succeeded(bench.run_once(bench.spec).outcome));
  CHECK(asked.closes_others);
  CHECK(std::count(asked.inherited.begin(), asked.inherited.end(), given.get()) == 1);
  CHECK(std::count(asked.inherited.begin(), asked.inherited.end(), own.get()) == 0);
}

TEST_CASE("macOS: of more than 16 groups a command gets the first 16 (needs root)") {
  if (geteuid() != 0) return skip("only root can become another user");
  SpawnBench bench;
  REQUIRE(chmod(bench.folder.file("").c_str(), 0755) == 0);
  bench.spec.user = User{54321, 100, {}, "somebody", "/nowhere"};
  for (std::uint32_t group = 100; group < 119; ++group) bench.spec.user->groups.push_back(group);
  CHECK(succeeded(bench.run_once(bench.spec).outcome));
  CHECK(asked.user.value().groups == std::vector<std::uint32_t>{100, 101, 102, 103, 104, 105, 106,
                                                                107, 108, 109, 110, 111, 112, 113,
                                                                114, 115});
}

TEST_CASE("macOS: a command of another user is spawned with that user's ids (needs root)") {
  if (geteuid() != 0) return skip("only root can become another user");
  SpawnBench bench;
  REQUIRE(chmod(bench.folder.file("").c_str(), 0755) == 0);
  bench.spec.user = User{54321, 54322, {54322, 7}, "somebody", "/nowhere"};
  CHECK(succeeded(bench.run_once(bench.spec).outcome));
  CHECK(asked.user.value().id == 54321);
  CHECK(asked.user->group == 54322);
  CHECK(asked.user->groups == std::vector<std::uint32_t>{54322, 7});
  CHECK(has(asked.environment, "HOME=/nowhere"));
  CHECK(has(asked.environment, "LOGNAME=somebody"));
  CHECK(geteuid() == 0);
}

}  // namespace lauka::os
