#include "os/launcher_process.h"
#include "os/process.h"

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <unistd.h>

// Linux's launcher with control groups and with counters of the whole machine.

namespace lauka::os {
namespace {

std::vector<std::pair<int, int>>& places() {
  static std::vector<std::pair<int, int>> all;
  return all;
}

int note_place(const PerfEventAttr& /*attributes*/, const CounterPlace& place, int /*group*/) {
  places().emplace_back(place.thread, place.cpu);
  return -ENODEV;
}

}  // namespace

TEST_CASE("a command joins its control group before it becomes the program, its copies as well") {
  std::string name = "/tmp/lauka-test-XXXXXX";
  const int fd = mkstemp(name.data());
  REQUIRE(fd >= 0);
  close(fd);
  auto launcher = start_launcher();
  REQUIRE(launcher);
  for (const std::uint32_t jobs : {1U, 3U}) {
    ProgramSpec spec;
    spec.words = {"/bin/sh", "-c", "test -s " + name};
    spec.jobs = jobs;
    const auto id = (*launcher)->add_program(spec);
    REQUIRE(id);
    std::ofstream(name).close();
    Launch launch{.program = *id};
    launch.group = name;
    const auto all = (*launcher)->run({&launch, 1}, false, {});
    REQUIRE(all);
    CHECK(succeeded(all->front().outcome));
    std::stringstream text;
    text << std::ifstream(name).rdbuf();
    CHECK(text.str() == std::string(jobs, '0'));  // each wrote it
    launch.group.clear();
    std::ofstream(name).close();
    const auto without = (*launcher)->run({&launch, 1}, true, {});
    REQUIRE(without);
    CHECK_FALSE(succeeded(without->front().outcome));
  }
  std::remove(name.c_str());
}

TEST_CASE("a counter of the whole machine is opened on its CPU for all threads, and is missed") {
  LinuxCalls calls{};
  calls.open_counter = note_place;
  LauncherCounters counters(&calls);
  std::array<CounterRequest, 1> requests{};
  requests[0].cpu = 18;
  requests[0].system_wide = true;
  int guard = -1;
  int descriptor = -1;
  SharedCounters set{1, requests.data(), &guard, &descriptor};
  places().clear();
  CHECK(counters.open(&set) == ENODEV);
  REQUIRE(places().size() == 1);
  CHECK(places().front() == std::pair(-1, 18));
  requests[0].system_wide = false;  // of one task: a CPU that is switched off runs nothing
  CHECK(counters.open(&set) == 0);
}

}  // namespace lauka::os
