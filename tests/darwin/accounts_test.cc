#include "darwin/driver.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <doctest/doctest.h>

// What the model says of processes to those who are not root, against the facts.

namespace lauka::darwin {
namespace {

struct Rusage {
  std::array<std::uint64_t, 58> words{};
  int error = 0;
  std::uint64_t at(std::size_t offset) const { return words.at(offset / 8); }
};

Rusage rusage_of(const Driver& driver, pid_t pid, int flavour = 6) {
  Rusage usage;
  void* buffer = usage.words.data();
  if (driver.calls.proc_pid_rusage(pid, flavour, static_cast<void**>(buffer)) != 0)
    usage.error = errno;
  return usage;
}

}  // namespace

TEST_CASE("a zombie has its totals until it is reaped") {
  Driver driver(machine("m1"));
  const pid_t pid = driver.run_script("run 4ms kernel=250\nrun 2ms e\nexit 7").pid;
  const Rusage usage = rusage_of(driver, pid);
  CHECK(usage.error == 0);
  // 3 ms of user space on a performance core, 1 ms of the kernel and 18 us of exit, 2 ms of an
  // efficiency core; each time a thread comes on a CPU costs 75 ns.
  CHECK(usage.at(304) == 3'000'000 * 3 / 125);
  CHECK(usage.at(320) >= 3'000'000 * 112 / 10 + 1'000'000 * 63 / 20);
  CHECK(usage.at(248) > usage.at(320) + 2'000'000 * 22 / 10);
  CHECK(usage.at(88) > usage.at(80));
  CHECK(usage.at(72) == 0);
  CHECK(usage.at(336) > usage.at(344));
  CHECK(rusage_of(driver, pid, 4).at(248) == usage.at(248));
  CHECK(rusage_of(driver, pid, 4).at(320) == 0);
  CHECK(rusage_of(driver, pid, 7).error == EINVAL);
  int status = 0;
  CHECK(driver.calls.wait4(pid, &status, 0, nullptr) == pid);
  CHECK(WEXITSTATUS(status) == 7);
  CHECK(rusage_of(driver, pid).error == ESRCH);
}

TEST_CASE(
    "children's work is not in the parent's instructions, and its time is when they are reaped") {
  Driver driver(machine("m1"));
  const pid_t pid = driver.run_script("fork {\nrun 50ms\n}\nwait\nrun 1ms").pid;
  const Rusage usage = rusage_of(driver, pid);
  CHECK(usage.at(248) < 2'000'000 * 112 / 10);
  CHECK(usage.at(96) >= 50'000'000 * 3 / 125);
  rusage used{};
  driver.calls.wait4(pid, nullptr, 0, &used);
  CHECK(used.ru_utime.tv_usec >= 51'000);
}

TEST_CASE("threads of a living process have ids, names and counts by kind of core") {
  Driver driver(machine("m1"));
  driver.programs["work"] = read_script("name first\nrun 3ms\nrun 3ms e\nsleep 1s");
  const pid_t pid = driver.spawn_suspended("work");
  driver.calls.kill(pid, SIGCONT);
  for (int i = 0; i < 20'000; ++i) driver.calls.mach_absolute_time();
  std::array<std::uint64_t, 4> tids{};
  CHECK(driver.calls.proc_pidinfo(pid, 28, 0, tids.data(), sizeof tids) == 8);
  CHECK(driver.calls.proc_pidinfo(pid, 28, 0, tids.data(), 4) == 0);
  CHECK(errno == ENOMEM);
  std::array<std::uint64_t, 4> bogus{};
  CHECK(driver.calls.proc_pidinfo(pid, 6, 0, bogus.data(), sizeof bogus) == 8);
  CHECK(bogus[0] != tids[0]);
  os::ThreadInfo info;
  CHECK(driver.calls.proc_pidinfo(pid, 15, tids[0], &info, sizeof info) == 112);
  CHECK(std::string(info.name.data()) == "first");
  struct {
    os::ThreadCountsHeader header;
    std::array<os::ThreadCounts, 2> kinds;
  } counts;
  CHECK(driver.calls.proc_pidinfo(pid, 34, tids[0], &counts, sizeof counts) == 88);
  CHECK(counts.header.kinds == 2);
  CHECK(counts.kinds[0].instructions >= 3'000'000 * 112 / 10);
  CHECK(counts.kinds[1].instructions >= 3'000'000 * 22 / 10);
  CHECK(counts.kinds[1].instructions < 3'100'000 * 22 / 10);
  CHECK(driver.calls.proc_pidinfo(pid, 34, tids[0] + 1, &counts, sizeof counts) == 0);
  CHECK(errno == ESRCH);
  driver.calls.kill(pid, SIGKILL);
  siginfo_t ended{};
  driver.calls.waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT);
  CHECK(ended.si_code == CLD_KILLED);
  CHECK(ended.si_status == SIGKILL);
  CHECK(driver.calls.proc_pidinfo(pid, 28, 0, tids.data(), sizeof tids) == 0);
  CHECK(errno == ESRCH);
}

TEST_CASE("another user's process is refused without root") {
  Setup setup = machine("m1");
  setup.is_root = false;
  setup.neighbours = true;
  Driver driver(setup);
  CHECK(rusage_of(driver, 1).error == EPERM);
  CHECK(driver.set("kpc.force_all_ctrs", 1) == EPERM);
  CHECK(driver.set("kpc.counting", 3) == EPERM);
  CHECK(driver.count("kpc.counter_count", 3) == 10);
  CHECK(driver.set("kperf.action.count", 1) == EPERM);
  CHECK(driver.kdebug(7) == EPERM);
}

TEST_CASE("a virtual machine has neither kpc nor instructions") {
  Setup setup = machine("m1");
  setup.is_virtual = true;
  Driver driver(setup);
  CHECK(driver.set("kpc.counting", 3) == ENOENT);
  const Rusage usage = rusage_of(driver, driver.run_script("run 4ms").pid);
  CHECK(usage.at(248) == 0);
  CHECK(usage.at(256) == 0);
  CHECK(usage.at(16) > 0);
}

TEST_CASE("what is suspended runs nothing until SIGCONT; what is stopped is reported once") {
  Driver driver(machine("m1"));
  driver.programs["work"] = read_script("run 1ms\nsignal 19\nrun 1ms");
  const pid_t pid = driver.spawn_suspended("work");
  for (int i = 0; i < 5'000; ++i) driver.calls.mach_absolute_time();
  CHECK(driver.host.kernel.find(pid)->threads.front()->ran.total() == 0);
  driver.calls.kill(pid, SIGCONT);
  siginfo_t info{};
  driver.calls.waitid(P_PID, static_cast<id_t>(pid), &info, WSTOPPED);
  CHECK(info.si_code == CLD_STOPPED);
  CHECK(info.si_status == SIGSTOP);
  driver.calls.waitid(P_PID, static_cast<id_t>(pid), &info, WSTOPPED | WNOHANG);
  CHECK(info.si_pid == 0);
  driver.calls.kill(pid, SIGCONT);
  driver.calls.waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED);
  CHECK(info.si_code == CLD_EXITED);
}

}  // namespace lauka::darwin
