#include "os/helper_program.h"
#include "os/linux_calls.h"
#include "os/platform.h"
#include "os/process.h"
#include "os/running.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <sstream>
#include <variant>

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

namespace lauka::os {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kEnough = 1000;

}  // namespace

TEST_CASE("what a program aside wrote is there when it has ended, once") {
  HelperProgram aside;
  aside.begin(shell("echo one; echo two; echo no >&2"), kPatience);
  const auto answer = aside.wait(kEnough);
  CHECK(succeeded(answer.outcome));
  CHECK(answer.output == "one\ntwo\n");
  CHECK(std::holds_alternative<NotStarted>(aside.wait(kEnough).outcome));
}

TEST_CASE("a program aside may write more than is taken, and more than a pipe holds") {
  HelperProgram aside;
  aside.begin(shell("head -c 300000 /dev/zero | tr '\\0' x; exit 3"), kPatience);
  const auto answer = aside.wait(2);
  CHECK(answer.output == "xx");
  REQUIRE(std::holds_alternative<Exited>(answer.outcome));
  CHECK(std::get<Exited>(answer.outcome).status == 3);
}

TEST_CASE("a program aside that closes its output is waited for, too") {
  HelperProgram aside;
  aside.begin(shell("echo one; exec >&-; sleep 0.05; exit 3"), kPatience);
  const auto answer = aside.wait(kEnough);
  CHECK(answer.output == "one\n");
  REQUIRE(std::holds_alternative<Exited>(answer.outcome));
  CHECK(std::get<Exited>(answer.outcome).status == 3);
}

TEST_CASE("a program aside that is not there, and one that dies of a signal, are told apart") {
  HelperProgram missing;
  missing.begin({.words = {"no-such-program"}}, kPatience);
  CHECK(std::holds_alternative<NotStarted>(missing.wait(kEnough).outcome));
  HelperProgram dying;
  dying.begin(shell("kill -9 $$"), kPatience);
  CHECK(std::holds_alternative<Signalled>(dying.wait(kEnough).outcome));
}

TEST_CASE("a program aside that is stopped is killed, and the signal that stopped it is known") {
  for (const char* const script : {"kill -STOP $$; exit 0", "exec >&-; kill -TSTP $$; exit 0"}) {
    CAPTURE(script);
    HelperProgram aside;
    aside.begin(shell(script), kPatience);
    const auto answer = aside.wait(kEnough);
    // A process group without a parent in its session ignores SIGTSTP.
    if (std::holds_alternative<Exited>(answer.outcome)) continue;
    REQUIRE(std::holds_alternative<Stopped>(answer.outcome));
    CHECK(std::get<Stopped>(answer.outcome).signal != 0);
  }
}

TEST_CASE("a program aside of which only a descendant is stopped is killed, too") {
  if (linux_calls() == nullptr) return;  // no other system tells
  for (const char* const script : {"sh -c 'kill -STOP $$'; echo on",
                                   "exec >&-; sh -c 'sh -c \"kill -STOP \\$\\$\"; true'; true"}) {
    CAPTURE(script);
    HelperProgram aside;
    aside.begin(shell(script), kPatience);
    const auto answer = aside.wait(kEnough);
    REQUIRE(std::holds_alternative<Stopped>(answer.outcome));
    CHECK(std::get<Stopped>(answer.outcome).signal == SIGSTOP);
  }
}

TEST_CASE("a program aside that cannot enter its folder was not started, for that reason") {
  HelperProgram aside;
  ProgramSpec spec = shell("echo one");
  spec.folder = "/no-such-folder";
  aside.begin(spec, kPatience);
  const auto answer = aside.wait(kEnough);
  REQUIRE(std::holds_alternative<NotStarted>(answer.outcome));
  CHECK(std::get<NotStarted>(answer.outcome).step == LaunchStep::EnterFolder);
  CHECK(std::get<NotStarted>(answer.outcome).error == ENOENT);
}

TEST_CASE("a program aside is killed when its time is over, with what it started") {
  const TemporaryFile file;
  time_that_suffices(milliseconds(20), [&](std::chrono::nanoseconds limit) {
    HelperProgram aside;
    aside.begin(shell("sleep 600 & echo $! >" + file.name() + "; echo one; sleep 600"), limit);
    CHECK(std::holds_alternative<TimedOut>(aside.wait(kEnough).outcome));
    pid_t started = 0;
    if (!(std::istringstream(file.text()) >> started)) return false;
    CHECK(comes_true([started] { return !is_alive(started); }));
    return true;
  });
}

TEST_CASE("a program aside has lauka's signal mask, and lauka keeps its own") {
  const sigset_t blocked = signal_set({SIGUSR2});
  sigset_t before;
  REQUIRE(sigprocmask(SIG_BLOCK, &blocked, &before) == 0);
  for (const bool blocks : {true, false}) {
    CAPTURE(blocks);
    HelperProgram aside;
    aside.begin(shell("kill -USR2 $$; true"), kPatience);
    sigset_t now;
    REQUIRE(sigprocmask(SIG_SETMASK, &before, &now) == 0);
    CHECK(sigismember(&now, SIGUSR2) == (blocks ? 1 : sigismember(&before, SIGUSR2)));
    CHECK(sigismember(&now, SIGTERM) == sigismember(&before, SIGTERM));
    CHECK(succeeded(aside.wait(kEnough).outcome) == blocks);
  }
}

#ifdef __linux__
TEST_CASE("a signal that a child gets before it runs a program is not for the program") {
  const auto become = [](void* mask) {
    raise(SIGTERM);
    unblock_signals_in_child(*static_cast<sigset_t*>(mask));
    _exit(3);
  };

  pid_t pid = 0;
  {
    const AllSignalsBlocked blocked;
    sigset_t mask = blocked.mask_before();
    pid = start_child(become, &mask);
  }
  REQUIRE(pid > 0);
  int status = 0;
  REQUIRE(waitpid(pid, &status, 0) == pid);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 3);
}
#endif

}  // namespace lauka::os
