#include "report/lines.h"

#include <cerrno>
#include <csignal>

#include <doctest/doctest.h>

namespace lauka::report {

TEST_CASE("the end of a run is described in words") {
  CHECK(describe(Exited{3}) == "exited with status 3");
  CHECK(describe(Signalled{SIGSEGV, true}) == "was killed by SIGSEGV (core dumped)");
  CHECK(describe(Signalled{SIGKILL, false}) == "was killed by SIGKILL");
  CHECK(describe(Signalled{64, false}) == "was killed by signal 64");
  CHECK(describe(TimedOut{std::chrono::seconds(2)}) == "took longer than 2s and was killed");
  CHECK(describe(Cancelled{}) == "was killed because lauka was interrupted");
}

TEST_CASE("a run stopped by job control is reported with the reason") {
  CHECK(describe(Stopped{SIGTTIN}) ==
        "was stopped by SIGTTIN: it wants the terminal, which commands run by lauka do not have");
  CHECK(describe(Stopped{SIGSTOP}) ==
        "was stopped by SIGSTOP: nothing would have resumed it, so it was killed");
}

TEST_CASE("a run that could not be started is reported with the step and the system's reason") {
  CHECK(describe(TimedOut{std::chrono::seconds(1), true, 99}) ==
        "took longer than 1s and could not be killed: its process 99 lives on");
  CHECK(describe(TimedOut{std::chrono::seconds(1), false}) ==
        "waited longer than 1s for the other end of a pipe");
  CHECK(describe(NotStarted{LaunchStep::Ask, 0}) == "could not be started");
  CHECK(describe(NotStarted{LaunchStep::Execute, ENOENT}) ==
        "could not be started: No such file or directory");
  CHECK(describe(NotStarted{LaunchStep::OpenInput, EACCES}) ==
        "could not be started: its input cannot be opened: Permission denied");
  CHECK(describe(NotStarted{LaunchStep::Execute, ENOEXEC}) ==
        "could not be started: Exec format error; a script needs a first line such as #!/bin/sh, "
        "or use -S");
}

}  // namespace lauka::report
