// Does a known amount of work in a region of lauka/region.h, and twice as much before it and behind
// it: turns of a loop, pages touched, or sleeps. Prints the time that it reads just inside and just
// outside of the region, of the entries of its own process.
#include "arguments.h"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <string_view>
#include <thread>

#include <lauka/region.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

/// Two instructions each where that is known.
void turn(std::uint64_t turns) {
  if (turns == 0) return;
#if defined(__x86_64__)
  __asm__ volatile("1: dec %0\n jnz 1b" : "+r"(turns) : : "cc");
#elif defined(__aarch64__)
  __asm__ volatile("1: subs %0, %0, #1\n b.ne 1b" : "+r"(turns) : : "cc");
#else
  for (volatile std::uint64_t i = 0; i < turns;) i = i + 1;
#endif
}

/// Each of them for the first time.
void touch(std::uint64_t pages) {
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t bytes = static_cast<std::size_t>(pages) * size;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
  if (memory == MAP_FAILED) return;
#if defined(MADV_NOHUGEPAGE)
  madvise(memory, bytes, MADV_NOHUGEPAGE);
#endif
  auto* first = static_cast<volatile char*>(memory);
  for (std::size_t i = 0; i < bytes; i += size) first[i] = 1;
}

void sleep_often(std::uint64_t times) {
  for (std::uint64_t i = 0; i < times; ++i) usleep(100);
}

using Work = void (*)(std::uint64_t amount);

Work work_named(std::string_view name) {
  if (name == "turns") return turn;
  if (name == "pages") return touch;
  return name == "sleeps" ? sleep_often : nullptr;
}

void in_child(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  while (waitpid(child, nullptr, 0) < 0) {
  }
}

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

struct Readings {
  std::atomic<std::int64_t> inside_ns{0};
  std::atomic<std::int64_t> outside_ns{0};
};

Readings& readings() {
  static Readings of_all_entries;
  return of_all_entries;
}

void in_region(const std::function<void()>& work) {
  const std::int64_t before = now_ns();
  lauka_region_begin();
  const std::int64_t begun = now_ns();
  work();
  const std::int64_t ending = now_ns();
  lauka_region_end();
  readings().outside_ns += now_ns() - before;
  readings().inside_ns += ending - begun;
}

/// A child is killed while it enters.
void enter_and_be_killed() {
  in_child([] {
    lauka_region_page_* page = lauka_region_attach_();
    if (page != nullptr) lauka_region_lock_(page);
    kill(getpid(), SIGKILL);
  });
}

/// A thread that was there before the region works in it.
void in_old_thread(const std::function<void()>& work) {
  int go[2] = {-1, -1};    // NOLINT: as pipe wants it
  int done[2] = {-1, -1};  // NOLINT: likewise
  if (pipe(go) != 0 || pipe(done) != 0) return;
  char byte = 'b';
  std::thread thread([&] {
    char mine = 0;
    if (read(go[0], &mine, 1) == 1) work();
    static_cast<void>(write(done[1], &mine, 1) == 1);
  });
  in_region(
      [&] { static_cast<void>(write(go[1], &byte, 1) == 1 && read(done[0], &byte, 1) == 1); });
  thread.join();
}

/// False: there is no such way.
bool enter(std::string_view how, const std::function<void()>& work) {
  if (how == "once") {
    in_region(work);
  } else if (how == "twice") {
    in_region(work);
    in_region(work);
  } else if (how == "nested") {
    in_region([&] { in_region(work); });
  } else if (how == "thread") {
    in_region([&] { std::thread(work).join(); });
  } else if (how == "old_thread") {
    in_old_thread(work);
  } else if (how == "threads") {
    std::thread other([&] { in_region(work); });
    in_region(work);
    other.join();
  } else if (how == "child") {
    in_region([&] { in_child(work); });
  } else if (how == "in_child") {
    in_child([&] { in_region(work); });
  } else if (how == "killed") {
    enter_and_be_killed();
    in_region(work);
  } else if (how == "never") {
    work();
  } else if (how == "open") {
    lauka_region_begin();
    work();
  } else if (how == "stray") {
    in_region(work);
    lauka_region_end();
  } else {
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const usage =
      "region turns|pages|sleeps AMOUNT "
      "[once|twice|nested|thread|old_thread|threads|child|in_child|killed|never|open|stray]";
  const auto arguments = fixture::arguments_of(argc, argv);
  if (arguments.size() < 2 || arguments.size() > 3) fixture::refuse(usage);
  const Work work = work_named(arguments[0]);
  const auto amount = fixture::to_number(arguments[1], 10'000'000'000);
  if (work == nullptr || !amount) fixture::refuse(usage);
  work(2 * *amount);
  const std::string_view how = arguments.size() == 3 ? arguments[2] : "once";
  if (!enter(how, [&] { work(*amount); })) fixture::refuse(usage);
  work(2 * *amount);
  std::printf("inside %lld ns, outside %lld ns\n", static_cast<long long>(readings().inside_ns),
              static_cast<long long>(readings().outside_ns));
  return 0;
}
