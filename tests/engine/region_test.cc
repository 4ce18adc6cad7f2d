#include "engine/engine.h"
#include "engine/perf/perf_engine.h"
#include "fakes/fake_engine.h"
#include "fakes/fake_perf.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

// Events that are counted in a region of the program (lauka/region.h).

namespace lauka::engine {
namespace {

using fakes::FakePerf;

EventRequest in_region(std::vector<std::string> names, CountedIn where = CountedIn::Region) {
  EventRequest request;
  request.names = std::move(names);
  request.counted_in = where;
  return request;
}

os::PerfEventAttr make_attributes(const os::CounterRequest& request) {
  os::PerfEventAttr attributes;
  std::memcpy(&attributes, request.attributes.data(), sizeof attributes);
  return attributes;
}

struct OnFake {
  FakePerf perf;
  std::unique_ptr<CounterEngine> engine;
  OnFake() {
    perf.add(fakes::usual_pmu());
    perf.set_paranoid(1);
    engine = perf::make_perf_engine(perf.calls(), false);
  }

  std::unique_ptr<Counting> armed(std::size_t pass) const {
    auto counting = engine->arm(pass);
    REQUIRE(counting.has_value());
    return *std::move(counting);
  }
};

os::Ended ended_after(std::uint64_t enabled_ns, std::uint64_t failures = 0) {
  os::Ended ended{Exited{0}, {.wall_ns = 1'000'000'000, .user_ns = 900'000'000}};
  ended.region = os::RegionUse{.entries = 1, .time_ns = 1000, .failures = failures};
  ended.readings = {{5000, enabled_ns, enabled_ns}, {2000, enabled_ns, enabled_ns}};
  return ended;
}

}  // namespace

TEST_CASE("region: its counters are not started by execve, and their leader is off") {
  const OnFake on;
  const auto set = on.engine->select(in_region({"instructions", "cycles"}));
  REQUIRE(set.has_value());
  CHECK(set->events[0].note == "(region)");
  REQUIRE(set->passes.size() == 1);
  const auto requests = on.armed(0)->requests();
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].of_region);
  const auto leader = make_attributes(requests[0]).flags;
  CHECK((leader & os::kPerfDisabled) != 0);
  CHECK((leader & os::kPerfInherit) != 0);
  CHECK((leader & os::kPerfEnableOnExec) == 0);
  CHECK((make_attributes(requests[1]).flags & os::kPerfDisabled) == 0);
}

TEST_CASE("region: what was counted for a moment of a long run is believed") {
  const OnFake on;
  REQUIRE(on.engine->select(in_region({"instructions", "cycles"})));
  const auto counting = on.armed(0);
  const Counted counted = counting->finish(ended_after(1000), 0);
  CHECK(counted.counts == std::vector<std::optional<std::uint64_t>>{5000, 2000});
  CHECK_FALSE(counting->finish(ended_after(0), 0).counts.at(0));
  const Counted failed = counting->finish(ended_after(1000, 1), 0);
  CHECK_FALSE(failed.counts.at(0));
  REQUIRE(failed.missing);
  CHECK(failed.missing->what ==
        "the program could not switch the counters of its region on and off");
}

TEST_CASE("region: the whole run's events have names and passes of their own") {
  const OnFake on;
  const auto set =
      on.engine->select(in_region({"instructions", "cycles"}, CountedIn::RegionAndWhole));
  REQUIRE(set.has_value());
  REQUIRE(set->events.size() == 4);
  CHECK(set->events[2].name == "instructions (whole run)");
  CHECK(set->events[2].note.empty());
  CHECK(set->events[2].role == Role::Other);
  REQUIRE(set->passes.size() == 2);
  CHECK(set->passes[1].events == std::vector<std::size_t>{2, 3});
  const auto whole = on.armed(1)->requests();
  CHECK_FALSE(whole.at(0).of_region);
  CHECK((make_attributes(whole[0]).flags & os::kPerfEnableOnExec) != 0);
}

TEST_CASE("region: what the kernel accounts to whole runs is refused where it cannot be counted") {
  OnFake on;
  on.perf.set_paranoid(2);
  on.engine = perf::make_perf_engine(on.perf.calls(), false);
  CHECK(on.engine->select({{"page-faults"}}).has_value());
  const auto refused = on.engine->select(in_region({"page-faults"}));
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().what ==
        "'page-faults' cannot be counted: its counter, which a region needs, may not be opened");
}

TEST_CASE("region: an engine of whole runs counts nothing, and refuses what was asked for") {
  const auto engine = without_regions(std::make_unique<fakes::FakeEngine>());
  const auto by_default = engine->select(in_region({}));
  REQUIRE(by_default.has_value());
  CHECK(by_default->events.empty());
  CHECK(by_default->passes.empty());
  const auto asked = engine->select(in_region({"cycles"}));
  REQUIRE_FALSE(asked.has_value());
  CHECK(asked.error().what.starts_with("'cycles' cannot be counted with --region: --engine "));
}

}  // namespace lauka::engine
