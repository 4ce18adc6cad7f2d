#include "os/helper_program.h"

#include "os/clock.h"
#include "os/platform.h"
#include "os/process.h"
#include "os/program_files.h"
#include "os/signals.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lauka::os {

namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kTimeAfterInterrupt = std::chrono::seconds(1);
constexpr nanoseconds kMaxDyingTime = std::chrono::seconds(2);
constexpr nanoseconds kPollInterval = std::chrono::microseconds(100);

struct HelperPlan {
  const char* path = nullptr;
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  const char* folder = nullptr;  ///< null: lauka's own
  const User* user = nullptr;    ///< null: lauka's own
  int null_device = -1;
  int output = -1;
  int start_failure = -1;  ///< gets a NotStarted if the program cannot be executed
  pid_t parent = 0;
  sigset_t signal_mask{};
};

/// Executes the program in this new process. Returns the step that failed, with errno.
LaunchStep become_program(const HelperPlan& plan) {
  const User* user = plan.user;
  setpgid(0, 0);
  if (user != nullptr &&
      (join_groups(*user) != 0 || setgid(user->group) != 0 || setuid(user->id) != 0))
    return LaunchStep::BecomeUser;

  signal_after_parent_death(SIGKILL);
  for (const int number : {SIGPIPE, SIGXFSZ}) signal(number, SIG_DFL);
  if (dup2(plan.null_device, STDIN_FILENO) < 0 || dup2(plan.output, STDOUT_FILENO) < 0 ||
      dup2(plan.null_device, STDERR_FILENO) < 0)
    return LaunchStep::Prepare;

  if (plan.folder != nullptr && chdir(plan.folder) != 0) return LaunchStep::EnterFolder;
  unblock_signals_in_child(plan.signal_mask);
  if (getppid() == plan.parent) execve(plan.path, plan.argv, plan.environment);
  return LaunchStep::Execute;
}

[[noreturn]] void become_program_or_tell_why_not(void* helper_plan) {
  const HelperPlan& plan = *static_cast<const HelperPlan*>(helper_plan);
  // become_program() returns only if it failed. wait() reads from the pipe why it did.
  const NotStarted reason{become_program(plan), errno};
  static_cast<void>(!write(plan.start_failure, &reason, sizeof reason));
  constexpr int status_of_shells = 127;
  _exit(status_of_shells);
}

/// Starts the program in a process of its own, the leader of a group. Returns the id of the
/// process, or -1 if there is none.
pid_t start_program(HelperPlan& plan) {
  // lauka's signal handlers must not run in the child, as they would change lauka's memory.
  const AllSignalsBlocked blocked;
  plan.signal_mask = blocked.mask_before();

  // setuid and setgid of the C library would concern lauka's threads if the child used its memory.
  const pid_t pid =
      plan.user != nullptr ? fork() : start_child(become_program_or_tell_why_not, &plan);
  if (pid == 0) become_program_or_tell_why_not(&plan);

  // The child makes itself the leader of a group, too, so that the group exists whichever of the
  // two processes runs first.
  if (pid > 0) setpgid(pid, pid);
  return pid;
}

/// Waits until `fd` may be readable, at most for `left`. The wait is short, because a signal that
/// asks lauka to end does not wake a poll() that begins just after the signal.
void wait_for_bytes(int fd, nanoseconds left) {
  constexpr nanoseconds max_poll = std::chrono::milliseconds(20);
  pollfd ready{fd, POLLIN, 0};
  const auto most = std::chrono::ceil<std::chrono::milliseconds>(std::min(left, max_poll));
  poll(&ready, 1, static_cast<int>(most.count()));
}

/// Adds `bytes` to the output of which at most `most_bytes` bytes of its beginning or end are kept.
void add_part(std::string_view bytes, std::size_t most_bytes, HelperProgram::Part part,
              std::string& output) {
  if (part == HelperProgram::Part::Beginning) {
    output += bytes.substr(0, most_bytes - output.size());
    return;
  }
  output += bytes;
  if (output.size() > most_bytes) output.erase(0, output.size() - most_bytes);
}

}  // namespace

/// Watches for what ends the wait for a program early: its deadline, and stopped descendants of the
/// leader of `group`. If lauka has been asked to end, update_time_left() sends SIGTERM to `group`
/// once (0: no group), and leaves at most kTimeAfterInterrupt until the deadline.
class HelperProgram::Watch {
 public:
  explicit Watch(nanoseconds deadline, pid_t group = 0) : deadline_(deadline), group_(group) {}

  nanoseconds update_time_left() {
    const nanoseconds now = MonotonicClock().now();
    if (!is_cut_short_ && first_interrupt_signal() != 0) {
      is_cut_short_ = true;
      if (group_ > 0) kill(-group_, SIGTERM);
      deadline_ = std::min(deadline_, now + kTimeAfterInterrupt);
    }
    return deadline_ - now;
  }

  /// Returns the signal that has stopped a descendant, if one was stopped at two consecutive looks,
  /// which are kBetweenLooks apart because each reads all processes; else 0.
  int stop_signal_of_descendant() {
    const nanoseconds now = MonotonicClock().now();
    if (now < next_look_) return 0;
    next_look_ = now + kBetweenLooks;
    const int before = std::exchange(seen_stop_, os::stop_signal_of_descendant(group_));
    if (before != 0) lasting_stop_ = seen_stop_;
    return lasting_stop_;
  }

  /// Returns what stop_signal_of_descendant() returned last, without a new look.
  int last_stop_of_descendant() const { return lasting_stop_; }

 private:
  static constexpr nanoseconds kBetweenLooks = std::chrono::seconds(1);

  nanoseconds deadline_;
  pid_t group_;
  bool is_cut_short_ = false;
  nanoseconds next_look_ = MonotonicClock().now() + kBetweenLooks;
  int seen_stop_ = 0;
  int lasting_stop_ = 0;
};

// Starts the program, which must end within `timeout` from now.
void HelperProgram::begin(const ProgramSpec& spec, nanoseconds timeout) {
  // If any of this fails, pid_ stays 0, and wait() answers that the program was not started.
  const auto path = find_program(spec);
  const Descriptor null_device(open("/dev/null", O_RDWR | O_CLOEXEC));
  Pipe output;
  Pipe start_failure;
  if (!path || !null_device || !output.open() || !start_failure.open()) return;

  // All strings are made before the child exists, because it must not allocate memory: another
  // thread of lauka may hold the allocator's lock.
  const std::string no_launch_value;  // only a measured program has one
  std::vector<std::string> variables;
  if (!inherits_environment_unchanged(spec)) variables = program_environment(spec, no_launch_value);
  const ExecStrings strings(spec.words, std::move(variables));

  HelperPlan plan{.path = path->c_str(),
                  .argv = strings.argv(),
                  .environment = strings.environment(),
                  .folder = spec.folder.empty() ? nullptr : spec.folder.c_str(),
                  .user = spec.user ? &*spec.user : nullptr,
                  .null_device = null_device.get(),
                  .output = output.write_end.get(),
                  .start_failure = start_failure.write_end.get(),
                  .parent = getpid()};
  deadline_ = MonotonicClock().now() + timeout;
  const pid_t pid = start_program(plan);
  if (pid < 0) return;

  pid_ = pid;
  output_ = std::move(output.read_end);
  start_failure_ = std::move(start_failure.read_end);
}

/// Reads the program's output to its end. Keeps at most `most_bytes` bytes of its beginning or end
/// in `output`. Returns false if time runs out or the program is stopped.
bool HelperProgram::read_output(Watch& watch, std::size_t most_bytes, Part part,
                                std::string& output) const {
  std::array<char, 4096> piece;

  for (;;) {
    // Asked before reading, so that what the program wrote just before its end is still read.
    const bool was_over = is_over();
    const ssize_t count = read(output_.get(), piece.data(), piece.size());
    const bool is_closed = count == 0;
    const bool has_nothing_yet = count < 0 && (errno == EAGAIN || errno == EINTR);
    const bool has_failed = count < 0 && !has_nothing_yet;

    // The output ends with the program, even if a descendant keeps the pipe open.
    if (is_closed || has_failed || (has_nothing_yet && was_over)) return true;

    const nanoseconds time_left = watch.update_time_left();
    if (time_left <= nanoseconds(0)) return false;

    if (has_nothing_yet) {
      if (has_stopped(watch)) return false;
      wait_for_bytes(output_.get(), time_left);
      continue;
    }

    // What exceeds the limit is read, too, because the program must not wait for a full pipe.
    add_part({piece.data(), static_cast<std::size_t>(count)}, most_bytes, part, output);
  }
}

bool HelperProgram::is_over() const {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         info.si_pid != 0;
}

/// Returns the signal that has stopped the program, which nothing will continue; 0 if it is not
/// stopped.
int HelperProgram::stop_signal() const {
  siginfo_t info{};
  constexpr int only_look = WSTOPPED | WNOHANG | WNOWAIT;
  const bool is_known = waitid(P_PID, static_cast<id_t>(pid_), &info, only_look) == 0;
  return is_known && info.si_pid != 0 ? info.si_status : 0;
}

/// True if the program, or a descendant for a while, is stopped.
bool HelperProgram::has_stopped(Watch& watch) const {
  return stop_signal() != 0 || watch.stop_signal_of_descendant() != 0;
}

/// Waits for the end of the program; returns false if time runs out or the program is stopped. The
/// ended program stays a zombie, so that its id is not reused.
bool HelperProgram::wait_for_end(Watch& watch) const {
  for (;;) {
    if (is_over()) return true;
    if (watch.update_time_left() <= nanoseconds(0) || has_stopped(watch)) return false;
    sleep_for(kPollInterval);
  }
}

/// Returns the outcome of a program that has not ended in time: the program or a descendant was
/// stopped, or if neither was, time has run out.
Outcome HelperProgram::find_outcome_without_end(const Watch& watch) const {
  const int own_stop = stop_signal();
  const int stop = own_stop != 0 ? own_stop : watch.last_stop_of_descendant();
  if (stop != 0) return Stopped{stop};
  return TimedOut{};
}

// Waits for the end of the program, and kills it if it is late or stopped. Returns its outcome, and
// at most `most_bytes` bytes from the beginning or end of its output.
HelperProgram::Answer HelperProgram::wait(std::size_t most_bytes, Part part) {
  const bool was_started = pid_ != 0;
  if (!was_started) return {NotStarted{}};

  Answer answer{.outcome = TimedOut{}};  // stays so only if the status of the program is unknown
  Watch watch(deadline_, pid_);
  const bool has_ended = read_output(watch, most_bytes, part, answer.output) && wait_for_end(watch);
  if (!has_ended) {
    answer.outcome = find_outcome_without_end(watch);
    kill_it();
    return answer;
  }

  int status = 0;
  const pid_t ended_pid = std::exchange(pid_, 0);
  const bool is_known = waitpid(ended_pid, &status, 0) > 0;
  if (is_known && WIFEXITED(status)) answer.outcome = Exited{WEXITSTATUS(status)};
  if (is_known && WIFSIGNALED(status)) answer.outcome = Signalled{WTERMSIG(status)};

  // A child that could not execute the program has exited, too, and left the reason in the pipe.
  NotStarted reason;
  const bool has_reason = read(start_failure_.get(), &reason, sizeof reason) == sizeof reason;
  if (has_reason) answer.outcome = reason;
  return answer;
}

void HelperProgram::kill_it() {
  if (pid_ == 0) return;
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);  // the program may have left its group
  Watch watch(MonotonicClock().now() + kMaxDyingTime);
  while (!is_over() && watch.update_time_left() > nanoseconds(0)) sleep_for(kPollInterval);
  if (is_over()) waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

}  // namespace lauka::os
