#include "engine/choose.h"
#include "engine/perf/perf_engine.h"
#include "fakes/fake_perf.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::engine {
namespace {

using fakes::FakePerf;

EventSet select(CounterEngine& engine, const std::vector<std::string>& names) {
  auto set = engine.select({names, false});
  INFO((set ? "" : set.error().line()));
  REQUIRE(set.has_value());
  return *std::move(set);
}

}  // namespace

TEST_CASE("what opens counters is counted in passes of its own, behind a timed one without any") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  const auto engine = keep_apart(perf::make_perf_engine(perf.calls(), false));
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
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  const auto engine = keep_apart(perf::make_perf_engine(perf.calls(), true));
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
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  const auto engine = keep_apart(perf::make_perf_engine(perf.calls(), true));
  const EventSet set = select(*engine, {"page-faults"});
  REQUIRE(set.passes.size() == 1);
  CHECK(set.passes[0].kind == RoundKind::Timed);
}

}  // namespace lauka::engine
