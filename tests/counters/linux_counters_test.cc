// lauka/counters.h on Linux. Events of the kernel replace the processor's, which most virtual
// machines lack: the CPU time for cycles, page faults for instructions.

#include "skip.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

struct System {
  std::string devices = "/sys/bus/event_source/devices";
  std::function<int(const perf_event_attr&)> refusal{};  // errno, or 0
  bool stands_in = false;
  std::vector<perf_event_attr> asked{};  // of each counter that was opened
  std::vector<int> opened{};
};

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): what the header calls
System counted_system;

long open_counter_here(const perf_event_attr* attributes, int group) {
  if (counted_system.refusal) {
    errno = counted_system.refusal(*attributes);
    if (errno != 0) return -1;
  }
  perf_event_attr used = *attributes;
  if (counted_system.stands_in) {
    const bool is_instructions =
        (attributes->config & 0xffU) == PERF_COUNT_HW_INSTRUCTIONS || attributes->config == 0x08;
    used.type = PERF_TYPE_SOFTWARE;
    used.config = is_instructions ? PERF_COUNT_SW_PAGE_FAULTS : PERF_COUNT_SW_TASK_CLOCK;
  }
  const long opened = syscall(SYS_perf_event_open, &used, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
  if (opened < 0) return opened;
  counted_system.asked.push_back(*attributes);
  counted_system.opened.push_back(static_cast<int>(opened));
  return opened;
}

/// The value of the processor's counter at each look, and what happens meanwhile.
struct Processor {
  std::vector<std::uint64_t> values{};
  std::function<void()> meanwhile{};
  std::vector<std::uint32_t> asked{};
};

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): likewise
Processor counting_processor;

std::uint64_t rdpmc_here(std::uint32_t counter) {
  counting_processor.asked.push_back(counter);
  if (counting_processor.meanwhile) counting_processor.meanwhile();
  const std::size_t look = counting_processor.asked.size() - 1;
  return counting_processor.values.at(look);
}

}  // namespace

#define LAUKA_COUNTERS_RDPMC_(counter, low, high)                   \
  do {                                                              \
    const std::uint64_t lauka_counters_value = rdpmc_here(counter); \
    low = static_cast<std::uint32_t>(lauka_counters_value);         \
    high = static_cast<std::uint32_t>(lauka_counters_value >> 32U); \
  } while (false)
#define LAUKA_COUNTERS_DEVICES_ counted_system.devices.c_str()
#define LAUKA_COUNTERS_PERF_EVENT_OPEN_(attributes, group) open_counter_here(attributes, group)
#include <lauka/counters.h>

namespace lauka {
namespace {

/// Sets the system of one test.
class Here {
 public:
  explicit Here(System system) { counted_system = std::move(system); }
  ~Here() { counted_system = {}; }
  Here(const Here&) = delete;
  Here& operator=(const Here&) = delete;
};

class Counters {
 public:
  Counters() : counters_(lauka_counters_begin()) { REQUIRE(counters_ != nullptr); }
  ~Counters() { lauka_counters_end(counters_); }
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;

  lauka_reading read() {
    lauka_reading reading{};
    REQUIRE(lauka_counters_read(counters_, &reading) != 0);
    return reading;
  }
  std::string why_not() const {
    const char* why = lauka_counters_why_not(counters_);
    return why == nullptr ? "" : why;
  }
  std::string kind(unsigned kind) const {
    const char* name = lauka_counters_kind_name(counters_, kind);
    return name == nullptr ? "" : name;
  }
  lauka_counters* get() { return counters_; }

 private:
  lauka_counters* counters_;
};

/// Time that passes by the system's own clocks while it lives.
class Around {
 public:
  std::uint64_t ns_of(clockid_t clock) const {
    return now_ns(clock) - (clock == CLOCK_MONOTONIC ? wall_ns_ : cpu_ns_);
  }

 private:
  static std::uint64_t now_ns(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(now.tv_nsec);
  }
  std::uint64_t wall_ns_ = now_ns(CLOCK_MONOTONIC);
  std::uint64_t cpu_ns_ = now_ns(CLOCK_THREAD_CPUTIME_ID);
};

void touch_new_pages(std::size_t pages) {
  const std::size_t bytes = pages * 4096;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  auto* first = static_cast<volatile char*>(memory);
  for (std::size_t i = 0; i < bytes; i += 4096) first[i] = 1;
  munmap(memory, bytes);
}

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

/// True if the kernel's own events can be counted here; otherwise skips.
bool stand_ins_count() {
  const Here here({.stands_in = true});
  Counters counters;
  if (counters.why_not().empty()) return true;
  skip(counters.why_not());
  return false;
}

/// A folder like a processor's with these PMUs of cores.
class Devices {
 public:
  explicit Devices(const std::vector<std::string>& pmus)
      : folder_(std::filesystem::temp_directory_path() /
                ("lauka-counters-" + std::to_string(getpid()))) {
    unsigned type = 4;
    for (const std::string& pmu : pmus) {
      std::filesystem::create_directories(folder_ / pmu);
      std::ofstream(folder_ / pmu / "type") << type++ << '\n';
      std::ofstream(folder_ / pmu / "cpus") << "0\n";
    }
    std::filesystem::create_directories(folder_ / "uncore_imc");
    std::ofstream(folder_ / "uncore_imc" / "type") << "99\n";
  }
  ~Devices() { std::filesystem::remove_all(folder_); }
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;
  std::string path() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

}  // namespace

TEST_CASE("counters.h: there are times, and counts or the reason why they are missing") {
  Counters counters;
  const Around around;
  const lauka_reading before = counters.read();
  for (volatile int i = 0; i < 1'000'000;) i = i + 1;
  const lauka_reading after = counters.read();
  CHECK(after.wall_ns > before.wall_ns);
  CHECK(after.wall_ns - before.wall_ns <= around.ns_of(CLOCK_MONOTONIC));
  CHECK(after.all.cpu_ns > before.all.cpu_ns);
  CHECK(after.all.cpu_ns - before.all.cpu_ns <= around.ns_of(CLOCK_THREAD_CPUTIME_ID));
  CHECK((after.has_counts != 0) == counters.why_not().empty());
  if (after.has_counts == 0) {
    CHECK(after.all.cycles == 0);
    CHECK(after.all.instructions == 0);
  }
}

TEST_CASE("counters.h: a known loop has its instructions (needs counters)") {
  Counters counters;
  if (!counters.why_not().empty()) return skip(counters.why_not());
  const auto turn = [&](std::uint64_t turns) {
    const std::uint64_t before = counters.read().all.instructions;
#if defined(__x86_64__)
    __asm__ volatile("1: dec %0\n jnz 1b" : "+r"(turns) : : "cc");
#elif defined(__aarch64__)
    __asm__ volatile("1: subs %0, %0, #1\n b.ne 1b" : "+r"(turns) : : "cc");
#endif
    return counters.read().all.instructions - before;
  };
  const std::uint64_t few = turn(1);
  CHECK(static_cast<double>(turn(10'000'001) - few) == doctest::Approx(2e7).epsilon(0.01));
}

TEST_CASE("counters.h: counts are the calling thread's, since the begin") {
  if (!stand_ins_count()) return;
  const Here here({.stands_in = true});
  touch_new_pages(300);
  Counters counters;
  const Around around;
  const lauka_reading before = counters.read();
  CHECK(before.all.instructions < 100);
  touch_new_pages(500);
  std::thread([] { touch_new_pages(2000); }).join();
  const lauka_reading after = counters.read();
  CHECK(after.has_counts == 1);
  CHECK(after.kinds == 0);
  CHECK(after.kind[0].cpu_ns == 0);
  CHECK(after.all.instructions - before.all.instructions >= 500);
  CHECK(after.all.instructions - before.all.instructions < 700);
  CHECK(after.all.cycles > before.all.cycles);  // its CPU time
  CHECK(after.all.cycles - before.all.cycles <= around.ns_of(CLOCK_MONOTONIC));
}

TEST_CASE("counters.h: another thread's reading is refused") {
  Counters counters;
  int answer = -1;
  lauka_reading reading{};
  reading.wall_ns = 1;
  std::thread([&] { answer = lauka_counters_read(counters.get(), &reading); }).join();
  CHECK(answer == 0);
  CHECK(reading.wall_ns == 0);
}

TEST_CASE("counters.h: each kind of core has its own counters, and the fast one comes first") {
  const Devices devices({"cpu_atom", "cpu_core"});
  if (!stand_ins_count()) return;
  const Here here({.devices = devices.path(), .stands_in = true});
  Counters counters;
  REQUIRE(counters.why_not().empty());
  CHECK(counters.kind(0) == "P");
  CHECK(counters.kind(1) == "E");
  CHECK(counters.kind(2).empty());
  touch_new_pages(500);
  const lauka_reading reading = counters.read();
  CHECK(reading.has_counts == 1);
  CHECK(reading.kinds == 2);
  // The substitutes count on every core, so each kind has all of it.
  CHECK(reading.kind[0].instructions >= 500);
  CHECK(reading.kind[1].instructions >= 500);
  CHECK(reading.kind[0].cpu_ns > 0);
  CHECK(reading.all.instructions == reading.kind[0].instructions + reading.kind[1].instructions);
  REQUIRE(counted_system.asked.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    const perf_event_attr& asked = counted_system.asked[i];
    const std::uint64_t type = i < 2 ? 5 : 4;  // cpu_core's is 5
#if defined(__x86_64__)
    CHECK(asked.type == PERF_TYPE_HARDWARE);
    CHECK(asked.config == (type << 32U | i % 2));
#elif defined(__aarch64__)
    CHECK(asked.type == type);
    CHECK(asked.config == (i % 2 == 0 ? 0x11 : 0x08));
#endif
    CHECK(asked.pinned == (i % 2 == 0 ? 1 : 0));
    CHECK(asked.inherit == 0);
  }
}

TEST_CASE("counters.h: where the kernel is hidden, user space is counted, and that is said") {
  const auto hides_kernel = [](const perf_event_attr& asked) {
    return asked.exclude_kernel != 0 ? 0 : EACCES;
  };
  if (!stand_ins_count()) return;
  const Here here({.refusal = hides_kernel, .stands_in = true});
  Counters counters;
  const lauka_reading reading = counters.read();
  CHECK(counters.why_not().empty());
  CHECK(reading.has_counts == 1);
  CHECK(reading.is_user_only == 1);
}

TEST_CASE("counters.h: what cannot be counted says why, in words that help") {
  const auto why = [](int error) {
    const Here here({.refusal = [error](const perf_event_attr&) { return error; }});
    Counters counters;
    const lauka_reading reading = counters.read();
    CHECK(reading.has_counts == 0);
    CHECK(reading.is_user_only == 0);
    CHECK(reading.wall_ns > 0);
    return counters.why_not();
  };
  const auto has = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(why(EACCES), "sudo sysctl kernel.perf_event_paranoid=2"));
  CHECK(has(why(EPERM), "--cap-add PERFMON"));
  CHECK(has(why(ENOENT), "there is no PMU here"));
  CHECK(has(why(ENOSYS), "no perf_event_open"));
  CHECK(has(why(EMFILE), "perf_event_open: Too many open files"));
}

TEST_CASE(
    "counters.h: counters that another program took are missing from then on, with a reason") {
  if (!stand_ins_count()) return;
  const Here here({.stands_in = true});
  Counters counters;
  CHECK(counters.read().has_counts == 1);
  // Such a counter reads as the end of a file.
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  REQUIRE(dup2(null, counted_system.opened.at(0)) >= 0);
  close(null);
  const lauka_reading reading = counters.read();
  CHECK(reading.has_counts == 0);
  CHECK(reading.all.instructions == 0);
  CHECK(reading.wall_ns > 0);
  CHECK(counters.why_not().find("other programs used the counters") != std::string::npos);
}

TEST_CASE("counters.h: all descriptors are closed, after refusals too") {
  const std::ptrdiff_t before = open_descriptors();
  const auto refuses_instructions = [](const perf_event_attr& asked) {
    return (asked.config & 0xffU) == PERF_COUNT_HW_INSTRUCTIONS ? EMFILE : 0;
  };
  {
    const Here here({.refusal = refuses_instructions, .stands_in = true});
    Counters counters;
    CHECK_FALSE(counters.why_not().empty());
    CHECK(open_descriptors() == before);
  }
  {
    const Here here({.stands_in = true});
    Counters counters;
  }
  CHECK(open_descriptors() == before);
}

TEST_CASE("counters.h: a counter is below or above what the kernel keeps of it") {
  const std::uint64_t below = (std::uint64_t{1} << 48U) - 10;  // -10 in 48 bits
  CHECK(lauka_counters_sum_(1000, below, 48) == 990);
  CHECK(lauka_counters_sum_(1000, 10, 48) == 1010);
  CHECK(lauka_counters_sum_(1000, (std::uint64_t{7} << 48U) + 10, 48) == 1010);
  CHECK(lauka_counters_sum_(-5, 10, 32) == 5);
  CHECK(lauka_counters_sum_(1000, ~std::uint64_t{0}, 64) == 999);
}

#if defined(__x86_64__)
TEST_CASE("counters.h: the processor is asked itself where the kernel's page allows it") {
  perf_event_mmap_page page{};
  std::uint64_t count = 7;
  page.pmc_width = 48;
  page.offset = 1000;
  CHECK(lauka_counters_look_(nullptr, &count) == 0);
  page.index = 3;
  CHECK(lauka_counters_look_(&page, &count) == 0);  // may not
  page.cap_user_rdpmc = 1;
  page.index = 0;
  CHECK(lauka_counters_look_(&page, &count) == 0);  // is not on a counter
  CHECK(count == 7);

  page.index = 3;
  counting_processor = {.values = {0x5'0000'0005}};
  CHECK(lauka_counters_look_(&page, &count) == 1);
  CHECK(count == 0x5'0000'0005 + 1000);
  CHECK(counting_processor.asked == std::vector<std::uint32_t>{2});

  // The thread was moved to another counter between the two looks at the page.
  const auto move = [&page] {
    if (counting_processor.asked.size() > 1) return;
    page.lock += 2;
    page.index = 5;
    page.offset = 2000;
  };
  counting_processor = {.values = {50, 1}, .meanwhile = move};
  CHECK(lauka_counters_look_(&page, &count) == 1);
  CHECK(count == 2001);
  CHECK(counting_processor.asked == std::vector<std::uint32_t>{2, 4});
  counting_processor = {};
}
#endif

}  // namespace lauka
