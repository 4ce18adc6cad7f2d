
#include "os/platform.h"

#include <csignal>
#include <cstdint>
#include <ctime>

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

namespace lauka::os {
namespace {

TEST_CASE("a process descends from its parent and from its parent's parent, not from itself") {
  const ProcessTable all = {{1, {0}}, {10, {1}}, {20, {10}}, {30, {20}}, {40, {1}}};
  CHECK(descends_from(all, 30, 20));
  CHECK(descends_from(all, 30, 10));
  CHECK_FALSE(descends_from(all, 10, 30));
  CHECK_FALSE(descends_from(all, 40, 10));
  CHECK_FALSE(descends_from(all, 10, 10));
}

TEST_CASE("a process that is its own parent, or whose parent is not listed, ends the search") {
  const ProcessTable all = {{0, {0}}, {1, {0}}, {20, {19}}};
  CHECK_FALSE(descends_from(all, 1, 10));
  CHECK_FALSE(descends_from(all, 20, 10));
  CHECK_FALSE(descends_from(all, 99, 10));
}

TEST_CASE(
    "numbers that were used again, so that a process seems its own ancestor, end the search") {
  const ProcessTable all = {{20, {30}}, {30, {40}}, {40, {30}}};
  CHECK_FALSE(descends_from(all, 20, 10));
}

TEST_CASE(
    "the table of processes has a child with its parent and its start, and knows when it has "
    "ended") {
  timespec before{};
  clock_gettime(CLOCK_MONOTONIC, &before);
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  REQUIRE(child > 0);
  const ProcessTable living = all_processes();
  kill(child, SIGKILL);
  siginfo_t info{};
  CHECK(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
  const ProcessTable ended = all_processes();
  waitpid(child, nullptr, 0);

  REQUIRE(living.count(child) == 1);
  CHECK(living.at(child).parent == getpid());
  CHECK_FALSE(living.at(child).is_zombie);
  CHECK(living.at(child).started_ns >=
        std::int64_t{before.tv_sec} * 1'000'000'000 + before.tv_nsec);
  REQUIRE(ended.count(child) == 1);
  CHECK(ended.at(child).is_zombie);
  CHECK(all_processes().count(child) == 0);
}

}  // namespace
}  // namespace lauka::os
