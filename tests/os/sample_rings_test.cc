#include "os/sample_rings.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include <unistd.h>

namespace lauka::os {
namespace {

/// A kernel whose rings are ordinary memory.
struct Kernel {
  struct Ring {
    std::vector<std::uint64_t> words{};
    std::byte* bytes() { return reinterpret_cast<std::byte*>(words.data()); }
    std::uint64_t& at(std::size_t place) { return words.at(place / sizeof(std::uint64_t)); }
  };

  std::vector<PerfEventAttr> opened{};
  std::vector<CounterPlace> places{};
  int most_rings = 1'000;
  int off = -2;  ///< a CPU that is switched off
  std::vector<std::unique_ptr<Ring>> rings{};
  int closed = 0;
  int unmapped = 0;

  Kernel() { now() = this; }
  ~Kernel() { now() = nullptr; }
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  static Kernel*& now() {
    static Kernel* kernel = nullptr;
    return kernel;
  }

  const LinuxCalls& calls() {
    calls_.open_counter = [](const PerfEventAttr& attributes, const CounterPlace& place, int) {
      if (place.cpu == now()->off) return -ENODEV;
      now()->opened.push_back(attributes);
      now()->places.push_back(place);
      return static_cast<int>(now()->opened.size());
    };
    calls_.close_descriptor = [](int) { ++now()->closed; };
    calls_.map_ring = [](int, std::size_t bytes) -> void* {
      errno = EPERM;
      if (now()->rings.size() == static_cast<std::size_t>(now()->most_rings)) return nullptr;
      now()->rings.push_back(std::make_unique<Ring>());
      now()->rings.back()->words.resize(bytes / sizeof(std::uint64_t));
      return now()->rings.back()->bytes();
    };
    calls_.unmap_ring = [](void*, std::size_t) { ++now()->unmapped; };
    return calls_;
  }

 private:
  LinuxCalls calls_{};
};

class Taker final : public SampleListener {
 public:
  std::vector<std::byte> taken{};
  void receive(std::span<const std::byte> records) override {
    taken.insert(taken.end(), records.begin(), records.end());
  }
  void end(std::span<const Reading> /*counters*/) override {}
};

std::size_t cpus() {
  return static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_CONF));
}

}  // namespace

TEST_CASE("each CPU that is on has a counter of the process with a ring, and all are given back") {
  Kernel kernel;
  {
    SampleRings rings(&kernel.calls());
    CHECK(rings.open({}, 42, 1) == 0);
    CHECK(rings.descriptors().size() == cpus());
    CHECK(kernel.places.back().thread == 42);
  }
  constexpr int guards = 1;
  CHECK(kernel.closed == static_cast<int>(cpus()) + guards);
  CHECK(kernel.unmapped == static_cast<int>(cpus()));
  kernel.off = 0;
  SampleRings rings(&kernel.calls());
  CHECK(rings.open({}, 42, 1) == 0);
  CHECK(rings.descriptors().size() == cpus() - 1);
}

TEST_CASE("a guard that is off and not inherited is opened before the counters") {
  Kernel kernel;
  SampleRings rings(&kernel.calls());
  PerfEventAttr attributes;
  attributes.sample_period = 1'000;
  attributes.flags = kPerfDisabled | kPerfInherit | kPerfEnableOnExec;
  REQUIRE(rings.open(attributes, 42, 1) == 0);
  CHECK(kernel.opened.front().flags == kPerfDisabled);
  CHECK(kernel.opened.front().sample_period == 0);
  CHECK(kernel.places.front().thread == 42);
  CHECK(kernel.places.front().cpu == -1);
  CHECK(kernel.opened.at(1).flags == attributes.flags);
}

TEST_CASE("a ring that the kernel has no memory for is told from a counter that it refuses") {
  Kernel kernel;
  kernel.most_rings = 0;
  SampleRings rings(&kernel.calls());
  CHECK(rings.open({}, 0, 1) == EPERM);
  CHECK(rings.lacks_memory());
  SampleRings nowhere(nullptr);
  CHECK(nowhere.open({}, 0, 1) == ENOSYS);
  CHECK_FALSE(nowhere.lacks_memory());
}

TEST_CASE("records are taken in order, also where they go on at the ring's beginning") {
  Kernel kernel;
  SampleRings rings(&kernel.calls());
  REQUIRE(rings.open({}, 0, 1) == 0);
  Kernel::Ring& ring = *kernel.rings.front();
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (std::size_t i = 0; i < kRingBytes; ++i) ring.bytes()[page + i] = std::byte(i % 251);
  ring.at(kRingTailOffset) = 3 * kRingBytes - 8;
  ring.at(kRingHeadOffset) = 3 * kRingBytes + 16;
  Taker taker;
  rings.move_to(taker);
  REQUIRE(taker.taken.size() == 24);
  CHECK(taker.taken[0] == std::byte((kRingBytes - 8) % 251));
  CHECK(taker.taken[8] == std::byte(0));
  CHECK(taker.taken[23] == std::byte(15));
  CHECK(ring.at(kRingTailOffset) == ring.at(kRingHeadOffset));
  rings.move_to(taker);
  CHECK(taker.taken.size() == 24);
}

TEST_CASE("each counter is read when the run has ended") {
  Kernel kernel;
  LinuxCalls calls = kernel.calls();
  calls.read_counter = [](int descriptor, std::uint64_t* words, std::size_t) -> long {
    words[0] = 100 + static_cast<std::uint64_t>(descriptor);
    words[1] = 7;
    words[2] = 6;
    return 3;
  };
  SampleRings rings(&calls);
  REQUIRE(rings.open({}, 0, 1) == 0);
  const std::vector<Reading> readings = rings.read_counters();
  REQUIRE(readings.size() == cpus());
  CHECK(readings[0].value == 102);  // 1 is the guard's descriptor
  CHECK(readings[0].running_ns == 6);
}

TEST_CASE("the periods of runs differ, by at most a quarter, and are the asked one on average") {
  Kernel kernel;
  constexpr std::uint64_t asked = 1'000'000;
  constexpr std::uint32_t runs = 100;
  std::set<std::uint64_t> different;
  double sum = 0.0;
  for (std::uint32_t run = 1; run <= runs; ++run) {
    SampleRings rings(&kernel.calls());
    PerfEventAttr attributes;
    attributes.sample_period = asked;
    REQUIRE(rings.open(attributes, 0, run) == 0);
    const std::uint64_t period = kernel.opened.back().sample_period;
    CHECK(period >= asked * 3 / 4);
    CHECK(period <= asked * 5 / 4);
    different.insert(period);
    sum += static_cast<double>(period);
  }
  CHECK(different.size() == runs);
  CHECK(sum / (runs * asked) == doctest::Approx(1.0).epsilon(0.01));
}

}  // namespace lauka::os
