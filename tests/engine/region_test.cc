#include "engine/armed.h"
#include "engine/engine.h"
#include "engine/perf/perf_engine.h"
#include "fakes/fake_engine.h"
#include "fakes/fake_perf.h"
#include "must.h"

#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

// Events that are counted in a region of the program (lauka/region.h).

namespace lauka::engine {
namespace {

using fakes::FakePerf;

EventRequest in_region(std::vector<std::string> names, CountedPart where = CountedPart::Region) {
  EventRequest request;
  request.names = std::move(names);
  request.counted_part = where;
  return request;
}

struct OnFake {
  FakePerf perf{fakes::usual_pmu()};
  OnFake() { perf.set_paranoid(1); }

  Armed armed(const EventRequest& wanted, std::size_t pass = 0) const {
    return {perf::make_perf_engine(perf.calls(), false), wanted, pass};
  }
};

os::Ended ended_after(std::uint64_t enabled_ns, std::uint64_t failures = 0) {
  os::Ended ended{Exited{0}, {.wall_ns = 1'000'000'000, .user_ns = 900'000'000}};
  ended.region = os::RegionUse{.entries = 1, .time_ns = 1000, .counter_failures = failures};
  ended.readings = {{5000, enabled_ns, enabled_ns}, {2000, enabled_ns, enabled_ns}};
  return ended;
}

}  // namespace

TEST_CASE("region: its counters are not started by execve, and their leader is off") {
  const OnFake on;
  const Armed it = on.armed(in_region({"instructions", "cycles"}));
  CHECK(it.set.events[0].name_suffix == "(region)");
  CHECK(it.set.passes.size() == 1);
  REQUIRE(it.requests.size() == 2);
  CHECK(it.requests[0].counts_only_region);
  const auto leader = fakes::attributes_of(it.requests[0]).flags;
  CHECK((leader & os::kPerfDisabled) != 0);
  CHECK((leader & os::kPerfInherit) != 0);
  CHECK((leader & os::kPerfEnableOnExec) == 0);
  CHECK((fakes::attributes_of(it.requests[1]).flags & os::kPerfDisabled) == 0);
}

TEST_CASE("region: what was counted for a moment of a long run is believed") {
  const OnFake on;
  const Armed it = on.armed(in_region({"instructions", "cycles"}));
  CHECK(it.counting->finish(ended_after(1000), 0).counts == Counts{5000, 2000});
  CHECK_FALSE(it.counting->finish(ended_after(0), 0).counts.at(0));
  const CountsOfRun failed = it.counting->finish(ended_after(1000, 1), 0);
  CHECK_FALSE(failed.counts.at(0));
  CHECK(failed.why_missing_counts.value().what ==
        "the program could not switch the counters of its region on and off");
}

TEST_CASE("region: the whole run's events have names and passes of their own") {
  const OnFake on;
  const Armed whole =
      on.armed(in_region({"instructions", "cycles"}, CountedPart::RegionAndWhole), 1);
  const EventSet& set = whole.set;
  REQUIRE(set.events.size() == 4);
  CHECK(set.events[2].name == "instructions (whole run)");
  CHECK(set.events[2].name_suffix.empty());
  CHECK(set.events[2].role == Role::Other);
  REQUIRE(set.passes.size() == 2);
  CHECK(set.passes[1].event_indices == std::vector<std::size_t>{2, 3});
  CHECK_FALSE(whole.requests.at(0).counts_only_region);
  CHECK((fakes::attributes_of(whole.requests[0]).flags & os::kPerfEnableOnExec) != 0);
  CHECK_FALSE(whole.engine->arm(2).has_value());
}

TEST_CASE("region: what the kernel accounts to whole runs is refused where it cannot be counted") {
  OnFake on;
  on.perf.set_paranoid(2);
  const auto engine = perf::make_perf_engine(on.perf.calls(), false);
  CHECK(engine->select({{"page-faults"}}).has_value());
  CHECK(
      engine->select(in_region({"page-faults"})).error().what ==
      "'page-faults' cannot be counted: this user may not open its counter, which a region needs");
}

TEST_CASE("region: an engine of whole runs counts nothing, and refuses what was asked for") {
  const auto engine = make_uncounting_engine(std::make_unique<fakes::FakeEngine>());
  const EventSet by_default = must(engine->select(in_region({})));
  CHECK(by_default.events.empty());
  CHECK(by_default.passes.empty());
  CHECK(engine->select(in_region({"cycles"}))
            .error()
            .what.starts_with("'cycles' cannot be counted with --region: --engine "));
}

}  // namespace lauka::engine
