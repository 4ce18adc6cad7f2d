// lauka/counters.h as on macOS, with libSystem's functions replaced.

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#undef LAUKA_COUNTERS_SYMBOL_
#undef LAUKA_COUNTERS_OPTIONAL_
#define LAUKA_COUNTERS_AS_ON_MACOS_ 1
#ifdef __APPLE__
#define LAUKA_COUNTERS_SYMBOL_(name) __asm__("_lauka_counted_" name)
#else
#define LAUKA_COUNTERS_SYMBOL_(name) __asm__("lauka_counted_" name)
#endif
#define LAUKA_COUNTERS_OPTIONAL_ __attribute__((weak))
#include <lauka/counters.h>

namespace {

struct Level {
  std::uint64_t instructions, cycles, user_time, system_time, energy_nj;
};

/// A Mac with these accounts of the calling thread.
struct Mac {
  std::array<Level, 2> levels{};
  bool has_levels = true;
  bool has_counts = true;
  std::uint64_t now_ns = 0;
};

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): what the header calls
Mac mac;

constexpr std::uint64_t kThread = 77;

}  // namespace

extern "C" {

int lauka_counted_thread_selfcounts(std::uint32_t kind, void* counts, std::size_t size);
std::uint64_t lauka_counted_clock_gettime_nsec_np(unsigned clock);
int lauka_counted_pthread_threadid_np(void* thread, std::uint64_t* id);
int lauka_counted_proc_pidinfo(int process, int flavour, std::uint64_t argument, void* buffer,
                               int size);
int lauka_counted_sysctlbyname(const char* name, void* old, std::size_t* old_size, void* now,
                               std::size_t now_size);
int lauka_counted_mach_timebase_info(std::uint32_t fraction[2]);  // NOLINT: as the system has it

int lauka_counted_thread_selfcounts(std::uint32_t kind, void* counts, std::size_t size) {
  if (kind != 1 || size != 16) return -1;
  std::array<std::uint64_t, 2> reported{};
  if (mac.has_counts)
    reported = {mac.levels[0].instructions + mac.levels[1].instructions,
                mac.levels[0].cycles + mac.levels[1].cycles};
  std::memcpy(counts, reported.data(), size);
  return 0;
}

std::uint64_t lauka_counted_clock_gettime_nsec_np(unsigned clock) {
  return clock == 8 ? mac.now_ns : mac.now_ns / 2;
}

int lauka_counted_pthread_threadid_np(void* /*thread*/, std::uint64_t* id) {
  *id = kThread;
  return 0;
}

int lauka_counted_proc_pidinfo(int /*process*/, int flavour, std::uint64_t argument, void* buffer,
                               int size) {
  if (flavour != 34 || argument != kThread || !mac.has_levels) {
    errno = ENOTSUP;
    return 0;
  }
  std::array<char, 8 + 80> reported{};
  reported[0] = 2;
  std::memcpy(reported.data() + 8, mac.levels.data(), 80);
  const std::size_t bytes = std::min(reported.size(), static_cast<std::size_t>(size));
  std::memcpy(buffer, reported.data(), bytes);
  return static_cast<int>(bytes);
}

int lauka_counted_sysctlbyname(const char* name, void* old, std::size_t* old_size, void* /*now*/,
                               std::size_t /*now_size*/) {
  const std::string_view key = name;
  const char* answer = key == "hw.perflevel0.name"   ? "Performance"
                       : key == "hw.perflevel1.name" ? "Efficiency"
                                                     : nullptr;
  if (answer == nullptr) return -1;
  std::snprintf(static_cast<char*>(old), *old_size, "%s", answer);
  return 0;
}

int lauka_counted_mach_timebase_info(std::uint32_t fraction[2]) {  // NOLINT: likewise
  fraction[0] = 125;
  fraction[1] = 3;
  return 0;
}
}

namespace lauka {

TEST_CASE("counters.h: macOS's accounts of the thread are read since the begin, by kind of core") {
  mac = {.levels = {{{1000, 500, 24, 12, 9}, {100, 80, 6, 0, 9}}}, .now_ns = 1000};
  lauka_counters* counters = lauka_counters_begin();
  REQUIRE(counters != nullptr);
  CHECK(lauka_counters_why_not(counters) == nullptr);
  CHECK(std::string(lauka_counters_kind_name(counters, 0)) == "P");
  CHECK(std::string(lauka_counters_kind_name(counters, 1)) == "E");
  CHECK(lauka_counters_kind_name(counters, 2) == nullptr);
  mac.levels = {{{4000, 1500, 48, 36, 9}, {300, 180, 9, 3, 9}}};
  mac.now_ns = 5000;
  lauka_reading reading{};
  CHECK(lauka_counters_read(counters, &reading) == 1);
  CHECK(reading.wall_ns == 4000);
  CHECK(reading.all.cpu_ns == 2000);
  CHECK(reading.has_counts == 1);
  CHECK(reading.is_user_only == 0);
  CHECK(reading.all.instructions == 3200);
  CHECK(reading.all.cycles == 1100);
  REQUIRE(reading.kinds == 2);
  CHECK(reading.kind[0].instructions == 3000);
  CHECK(reading.kind[0].cycles == 1000);
  CHECK(reading.kind[0].cpu_ns == 2000);  // 48 units of 125/3 ns
  CHECK(reading.kind[1].instructions == 200);
  CHECK(reading.kind[1].cpu_ns == 250);
  lauka_counters_end(counters);
}

TEST_CASE("counters.h: a virtual Mac has times, and says that it counts nothing") {
  mac = {.has_levels = false, .has_counts = false, .now_ns = 1000};
  lauka_counters* counters = lauka_counters_begin();
  REQUIRE(counters != nullptr);
  mac.now_ns = 3000;
  lauka_reading reading{};
  CHECK(lauka_counters_read(counters, &reading) == 1);
  CHECK(reading.has_counts == 0);
  CHECK(reading.kinds == 0);
  CHECK(reading.wall_ns == 2000);
  REQUIRE(lauka_counters_why_not(counters) != nullptr);
  CHECK(std::string(lauka_counters_why_not(counters)).find("virtual machine") != std::string::npos);
  lauka_counters_end(counters);
}

TEST_CASE("counters.h: a Mac that does not report kinds of core has counts of all") {
  mac = {.levels = {{{1000, 500, 24, 12, 9}, {0, 0, 0, 0, 0}}}, .has_levels = false, .now_ns = 1};
  lauka_counters* counters = lauka_counters_begin();
  REQUIRE(counters != nullptr);
  mac.levels[0].cycles = 700;
  lauka_reading reading{};
  CHECK(lauka_counters_read(counters, &reading) == 1);
  CHECK(reading.has_counts == 1);
  CHECK(reading.kinds == 0);
  CHECK(reading.all.cycles == 200);
  lauka_counters_end(counters);
}

}  // namespace lauka
