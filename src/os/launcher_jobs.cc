#include "os/launcher_jobs.h"

#include "os/platform.h"
#include "os/rusage.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <ctime>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lauka::os {
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
