#include "os/spawning_launcher.h"

#include "os/descendants.h"
#include "os/event_queue.h"
#include "os/mach_time.h"
#include "os/run_files.h"
#include "os/rusage.h"
#include "os/signals.h"
#include "os/standard_descriptors.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <limits>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

// NOLINTNEXTLINE: POSIX wants this global declared by whoever uses it
extern char** environ;

namespace lauka::os {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr nanoseconds kTick = milliseconds(200);
constexpr nanoseconds kHousekeeping = milliseconds(100);

/// Signals as lauka was started with them: what every command gets.
struct StartedWith {
  sigset_t mask{};
  bool ignored_child = false;
  bool ignored_pipe = false;
};

bool is_ignored(int signal_number) {
  struct sigaction action {};
  return sigaction(signal_number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// A program with its words as posix_spawn wants them.
class Program {
 public:
  Program(ProgramSpec spec, std::string path) : spec_(std::move(spec)), path_(std::move(path)) {}

  const ProgramSpec& spec() const { return spec_; }
  const char* path() const { return path_.c_str(); }
  std::vector<char*> argv() {
    std::vector<char*> words;
    for (std::string& word : spec_.words) words.push_back(word.data());
    words.push_back(nullptr);
    return words;
  }

  /// What it finds in its environment, kept in `variables`; empty: lauka's own as it is.
  std::vector<char*> environment(const std::string& value,
                                 std::vector<std::string>& variables) const {
    std::vector<char*> all;
    if (spec_.environment.empty() && spec_.launch_variable.empty() && !spec_.user) return all;
    variables = environment_of(spec_, value);
    for (std::string& variable : variables) all.push_back(variable.data());
    all.push_back(nullptr);
    return all;
  }

 private:
  ProgramSpec spec_;
  std::string path_;
};

/// What is to be called again and again while a run goes on, and when next.
struct Due {
  nanoseconds at{};
  nanoseconds interval{};

  bool is_due(nanoseconds now) {
    if (now < at) return false;
    at = now + interval;
    return true;
  }
};

/// Those who look at a run while it goes on, each at its own interval.
class Looks {
 public:
  Looks(std::span<RunWatch* const> watches, nanoseconds began) : watches_(watches) {
    for (const RunWatch* watch : watches)
      dues_.push_back({began + watch->interval(), watch->interval()});
  }

  nanoseconds next() const {
    nanoseconds first = nanoseconds::max();
    for (const Due& due : dues_) first = std::min(first, due.at);
    return first;
  }

  void look(nanoseconds at, pid_t pid) {
    for (std::size_t i = 0; i < dues_.size(); ++i) {
      if (dues_[i].is_due(at)) watches_[i]->running(pid);
    }
  }

 private:
  std::span<RunWatch* const> watches_;
  std::vector<Due> dues_;
};

class SpawningLauncher final : public Launcher {
 public:
  SpawningLauncher(const DarwinCalls& calls, StartedWith started_with)
      : calls_(calls), started_with_(started_with), events_(calls), timebase_(timebase_of(calls)) {}

  bool open() { return files_.open_all() && events_.open(files_.readable()); }

  Result<ProgramId> add_program(const ProgramSpec& spec) override {
    Result<std::string> path = find_program_of(spec);
    if (!path) return path.error();
    if (spec.user) static_cast<void>(files_.hand_pipes_to(*spec.user));
    programs_.emplace_back(spec, *std::move(path));
    return static_cast<ProgramId>(programs_.size() - 1);
  }

  Result<CounterSetId> add_counters(std::span<const CounterRequest> /*requests*/) override {
    return Error{"this system's launcher opens no counters", "please report it"};
  }

  Result<std::vector<Ended>> run(std::span<const Launch> launches, bool go_on_after_failure,
                                 const Tick& tick) override {
    std::vector<Ended> all;
    const HoldSignals hold;
    // Only suspension is held back: a request to end is seen as soon as it comes.
    sigprocmask(SIG_SETMASK, &hold.mask_for_waiting(), nullptr);
    tick_ = &tick;
    tick_due_ = {now() + kTick, kTick};
    for (const Launch& launch : launches.first(std::min(launches.size(), kMaxBatch))) {
      const nanoseconds began = now();
      heeds_interrupts_ = !launch.despite_interrupt;
      all.push_back(is_interrupted() ? Ended{Cancelled{}, {}, {}} : run_one(launch));
      all.back().whole = now() - began;
      if (must_stop_after(all.back().outcome, go_on_after_failure)) break;
    }
    return all;
  }

  std::string error_output_end() const override { return files_.error_output_end(); }

 private:
  nanoseconds now() const {
    return nanoseconds(ns_of_mach(calls_.mach_absolute_time(), timebase_));
  }

  bool is_interrupted() const { return heeds_interrupts_ && interrupt() != 0; }

  static bool must_stop_after(const Outcome& outcome, bool go_on_after_failure) {
    const bool ended_by_itself =
        std::holds_alternative<Exited>(outcome) || std::holds_alternative<Signalled>(outcome);
    return !ended_by_itself || (!succeeded(outcome) && !go_on_after_failure);
  }

  Ended run_one(const Launch& launch) {
    Program& program = programs_.at(launch.program);
    const RunFiles::Opened opened = files_.open(program.spec());
    Ended ended;
    if (opened.failed) {
      ended.outcome = *opened.failed;
      if (opened.failed->error == EINTR) ended.outcome = Cancelled{};
    } else {
      execute(program, opened, launch, ended);
    }
    files_.close();
    return ended;
  }

  void execute(Program& program, const RunFiles::Opened& opened, const Launch& launch,
               Ended& ended) {
    const std::span<RunWatch* const> watches = launch.watches;
    for (RunWatch* watch : watches) watch->before_start();
    pid_t pid = 0;
    if (const int error = spawn(program, opened, launch.value, pid); error != 0) {
      const bool cannot_change_user = program.spec().user && (error == ENOSYS || error == EPERM);
      ended.outcome =
          NotStarted{cannot_change_user ? LaunchStep::BecomeUser : LaunchStep::Execute, error};
      return;
    }
    for (RunWatch* watch : watches) watch->made(pid);
    events_.expect_end_of(pid);
    const nanoseconds began = now();
    calls_.kill(pid, SIGCONT);
    const std::optional<Outcome> killed = attend(pid, began, program.spec(), watches);
    const nanoseconds end = await_zombie(pid);
    ended.usage.wall_ns = static_cast<std::uint64_t>((end - began).count());
    take_accounts(pid, ended);
    if (killed) ended.outcome = *killed;
  }

  int spawn(Program& program, const RunFiles::Opened& opened, const std::string& value,
            pid_t& pid) {
    sigset_t default_signals;
    sigemptyset(&default_signals);
    if (!started_with_.ignored_pipe) sigaddset(&default_signals, SIGPIPE);
    const std::vector<char*> argv = program.argv();
    SpawnRequest request;
    request.path = program.path();
    request.argv = argv.data();
    std::vector<std::string> variables;
    const std::vector<char*> environment = program.environment(value, variables);
    request.environment = environment.empty() ? environ : environment.data();
    SpawnIdentity identity;
    if (const auto& user = program.spec().user) {
      identity = {user->id, user->group, user->groups.data(),
                  static_cast<int>(user->groups.size())};
      request.identity = &identity;
    }
    request.input = opened.input;
    request.output = opened.output;
    request.error = opened.error;
    request.flags =
        kSpawnSetProcessGroup | kSpawnSetDefaultSignals | kSpawnSetSignalMask | kSpawnSuspended;
    request.default_signals = &default_signals;
    request.signal_mask = &started_with_.mask;
    if (program.spec().prefer == CorePreference::Efficiency) request.qos_clamp = kClampBackground;
    // posix_spawn cannot make a signal ignored. The child is suspended, so its end is not missed.
    if (started_with_.ignored_child) std::signal(SIGCHLD, SIG_IGN);
    const int error = calls_.spawn(request, &pid);
    if (started_with_.ignored_child) std::signal(SIGCHLD, SIG_DFL);
    return error;
  }

  /// Until the run ends by itself or has been killed: then the outcome is known already.
  std::optional<Outcome> attend(pid_t pid, nanoseconds began, const ProgramSpec& spec,
                                std::span<RunWatch* const> watches) {
    const nanoseconds deadline = spec.timeout ? began + *spec.timeout : nanoseconds::max();
    Looks looks(watches, began);
    Due housekeeping{began + kHousekeeping, kHousekeeping};
    for (;;) {
      const nanoseconds next = std::min({deadline, housekeeping.at, tick_due_.at, looks.next()});
      const EventQueue::Happened happened = events_.wait(next - now());
      if (happened.readable) files_.drain();
      if (happened.ended) return std::nullopt;
      const nanoseconds at = now();
      std::optional<Outcome> killed;
      if (happened.child_signal) killed = stopped(pid);
      if (!killed) killed = out_of_time(at >= deadline, spec);
      if (killed) {
        kill_with_descendants(calls_, pid);
        return killed;
      }
      looks.look(at, pid);
      if (housekeeping.is_due(at)) files_.keep_small();
      if (tick_due_.is_due(at) && *tick_) (*tick_)();
    }
  }

  /// Why a run is to go on no longer; none: it may.
  std::optional<Outcome> out_of_time(bool is_late, const ProgramSpec& spec) const {
    if (is_interrupted()) return Cancelled{};
    if (is_late) return TimedOut{*spec.timeout};
    return std::nullopt;
  }

  /// The outcome of a run that waits for ever, stopped by job control.
  std::optional<Outcome> stopped(pid_t pid) {
    siginfo_t info{};
    const int waited = calls_.waitid(P_PID, static_cast<id_t>(pid), &info, WSTOPPED | WNOHANG);
    if (waited != 0 || info.si_pid != pid || info.si_code != CLD_STOPPED) return std::nullopt;
    return Stopped{info.si_status};
  }

  nanoseconds await_zombie(pid_t pid) {
    siginfo_t info{};
    while (calls_.waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0 &&
           errno == EINTR) {
    }
    return now();
  }

  /// Everything the kernel knows of the ended run, and its reaping.
  void take_accounts(pid_t pid, Ended& ended) {
    ProcessUsage usage;
    const bool is_known = read_usage(pid, usage);
    int status = 0;
    rusage used{};
    while (calls_.wait4(pid, &status, 0, &used) < 0) {
      if (errno == EINTR) continue;
      ended.outcome = NotStarted{LaunchStep::Fork, errno};
      return;
    }
    if (WIFSIGNALED(status)) {
      ended.outcome = Signalled{WTERMSIG(status), WCOREDUMP(status) != 0};
    } else {
      ended.outcome = Exited{WEXITSTATUS(status)};
    }
    note_usage(used, ended.usage);
    ended.usage.peak_rss_bytes =
        static_cast<std::uint64_t>(used.ru_maxrss);  // bytes on this system
    if (!is_known) return;
    // Finer than wait4's microseconds.
    ended.usage.user_ns = ns(usage.user_time + usage.child_user_time);
    ended.usage.system_ns = ns(usage.system_time + usage.child_system_time);
    ended.totals = totals_of(pid, usage);
  }

  std::uint64_t ns(std::uint64_t ticks) const { return ns_of_mach(ticks, timebase_); }

  /// In the newest flavour that this kernel has.
  bool read_usage(pid_t pid, ProcessUsage& usage) {
    auto** buffer = reinterpret_cast<void**>(&usage);  // how the call is declared
    if (has_newest_usage_) {
      if (calls_.proc_pid_rusage(pid, kRusageV6, buffer) == 0) return true;
      if (errno != EINVAL) return false;
      has_newest_usage_ = false;
    }
    return calls_.proc_pid_rusage(pid, kRusageV4, buffer) == 0;
  }

  KernelTotals totals_of(pid_t pid, const ProcessUsage& usage) const {
    KernelTotals totals;
    totals.pid = pid;
    totals.instructions = usage.instructions;
    totals.cycles = usage.cycles;
    totals.user_ns = ns(usage.user_time);
    totals.system_ns = ns(usage.system_time);
    if (!has_newest_usage_) return totals;
    totals.energy_nj = usage.energy_nj;
    totals.on_performance_cores = {usage.p_instructions, usage.p_cycles, ns(usage.p_user_time),
                                   ns(usage.p_system_time), usage.p_energy_nj};
    return totals;
  }

  const DarwinCalls& calls_;
  StartedWith started_with_;
  EventQueue events_;
  RunFiles files_;
  Timebase timebase_;
  std::vector<Program> programs_;
  const Tick* tick_ = nullptr;
  Due tick_due_{};
  bool has_newest_usage_ = true;
  bool heeds_interrupts_ = true;  // the run that goes on
};

}  // namespace

Result<std::unique_ptr<Launcher>> start_spawning_launcher(const DarwinCalls& calls) {
  StartedWith started_with;
  sigprocmask(SIG_SETMASK, nullptr, &started_with.mask);
  started_with.ignored_child = is_ignored(SIGCHLD);
  started_with.ignored_pipe = is_ignored(SIGPIPE);
  std::signal(SIGCHLD, SIG_DFL);  // ignored, it would make the kernel throw away status and usage
  fill_standard_descriptors();
  auto launcher = std::make_unique<SpawningLauncher>(calls, started_with);
  if (!launcher->open()) {
    return Error{
        "lauka cannot open what runs are started with: " + std::generic_category().message(errno),
        ""};
  }
  return std::unique_ptr<Launcher>(std::move(launcher));
}

}  // namespace lauka::os
