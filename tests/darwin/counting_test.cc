#include "darwin/driver.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <numeric>

#include <doctest/doctest.h>

// What the model says of kpc and of threads, against the facts.

namespace lauka::darwin {
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
  const auto samples = samples_of(driver.read(), 10);
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
  const auto samples = samples_of(driver.read(), 10);
  CHECK(sum_of(samples, 1) > 0);
  CHECK(sum_of(samples, 2 + 7) == 0);
}

TEST_CASE("a selector that the chip does not have is refused, and nothing is changed") {
  Driver driver(machine("m4"));
  driver.set("kpc.force_all_ctrs", 1);
  const auto good = words_with(driver.host.kernel.setup.chip, "INST_ALL", 5);
  CHECK(driver.set_words(2, good) == 0);
  auto bad = good;
  bad[0] = 0x3fff;
  CHECK(driver.set_words(2, bad) == EPERM);
  std::vector<std::uint64_t> now;
  CHECK(driver.host.kernel.pmu.words(2, now) == 0);
  auto with_levels = good;
  for (std::uint64_t& word : with_levels) word |= word == 0 ? 0 : 0x20000;
  CHECK(now == with_levels);
  CHECK(driver.set_words(6, good) == EPERM);
  CHECK(driver.set_words(2, {1, 2, 3}) == EINVAL);
  CHECK(driver.set_words(1, {}) == EINVAL);
}

TEST_CASE("the power manager holds three counters of an M4 until they are forced") {
  Driver driver(machine("m4"));
  CHECK(driver.count("kpc.counter_count", 2) == 5);
  CHECK(driver.count("kpc.counter_count", 3) == 7);
  CHECK(driver.set("kpc.force_all_ctrs", 1) == 0);
  CHECK(driver.count("kpc.counter_count", 2) == 8);
  CHECK(driver.count("kpc.config_count", 3) == 8);
  CHECK(driver.count("kpc.config_count", 1) == 0);
}

TEST_CASE("configurable counters count the kernel before macOS 15 and not from then on") {
  for (const bool user_only : {false, true}) {
    Setup setup = machine("m1");
    setup.pmu.user_only = user_only;
    Driver driver(setup);
    driver.count_at_exit(words_with(driver.host.kernel.setup.chip, "INST_ALL", 5));
    driver.trace_on();
    driver.run_script("run 1ms kernel=500");
    const auto samples = samples_of(driver.read(), 10);
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
  CHECK(sum_of(samples_of(driver.read(), 10), 2) == 0);
  CHECK((driver.set("kpc.counting", 0) | driver.set("kpc.counting", 3)) == 0);
  driver.run_script("run 1ms");
  CHECK(sum_of(samples_of(driver.read(), 10), 2) == 1'000'000 * 35 / 10);
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
  const std::uint64_t counted = sum_of(samples_of(driver.read(), 10), 7);
  CHECK(counted != driver.host.kernel.find(pid)->truth.events.at("INST_ALL"));
  CHECK(counted > 9'000'000 * 10);
}

TEST_CASE("an exec keeps the pid, makes a new thread, and recount's totals go over to it") {
  Driver driver(machine("m1"));
  driver.programs["second"] = read_script("run 2ms");
  driver.count_at_exit(words_with(driver.host.kernel.setup.chip, "INST_ALL", 5));
  driver.trace_on();
  const Process& done = driver.run_script("run 1ms\nfailed_exec\nexec second");
  const auto samples = samples_of(driver.read(), 10);
  CHECK(samples.size() == 2);
  CHECK(sum_of(samples, 7) == 3'000'000 * 112 / 10);
  std::array<std::uint64_t, 58> usage{};
  CHECK(driver.calls.proc_pid_rusage(done.pid, 6, reinterpret_cast<void**>(usage.data())) == 0);
  const double coverage =
      static_cast<double>(sum_of(samples, 1)) / static_cast<double>(usage[248 / 8]);
  CHECK(coverage > 0.99);
  CHECK(coverage < 1);
  std::uint64_t inherited = 0;  // TH_INSCYC's kind of sum counts the part before the exec twice
  for (const auto& [tid, values] : samples) inherited += values.at(1);
  CHECK(inherited < 3'100'000 * 112 / 10);
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

TEST_CASE("the model's ten thousand threads of ten microseconds are all sampled") {
  Driver driver(machine("m4"));
  driver.count_at_exit(words_with(driver.host.kernel.setup.chip, "INST_ALL", 5));
  driver.trace_on();
  const Process& done = driver.run_script("threads 10000 {\nrun 10us\n}\njoin");
  const auto samples = samples_of(driver.read(), 10);
  CHECK(samples.size() == 10'001);
  CHECK(sum_of(samples, 1) == done.truth.instructions);
  CHECK(sum_of(samples, 7) == 10'000 * 112'000);
}

}  // namespace lauka::darwin
