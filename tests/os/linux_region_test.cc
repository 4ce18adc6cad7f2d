#include "must.h"
#include "os/linux_calls.h"
#include "os/process.h"
#include "os/run_files.h"
#include "os/running.h"
#include "places.h"
#include "skip.h"

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <lauka/region.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

// The region of lauka/region.h, from lauka's side.

namespace lauka::os {
namespace {

/// A counter that every kernel has and every user may open, off until somebody switches it on.
PerfEventAttr clock_that_is_off() {
  PerfEventAttr clock;
  clock.type = kPerfTypeSoftware;
  clock.size = sizeof clock;
  clock.config = 1;  // task-clock
  clock.read_format = kPerfReadEnabled | kPerfReadRunning | kPerfReadGroup;
  clock.flags = kPerfDisabled | kPerfInherit | kPerfExcludeKernel;
  return clock;
}

/// Runs them one after the other, with that counter if the machine has one.
std::vector<Ended> run_region(const std::vector<std::string>& words, int times, bool counts) {
  const auto launcher = must(start_launcher());
  ProgramSpec spec = program(words);
  spec.has_region = true;
  Launch launch{must(launcher->add_program(spec))};
  if (counts) {
    CounterRequest request;
    const PerfEventAttr clock = clock_that_is_off();
    std::memcpy(request.attributes.data(), &clock, sizeof clock);
    request.counts_only_region = true;
    launch.counters = must(launcher->add_counters({&request, 1}));
  }
  const std::vector<Launch> launches(static_cast<std::size_t>(times), launch);
  return must(launcher->run(launches, AfterFailure::GoOn, {}));
}

Ended run_region(const std::vector<std::string>& words) {
  return run_region(words, 1, false).front();
}

bool can_count() {
  const int counter = linux_calls()->open_counter(clock_that_is_off(), {}, -1);
  if (counter >= 0) linux_calls()->close_descriptor(counter);
  return counter >= 0;
}

#ifdef __x86_64__

/// Enters a region with `turns` turns of two instructions each.
[[noreturn]] void enter_region(std::uint64_t turns) {
  RegionPage page;
  const int counter = linux_calls()->open_counter(clock_that_is_off(), {}, -1);
  if (counter < 0 || !page.hand_down() || !page.hand_down_counter(counter)) _exit(2);
  putenv(page.variable_entry());
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(3);
  raise(SIGSTOP);
  lauka_region_begin();
  if (turns > 0) __asm__ volatile("1: dec %0\n jnz 1b" : "+r"(turns) : : "cc");
  lauka_region_end();
  _exit(0);
}

bool is_at_ioctl(pid_t child, std::uint64_t request) {
  user_regs_struct now{};
  ptrace(PTRACE_GETREGS, child, nullptr, &now);
  const long code = ptrace(PTRACE_PEEKTEXT, child, now.rip, nullptr);
  constexpr long syscall_instruction = 0x050f;
  return (code & 0xffff) == syscall_instruction && now.rax == 16 && now.rsi == request;
}

/// Steps up to that call; how many instructions that took, or -1.
long steps_to_ioctl(pid_t child, std::uint64_t request) {
  constexpr long most = 200'000;
  for (long steps = 0; steps < most; ++steps) {
    if (is_at_ioctl(child, request)) return steps;
    int status = 0;
    if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0) return -1;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return -1;
  }
  return -1;
}

/// Returns the instructions of a region with so many turns, from one switch to the other; -1 if
/// they cannot be counted here.
long instructions_of_region(std::uint64_t turns) {
  const pid_t child = fork();
  if (child == 0) enter_region(turns);
  int status = 0;
  waitpid(child, &status, 0);
  long counted = -1;
  if (WIFSTOPPED(status)) {
    if (steps_to_ioctl(child, 0x2400) >= 0) counted = steps_to_ioctl(child, 0x2401);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
  }
  return counted;
}

#endif

/// Returns what `region turns TURNS HOW` notes with macOS's header, on Linux in place of
/// libSystem: two instructions and a cycle in each nanosecond of a thread's CPU time.
RegionUse noted_as_on_macos(const char* how, const char* turns = "10000000") {
  const std::string path =
      std::filesystem::path(places::kProgramOnModel).replace_filename("region_as_on_macos");
  RegionPage page;
  REQUIRE(page.hand_down());
  page.request_thread_counts();
  const pid_t child = fork();
  if (child == 0) {
    putenv(page.variable_entry());
    execl(path.c_str(), "region", "turns", turns, how, nullptr);  // NOLINT: execl is so
    _exit(127);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  return page.use();
}

}  // namespace

TEST_CASE("as on macOS: threads that enter a region note their own counts") {
  for (const char* how : {"once", "twice", "nested", "threads", "in_child"}) {
    CAPTURE(how);
    const RegionUse use = noted_as_on_macos(how);
    CHECK(use.cycles > 0);
    CHECK(use.cycles <= 2 * use.time_ns);  // at most two at once
    CHECK(use.instructions == 2 * use.cycles);
    CHECK(use.uncounted_threads == 0);
    CHECK_FALSE(use.is_open);
  }
}

TEST_CASE("as on macOS: what another thread or a child does in a region is not in its counts") {
  for (const char* how : {"thread", "old_thread", "child"}) {
    CAPTURE(how);
    // So much work that the thread which waits for it hardly needs anything.
    const RegionUse use = noted_as_on_macos(how, "100000000");
    CHECK(use.time_ns > 0);
    CHECK(use.cycles < use.time_ns / 2);
    CHECK(use.uncounted_threads == 0);
  }
}

TEST_CASE("as on macOS: a thread that is still inside, or was never, has no counts") {
  const RegionUse open = noted_as_on_macos("open");
  CHECK(open.is_open);
  CHECK(open.uncounted_threads == 1);
  const RegionUse stray = noted_as_on_macos("stray");
  CHECK(stray.unmatched_ends == 1);
  CHECK(stray.uncounted_threads == 1);
  CHECK(noted_as_on_macos("never").entries == 0);
}

TEST_CASE("a program notes its region in memory that is new for each run") {
  const auto all = run_region({"region", "turns", "300000", "twice"}, 3, false);
  REQUIRE(all.size() == 3);
  for (const Ended& ended : all) {
    REQUIRE(ended.region.has_value());
    CHECK(ended.region->entries == 2);
    CHECK(ended.region->time_ns > 0);
    CHECK(ended.region->time_ns < ended.usage.wall_ns);
    CHECK(ended.region->unmatched_ends == 0);
    CHECK(ended.region->counter_failures == 0);
    CHECK_FALSE(ended.region->is_open);
  }
}

TEST_CASE("nested entries are one, and so are overlapping ones of several threads") {
  CHECK(run_region({"region", "turns", "10", "nested"}).region->entries == 1);
  const RegionUse threads = *run_region({"region", "sleeps", "100", "threads"}).region;
  CHECK(threads.entries >= 1);
  CHECK(threads.entries <= 2);
  CHECK_FALSE(threads.is_open);
}

TEST_CASE("a child's entry is its parent's run's") {
  CHECK(run_region({"region", "turns", "10", "in_child"}).region->entries == 1);
}

TEST_CASE("a region left open, an end without a begin and no region at all differ") {
  CHECK(run_region({"region", "turns", "10", "open"}).region->is_open);
  CHECK(run_region({"region", "turns", "10", "stray"}).region->unmatched_ends == 1);
  CHECK(run_region({"region", "turns", "10", "never"}).region->entries == 0);
}

TEST_CASE("a run without a region has none, and does not find the variable") {
  const Ended ended = run_once(shell("test -z \"${LAUKA_REGION-}\""));
  CHECK(succeeded(ended.outcome));
  CHECK_FALSE(ended.region.has_value());
}

TEST_CASE("a counter is on in the region only, in threads and children of it, too") {
  if (!can_count()) return skip("this kernel opens no counters for this user");
  for (const char* how : {"once", "thread", "old_thread", "child", "in_child"}) {
    CAPTURE(how);
    const auto all = run_region({"region", "turns", "3000000", how}, 3, true);
    REQUIRE(all.size() == 3);
    for (const Ended& ended : all) {
      REQUIRE(ended.counter_error == 0);
      CHECK(ended.region->counter_failures == 0);
      const Reading reading = ended.readings.at(0);
      CHECK(reading.value > 0);
      // Four fifths of the work are outside; inside there are at most two threads.
      CHECK(reading.value <= 2 * ended.region->time_ns);
    }
  }
  CHECK(run_region({"region", "turns", "3000000", "never"}, 1, true).front().readings.at(0).value ==
        0);
}

TEST_CASE("a region of a known loop has the loop's instructions and a constant") {
#ifdef __x86_64__
  const long none = instructions_of_region(0);
  if (none < 0) return skip("programs may not be stepped through here, or not counted");
  CHECK(none < 1000);  // some 80 of an optimized program
  const long some = instructions_of_region(500);
  CHECK(some - none < 1010);  // without a turn, a branch skips the loop
  CHECK(some - none >= 1000);
  CHECK(instructions_of_region(1000) == some + 1000);
  CHECK(instructions_of_region(1500) == some + 2000);
#else
  skip("steps are counted on x86-64 only");
#endif
}

}  // namespace lauka::os
