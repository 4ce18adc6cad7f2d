#include "must.h"
#include "os/launcher_process.h"
#include "os/process.h"
#include "os/running.h"

#include <array>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

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
  const TemporaryFile file;
  const auto launcher = must(start_launcher());
  for (const std::uint32_t jobs : {1U, 3U}) {
    CAPTURE(jobs);
    ProgramSpec spec = shell("test -s " + file.name());
    spec.jobs = jobs;
    std::ofstream(file.name()).close();
    CHECK(succeeded(run_once(*launcher, spec, {.control_group_file = file.name()}).outcome));
    CHECK(file.text() == std::string(jobs, '0'));  // each wrote it
    std::ofstream(file.name()).close();
    CHECK_FALSE(succeeded(run_once(*launcher, spec).outcome));
  }
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
