#include "os/launcher_process.h"

#include "core/result.h"
#include "os/platform.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <ctime>

#include <fcntl.h>
#include <grp.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// NOLINTNEXTLINE: POSIX wants this global declared by whoever uses it
extern char** environ;

namespace lauka::os {

namespace {

/// Root opens a file for the user as the user, or a link would lead it to what only root may touch.
class Rights : NonCopyable {
 public:
  explicit Rights(const SharedUser* user) : changed_(user != nullptr) {
    if (user == nullptr) return;
    allowed_ = setgroups(user->group_count, user->groups) == 0 && setegid(user->group) == 0 &&
               seteuid(user->id) == 0;
    if (!allowed_) error_ = errno;
  }
  ~Rights() {
    if (!changed_) return;
    const int saved = errno;
    // Without a group list this process needs none: it is root again.
    if (seteuid(0) != 0 || setegid(0) != 0) _exit(0);
    when_parent_dies(kPokeSignal);  // the change of user undid it
    errno = saved;
  }
  int error() const { return allowed_ ? 0 : error_; }

 private:
  bool changed_;
  bool allowed_ = true;
  int error_ = 0;
};

/// What could not be opened, and why; error 0: all was.
struct OpenFailure {
  LaunchStep step = LaunchStep::OpenInput;
  int error = 0;
};

/// What a run gets, and the file that takes what it writes: now, or where its output is kept, when
/// it has ended.
struct OpenFiles {
  StandardFiles standard{};
  int named = -1;
};

OpenFailure open_paths(const SharedProgram& program, const LauncherSetup& setup, OpenFiles& open) {
  StandardFiles& files = open.standard;
  if (program.input_path != nullptr) files.input = -1;
  const Rights rights(program.user);
  if (rights.error() != 0) return {LaunchStep::BecomeUser, rights.error()};
  const auto limit = std::chrono::nanoseconds(program.timeout_ns > 0 ? program.timeout_ns : kNever);
  const OpensPatiently opens(limit, [&] { return nobody_wants_it(setup); });
  if (program.input_path != nullptr) {
    files.input = opens.open(program.input_path, O_RDONLY);
    if (files.input < 0) return {LaunchStep::OpenInput, errno};
  }
  if (program.sink == Sink::File) {
    open.named = opens.open(program.output_path, O_WRONLY | O_CREAT | O_TRUNC);
    if (open.named < 0) return {LaunchStep::OpenOutput, errno};
    if (!program.is_kept) files.output = files.error = open.named;
  }
  return {};
}

/// Opens what `program` is to have, with its user's rights. EINTR: the run was cancelled while it
/// waited for the other end of a named pipe; ETIMEDOUT: that took too long.
OpenFailure open_standard_files(const SharedProgram& program, const LauncherSetup& setup,
                                OpenFiles& open) {
  open.standard = program.is_kept ? setup.files.kept() : setup.files.of(program.sink);
  const bool has_paths = program.input_path != nullptr || program.sink == Sink::File;
  return has_paths ? open_paths(program, setup, open) : OpenFailure{};
}

/// Closes what was opened for this run alone.
void close_standard_files(const SharedProgram& program, const OpenFiles& open) {
  if (program.input_path != nullptr && open.standard.input >= 0) close(open.standard.input);
  if (open.named >= 0) close(open.named);
}

constexpr std::int64_t kHousekeepingNs = 100'000'000;
constexpr std::int64_t kDyingNs = 2'000'000'000;  // at most, for a process that has been killed

/// 0 or errno, where not even the leader may be killed: it has become another user.
int kill_run(pid_t leader) {
  kill(-leader, SIGKILL);
  return kill(leader, SIGKILL) == 0 ? 0 : errno;  // it may have left its group
}

class LauncherProcess {
 public:
  explicit LauncherProcess(const LauncherSetup& setup)
      : setup_(setup), state_(*setup.state), counters_(setup.counters) {
    sigfillset(&all_signals_);
    sigemptyset(&awaited_);
    sigaddset(&awaited_, SIGCHLD);
    sigaddset(&awaited_, kPokeSignal);
  }

  void run_batch() {
    state_.ended_count = 0;
    used_readings_ = 0;
    for (std::size_t i = 0; i < state_.launch_count; ++i) {
      SharedEnded& ended = state_.ended[i];
      ended = SharedEnded{};
      if (nobody_wants_it(setup_)) {
        ended.kind = EndKind::Cancelled;
      } else {
        run(state_.launches[i], ended);
      }
      state_.ended_count = i + 1;
      if (must_stop_after(ended)) break;
    }
    note_floor();
  }

  /// lauka has died: what left the process group of a run that was killed must not live on.
  void kill_what_was_cancelled() const {
    if (state_.ended_count == 0) return;
    const SharedEnded& last = state_.ended[state_.ended_count - 1];
    if (last.kind == EndKind::Cancelled && last.began_ns != 0)
      kill_descendants(getpid(), last.began_ns);
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
    setup_.files.forget_output();
    ChildPlan plan{launch.program, &setup_.started_with, &all_signals_};
    plan.uses_own_cpus = !state_.ignores_own_cpus;
    if (launch.program->variable != nullptr) *launch.program->variable = launch.variable;
    OpenFiles open;
    if (open_files(*launch.program, open, ended)) {
      plan.files = open.standard;
      const auto& group = state_.group[0] != '\0' || launch.program->cpus == nullptr
                              ? state_.group
                              : state_.group_on_own_cpus;
      if (group[0] != '\0') plan.control_group = ::open(group.data(), O_WRONLY | O_CLOEXEC);
      ended.counter_error = counters_.open(launch.counters);
      ended.optional_error = counters_.optional_error();
      plan.descriptors = counters_.original_limit();
      RegionPage region;
      if (const int error = share_region(launch, region); error != 0) {
        not_started(LaunchStep::Prepare, error, ended);
      } else if (ended.counter_error == 0) {
        execute(plan, ended);
        read_counters(launch.counters, ended);
      }
      ended.region = region.use();
      counters_.close(launch.counters);
      if (launch.program->input_path != nullptr && launch.program->jobs == 1)
        ended.input = input_read(plan.files.input);
    }
    if (launch.program->is_kept) setup_.files.pass_on(launch.program->sink, open.named);
    close_standard_files(*launch.program, open);
    if (plan.control_group >= 0) close(plan.control_group);
    while (waitpid(-1, nullptr, WNOHANG) > 0) ++ended.orphans;  // left to us, the reaper
    ended.whole_ns = now_ns() - ended.began_ns;
  }

  void execute(ChildPlan& plan, SharedEnded& ended) {
    const bool has_jobs = plan.program->jobs > 1;
    if (has_jobs) plan.exec_ns = now_ns();
    const pid_t pid = has_jobs ? start_jobs(plan, state_.jobs) : start_patiently(plan);
    if (pid < 0) {
      not_started(LaunchStep::Fork, errno, ended);
      return;
    }
    await_end(pid, plan, ended);
    ended.exec_ns = plan.exec_ns;
    if (has_jobs) note_jobs(ended);
    if (plan.error_number != 0) not_started(plan.failed_step, plan.error_number, ended);
  }

  /// What the copies came to; that they were killed for another reason is known already.
  void note_jobs(SharedEnded& ended) const {
    const SharedJobs& jobs = state_.jobs;
    if (ended.kind != EndKind::Exited && ended.kind != EndKind::Signalled) return;
    if (!jobs.has_failed && !jobs.are_all_over) return;
    ended.kind = jobs.kind;
    ended.number = jobs.number;
    ended.core_dumped = jobs.core_dumped;
    ended.step = jobs.step;
    if (!jobs.are_all_over) return;
    ended.usage = jobs.usage;
    ended.usage.wall_ns = static_cast<std::uint64_t>(jobs.end_ns - jobs.exec_ns);
  }

  void read_counters(const SharedCounters* set, SharedEnded& ended) {
    if (set == nullptr || ended.kind == EndKind::NotStarted) return;
    ended.readings = used_readings_;
    ended.counter_error = counters_.read(*set, state_.readings.data() + used_readings_);
    if (ended.counter_error != 0) return;
    ended.reading_count = set->count;
    used_readings_ += set->count;
  }

  /// Stamps the end before the child is reaped; kills it when it takes too long, is stopped or is
  /// no longer wanted. All signals are blocked, so that none is missed between two waits.
  // NOLINTNEXTLINE(readability-function-cognitive-complexity): one loop over all that may end a run
  void await_end(pid_t pid, const ChildPlan& plan, SharedEnded& ended) {
    std::int64_t end_ns = plan.exec_ns;
    std::int64_t give_up_ns = kNever;
    std::int64_t housekeeping_ns = end_ns + kHousekeepingNs;
    const std::int64_t timeout_ns = plan.program->timeout_ns;
    std::int64_t deadline_ns = timeout_ns > 0 ? end_ns + timeout_ns : kNever;
    bool is_asked = false;
    for (;;) {
      const bool is_killed = ended.kind != EndKind::Exited;
      if (!is_killed && !is_asked && state_.enough) {
        is_asked = true;
        ask_to_end(pid);
        deadline_ns = now_ns() + kGrace.count();
      }
      wait_until(std::min(is_killed ? give_up_ns : deadline_ns, housekeeping_ns), end_ns);
      end_ns = now_ns();
      int status = 0;
      rusage used{};
      const pid_t found = wait4(pid, &status, WNOHANG | WUNTRACED, &used);
      if (found < 0) return not_started(LaunchStep::Fork, errno, ended);
      const bool has_ended = found > 0 && !WIFSTOPPED(status);
      if (!is_killed && end_ns > deadline_ns) {
        // One that was asked to end has no limit to exceed: it ends by our signal.
        ended.kind = is_asked ? EndKind::Signalled : EndKind::TimedOut;
        if (is_asked) ended.number = SIGKILL;
      }
      if (has_ended) {
        ended.usage.wall_ns = static_cast<std::uint64_t>(end_ns - plan.exec_ns);
        note_usage(used, ended.usage);
        ended.usage.peak_rss_bytes = rss_bytes(used.ru_maxrss);
        if (is_asked) await_group(pid, deadline_ns);
        return note_ending(status, ended);
      }
      if (!is_killed && found > 0) {
        ended.kind = EndKind::Stopped;
        ended.number = WSTOPSIG(status);
      }
      if (!is_killed && nobody_wants_it(setup_)) ended.kind = EndKind::Cancelled;
      if (!is_killed && ended.kind != EndKind::Exited)
        give_up_ns = kill_run(pid) == 0 ? end_ns + kDyingNs : end_ns;
      if (end_ns >= give_up_ns) {
        ended.survivor = pid;
        return;
      }
      if (end_ns >= housekeeping_ns) {
        setup_.files.keep_small(plan.program->is_kept);
        housekeeping_ns = end_ns + kHousekeepingNs;
      }
    }
  }

  static void ask_to_end(pid_t leader) {
    kill(-leader, SIGTERM);
    kill(leader, SIGTERM);  // it may have left its group
  }

  /// Those that the leader of a run that was asked to end leaves behind in its group: they end by
  /// themselves until `deadline_ns`, or are killed.
  void await_group(pid_t leader, std::int64_t deadline_ns) const {
    constexpr std::int64_t pause_ns = 2'000'000;
    for (std::int64_t at_ns = now_ns();; at_ns = now_ns()) {
      while (waitpid(-leader, nullptr, WNOHANG) > 0) {
      }
      const bool is_over = at_ns >= deadline_ns || nobody_wants_it(setup_);
      if (kill(-leader, is_over ? SIGKILL : 0) != 0 || is_over) return;
      wait_until(std::min(at_ns + pause_ns, deadline_ns), at_ns);
    }
  }

  /// Until then, or until a child ends or stops, or lauka pokes or dies.
  void wait_until(std::int64_t then_ns, std::int64_t at_ns) const {
    const std::int64_t left_ns = std::max<std::int64_t>(then_ns - at_ns, 0);
    const timespec left{static_cast<time_t>(left_ns / kNsPerSecond),
                        static_cast<long>(left_ns % kNsPerSecond)};
    sigtimedwait(&awaited_, nullptr, &left);
  }

  static void note_ending(int status, SharedEnded& ended) {
    if (ended.kind != EndKind::Exited) return;  // known already
    if (WIFSIGNALED(status)) {
      ended.kind = EndKind::Signalled;
      ended.number = WTERMSIG(status);
      ended.core_dumped = WCOREDUMP(status);
    } else {
      ended.number = WEXITSTATUS(status);
    }
  }

  /// The launcher's own peak, and a tenth: the kernel sums a process's pages per CPU and is that
  /// far off.
  void note_floor() {
    rusage own{};
    getrusage(RUSAGE_SELF, &own);
    const std::uint64_t floor = rss_bytes(own.ru_maxrss) * 11 / 10;
    for (std::size_t i = 0; i < state_.ended_count; ++i)
      state_.ended[i].usage.peak_rss_floor_bytes = floor;
  }

  bool open_files(const SharedProgram& program, OpenFiles& open, SharedEnded& ended) const {
    const OpenFailure failure = open_standard_files(program, setup_, open);
    if (failure.error == 0) return true;
    not_started(failure.step, failure.error, ended);
    if (failure.error == EINTR) ended.kind = EndKind::Cancelled;
    if (failure.error == ETIMEDOUT) ended.kind = EndKind::TimedOut;
    return false;
  }

  static void not_started(LaunchStep step, int error, SharedEnded& ended) {
    ended.kind = EndKind::NotStarted;
    ended.step = step;
    ended.number = error;
  }

  const LauncherSetup& setup_;
  SharedState& state_;
  std::size_t used_readings_ = 0;
  LauncherCounters counters_;
  sigset_t all_signals_{};
  sigset_t awaited_{};
};

}  // namespace

bool nobody_wants_it(const LauncherSetup& setup) {
  if (getppid() != setup.parent) setup.state->cancel = true;
  return setup.state->cancel;
}

namespace {

/// lauka may have been killed, and has left what it would have done at its end.
[[noreturn]] void leave(const LauncherSetup& setup) {
  if (setup.after_lauka != nullptr) setup.after_lauka(setup.parent);
  _exit(0);
}

}  // namespace

void serve_as_launcher(const LauncherSetup& setup) {
  // What is sent to lauka's group, by a terminal, timeout(1) or kill, is lauka's business: it
  // reaches neither this process, which looks after the run when lauka is killed, nor a child that
  // has no group of its own yet. SIGSTOP and SIGKILL cannot be blocked.
  setpgid(0, 0);
  signal(SIGCHLD, SIG_DFL);  // ignored, it would make the kernel throw away status and usage
  become_reaper();
  when_parent_dies(kPokeSignal);
  if (getppid() != setup.parent) _exit(0);  // it died before it could be watched

  LauncherProcess launcher(setup);
  for (;;) {
    char byte = 0;
    const ssize_t got = read(setup.socket, &byte, 1);
    if (got == 0 || (got < 0 && errno != EINTR)) leave(setup);
    if (got < 0) continue;
    launcher.run_batch();
    if (getppid() != setup.parent) {
      launcher.kill_what_was_cancelled();
      leave(setup);
    }
    while (write(setup.socket, &byte, 1) < 0) {
      if (errno != EINTR) leave(setup);
    }
  }
}

namespace {

/// Gives the calling process, a vfork child, the user's ids for good; first the groups, while it
/// may.
bool become(const SharedUser& user) {
  return change_user(user.id, user.group, user.group_count, user.groups) == 0;
}

}  // namespace

/// Starts the program. Only system calls between vfork and execve: the child runs in this process's
/// memory. It does not return in the child, and is not inlined, so that the child cannot harm the
/// caller's frame.
[[gnu::noinline]] pid_t start_child(ChildPlan& plan) {
  // fork would cost 2.5 times a tiny program's whole life; what the analyzer forbids after vfork
  // are the system calls that prepare the process.
  // NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork, clang-analyzer-unix.Vfork)
  const pid_t pid = vfork();
  if (pid != 0) return pid;
  setpgid(0, plan.group);
  // As lauka's own user. Where it is refused the group stays empty, which shows in its peak.
  if (plan.control_group >= 0) static_cast<void>(!write(plan.control_group, "0", 1));
  if (plan.program->user != nullptr && !become(*plan.program->user)) {
    plan.failed_step = LaunchStep::BecomeUser;
    plan.error_number = errno;
    _exit(127);
  }
  // As the user, who may not be allowed in.
  if (plan.program->folder != nullptr && chdir(plan.program->folder) != 0) {
    plan.failed_step = LaunchStep::EnterFolder;
    plan.error_number = errno;
    _exit(127);
  }
  // After the change of user, which undoes it. lauka and this launcher may be killed together:
  // timeout -s KILL does it.
  when_parent_dies(SIGKILL);
  dup2(plan.files.input, STDIN_FILENO);
  if (plan.files.output >= 0) dup2(plan.files.output, STDOUT_FILENO);
  if (plan.files.error >= 0) dup2(plan.files.error, STDERR_FILENO);
  if (plan.descriptors != nullptr) setrlimit(RLIMIT_NOFILE, plan.descriptors);
  if (plan.started_with->ignored_child) signal(SIGCHLD, SIG_IGN);
  // What killall sent to this process for lauka's sake is not the command's. Stopped before execve,
  // it would hold up the launcher for ever.
  constexpr timespec at_once{};
  while (sigtimedwait(plan.all_signals, nullptr, &at_once) > 0) {
  }
  sigprocmask(SIG_SETMASK, &plan.started_with->mask, nullptr);
  const SharedProgram& program = *plan.program;
  if (program.cpus != nullptr && plan.uses_own_cpus &&
      !run_on_cpus(program.cpus, program.cpus_bytes)) {
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

int LauncherCounters::open(SharedCounters* set) {
  optional_error_ = 0;
  if (set == nullptr) return 0;
  if (calls_ == nullptr) return ENOSYS;
  for (std::size_t i = 0; i < set->count; ++i) set->descriptors[i] = -1;
  for (std::size_t i = 0; i < set->count; ++i) {
    const int error = open_request(*set, i);
    if (error == 0) continue;
    if (!set->requests[i].optional) return error;
    optional_error_ = error;
    close_optional(*set);
    return 0;
  }
  return 0;
}

/// 0 or errno. A CPU that is switched off runs nothing: what counts there is not opened, and reads
/// 0.
int LauncherCounters::open_request(SharedCounters& set, std::size_t index) {
  const CounterRequest& request = set.requests[index];
  const auto attributes = std::bit_cast<PerfEventAttr>(request.attributes);
  if (set.guards[index] < 0 && request.cpu < 0) {
    PerfEventAttr guard = attributes;
    guard.flags = (guard.flags & ~(kPerfInherit | kPerfEnableOnExec)) | kPerfDisabled;
    guard.read_format = 0;
    set.guards[index] = open_one(guard, {}, -1);
    if (set.guards[index] < 0) return -set.guards[index];
  }
  const int leader = request.leader == index ? -1 : set.descriptors[request.leader];
  const CounterPlace place{request.system_wide ? -1 : 0, request.cpu};
  const int opened = open_one(attributes, place, leader);
  if (opened == -ENODEV && request.cpu >= 0 && !request.system_wide) return 0;
  set.descriptors[index] = opened;
  return opened < 0 ? -opened : 0;
}

int LauncherCounters::open_one(const PerfEventAttr& attributes, const CounterPlace& place,
                               int leader) {
  const int opened = calls_->open_counter(attributes, place, leader);
  if (opened != -EMFILE || limit_was_raised_ || getrlimit(RLIMIT_NOFILE, &original_limit_) != 0)
    return opened;
  rlimit raised = original_limit_;
  raised.rlim_cur = raised.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &raised) != 0) return opened;
  limit_was_raised_ = true;
  return calls_->open_counter(attributes, place, leader);
}

int LauncherCounters::read(const SharedCounters& set, Reading* readings) const {
  for (std::size_t i = 0; i < set.count; ++i) {
    if (set.requests[i].leader != i) continue;
    readings[i] = Reading{};  // the place had another run's
    if (set.descriptors[i] < 0) continue;
    // Number, enabled, running, then values in the order of opening.
    std::array<std::uint64_t, 3 + kMaxCounters> group{};
    const long words = calls_->read_counter(set.descriptors[i], group.data(), group.size());
    if (words < 0) return static_cast<int>(-words);
    std::size_t next = 3;
    for (std::size_t k = i; k < set.count; ++k) {
      if (set.requests[k].leader != i) continue;
      if (next >= static_cast<std::size_t>(words)) return EIO;
      readings[k] = Reading{group[next++], group[1], group[2]};
    }
  }
  return 0;
}

void LauncherCounters::close_optional(SharedCounters& set) const {
  for (std::size_t i = set.count; i-- > 0;) {
    if (!set.requests[i].optional || set.descriptors[i] < 0) continue;
    calls_->close_counter(set.descriptors[i]);
    set.descriptors[i] = -1;
  }
}

void LauncherCounters::close(SharedCounters* set) const {
  if (set == nullptr || calls_ == nullptr) return;
  for (std::size_t i = set->count; i-- > 0;) {
    if (set->descriptors[i] >= 0) calls_->close_counter(set->descriptors[i]);
    set->descriptors[i] = -1;
  }
}

int share_region(const SharedLaunch& launch, RegionPage& page) {
  if (launch.program->region == nullptr) return 0;
  if (!page.hand_down()) return errno;
  *launch.program->region = page.variable();
  const SharedCounters* set = launch.counters;
  for (std::size_t i = 0; set != nullptr && i < set->count; ++i) {
    const CounterRequest& request = set->requests[i];
    // Its members are off with it.
    if (!request.of_region || request.leader != i || set->descriptors[i] < 0) continue;
    if (!page.hand_down_counter(set->descriptors[i])) return errno;
  }
  return 0;
}

namespace {

constexpr int kBusyFileRetries = 20;

/// Of the process that starts the copies: fork, unlike vfork, gave it memory of its own, where it
/// allocates nothing.
class Jobs {
 public:
  Jobs(const ChildPlan& plan, SharedJobs& shared) : plan_(plan), shared_(shared) {
    plan_.group = getpid();
  }

  void run() {
    for (std::uint32_t job = 0; job < plan_.program->jobs; ++job) {
      if (!start(job)) return;
    }
    for (std::uint32_t left = plan_.program->jobs; left > 0;) {
      int status = 0;
      const pid_t found = waitpid(-1, &status, WUNTRACED);
      if (found < 0 && errno != EINTR) break;
      if (found <= 0) continue;
      if (WIFSTOPPED(status)) {
        fail(EndKind::Stopped, WSTOPSIG(status));
        return;
      }
      --left;
      if (!note(status)) return;
    }
    shared_.end_ns = now_ns();
    rusage used{};
    getrusage(RUSAGE_CHILDREN, &used);
    note_usage(used, shared_.usage);
    shared_.usage.peak_rss_bytes = rss_bytes(used.ru_maxrss);
    shared_.are_all_over = true;
  }

 private:
  bool start(std::uint32_t job) {
    write_number(job);
    // A file's position would be shared by all of them.
    const int own = plan_.program->input_path != nullptr ? opened_again(plan_.files.input) : -1;
    const int common = plan_.files.input;
    if (own >= 0) plan_.files.input = own;
    const pid_t pid = start_patiently(plan_);
    plan_.files.input = common;
    if (own >= 0) close(own);
    if (job == 0) shared_.exec_ns = plan_.exec_ns;
    if (pid > 0 && plan_.error_number == 0) return true;
    shared_.step = pid < 0 ? LaunchStep::Fork : plan_.failed_step;
    fail(EndKind::NotStarted, pid < 0 ? errno : plan_.error_number);
    return false;
  }

  /// The system passes the variable on as it is at that moment.
  void write_number(std::uint32_t job) const {
    char* digits = plan_.program->job_digits;
    if (digits == nullptr) return;
    *std::to_chars(digits, digits + kJobDigits, job).ptr = '\0';
  }

  static int opened_again(int fd) {
    constexpr std::string_view folder = "/proc/self/fd/";
    std::array<char, 32> path{};
    char* end = std::ranges::copy(folder, path.begin()).out;
    std::to_chars(end, path.data() + path.size() - 1, fd);
    return open(path.data(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  }

  /// False: it has failed, and the others are not to go on.
  bool note(int status) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    const bool is_signal = WIFSIGNALED(status);
    const bool is_first = shared_.kind == EndKind::Exited && shared_.number == 0;
    if (is_first) shared_.core_dumped = is_signal && WCOREDUMP(status);
    const int number = is_signal ? WTERMSIG(status) : WEXITSTATUS(status);
    const EndKind kind = is_signal ? EndKind::Signalled : EndKind::Exited;
    if (plan_.program->jobs_outlive_failure) {
      if (is_first) set(kind, number);
      return true;
    }
    fail(kind, number);
    return false;
  }

  void set(EndKind kind, int number) {
    shared_.number = number;
    shared_.kind = kind;
  }

  /// The group has this process in it, too.
  void fail(EndKind kind, int number) {
    set(kind, number);
    shared_.has_failed = true;
    kill(0, SIGKILL);
  }

  ChildPlan plan_;
  SharedJobs& shared_;
};

}  // namespace

pid_t start_patiently(ChildPlan& plan) {
  pid_t pid = start_child(plan);
  for (int i = 0; pid > 0 && plan.error_number == ETXTBSY && i < kBusyFileRetries; ++i) {
    waitpid(pid, nullptr, 0);  // the file is just being written: wait for its writer
    const timespec pause{0, 10'000'000};
    nanosleep(&pause, nullptr);
    plan.error_number = 0;
    pid = start_child(plan);
  }
  return pid;
}

pid_t start_jobs(const ChildPlan& plan, SharedJobs& jobs) {
  jobs = SharedJobs{};
  const pid_t pid = fork();
  if (pid != 0) {
    if (pid > 0) setpgid(pid, pid);  // before it can be asked to end
    return pid;
  }
  setpgid(0, 0);
  when_parent_dies(SIGKILL);
  Jobs(plan, jobs).run();
  _exit(0);
}

}  // namespace lauka::os
