#include "os/launcher_process.h"

#include "os/launcher_counters.h"
#include "os/launcher_files.h"
#include "os/platform.h"
#include "os/rusage.h"

#include <cerrno>
#include <csignal>
#include <ctime>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

// NOLINTNEXTLINE: POSIX wants this global declared by whoever uses it
extern char** environ;

namespace lauka::os {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr std::int64_t kHousekeepingNs = 100'000'000;
constexpr off_t kErrorFileLimit = 1 << 20;
constexpr off_t kErrorFileKept = 1 << 16;
constexpr int kBusyFileRetries = 20;

// What the signal handler sees: the process group to kill, and where to look whether it should. A
// handler has no other way to reach them.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
volatile sig_atomic_t running_group = 0;
SharedState* handler_state = nullptr;
pid_t handler_parent = 0;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

std::int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * kNsPerSecond + t.tv_nsec;
}

void kill_run(pid_t leader) {
  kill(-leader, SIGKILL);
  kill(leader, SIGKILL);  // it may have left its group
}

// Sent by lauka with `cancel` set, or by the kernel when lauka has died: then nobody wants the run.
void on_poke(int) {
  const int saved = errno;
  if (getppid() != handler_parent) handler_state->cancel = true;
  if (handler_state->cancel && running_group > 0) kill_run(running_group);
  errno = saved;
}

void on_alarm(int) {}  // only to make waitid return

/// Gives the calling process, a vfork child, the user's ids for good; first the groups, while it
/// may.
bool become(const SharedUser& user) {
  return change_user(user.id, user.group, user.group_count, user.groups) == 0;
}

/// What the vfork child uses and reports; it lives in the launcher's frame, which both share until
/// execve.
struct ChildPlan {
  const SharedProgram* program;
  const StartedWith* started_with;
  StandardFiles files{};
  const rlimit* descriptors = nullptr;  // null: not changed
  volatile std::int64_t exec_ns = 0;
  volatile int error_number = 0;
  volatile LaunchStep failed_step = LaunchStep::Execute;
};

/// Starts the program. Only system calls between vfork and execve: the child runs in this process's
/// memory. It does not return in the child, and is not inlined, so that the child cannot harm the
/// caller's frame.
[[gnu::noinline]] pid_t start_child(ChildPlan& plan) {
  // fork would cost 2.5 times a tiny program's whole life; what the analyzer forbids after vfork
  // are the system calls that prepare the process.
  // NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork, clang-analyzer-unix.Vfork)
  const pid_t pid = vfork();
  if (pid != 0) return pid;
  setpgid(0, 0);
  if (plan.program->user != nullptr && !become(*plan.program->user)) {
    plan.failed_step = LaunchStep::BecomeUser;
    plan.error_number = errno;
    _exit(127);
  }
  // After the change of user, which undoes it. lauka and this launcher may be killed together:
  // timeout -s KILL does it.
  die_with_parent();
  dup2(plan.files.input, STDIN_FILENO);
  if (plan.files.output >= 0) dup2(plan.files.output, STDOUT_FILENO);
  if (plan.files.error >= 0) dup2(plan.files.error, STDERR_FILENO);
  if (plan.descriptors != nullptr) setrlimit(RLIMIT_NOFILE, plan.descriptors);
  if (plan.started_with->ignored_child) signal(SIGCHLD, SIG_IGN);
  if (plan.started_with->ignored_poke) signal(kPokeSignal, SIG_IGN);
  if (plan.started_with->ignored_alarm) signal(SIGALRM, SIG_IGN);
  sigprocmask(SIG_SETMASK, &plan.started_with->mask, nullptr);
  const SharedProgram& program = *plan.program;
  if (program.cpus != nullptr && !run_on_cpus(program.cpus, program.cpus_bytes)) {
    plan.failed_step = LaunchStep::Prepare;
  } else {
    plan.exec_ns = now_ns();
    execve(program.path, program.argv,
           program.environment != nullptr ? program.environment : environ);
  }
  plan.error_number = errno;
  // NOLINTEND(clang-analyzer-security.insecureAPI.vfork, clang-analyzer-unix.Vfork)
  _exit(127);
}

class LauncherProcess {
 public:
  explicit LauncherProcess(const LauncherSetup& setup)
      : setup_(setup), state_(*setup.state), counters_(setup.counters) {}

  void run_batch() {
    state_.ended_count = 0;
    used_readings_ = 0;
    set_alarm(kHousekeepingNs, kHousekeepingNs);
    for (std::size_t i = 0; i < state_.launch_count; ++i) {
      SharedEnded& ended = state_.ended[i];
      ended = SharedEnded{};
      if (state_.cancel) {
        ended.kind = EndKind::Cancelled;
      } else {
        run(state_.launches[i], ended);
      }
      state_.ended_count = i + 1;
      if (must_stop_after(ended)) break;
    }
    set_alarm(0, 0);
    note_floor();
  }

 private:
  bool must_stop_after(const SharedEnded& ended) const {
    if (ended.counter_error != 0 || state_.cancel) return true;
    const bool failed = ended.kind != EndKind::Exited || ended.number != 0;
    if (ended.kind == EndKind::NotStarted || ended.kind == EndKind::Stopped) return true;
    if (ended.kind == EndKind::TimedOut) return true;  // lauka first kills what left the group
    return failed && !state_.go_on_after_failure;
  }

  void run(const SharedLaunch& launch, SharedEnded& ended) {
    ended.began_ns = now_ns();
    forget_error_output(setup_.error_file);
    ChildPlan plan{launch.program, &setup_.started_with};
    if (launch.program->variable != nullptr) *launch.program->variable = launch.variable;
    if (open_files(*launch.program, plan.files, ended)) {
      ended.counter_error = counters_.open(launch.counters);
      ended.optional_error = counters_.optional_error();
      plan.descriptors = counters_.original_limit();
      if (ended.counter_error == 0) {
        execute(plan, ended);
        read_counters(launch.counters, ended);
      }
      counters_.close(launch.counters);
    }
    close_standard_files(*launch.program, plan.files);
    while (waitpid(-1, nullptr, WNOHANG) > 0) {  // orphans that earlier runs left to us
    }
    ended.whole_ns = now_ns() - ended.began_ns;
  }

  void execute(ChildPlan& plan, SharedEnded& ended) {
    const std::int64_t timeout_ns = plan.program->timeout_ns;
    if (timeout_ns > 0) set_alarm_for_timeout(timeout_ns);
    pid_t pid = start_child(plan);
    for (int i = 0; pid > 0 && plan.error_number == ETXTBSY && i < kBusyFileRetries; ++i) {
      waitpid(pid, nullptr, 0);  // the file is just being written: wait for its writer
      const timespec pause{0, 10'000'000};
      nanosleep(&pause, nullptr);
      plan.error_number = 0;
      pid = start_child(plan);
    }
    if (pid < 0) {
      not_started(LaunchStep::Fork, errno, ended);
      return;
    }
    running_group = pid;
    if (state_.cancel) kill_run(pid);  // the poke may have come before the group was known
    await_end(pid, plan, ended);
    running_group = 0;
    int status = 0;
    rusage used{};
    while (wait4(pid, &status, 0, &used) < 0 && errno == EINTR) {
    }
    if (plan.error_number != 0) {
      not_started(plan.failed_step, plan.error_number, ended);
      return;
    }
    note_usage(used, ended.usage);
    ended.usage.peak_rss_bytes = rss_bytes(used.ru_maxrss);
    note_ending(status, ended);
  }

  void read_counters(const SharedCounters* set, SharedEnded& ended) {
    if (set == nullptr || ended.kind == EndKind::NotStarted) return;
    ended.readings = used_readings_;
    ended.counter_error = counters_.read(*set, state_.readings.data() + used_readings_);
    if (ended.counter_error != 0) return;
    ended.reading_count = set->count;
    used_readings_ += set->count;
  }

  /// Stamps the end before the child is reaped; kills it when it takes too long or is stopped.
  void await_end(pid_t pid, const ChildPlan& plan, SharedEnded& ended) {
    for (;;) {
      siginfo_t info{};
      const int waited = waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WSTOPPED | WNOWAIT);
      const std::int64_t end_ns = now_ns();
      if (waited != 0) {
        if (errno != EINTR) {
          not_started(LaunchStep::Fork, errno, ended);
          return;
        }
        keep_house(pid, plan, end_ns, ended);
      } else if (info.si_code == CLD_STOPPED) {
        waitid(P_PID, static_cast<id_t>(pid), &info,
               WSTOPPED | WNOHANG);  // else it is told again and again
        ended.kind = EndKind::Stopped;
        ended.number = info.si_status;
        kill_run(pid);
      } else {
        ended.usage.wall_ns = static_cast<std::uint64_t>(end_ns - plan.exec_ns);
        return;
      }
    }
  }

  /// About every 100 ms of a long run, and when its time is up.
  void keep_house(pid_t pid, const ChildPlan& plan, std::int64_t at_ns, SharedEnded& ended) {
    const std::int64_t timeout_ns = plan.program->timeout_ns;
    if (timeout_ns > 0) {
      const std::int64_t left_ns = timeout_ns - (at_ns - plan.exec_ns);
      if (left_ns <= 0) {
        ended.kind = EndKind::TimedOut;
        kill_run(pid);
      } else {
        set_alarm_for_timeout(left_ns);
      }
    }
    struct stat file {};
    if (fstat(setup_.error_file, &file) == 0 && file.st_blocks * 512 > kErrorFileLimit) {
      drop_front(setup_.error_file, file.st_size, kErrorFileKept);
    }
  }

  void note_ending(int status, SharedEnded& ended) const {
    if (ended.kind != EndKind::Exited) return;  // known already
    if (state_.cancel) {
      ended.kind = EndKind::Cancelled;
    } else if (WIFSIGNALED(status)) {
      ended.kind = EndKind::Signalled;
      ended.number = WTERMSIG(status);
      ended.core_dumped = WCOREDUMP(status);
    } else {
      ended.kind = EndKind::Exited;
      ended.number = WEXITSTATUS(status);
    }
  }

  /// The launcher's own peak, and a tenth: the kernel sums a process's pages per CPU and is that
  /// far off.
  void note_floor() {
    rusage own{};
    getrusage(RUSAGE_SELF, &own);
    const std::uint64_t floor = rss_bytes(own.ru_maxrss) * 11 / 10;
    for (std::size_t i = 0; i < state_.ended_count; ++i) {
      state_.ended[i].usage.peak_rss_floor_bytes = floor;
    }
  }

  bool open_files(const SharedProgram& program, StandardFiles& files, SharedEnded& ended) const {
    const OpenFailure failure = open_standard_files(program, setup_, files);
    if (failure.error == 0) return true;
    not_started(failure.step, failure.error, ended);
    if (failure.error == EINTR) ended.kind = EndKind::Cancelled;
    return false;
  }

  static void not_started(LaunchStep step, int error, SharedEnded& ended) {
    ended.kind = EndKind::NotStarted;
    ended.step = step;
    ended.number = error;
  }

  // ---- the alarm that makes waitid return

  static void set_alarm(std::int64_t first_ns, std::int64_t interval_ns) {
    const auto to_timeval = [](std::int64_t ns) {
      return timeval{static_cast<time_t>(ns / kNsPerSecond),
                     static_cast<suseconds_t>(ns % kNsPerSecond / 1000)};
    };
    const itimerval timer{to_timeval(interval_ns), to_timeval(first_ns)};
    setitimer(ITIMER_REAL, &timer, nullptr);
  }

  /// The interval repeats it soon, in case it comes just before waitid is called.
  static void set_alarm_for_timeout(std::int64_t left_ns) {
    const std::int64_t first_ns = left_ns < kHousekeepingNs ? left_ns + 1000 : kHousekeepingNs;
    set_alarm(first_ns, left_ns < kHousekeepingNs ? kHousekeepingNs / 10 : kHousekeepingNs);
  }

  const LauncherSetup& setup_;
  SharedState& state_;
  std::size_t used_readings_ = 0;
  LauncherCounters counters_;
};

void catch_signal(int signal_number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;  // without SA_RESTART: waitid is to return
  sigfillset(&action.sa_mask);
  sigaction(signal_number, &action, nullptr);
}

}  // namespace

void serve_as_launcher(const LauncherSetup& setup) {
  handler_state = setup.state;
  handler_parent = setup.parent;
  signal(SIGCHLD, SIG_DFL);  // ignored, it would make the kernel throw away status and usage
  catch_signal(kPokeSignal, on_poke);
  catch_signal(SIGALRM, on_alarm);
  become_reaper(kPokeSignal);
  if (getppid() != setup.parent) _exit(0);  // it died before it could be watched

  // Everything else stays blocked: Ctrl-C goes to lauka, which decides. The commands get their own
  // mask.
  sigset_t blocked;
  sigfillset(&blocked);
  sigdelset(&blocked, kPokeSignal);
  sigdelset(&blocked, SIGALRM);
  sigprocmask(SIG_SETMASK, &blocked, nullptr);

  LauncherProcess launcher(setup);
  for (;;) {
    char byte = 0;
    const ssize_t got = read(setup.socket, &byte, 1);
    if (got == 0 || (got < 0 && errno != EINTR)) _exit(0);
    if (got < 0) continue;
    launcher.run_batch();
    while (write(setup.socket, &byte, 1) < 0) {
      if (errno != EINTR) _exit(0);
    }
  }
}

}  // namespace lauka::os
