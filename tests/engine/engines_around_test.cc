#include "engine/armed.h"
#include "engine/engine.h"
#include "engine/perf/perf_engine.h"
#include "fakes/fake_engine.h"
#include "fakes/fake_perf.h"
#include "must.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::engine {

namespace {

/// A machine of two packages that notes what is opened.
class FakePower : public fakes::FakePerf {
 public:
  FakePower() : linux_(FakePerf::calls()) {
    opened().clear();
    error() = 0;
    linux_.open_counter = [](const os::PerfEventAttr&, const os::CounterPlace& place, int) {
      opened().emplace_back(place.thread, place.cpu);
      return error() != 0 ? -error() : 3;
    };
    const std::string folder = "/sys/bus/event_source/devices/power/";
    files[folder + "type"] = "9\n";
    files[folder + "cpumask"] = "0,18\n";
    add_format("power", "event", "config:0-7");
    for (const auto& [name, code] : {std::pair("pkg", "0x02"), std::pair("cores", "0x01")}) {
      const std::string event = std::string("energy-") + name;
      add_event("power", event, std::string("event=") + code);
      add_event("power", event + ".scale", "2.3283064365386962890625e-10");
      add_event("power", event + ".unit", "Joules");
    }
  }

  std::unique_ptr<CounterEngine> engine() const {
    return with_energy(std::make_unique<fakes::FakeEngine>(), &linux_);
  }

  /// The thread and CPU of each counter so far.
  static std::vector<std::pair<int, int>>& opened() {
    static std::vector<std::pair<int, int>> all;
    return all;
  }
  /// The errno of every further one.
  static int& error() {
    static int number = 0;
    return number;
  }

 private:
  os::LinuxCalls linux_;
};

std::string refusal(const FakePower& power, const std::string& name) {
  const auto set = power.engine()->select({{name}, false});
  return set ? "selected" : set.error().line();
}

}  // namespace

TEST_CASE("energy is counted system-wide on a CPU of each package, and given in joules") {
  const FakePower power;
  const Armed it(power.engine(), {{"energy-pkg", "energy-cores"}, false});
  REQUIRE(it.set.events.size() == 2);
  CHECK(it.set.events[0].name_suffix == "(system-wide)");
  CHECK(it.set.events[0].is_energy);
  CHECK(it.set.passes.size() == 1);
  CHECK(FakePower::opened().front() == std::pair(-1, 0));
  REQUIRE(it.requests.size() == 4);
  CHECK(it.requests[1].cpu == 18);
  CHECK(it.requests[3].system_wide);
  os::Ended ended{Exited{0}, {}, {}};
  // 2^32 counts are one joule; more than the register's 32 bits is no wrap any more.
  const std::uint64_t joule = std::uint64_t{1} << 32U;
  ended.readings = {{joule, 5, 5}, {2 * joule, 5, 5}, {300 * joule, 5, 5}, {0, 5, 5}};
  const CountsOfRun counted = it.counting->finish(ended, 0);
  CHECK(counted.counts == Counts{3'000'000'000, 300'000'000'000});
  CHECK_FALSE(counted.why_missing_counts);
}

TEST_CASE("a reading that is not of the whole run is no energy") {
  const FakePower power;
  const Armed it(power.engine(), {{"energy-pkg"}, false});
  os::Ended ended{Exited{0}, {}, {}};
  ended.readings = {{1, 5, 5}, {1, 5, 4}};
  const CountsOfRun partly = it.counting->finish(ended, 0);
  CHECK_FALSE(partly.counts[0]);
  CHECK(partly.why_missing_counts);
  ended.readings.clear();
  ended.counter_error = EACCES;
  CHECK(it.counting->finish(ended, 0).why_missing_counts.value().what.starts_with(
      "the energy counters could not be read"));
}

TEST_CASE("what the machine does not have is refused with what it has") {
  FakePower power;
  CHECK(refusal(power, "energy-ram") ==
        "'energy-ram' cannot be counted: the processor does not count it; it has energy-cores and "
        "energy-pkg");
  FakePower::error() = EACCES;
  CHECK(refusal(power, "energy-pkg") ==
        "'energy-pkg' cannot be counted: the kernel lets only root count the whole machine; run "
        "lauka as root, or run sudo sysctl kernel.perf_event_paranoid=0");
  FakePower::error() = 0;
  power.files["/sys/bus/event_source/devices/power/events/energy-pkg.unit"] = "Watts\n";
  CHECK(refusal(power, "energy-pkg").ends_with(": its unit is not joules"));
  power.files.clear();
  CHECK(refusal(power, "energy-pkg")
            .ends_with(": this machine has no energy counters (RAPL), as is usual in a virtual "
                       "machine; leave it out"));
}

TEST_CASE("energy is of whole runs") {
  const FakePower power;
  EventRequest of_region{{"energy-pkg"}};
  of_region.counted_part = CountedPart::Region;
  CHECK(power.engine()->select(of_region).error().line().find(
            "not for a region; measure it without --region") != std::string::npos);
}

TEST_CASE("the power PMU's events are listed, and other systems have none") {
  const FakePower power;
  const Catalog all = power.engine()->catalog();
  CHECK(std::count_if(all.begin(), all.end(), [](const CatalogEntry& entry) {
          return entry.counters_text == "power PMU";
        }) == 2);
  auto plain = std::make_unique<fakes::FakeEngine>();
  const CounterEngine* inner = plain.get();
  CHECK(with_energy(std::move(plain), nullptr).get() == inner);
}

namespace {

using fakes::FakePerf;

Armed separate(const FakePerf& perf, const std::vector<std::string>& names,
               bool user_only = false) {
  return {separate_counting(perf::make_perf_engine(perf.calls(), user_only)), {names}};
}

}  // namespace

TEST_CASE("an engine that opens counters has passes of its own, after a timed one without any") {
  FakePerf perf(fakes::usual_pmu());
  const Armed timed = separate(perf, {"cycles", "instructions"});
  const auto& passes = timed.set.passes;
  REQUIRE(passes.size() == 2);
  CHECK(passes[0].kind == RoundKind::Timed);
  CHECK(passes[0].event_indices.empty());
  CHECK(passes[1].kind == RoundKind::Counting);
  CHECK(passes[1].event_indices == std::vector<std::size_t>{0, 1});
  CHECK(timed.requests.empty());
  CHECK_FALSE(must(timed.engine->arm(1))->requests().empty());
}

TEST_CASE("what the kernel keeps for every process is read in the timed runs") {
  FakePerf perf(fakes::usual_pmu());
  const Armed timed = separate(perf, {"instructions", "page-faults"}, true);
  REQUIRE(timed.set.passes.size() == 2);
  CHECK(timed.set.passes[0].event_indices == std::vector<std::size_t>{1});
  os::Ended ended;
  ended.outcome = Exited{0};
  ended.usage.minor_faults = 41;
  ended.usage.major_faults = 1;
  CHECK(timed.counting->finish(ended, 0).counts == Counts{42});
}

TEST_CASE("where everything comes from the kernel's accounting, no run has to count") {
  FakePerf perf(fakes::usual_pmu());
  const Armed timed = separate(perf, {"page-faults"}, true);
  REQUIRE(timed.set.passes.size() == 1);
  CHECK(timed.set.passes[0].kind == RoundKind::Timed);
}

}  // namespace lauka::engine
