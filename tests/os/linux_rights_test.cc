#include "os/process.h"
#include "os/running.h"
#include "skip.h"

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <variant>

#include <doctest/doctest.h>

#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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
  ProgramSpec spec = shell("echo $$; exec sleep 60");
  spec.output = {OutputKind::File, file};
  spec.user = User{54321, 54322, {54322}, "somebody", "/"};
  if (chmod(file.c_str(), 0666) != 0) return 1;
  const auto launcher = must(start_launcher());
  bool survived = false;
  time_that_suffices(100ms, [&](std::chrono::nanoseconds limit) {
    spec.timeout = limit;
    const Ended ended = run_once(*launcher, spec);
    const auto* late = std::get_if<TimedOut>(&ended.outcome);
    survived = late != nullptr && late->survivor != 0;
    return std::filesystem::file_size(file) > 0;
  });
  return survived ? 0 : 2;
}

TEST_CASE("a process that cannot be killed is not waited for, and not called killed (needs root)") {
  if (geteuid() != 0) return skip("only root can become somebody who may not kill");
  const TemporaryFile file;
  CHECK(status_of_child([&file] { return measure_somebody_else(file.name()); }) == 0);
  pid_t survivor = 0;
  std::ifstream(file.name()) >> survivor;
  REQUIRE(survivor > 1);
  CHECK(kill(survivor, 0) == 0);
  kill(survivor, SIGKILL);
}

}  // namespace
}  // namespace lauka::os
