#include "darwin/driver.h"

#include <array>
#include <cerrno>
#include <csignal>

#include <doctest/doctest.h>

#include <sys/wait.h>

namespace lauka::darwin {

// The model's kpc and threads, against the facts.

namespace {

std::vector<std::uint64_t> words_with(const Chip& chip, const std::string& event,
                                      std::size_t word) {
  std::vector<std::uint64_t> words(8);
  words.at(word) = word_of(chip, event);
  return words;
}

std::uint64_t sum_of(const std::map<Tid, std::vector<std::uint64_t>>& samples, std::size_t value) {
  std::uint64_t sum = 0;
  for (const auto& [tid, values] : samples) sum += values.at(value);
  return sum;
}

}  // namespace

TEST_CASE("what is sampled at the threads' ends is what they did from their birth") {
  Driver driver(machine("m1"));
  const Chip& chip = driver.host.kernel.setup.chip;
  driver.count_at_exit(words_with(chip, "INST_ALL", 5));
  driver.trace_on();
  const Process& done = driver.run_script(
      "run 3ms\nthreads 20 {\nrun 10us\nsleep 20us\nrun 700us e kernel=500\n}\nrun 12ms\njoin");
  const auto samples = collect_samples(driver.read(), 10);
  CHECK(samples.size() == 21);
  CHECK(done.truth.threads == 21);
  CHECK(sum_of(samples, 0) == done.truth.cycles);
  CHECK(sum_of(samples, 1) == done.truth.instructions);
  CHECK(sum_of(samples, 2 + 5) == done.truth.events.at("INST_ALL"));
  // By hand: user space is 3 ms and 12 ms at 11.2 instructions in a nanosecond, 20 times 10 us at
  // the same and 350 us at 2.2.
  CHECK(done.truth.events.at("INST_ALL") == 15'000'000 * 112 / 10 + 20 * (112'000 + 770'000));
}

TEST_CASE("an event on a counter outside its mask counts nothing") {
  Driver driver(machine("m1"));
  driver.count_at_exit(words_with(driver.host.kernel.setup.chip, "INST_ALL", 7));
  driver.trace_on();
  driver.run_script("run 3ms");
  const auto samples = collect_samples(driver.read(), 10);
  CHECK(sum_of(samples, 1) > 0);
  CHECK(sum_of(samples, 2 + 7) == 0);
}

TEST_CASE("configurable counters count the kernel before macOS 15 and not from then on") {
  for (const bool user_only : {false, true}) {
    Setup setup = machine("m1");
    setup.pmu.user_only = user_only;
    Driver driver(setup);
    driver.count_at_exit(words_with(driver.host.kernel.setup.chip, "INST_ALL", 5));
    driver.trace_on();
    driver.run_script("run 1ms kernel=500");
    const auto samples = collect_samples(driver.read(), 10);
    CHECK((sum_of(samples, 7) < sum_of(samples, 1)) == user_only);
    CHECK((sum_of(samples, 7) == sum_of(samples, 1)) == !user_only);
  }
}

TEST_CASE(
    "where words take effect when counting is switched on, changing them alone does nothing") {
  Setup setup = machine("m1");
  setup.pmu.words_at_start = true;
  Driver driver(setup);
  const Chip& chip = driver.host.kernel.setup.chip;
  driver.count_at_exit(words_with(chip, "INST_ALL", 5));
  driver.trace_on();
  driver.set_words(2, words_with(chip, "CORE_ACTIVE_CYCLE", 0));
  driver.run_script("run 1ms");
  CHECK(sum_of(collect_samples(driver.read(), 10), 2) == 0);
  CHECK((driver.set("kpc.counting", 0) | driver.set("kpc.counting", 3)) == 0);
  driver.run_script("run 1ms");
  CHECK(sum_of(collect_samples(driver.read(), 10), 2) == 1'000'000 * 35 / 10);
}

TEST_CASE("words changed during a thread's life mix two events in its buffer") {
  Driver driver(machine("m1"));
  const Chip& chip = driver.host.kernel.setup.chip;
  driver.count_at_exit(words_with(chip, "INST_ALL", 5));
  driver.trace_on();
  driver.programs["work"] = read_script("run 20ms");
  const pid_t pid = driver.spawn_suspended("work");
  driver.calls.kill(pid, SIGCONT);
  for (int i = 0; i < 9'000; ++i) driver.get("kpc.counting");  // 9 ms go by
  driver.set_words(2, words_with(chip, "RETIRE_UOP", 5));
  siginfo_t info{};
  driver.calls.waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);
  const std::uint64_t counted = sum_of(collect_samples(driver.read(), 10), 7);
  CHECK(counted != driver.host.kernel.find(pid)->truth.events.at("INST_ALL"));
  CHECK(counted > 9'000'000 * 10);
}

TEST_CASE("an exec keeps the pid, makes a new thread, and recount's totals go over to it") {
  Driver driver(machine("m1"));
  driver.programs["second"] = read_script("run 2ms");
  driver.count_at_exit(words_with(driver.host.kernel.setup.chip, "INST_ALL", 5));
  driver.trace_on();
  const Process& done = driver.run_script("run 1ms\nfailed_exec\nexec second");
  const auto samples = collect_samples(driver.read(), 10);
  CHECK(samples.size() == 2);
  CHECK(sum_of(samples, 7) == 3'000'000 * 112 / 10);
  std::array<std::uint64_t, 58> usage{};
  CHECK(driver.calls.proc_pid_rusage(done.pid, 6, reinterpret_cast<void**>(usage.data())) == 0);
  const double coverage =
      static_cast<double>(sum_of(samples, 1)) / static_cast<double>(usage[248 / 8]);
  CHECK(coverage > 0.99);
  CHECK(coverage < 1);
  CHECK(sum_of(samples, 1) < 3'100'000 * 112 / 10);  // the part before the exec is in it once
}

TEST_CASE("sixty threads share the CPUs of a kind, and wait for one another") {
  Setup setup = machine("m1");
  const unsigned cpus = setup.chip.performance_cpus - 1;  // the last one is lauka's
  Driver driver(setup);
  const std::uint64_t began = driver.host.kernel.now_ns();
  const Process& done = driver.run_script("threads 60 {\nrun 30ms\n}\njoin");
  const std::uint64_t took = done.ended_at_ns - began;
  CHECK(took > std::uint64_t{60} * 30'000'000 / cpus);
  CHECK(took < std::uint64_t{60} * 31'000'000 / cpus + 1'000'000);
}

// The model's processes as seen without root, against the facts.

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
