#include "os/launcher_child.h"

#include "os/platform.h"

#include <cerrno>
#include <csignal>
#include <ctime>

#include <unistd.h>

// NOLINTNEXTLINE: POSIX wants this global declared by whoever uses it
extern char** environ;

namespace lauka::os {
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

}  // namespace lauka::os
