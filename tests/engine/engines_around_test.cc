#include "engine/engine.h"
#include "engine/perf/perf_engine.h"
#include "fakes/fake_engine.h"
#include "fakes/fake_files.h"
#include "fakes/fake_perf.h"

#include <cerrno>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::engine {

namespace {

/// A machine of two packages. One at a time.
class FakePower {
 public:
  std::map<std::string, std::string> files{};
  std::vector<std::pair<int, int>> opened{};  // thread and CPU
  int error = 0;

  FakePower() {
    current() = this;
    const std::string folder = "/sys/bus/event_source/devices/power/";
    files[folder + "type"] = "9\n";
    files[folder + "cpumask"] = "0,18\n";
    files[folder + "format/event"] = "config:0-7\n";
    for (const auto& [name, code] : {std::pair("pkg", "0x02"), std::pair("cores", "0x01")}) {
      const std::string event = folder + "events/energy-" + name;
      files[event] = std::string("event=") + code + "\n";
      files[event + ".scale"] = "2.3283064365386962890625e-10\n";
      files[event + ".unit"] = "Joules\n";
    }
  }
  ~FakePower() { current() = nullptr; }
  FakePower(const FakePower&) = delete;
  FakePower& operator=(const FakePower&) = delete;

  static const os::LinuxCalls& calls() {
    static constexpr os::LinuxCalls kCalls{&open,   &none,      &none, &read,   &close,  &cpus,
                                           &run_on, &read_file, &list, nullptr, nullptr, nullptr};
    return kCalls;
  }

 private:
  static FakePower*& current() {
    static FakePower* fake = nullptr;
    return fake;
  }
  static int open(const os::PerfEventAttr& /*attributes*/, const os::CounterPlace& place,
                  int /*group*/) {
    current()->opened.emplace_back(place.thread, place.cpu);
    return current()->error != 0 ? -current()->error : 3;
  }
  static int none(int /*leader*/) { return 0; }
  static long read(int /*descriptor*/, std::uint64_t* /*words*/, std::size_t /*capacity*/) {
    return 0;
  }
  static void close(int /*descriptor*/) {}
  static std::vector<std::uint32_t> cpus() { return {0}; }
  static int run_on(const std::vector<std::uint32_t>& /*cpus*/) { return 0; }
  static std::optional<std::string> read_file(const std::string& path) {
    return fakes::text_in(current()->files, path);
  }
  static std::vector<std::string> list(const std::string& path) {
    return fakes::names_in(current()->files, path);
  }
};

std::unique_ptr<CounterEngine> engine_here() {
  return with_energy(std::make_unique<fakes::FakeEngine>(), &FakePower::calls());
}

std::string refusal(const std::string& name) {
  const auto set = engine_here()->select({{name}, false});
  return set ? "selected" : set.error().line();
}

}  // namespace

TEST_CASE("energy is counted system-wide on a CPU of each package, and given in joules") {
  FakePower power;
  const auto engine = engine_here();
  const auto set = engine->select({{"energy-pkg", "energy-cores"}, false});
  REQUIRE(set);
  REQUIRE(set->events.size() == 2);
  CHECK(set->events[0].note == "(system-wide)");
  CHECK(set->events[0].is_energy);
  REQUIRE(set->passes.size() == 1);
  CHECK(power.opened.front() == std::pair(-1, 0));
  const auto counting = engine->arm(0);
  REQUIRE(counting);
  const auto requests = (*counting)->requests();
  REQUIRE(requests.size() == 4);
  CHECK(requests[1].cpu == 18);
  CHECK(requests[3].system_wide);
  os::Ended ended{Exited{0}, {}, {}};
  // 2^32 counts are one joule; more than the register's 32 bits is no wrap any more.
  const std::uint64_t joule = std::uint64_t{1} << 32U;
  ended.readings = {{joule, 5, 5}, {2 * joule, 5, 5}, {300 * joule, 5, 5}, {0, 5, 5}};
  const Counted counted = (*counting)->finish(ended, 0);
  CHECK(counted.counts[0] == 3'000'000'000);
  CHECK(counted.counts[1] == 300'000'000'000);
  CHECK_FALSE(counted.missing);
}

TEST_CASE("a reading that is not of the whole run is no energy") {
  const FakePower power;
  const auto engine = engine_here();
  REQUIRE(engine->select({{"energy-pkg"}, false}));
  const auto counting = engine->arm(0);
  REQUIRE(counting);
  os::Ended ended{Exited{0}, {}, {}};
  ended.readings = {{1, 5, 5}, {1, 5, 4}};
  const Counted partly = (*counting)->finish(ended, 0);
  CHECK_FALSE(partly.counts[0]);
  CHECK(partly.missing);
  ended.readings.clear();
  ended.counter_error = EACCES;
  CHECK((*counting)->finish(ended, 0).missing->what.starts_with("the power PMU could not be read"));
}

TEST_CASE("what the machine does not have is refused with what it has") {
  FakePower power;
  CHECK(refusal("energy-ram") ==
        "'energy-ram' cannot be counted: the power PMU does not have it; it has energy-cores and "
        "energy-pkg");
  power.error = EACCES;
  CHECK(refusal("energy-pkg") ==
        "'energy-pkg' cannot be counted: the kernel lets only root count system-wide; run lauka as "
        "root, or: sudo sysctl kernel.perf_event_paranoid=0");
  power.error = 0;
  power.files["/sys/bus/event_source/devices/power/events/energy-pkg.unit"] = "Watts\n";
  CHECK(refusal("energy-pkg") == "'energy-pkg' cannot be counted: its unit is not joules");
  power.files.clear();
  CHECK(refusal("energy-pkg") ==
        "'energy-pkg' cannot be counted: this machine has no power PMU (RAPL), as virtual machines "
        "have none; leave it out");
}

TEST_CASE("energy is of whole runs") {
  const FakePower power;
  EventRequest of_region{{"energy-pkg"}};
  of_region.counted_in = CountedIn::Region;
  const auto set = engine_here()->select(of_region);
  REQUIRE_FALSE(set);
  CHECK(set.error().line().find("not for a region; measure it without --region") !=
        std::string::npos);
}

TEST_CASE("the power PMU's events are listed, and other systems have none") {
  const FakePower power;
  const Catalog all = engine_here()->catalog();
  CHECK(std::count_if(all.begin(), all.end(), [](const CatalogEntry& entry) {
          return entry.counters == "power PMU";
        }) == 2);
  auto plain = std::make_unique<fakes::FakeEngine>();
  const CounterEngine* inner = plain.get();
  CHECK(with_energy(std::move(plain), nullptr).get() == inner);
}

namespace {

using fakes::FakePerf;

EventSet select(CounterEngine& engine, const std::vector<std::string>& names) {
  auto set = engine.select({names, false});
  INFO((set ? "" : set.error().line()));
  REQUIRE(set.has_value());
  return *std::move(set);
}

}  // namespace

TEST_CASE("an engine that opens counters has passes of its own, after a timed one without any") {
  FakePerf perf(fakes::usual_pmu());
  const auto engine = separate_counting(perf::make_perf_engine(perf.calls(), false));
  const EventSet set = select(*engine, {"cycles", "instructions"});
  REQUIRE(set.passes.size() == 2);
  CHECK(set.passes[0].kind == RoundKind::Timed);
  CHECK(set.passes[0].events.empty());
  CHECK(set.passes[1].kind == RoundKind::Counting);
  CHECK(set.passes[1].events == std::vector<std::size_t>{0, 1});
  const auto timed = engine->arm(0);
  REQUIRE(timed.has_value());
  CHECK((*timed)->requests().empty());
  const auto counting = engine->arm(1);
  REQUIRE(counting.has_value());
  CHECK_FALSE((*counting)->requests().empty());
}

TEST_CASE("what the kernel keeps for every process is read in the timed runs") {
  FakePerf perf(fakes::usual_pmu());
  const auto engine = separate_counting(perf::make_perf_engine(perf.calls(), true));
  const EventSet set = select(*engine, {"instructions", "page-faults"});
  REQUIRE(set.passes.size() == 2);
  CHECK(set.passes[0].events == std::vector<std::size_t>{1});
  const auto timed = engine->arm(0);
  REQUIRE(timed.has_value());
  os::Ended ended;
  ended.outcome = Exited{0};
  ended.usage.minor_faults = 41;
  ended.usage.major_faults = 1;
  CHECK((*timed)->finish(ended, 0).counts == std::vector<std::optional<std::uint64_t>>{42});
}

TEST_CASE("where everything comes from the kernel's accounting, no run has to count") {
  FakePerf perf(fakes::usual_pmu());
  const auto engine = separate_counting(perf::make_perf_engine(perf.calls(), true));
  const EventSet set = select(*engine, {"page-faults"});
  REQUIRE(set.passes.size() == 1);
  CHECK(set.passes[0].kind == RoundKind::Timed);
}

}  // namespace lauka::engine
