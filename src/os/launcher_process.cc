#include "os/launcher_process.h"

#include "core/result.h"
#include "os/clock.h"
#include "os/platform.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <ctime>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lauka::os {

namespace {

/// Gives this process the rights of `user` while the object exists; null: changes nothing. Root
/// must open a user's file as that user, because a link could lead to files that only root may use.
class RightsOfUser : NonCopyable {
 public:
  explicit RightsOfUser(const SharedUser* user) : changed_(user != nullptr) {
    const bool is_allowed =
        user == nullptr || (setgroups(user->group_count, user->groups) == 0 &&
                            setegid(user->group) == 0 && seteuid(user->id) == 0);
    if (!is_allowed) error_ = errno;
  }
  ~RightsOfUser() {
    if (!changed_) return;
    const int saved = errno;
    if (seteuid(0) != 0 || setegid(0) != 0) _exit(0);
    signal_after_parent_death(kWakeSignal);
    errno = saved;
  }
  int error() const { return error_; }

 private:
  bool changed_;
  int error_ = 0;
};

/// True if the run must be killed, or not be started. Cancels the batch if lauka has died.
bool check_run_unwanted(const LauncherSetup& setup) {
  if (getppid() != setup.parent) setup.state->cancel = true;
  return setup.state->cancel;
}

/// Opens the files that a program names, which belong to `own`, and sets `files` to what the
/// program gets. Returns the outcome of a run that cannot start; nullopt if all files are open.
std::optional<Outcome> open_files(const SharedProgram& program, const LauncherSetup& setup,
                                  OpenedRunFiles& own, StandardFiles& files) {
  files = setup.files->standard_files(program.sink, program.is_output_stored);
  if (program.input_path == nullptr && program.output_path == nullptr) return std::nullopt;
  const RightsOfUser rights(program.user);
  if (rights.error() != 0) return NotStarted{LaunchStep::BecomeUser, rights.error()};
  const std::chrono::nanoseconds limit(program.timeout_ns > 0 ? program.timeout_ns : kNever);
  auto failed = open_named(
      {program.input_path, program.output_path, limit}, [&] { return check_run_unwanted(setup); },
      own);
  if (own.input) files.input = own.input.get();
  if (own.output && !program.is_output_stored) files.output = files.error = own.output.get();
  return failed;
}

constexpr timeval kHousekeepingTime{0, 100'000};
constexpr std::int64_t kMinTimerRenewalNs = 10'000'000;
constexpr std::int64_t kMaxDyingNs = 2'000'000'000;

std::uint64_t rss_bytes(long ru_maxrss) {
  return static_cast<std::uint64_t>(ru_maxrss) * 1024;
}

/// Returns false if the leader could not be signalled.
bool signal_run(pid_t leader, int signal_number) {
  kill(-leader, signal_number);
  return kill(leader, signal_number) == 0;  // the leader may have left its group
}

struct ChildPlan {
  const SharedProgram* program;
  const InitialSignals* started_with;
  StandardFiles files{};
  int control_group = -1;
  pid_t group = 0;                                    // process group to join; 0: a new group
  const rlimit* original_descriptor_limit = nullptr;  // null: the launcher has not changed it
  bool uses_own_cpus = true;
  volatile std::int64_t* executed_at_ns = nullptr;
  SharedProcessState* end_state = nullptr;  // null: not read
  volatile int error_number = 0;
  volatile LaunchStep failed_step = LaunchStep::Execute;
};

bool become_user(const SharedUser& user) {
  // Uses system calls, because after vfork the C library's functions could also change the parent's
  // threads.
  return syscall(SYS_setgroups, user.group_count, user.groups) == 0 &&
         syscall(SYS_setresgid, user.group, user.group, user.group) == 0 &&
         syscall(SYS_setresuid, user.id, user.id, user.id) == 0;
}

/// Ends a child that cannot execute the program.
[[noreturn]] void give_up(ChildPlan& plan, LaunchStep step) {
  plan.failed_step = step;
  plan.error_number = errno;
  _exit(127);
}

/// Connects the standard streams. Without a descriptor of its own, a stream stays what it is for
/// lauka.
void connect_streams(const StandardFiles& files) {
  dup2(files.input, STDIN_FILENO);
  if (files.output >= 0) dup2(files.output, STDOUT_FILENO);
  if (files.error >= 0) dup2(files.error, STDERR_FILENO);
}

/// Gives the child the limit of descriptors and the signal settings that lauka was started with.
void restore_initial_settings(const ChildPlan& plan) {
  if (plan.original_descriptor_limit != nullptr)
    setrlimit(RLIMIT_NOFILE, plan.original_descriptor_limit);
  if (plan.started_with->ignored_sigchld) signal(SIGCHLD, SIG_IGN);

  unblock_signals_in_child(plan.started_with->mask);
}

/// Has this process use the program's own CPUs. Returns false with errno if it may not. A system
/// call, because glibc's cpu_set_t has room for only 1024 CPUs.
bool use_cpus_of(const SharedProgram& program) {
  return syscall(SYS_sched_setaffinity, 0, program.cpus_bytes, program.cpus) == 0;
}

/// Executes the program in this new child, which shares memory with the launcher until then.
[[noreturn]] void become_program(ChildPlan& plan) {
  const SharedProgram& program = *plan.program;
  setpgid(0, plan.group);

  // Joins the control group with lauka's own rights, before the change of user. "0" stands for the
  // process that writes it. If this fails, the run goes on without its group.
  if (plan.control_group >= 0) static_cast<void>(!write(plan.control_group, "0", 1));
  if (program.user != nullptr && !become_user(*program.user)) give_up(plan, LaunchStep::BecomeUser);
  if (program.folder != nullptr && chdir(program.folder) != 0)
    give_up(plan, LaunchStep::EnterFolder);

  // Without this, the run would go on if lauka and the launcher were killed at the same time.
  signal_after_parent_death(SIGKILL);

  connect_streams(plan.files);
  restore_initial_settings(plan);

  if (program.cpus != nullptr && plan.uses_own_cpus && !use_cpus_of(program))
    give_up(plan, LaunchStep::Prepare);

  char* const* const changed_environment = program.environment.variables;
  *plan.executed_at_ns = now_ns();
  execve(program.path, program.argv,
         changed_environment != nullptr ? changed_environment : environ);
  give_up(plan, LaunchStep::Execute);
}

/// Starts the program. Returns the child's id, or -1 with errno if there is none. Sets
/// plan.error_number if the child cannot execute the program.
pid_t start_program(ChildPlan& plan) {
  return start_child([](void* child_plan) { become_program(*static_cast<ChildPlan*>(child_plan)); },
                     &plan);
}

pid_t start_program_retrying_busy_file(ChildPlan& plan) {
  constexpr int busy_file_retries = 20;
  pid_t pid = start_program(plan);
  for (int i = 0; pid > 0 && plan.error_number == ETXTBSY && i < busy_file_retries; ++i) {
    waitpid(pid, nullptr, 0);
    const timespec pause{0, 10'000'000};
    nanosleep(&pause, nullptr);
    plan.error_number = 0;
    pid = start_program(plan);
  }
  return pid;
}

/// Gives the program of a launch the memory of its region, and the counters that count only there.
/// Does nothing for a program without a region. Returns 0 or errno.
int hand_down_region(const SharedLaunch& launch, RegionPage& page) {
  char** const region_entry = launch.program->environment.region_entry;
  if (region_entry == nullptr) return 0;
  if (!page.hand_down()) return errno;
  *region_entry = page.variable_entry();

  const SharedCounters* set = launch.counters;
  for (std::size_t i = 0; set != nullptr && i < set->count; ++i) {
    const CounterRequest& request = set->requests[i];
    // Skips members of a group: switching the group's leader off also switches off its members.
    if (!request.counts_only_region || request.leader != i || set->descriptors[i] < 0) continue;
    if (!page.hand_down_counter(set->descriptors[i])) return errno;
  }
  return 0;
}

/// Runs the copies of a program (--jobs) from an extra process, which the launcher forks. The extra
/// process must not allocate memory.
class Jobs {
 public:
  Jobs(const ChildPlan& plan, SharedJobs& shared) : plan_(plan), shared_(shared) {
    plan_.group = getpid();
    plan_.executed_at_ns = &executed_at_ns_;
  }

  /// Runs all copies, and writes into the shared memory how they ended. If one copy decides the
  /// outcome of the run early, kill_all() kills the other copies and this process.
  void run_all() {
    const std::uint32_t copy_count = plan_.program->jobs;
    for (std::uint32_t copy = 0; copy < copy_count; ++copy) {
      if (!start_copy_or_kill_all(copy)) return;
    }

    std::uint32_t running_count = copy_count;
    while (running_count > 0) {
      int status = 0;
      const pid_t changed_copy = waitpid(-1, &status, WUNTRACED);
      const bool was_interrupted = changed_copy < 0 && errno == EINTR;
      if (was_interrupted) continue;
      if (changed_copy < 0) break;  // there is no copy to wait for

      // Nothing would continue a stopped copy, so the run ends.
      if (WIFSTOPPED(status)) {
        kill_all(Stopped{WSTOPSIG(status)});
        return;
      }

      --running_count;
      if (!note_end_or_kill_all(status)) return;
    }

    // The children of this process are the copies, so their usage is the usage of the run.
    shared_.ended_at_ns = now_ns();
    rusage used{};
    getrusage(RUSAGE_CHILDREN, &used);
    note_usage(used, shared_.usage);
    shared_.usage.peak_rss_bytes = rss_bytes(used.ru_maxrss);
    shared_.are_all_over = true;
  }

 private:
  /// Starts one copy. If this fails, kills all copies and returns false.
  bool start_copy_or_kill_all(std::uint32_t copy) {
    write_number(copy);
    // Opens the input again for each copy, because the copies would otherwise share a file
    // position.
    const int common = plan_.files.input;
    const Descriptor own(plan_.program->input_path != nullptr ? reopen(common) : -1);
    if (own) plan_.files.input = own.get();
    const pid_t pid = start_program_retrying_busy_file(plan_);
    plan_.files.input = common;
    if (copy == 0) shared_.first_executed_at_ns = executed_at_ns_;
    if (pid > 0 && plan_.error_number == 0) {
      ++shared_.started_count;
      return true;
    }
    kill_all(pid < 0 ? NotStarted{LaunchStep::Fork, errno}
                     : NotStarted{plan_.failed_step, plan_.error_number});
    return false;
  }

  void write_number(std::uint32_t copy) const {
    char* digits = plan_.program->environment.job_digits;
    if (digits == nullptr) return;
    *std::to_chars(digits, digits + kJobDigits, copy).ptr = '\0';
  }

  static int reopen(int fd) {
    constexpr std::string_view folder = "/proc/self/fd/";
    std::array<char, 32> path{};
    char* end = std::ranges::copy(folder, path.begin()).out;
    std::to_chars(end, path.data() + path.size() - 1, fd);
    return open(path.data(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  }

  /// Notes how one copy ended. If this decides the run, kills all copies and returns false.
  bool note_end_or_kill_all(int status) {
    const Outcome outcome = to_outcome(status);
    if (succeeded(outcome)) return true;
    if (!plan_.program->jobs_outlive_failure) {
      kill_all(outcome);
      return false;
    }
    if (succeeded(shared_.outcome)) shared_.outcome = outcome;
    return true;
  }

  /// Kills the process group: all copies, and this process.
  void kill_all(const Outcome& outcome) {
    shared_.outcome = outcome;
    shared_.were_killed = true;
    kill(0, SIGKILL);
  }

  ChildPlan plan_;
  volatile std::int64_t executed_at_ns_ = 0;
  SharedJobs& shared_;
};

pid_t start_jobs(const ChildPlan& plan, SharedJobs& jobs) {
  jobs = SharedJobs{};
  const pid_t pid = fork();
  if (pid != 0) {
    if (pid > 0) setpgid(pid, pid);
    return pid;
  }
  setpgid(0, 0);
  signal_after_parent_death(SIGKILL);
  Jobs(plan, jobs).run_all();
  _exit(0);
}

class LauncherProcess {
 public:
  explicit LauncherProcess(const LauncherSetup& setup)
      : setup_(setup), state_(*setup.state), counters_(setup.counter_calls) {}

  void run_batch() {
    run_launches();
    const itimerval none{};
    setitimer(ITIMER_REAL, &none, nullptr);
    renew_timer_ns_ = 0;
    set_peak_floors();
  }

  void kill_what_was_cancelled() const {
    if (state_.ended_count == 0) return;
    const SharedEnded& last = state_.ended[state_.ended_count - 1];
    if (std::holds_alternative<Cancelled>(last.outcome) && last.began_ns != 0)
      kill_descendants(getpid(), last.began_ns);
  }

 private:
  /// Runs the programs of the batch one after the other, until one of them ends the batch. Writes
  /// their results into the shared memory.
  void run_launches() {
    state_.ended_count = 0;
    used_readings_ = 0;  // the readings of the last batch may be overwritten
    const std::int64_t batch_began_ns = now_ns();

    for (std::size_t i = 0; i < state_.launch_count; ++i) {
      const SharedLaunch& launch = state_.launches[i];

      // The first run starts however late it is, because a batch has at least one result. The limit
      // counts from the beginning of the batch; 0: none.
      const bool has_limit = i > 0 && launch.latest_start_ns > 0;
      if (has_limit && now_ns() - batch_began_ns > launch.latest_start_ns) break;

      SharedEnded& ended = state_.ended[i];
      ended = SharedEnded{};
      if (check_run_unwanted(setup_)) {
        ended.outcome = Cancelled{};
      } else {
        SharedProcessState* const end_state = prepare_end_state(i);
        run_one(launch, end_state, ended);
      }
      state_.ended_count = i + 1;

      const bool has_counter_error = ended.counter_error != 0;
      if (has_counter_error || ends_batch(ended.outcome, state_.after_failure) || state_.cancel)
        break;
    }
  }

  /// Returns where a launch's state at its end belongs, without what an earlier batch left there;
  /// null if the launch does not read it.
  SharedProcessState* prepare_end_state(std::size_t launch_index) const {
    if (!state_.launches[launch_index].reads_end_state) return nullptr;
    SharedProcessState* const end_state = &state_.end_states[launch_index];
    end_state->is_known = false;
    return end_state;
  }

  /// Returns a plan that still lacks the run's files, control group and limit of descriptors.
  ChildPlan make_plan(const SharedProgram& program, SharedProcessState* end_state,
                      SharedEnded& ended) const {
    ChildPlan plan{&program, &setup_.started_with};
    plan.executed_at_ns = &ended.executed_at_ns;
    plan.uses_own_cpus = !state_.ignores_program_cpus;
    // The state at the end is a fact about one process, so a run of several copies has none.
    if (program.jobs <= 1) plan.end_state = end_state;
    return plan;
  }

  /// Runs one program with its files, counters and control group, and waits for its end. Writes the
  /// results to `ended`, and the state of the process at its end to `end_state` (may be null).
  void run_one(const SharedLaunch& launch, SharedProcessState* end_state, SharedEnded& ended) {
    const SharedProgram& program = *launch.program;
    ended.began_ns = now_ns();
    setup_.files->truncate_output();  // drops what the previous run stored
    ChildPlan plan = make_plan(program, end_state, ended);

    // The environment may have a variable with another value in each run.
    if (char** const variable = program.environment.launch_entry) *variable = launch.variable_entry;

    OpenedRunFiles named_files;
    execute_with_files(launch, plan, named_files, ended);  // opens the plan's control group, too

    // Stored output reaches its destination only now, so that nothing can slow down the run.
    if (program.is_output_stored) setup_.files->pass_on(program.sink, named_files.output.get());
    named_files = OpenedRunFiles{};  // closes the files
    if (plan.control_group >= 0) close(plan.control_group);
    count_left_behind(ended);

    ended.time_with_preparation = std::chrono::nanoseconds(now_ns() - ended.began_ns);
  }

  /// Opens the files of a run into `named_files`, and executes the program if none is missing.
  void execute_with_files(const SharedLaunch& launch, ChildPlan& plan, OpenedRunFiles& named_files,
                          SharedEnded& ended) {
    const SharedProgram& program = *launch.program;
    if (const auto failed = open_files(program, setup_, named_files, plan.files)) {
      ended.outcome = *failed;
      return;
    }
    plan.control_group = open_control_group(program);
    execute_with_counters(launch, plan, ended);

    // The copies of a program (--jobs) have a position in the input each.
    if (program.input_path != nullptr && program.jobs <= 1)
      ended.input = check_input_read(plan.files.input);
  }

  /// Opens the file with which a run joins its control group. The batch's group has precedence over
  /// the group for programs with CPUs of their own. Returns -1 if there is no group.
  int open_control_group(const SharedProgram& program) const {
    const bool joins_batch_group = state_.control_group_file[0] != '\0' || program.cpus == nullptr;
    const auto& group_file =
        joins_batch_group ? state_.control_group_file : state_.control_group_file_on_program_cpus;
    return group_file[0] != '\0' ? ::open(group_file.data(), O_WRONLY | O_CLOEXEC) : -1;
  }

  /// Opens a run's counters and region, executes the program, and reads both. Does not execute the
  /// program if a required counter or the region is missing.
  void execute_with_counters(const SharedLaunch& launch, ChildPlan& plan, SharedEnded& ended) {
    ended.counter_error = counters_.open(launch.counters);
    ended.optional_counter_error = counters_.optional_counter_error();
    plan.original_descriptor_limit = counters_.original_limit();

    RegionPage region;
    if (const int error = hand_down_region(launch, region); error != 0) {
      ended.outcome = NotStarted{LaunchStep::Prepare, error};
    } else if (ended.counter_error == 0) {
      execute(plan, ended);
      read_counters(launch.counters, ended);
    }

    ended.region = region.use();
    counters_.close(launch.counters);
  }

  /// Counts the processes that a run has left behind, whose parent the launcher has become: those
  /// that have ended without a waiting parent, and those that still run.
  void count_left_behind(SharedEnded& ended) {
    pid_t reaped = 0;
    while ((reaped = waitpid(-1, nullptr, WNOHANG)) > 0) ++ended.unawaited_processes;

    // waitpid returns 0 while a child still runs, and -1 if there is none.
    const bool has_children = reaped == 0;
    const bool had_children = std::exchange(has_children_, has_children);
    if (has_children) ended.outlived = count_outlived(had_children);
  }

  void execute(ChildPlan& plan, SharedEnded& ended) {
    renew_timer(*plan.program, ended.began_ns);
    const bool has_jobs = plan.program->jobs > 1;
    if (has_jobs) ended.executed_at_ns = now_ns();
    const pid_t pid =
        has_jobs ? start_jobs(plan, state_.jobs) : start_program_retrying_busy_file(plan);
    if (pid < 0) {
      ended.outcome = NotStarted{LaunchStep::Fork, errno};
      return;
    }
    leader_ = pid;
    await_end(pid, plan, ended);
    if (has_jobs) take_results_of_jobs(ended);
    if (plan.error_number != 0) ended.outcome = NotStarted{plan.failed_step, plan.error_number};
  }

  void take_results_of_jobs(SharedEnded& ended) const {
    const SharedJobs& jobs = state_.jobs;
    ended.started_count = jobs.started_count;
    if (!has_exited_or_signalled(ended.outcome) || (!jobs.were_killed && !jobs.are_all_over))
      return;
    ended.outcome = jobs.outcome;
    if (!jobs.are_all_over) return;
    ended.usage = jobs.usage;
    ended.executed_at_ns = jobs.first_executed_at_ns;
    ended.ended_at_ns = jobs.ended_at_ns;
  }

  void read_counters(const SharedCounters* set, SharedEnded& ended) {
    if (set == nullptr || std::holds_alternative<NotStarted>(ended.outcome)) return;
    ended.first_reading_index = used_readings_;
    ended.counter_error = counters_.read(*set, state_.readings.data() + used_readings_);
    if (ended.counter_error != 0) return;
    ended.reading_count = set->count;
    used_readings_ += set->count;
  }

  /// A run that has not ended yet.
  struct WatchedRun {
    pid_t pid = 0;
    const ChildPlan& plan;
    SharedEnded& ended;
    std::int64_t looked_at_ns = 0;
    std::int64_t deadline_ns = kNever;
    std::int64_t give_up_ns = kNever;  ///< when a killed run is given up
    bool was_asked_to_end = false;

    /// True if something has decided that the run must be killed. Until then, the outcome stays the
    /// initial Exited.
    bool must_die() const { return !std::holds_alternative<Exited>(ended.outcome); }
  };

  /// Waits for the end of a run. Kills a run that is late, stopped or no longer wanted, and gives
  /// up on a process that does not die.
  void await_end(pid_t pid, const ChildPlan& plan, SharedEnded& ended) {
    WatchedRun run{.pid = pid, .plan = plan, .ended = ended, .looked_at_ns = ended.executed_at_ns};
    const std::int64_t timeout_ns = plan.program->timeout_ns;
    if (timeout_ns > 0) run.deadline_ns = run.looked_at_ns + timeout_ns;
    while (!is_over_at_next_look(run)) {
    }
  }

  /// Waits until a signal or a time limit makes a look at the run worthwhile. Returns the signal;
  /// -1 if none came.
  int wait_for_next_look(WatchedRun& run) const {
    const bool was_killed = run.must_die();
    if (!was_killed && !run.was_asked_to_end && state_.listener_ended_run) ask_to_end(run);

    const int signal =
        wait_for_signal_until(was_killed ? run.give_up_ns : run.deadline_ns, run.looked_at_ns);
    run.looked_at_ns = now_ns();

    // Only until it is waited for, an ended process still tells its priority and limits.
    if (run.plan.end_state != nullptr && has_ended_unawaited(run.pid))
      read_process_state(run.pid, *run.plan.end_state);
    return signal;
  }

  /// Waits for the next look at a run, and kills the run if it must not go on. Returns true if the
  /// run has ended, or is given up.
  bool is_over_at_next_look(WatchedRun& run) {
    // A run that must die was killed at an earlier look.
    const bool was_killed = run.must_die();
    const int signal = wait_for_next_look(run);

    int status = 0;
    rusage used{};
    const pid_t changed_pid = wait4(run.pid, &status, WNOHANG | WUNTRACED, &used);
    const bool has_changed = changed_pid > 0;
    const bool is_stopped = has_changed && WIFSTOPPED(status);
    const bool has_ended = has_changed && !is_stopped;

    // Nothing is known of a process that cannot be waited for, as if it had not been started.
    const bool cannot_wait = changed_pid < 0;
    if (cannot_wait) {
      run.ended.outcome = NotStarted{LaunchStep::Fork, errno};
      return true;
    }

    if (!was_killed) note_lateness(run);
    if (has_ended) {
      note_end(status, used, run);
      return true;
    }

    if (!was_killed) {
      if (is_stopped) run.ended.outcome = Stopped{WSTOPSIG(status)};
      kill_if_needed(run);
    }

    const bool must_give_up = run.looked_at_ns >= run.give_up_ns;
    if (must_give_up) {
      run.ended.surviving_pid = run.pid;
      return true;
    }

    const bool is_housekeeping_due = signal == SIGALRM;
    if (is_housekeeping_due) setup_.files->drop_old_output(run.plan.program->is_output_stored);
    return false;
  }

  /// Gives a run whose listener has enough some time to end.
  static void ask_to_end(WatchedRun& run) {
    run.was_asked_to_end = true;
    signal_run(run.pid, SIGTERM);
    run.deadline_ns = now_ns() + kTerminateTimeout.count();
  }

  /// Notes the outcome of a run after its deadline. A run that ended then counts as late, even if
  /// nothing has killed it yet.
  static void note_lateness(WatchedRun& run) {
    if (run.looked_at_ns <= run.deadline_ns) return;
    if (run.was_asked_to_end)
      run.ended.outcome = Signalled{SIGKILL};
    else
      run.ended.outcome = TimedOut{std::chrono::nanoseconds(run.plan.program->timeout_ns)};
  }

  void note_end(int status, const rusage& used, WatchedRun& run) const {
    run.ended.ended_at_ns = run.looked_at_ns;
    note_usage(used, run.ended.usage);
    run.ended.usage.peak_rss_bytes = rss_bytes(used.ru_maxrss);
    if (run.was_asked_to_end) await_end_of_group(run.pid, run.deadline_ns);
    if (!run.must_die()) run.ended.outcome = to_outcome(status);
  }

  /// Kills a run that must die or is no longer wanted, and sets when it is given up.
  void kill_if_needed(WatchedRun& run) const {
    if (check_run_unwanted(setup_)) run.ended.outcome = Cancelled{};
    if (!run.must_die()) return;
    const bool was_signalled = signal_run(run.pid, SIGKILL);
    run.give_up_ns = was_signalled ? run.looked_at_ns + kMaxDyingNs : run.looked_at_ns;
  }

  static bool has_ended_unawaited(pid_t pid) {
    siginfo_t ended{};
    return waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           ended.si_pid == pid;
  }

  /// Returns how many children the latest run is known to have left behind. `had_children`: true if
  /// the launcher had children before the run; then only children in the run's process group count.
  std::size_t count_outlived(bool had_children) const {
    std::array<char, 4096> text{};
    const Descriptor file(::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC));
    const ssize_t size = file ? read(file.get(), text.data(), text.size() - 1) : 0;
    if (size <= 0) return had_children ? 0 : 1;

    // The file has the ids of the children, each followed by a space.
    std::size_t count = 0;
    pid_t child = 0;
    for (const char c : std::string_view(text.data(), static_cast<std::size_t>(size))) {
      if (c >= '0' && c <= '9') {
        child = child * 10 + (c - '0');
        continue;
      }
      if (child != 0 && (!had_children || getpgid(child) == leader_)) ++count;
      child = 0;
    }
    return count;
  }

  /// Waits until the process group of `leader` has no more processes. Kills those that are left at
  /// the deadline, or when the run is no longer wanted.
  void await_end_of_group(pid_t leader, std::int64_t deadline_ns) const {
    constexpr std::int64_t pause_ns = 2'000'000;
    constexpr int only_ask = 0;  // signal 0 reaches nobody, but fails if the group has ended
    for (std::int64_t at_ns = now_ns();; at_ns = now_ns()) {
      while (waitpid(-leader, nullptr, WNOHANG) > 0) {
      }
      const bool must_kill = at_ns >= deadline_ns || check_run_unwanted(setup_);
      const bool has_processes = kill(-leader, must_kill ? SIGKILL : only_ask) == 0;
      if (!has_processes || must_kill) return;
      wait_for_signal_until(std::min(at_ns + pause_ns, deadline_ns), at_ns);
    }
  }

  /// Restarts the housekeeping timer if the timer is stopped or at least kMinTimerRenewalNs old, so
  /// that the timer rarely disturbs a short run.
  void renew_timer(const SharedProgram& program, std::int64_t at_ns) {
    // Opening a file uses the same timer and stops it.
    const bool is_stopped = program.input_path != nullptr || program.output_path != nullptr;
    if (at_ns < renew_timer_ns_ && !is_stopped) return;
    const itimerval housekeeping{kHousekeepingTime, kHousekeepingTime};
    setitimer(ITIMER_REAL, &housekeeping, nullptr);
    renew_timer_ns_ = at_ns + kMinTimerRenewalNs;
  }

  /// Waits for one of awaited_signals_ until `then_ns` (kNever: without limit). `current_ns`: the
  /// time at the call. Returns the signal; -1 if none came.
  int wait_for_signal_until(std::int64_t then_ns, std::int64_t current_ns) const {
    const timespec left =
        to_timespec(std::chrono::nanoseconds(std::max<std::int64_t>(then_ns - current_ns, 0)));
    return sigtimedwait(&awaited_signals_, nullptr, then_ns == kNever ? nullptr : &left);
  }

  /// Sets the floor of peak memory of all ended runs: the launcher's own peak plus a tenth, because
  /// the kernel's count of pages is not exact.
  void set_peak_floors() {
    rusage own{};
    getrusage(RUSAGE_SELF, &own);
    const std::uint64_t floor = rss_bytes(own.ru_maxrss) * 11 / 10;
    for (std::size_t i = 0; i < state_.ended_count; ++i)
      state_.ended[i].usage.peak_rss_floor_bytes = floor;
  }

  const LauncherSetup& setup_;
  SharedState& state_;
  std::size_t used_readings_ = 0;
  std::int64_t renew_timer_ns_ = 0;
  pid_t leader_ = 0;
  bool has_children_ = false;
  LauncherCounters counters_;
  const sigset_t awaited_signals_ = signal_set({SIGCHLD, kWakeSignal, SIGALRM});
};

/// The limits of setrlimit() by their numbers, with the names that lauka shows.
constexpr auto kLimitNames = std::to_array<std::pair<std::size_t, const char*>>({
    {RLIMIT_AS, "as"},
    {RLIMIT_CORE, "core"},
    {RLIMIT_CPU, "cpu"},
    {RLIMIT_DATA, "data"},
    {RLIMIT_FSIZE, "fsize"},
    {RLIMIT_LOCKS, "locks"},
    {RLIMIT_MEMLOCK, "memlock"},
    {RLIMIT_MSGQUEUE, "msgqueue"},
    {RLIMIT_NICE, "nice"},
    {RLIMIT_NOFILE, "nofile"},
    {RLIMIT_NPROC, "nproc"},
    {RLIMIT_RSS, "rss"},
    {RLIMIT_RTPRIO, "rtprio"},
    {RLIMIT_RTTIME, "rttime"},
    {RLIMIT_SIGPENDING, "sigpending"},
    {RLIMIT_STACK, "stack"},
});

[[noreturn]] void end_launcher(const LauncherSetup& setup) {
  if (setup.after_lauka != nullptr) setup.after_lauka(setup.parent);
  _exit(0);
}

/// Makes this new process the launcher. Ends it if lauka has died.
void become_launcher(const LauncherSetup& setup) {
  // Leaves lauka's process group. SIGSTOP and SIGKILL, which cannot be blocked, must not reach this
  // process when they are sent to that group, because this process ends the run if lauka is killed.
  setpgid(0, 0);
  signal(SIGCHLD, SIG_DFL);  // if SIGCHLD were ignored, the kernel would discard status and usage
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // inherits the processes that a run leaves behind

  // The kernel does not signal a death that came before the request to signal it.
  signal_after_parent_death(kWakeSignal);
  if (getppid() != setup.parent) _exit(0);
}

/// Waits for a byte from lauka, which asks for a batch. Ends the launcher if lauka has closed its
/// end of the socket.
void await_request(const LauncherSetup& setup) {
  char byte = 0;
  ssize_t count = 0;
  do count = read(setup.socket, &byte, 1);
  while (count < 0 && errno == EINTR);
  if (count <= 0) end_launcher(setup);
}

/// Tells lauka, by a byte, that the batch has ended.
void report_end_of_batch(const LauncherSetup& setup) {
  constexpr char any_byte = 'r';
  while (write(setup.socket, &any_byte, 1) < 0) {
    if (errno != EINTR) end_launcher(setup);
  }
}

}  // namespace

// The main loop of the launcher process, which runs the measured programs for lauka.
void serve_as_launcher(const LauncherSetup& setup) {
  become_launcher(setup);
  LauncherProcess launcher(setup);
  for (;;) {
    await_request(setup);
    launcher.run_batch();

    const bool has_lauka_died = getppid() != setup.parent;
    if (has_lauka_died) {
      launcher.kill_what_was_cancelled();
      end_launcher(setup);
    }

    report_end_of_batch(setup);
  }
}

void read_process_state(pid_t pid, SharedProcessState& state) {
  errno = 0;
  state.nice = getpriority(PRIO_PROCESS, static_cast<id_t>(pid));
  state.is_known = errno == 0;

  // musl's sched_getscheduler() always fails, and glibc's cpu_set_t has room for only 1024 CPUs.
  state.scheduling_policy = syscall(SYS_sched_getscheduler, pid);
  const long bytes = syscall(SYS_sched_getaffinity, pid, sizeof state.cpus, state.cpus.data());
  state.cpus_bytes = bytes > 0 ? static_cast<std::size_t>(bytes) : 0;

  // Without the right to ask, as about a program of another user, no limit is known.
  state.has_limits = true;
  for (std::size_t i = 0; i < state.limits.size(); ++i)
    state.has_limits =
        state.has_limits && syscall(SYS_prlimit64, pid, i, nullptr, &state.limits[i]) == 0;
}

// Translates the numbers and masks of system calls into names and lists. This may allocate memory,
// so it happens in lauka, not in the launcher.
std::optional<ProcessState> make_process_state(const SharedProcessState& state) {
  if (!state.is_known) return std::nullopt;

  ProcessState result{.nice = state.nice,
                      .scheduling_policy = scheduling_policy_name(state.scheduling_policy)};

  // The mask of CPUs has one bit for each CPU, in words.
  constexpr std::size_t bits_of_byte = 8;
  constexpr std::size_t bits_of_word = bits_of_byte * sizeof(unsigned long);
  for (std::size_t cpu = 0; cpu < bits_of_byte * state.cpus_bytes; ++cpu) {
    const unsigned long word = state.cpus[cpu / bits_of_word];
    const bool is_allowed = (word >> (cpu % bits_of_word) & 1U) != 0;
    if (is_allowed) result.cpus.push_back(static_cast<std::uint32_t>(cpu));
  }

  if (!state.has_limits) return result;
  for (const auto& [index, name] : kLimitNames) {
    const rlim_t soft_limit = state.limits[index].rlim_cur;  // the one in force
    std::optional<std::uint64_t> value;                      // stays nullopt without a limit
    if (soft_limit != RLIM_INFINITY) value = static_cast<std::uint64_t>(soft_limit);
    result.limits.push_back({name, value});
  }
  return result;
}

std::string scheduling_policy_name(long policy) {
  constexpr long reset_on_fork = 0x40000000;  // SCHED_RESET_ON_FORK, a flag in the policy
  if (policy < 0) return "";
  switch (policy & ~reset_on_fork) {
    case SCHED_OTHER:
      return "other";
    case SCHED_BATCH:
      return "batch";
    case SCHED_IDLE:
      return "idle";
    case SCHED_FIFO:
      return "fifo";
    case SCHED_RR:
      return "round-robin";
    default:
      return "";
  }
}

int LauncherCounters::open(SharedCounters* set) {
  optional_counter_error_ = 0;
  if (set == nullptr) return 0;
  if (calls_ == nullptr) return ENOSYS;
  std::fill_n(set->descriptors, set->count, -1);
  for (std::size_t i = 0; i < set->count; ++i) {
    const int error = open_request(*set, i);
    if (error == 0) continue;
    if (!set->requests[i].optional) return error;
    optional_counter_error_ = error;
    close_optional(*set);
    return 0;
  }
  return 0;
}

/// Opens one counter. Returns 0 or errno. If the CPU of a counter is offline, returns 0 and leaves
/// the counter closed, unless the counter is system-wide.
int LauncherCounters::open_request(SharedCounters& set, std::size_t index) {
  const CounterRequest& request = set.requests[index];
  const auto attributes = std::bit_cast<PerfEventAttr>(request.attributes);
  if (set.guard_descriptors[index] < 0 && request.cpu < 0) {
    set.guard_descriptors[index] = open_one(guard_of(attributes), {}, -1);
    if (set.guard_descriptors[index] < 0) return -set.guard_descriptors[index];
  }
  const int leader = request.leader == index ? -1 : set.descriptors[request.leader];
  const CounterPlace place{request.system_wide ? -1 : 0, request.cpu};
  const int opened = open_one(attributes, place, leader);
  if (opened == -ENODEV && request.cpu >= 0 && !request.system_wide) return 0;
  set.descriptors[index] = opened;
  return opened < 0 ? -opened : 0;
}

/// Opens a counter, after raising the limit of descriptors if that is reached. Returns the
/// descriptor, or a negative errno.
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
  for (std::size_t leader = 0; leader < set.count; ++leader) {
    const bool is_leader = set.requests[leader].leader == leader;
    if (!is_leader) continue;

    // A counter that could not be opened, such as an optional one, reads as zeros.
    readings[leader] = Reading{};
    if (set.descriptors[leader] < 0) continue;
    if (const int error = read_group(set, leader, readings); error != 0) return error;
  }
  return 0;
}

/// Reads the counters of a group, all at once by its leader, and writes one reading for each of
/// them. The other members of the group follow the leader in the set. Returns 0 or errno.
int LauncherCounters::read_group(const SharedCounters& set, std::size_t leader,
                                 Reading* readings) const {
  // The kernel returns the number of counters, the time enabled, the time running, then one value
  // for each counter.
  constexpr std::size_t enabled_at = 1;
  constexpr std::size_t running_at = 2;
  constexpr std::size_t values_at = 3;
  std::array<std::uint64_t, values_at + kMaxCounters> words{};
  const long count_or_error =
      calls_->read_counter(set.descriptors[leader], words.data(), words.size());
  if (count_or_error < 0) return static_cast<int>(-count_or_error);
  const auto word_count = static_cast<std::size_t>(count_or_error);

  // The values come in the order in which the group's counters were opened, the leader's first.
  std::size_t next_value = values_at;
  for (std::size_t member = leader; member < set.count; ++member) {
    const bool is_of_group = set.requests[member].leader == leader;
    if (!is_of_group) continue;

    const bool is_value_missing = next_value >= word_count;
    if (is_value_missing) return EIO;
    readings[member] = Reading{.value = words[next_value++],
                               .enabled_ns = words[enabled_at],
                               .running_ns = words[running_at]};
  }
  return 0;
}

void LauncherCounters::close(SharedCounters* set) const {
  if (set == nullptr || calls_ == nullptr) return;
  for (std::size_t i = set->count; i-- > 0;) close_one(*set, i);
}

void LauncherCounters::close_optional(SharedCounters& set) const {
  if (calls_ == nullptr) return;
  for (std::size_t i = set.count; i-- > 0;)
    if (set.requests[i].optional) close_one(set, i);
}

void LauncherCounters::close_one(SharedCounters& set, std::size_t index) const {
  if (set.descriptors[index] >= 0) calls_->close_descriptor(set.descriptors[index]);
  set.descriptors[index] = -1;
}

}  // namespace lauka::os
