#include "os/linux_calls.h"

#include "engine/perf/counters.h"
#include "engine/perf/perf_engine.h"
#include "must.h"
#include "places.h"
#include "skip.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>

#include <doctest/doctest.h>

#include <fcntl.h>

namespace lauka::engine::perf {
namespace {

/// CPU time of this process.
double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// Returns why the kernel's own counts cannot be tested here; empty if they can.
std::string why_skipped() {
  const auto able = can_count(*os::linux_calls());
  return able ? "" : able.error().line();
}

}  // namespace

TEST_CASE("missing files and folders differ from empty ones") {
  const os::LinuxCalls& calls = *os::linux_calls();
  CHECK_FALSE(calls.read_file("/proc/self/nosuch").has_value());
  CHECK(calls.read_file("/dev/null") == "");
  CHECK(calls.read_file("/proc/self/comm") == "test_engine\n");
  CHECK(calls.list_folder("/proc/self/nosuch").empty());
  CHECK(calls.count_subfolders("/proc/self/nosuch") == -1);
  CHECK(calls.count_subfolders("/proc/self/task") ==
        static_cast<long>(calls.list_folder("/proc/self/task").size()));
  CHECK(calls.open_file("/proc/self/nosuch") == -ENOENT);
  const int comm = calls.open_file("/proc/self/comm");
  REQUIRE(comm >= 0);
  for (int i = 0; i < 2; ++i) {  // from its beginning each time
    std::array<char, 4> bytes{};
    CHECK(calls.read_from_start(comm, bytes.data(), bytes.size()) == 4);
    CHECK(bytes[0] == 't');
  }
  calls.close_descriptor(comm);
  const auto names = calls.list_folder(std::string(places::kRepository) + "/src/engine");
  CHECK(std::find(names.begin(), names.end(), "engine.h") != names.end());
  CHECK(std::is_sorted(names.begin(), names.end()));
  CHECK(std::find(names.begin(), names.end(), "..") == names.end());
}

TEST_CASE("errors of the kernel come back as minus errno") {
  const os::LinuxCalls& calls = *os::linux_calls();
  CHECK(calls.enable_group(-1) == -EBADF);
  CHECK(calls.disable_group(-1) == -EBADF);
  CHECK(calls.run_on({}) == -EINVAL);
  std::uint64_t word = 0;
  CHECK(calls.read_counter(-1, &word, 1) == -EBADF);
}

TEST_CASE("a thread that is bound to one CPU may run there alone, until it is given all back") {
  const os::LinuxCalls& calls = *os::linux_calls();
  const auto before = calls.allowed_cpus();
  REQUIRE_FALSE(before.empty());
  REQUIRE(calls.run_on({before.back()}) == 0);
  CHECK(calls.allowed_cpus() == std::vector<std::uint32_t>{before.back()});
  REQUIRE(calls.run_on(before) == 0);
  CHECK(calls.allowed_cpus() == before);
}

TEST_CASE("on a kernel that counts, a task-clock counter runs with this program's CPU time") {
  if (const std::string why = why_skipped(); !why.empty()) return skip(why);
  const os::LinuxCalls& calls = *os::linux_calls();
  const os::EventCode task_clock{os::kPerfTypeSoftware, 1};
  OpenCounters counters(calls);
  os::PerfEventAttr attributes = make_attributes(task_clock, {true, false, false});
  attributes.flags |= os::kPerfDisabled;
  REQUIRE(counters.open(attributes, 0) == 0);
  // Commands must not find our descriptors.
  CHECK((fcntl(counters.descriptor(0), F_GETFD) & FD_CLOEXEC) != 0);
  const auto began = std::chrono::steady_clock::now();
  REQUIRE(calls.enable_group(counters.descriptor(0)) == 0);
  const double enabled = cpu_seconds();
  while (cpu_seconds() < enabled + 0.02) {
  }
  std::array<std::uint64_t, 4> words{};
  REQUIRE(calls.read_counter(counters.descriptor(0), words.data(), words.size()) == 4);
  const std::chrono::nanoseconds passed = std::chrono::steady_clock::now() - began;
  CHECK(words[0] == 1);
  CHECK(words[1] == words[2]);
  CHECK(words[3] >= 18'000'000);  // the program's clock includes more of each switch to another
  CHECK(words[3] <= static_cast<std::uint64_t>(passed.count()));
  REQUIRE(calls.disable_group(counters.descriptor(0)) == 0);
  REQUIRE(calls.read_counter(counters.descriptor(0), words.data(), words.size()) == 4);
  const std::uint64_t at_stop = words[3];
  for (const double now = cpu_seconds(); cpu_seconds() < now + 0.01;) {
  }
  REQUIRE(calls.read_counter(counters.descriptor(0), words.data(), words.size()) == 4);
  CHECK(words[3] == at_stop);
}

TEST_CASE("on a kernel that counts, software events are selected and in the catalog") {
  if (const std::string why = why_skipped(); !why.empty()) return skip(why);
  const auto engine = make_perf_engine(*os::linux_calls(), false);
  CHECK(must(engine->select({{"task-clock", "page-faults", "dummy"}, true})).passes.size() == 1);
  const Catalog catalog = engine->catalog();
  CHECK(std::any_of(catalog.begin(), catalog.end(),
                    [](const CatalogEntry& entry) { return entry.name == "task-clock"; }));
}

}  // namespace lauka::engine::perf
