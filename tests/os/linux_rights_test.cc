#include "os/process.h"
#include "skip.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <variant>

#include <doctest/doctest.h>

#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lauka::os {
namespace {

using namespace std::chrono_literals;

/// Gives up root's right to signal others' processes; false: it could not.
bool give_up_killing() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> rights{};
  syscall(SYS_capget, &header, rights.data());
  for (auto* set : {&rights[0].effective, &rights[0].permitted}) *set &= ~(1U << CAP_KILL);
  return syscall(SYS_capset, &header, rights.data()) == 0;
}

/// As another user, runs a program that writes its id to `file` and sleeps; the status is the
/// result.
int measure_somebody_else(const std::string& file) {
  if (!give_up_killing()) return 3;
  const auto launcher = start_launcher();
  ProgramSpec spec;
  spec.words = {"/bin/sh", "-c", "echo $$; exec sleep 60"};
  spec.output = {Sink::File, file};
  spec.user = User{54321, 54322, {54322}, "somebody", "/"};
  spec.timeout = 200ms;
  if (!launcher || chmod(file.c_str(), 0666) != 0) return 1;
  const auto id = (*launcher)->add_program(spec);
  if (!id) return 1;
  const Launch launch{*id, kNoCounters};
  const auto all = (*launcher)->run({&launch, 1}, false, {});
  if (!all || all->size() != 1) return 1;
  const auto* late = std::get_if<TimedOut>(&all->front().outcome);
  return late != nullptr && late->survivor != 0 ? 0 : 2;
}

TEST_CASE("a process that cannot be killed is not waited for, and not called killed (needs root)") {
  if (geteuid() != 0) {
    skip("only root can become somebody who may not kill");
    return;
  }
  std::string file = "/tmp/lauka-test-XXXXXX";
  const int descriptor = mkstemp(file.data());
  REQUIRE(descriptor >= 0);
  close(descriptor);
  const pid_t child = fork();
  if (child == 0) _exit(measure_somebody_else(file));
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  pid_t survivor = 0;
  std::ifstream(file) >> survivor;
  std::remove(file.c_str());
  REQUIRE(survivor > 1);
  CHECK(kill(survivor, 0) == 0);
  kill(survivor, SIGKILL);
}

}  // namespace
}  // namespace lauka::os
