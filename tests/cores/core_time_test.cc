#include "cores/cores.h"
#include "engine/accounting.h"
#include "engine/perf/perf_engine.h"
#include "fakes/fake_perf.h"

#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::cores {
namespace {

using fakes::FakePerf;
using Counts = std::vector<std::optional<std::uint64_t>>;

using fakes::kMs;

/// Three kinds of five CPUs: the largest is E.
CoreKinds three_kinds() {
  return {{"P", {4}}, {"M", {3}}, {"E", {0, 1, 2}}};
}

FakePerf::Program on_all_kinds() {
  FakePerf::Program program;
  program.ns_on_cpu = {{0, 5 * kMs}, {1, 0}, {2, 6 * kMs}, {3, 20 * kMs}, {4, 69 * kMs}};
  program.usage.user_ns = 100 * kMs;
  return program;
}

struct Armed {
  std::unique_ptr<engine::CounterEngine> engine;
  std::unique_ptr<engine::Counting> counting;
  std::vector<os::CounterRequest> requests;
};

Armed armed(const FakePerf& perf, std::unique_ptr<engine::CounterEngine> inner,
            const CoreKinds& kinds, const std::vector<std::string>& events,
            std::optional<double> min_share = std::nullopt) {
  Armed it;
  Decided decided;
  decided.kinds = kinds;
  for (const CoreKind& kind : kinds) decided.use.timed.push_back(kind.name);
  decided.use.min_share = min_share;
  it.engine = with_core_time(std::move(inner), decided, &perf.calls());
  if (!events.empty()) REQUIRE(it.engine->select({events, false}).has_value());
  auto counting = it.engine->arm(0);
  REQUIRE(counting.has_value());
  it.counting = *std::move(counting);
  it.requests = it.counting->requests();
  return it;
}

Armed clocks_only(const FakePerf& perf, const CoreKinds& kinds = three_kinds()) {
  return armed(perf, engine::make_none_engine(std::nullopt), kinds, {});
}

}  // namespace

TEST_CASE("a clock for each CPU of the smaller kinds and one for all tell the time on every kind") {
  FakePerf perf;
  perf.set_paranoid(2);
  const Armed it = clocks_only(perf);
  std::string on;
  for (const os::CounterRequest& request : it.requests) on += std::to_string(request.cpu) + " ";
  CHECK(on == "-1 4 3 ");
  const auto counted = it.counting->finish(perf.run(it.requests, on_all_kinds()), 0);
  CHECK(counted.counts == Counts{69 * kMs, 20 * kMs, 11 * kMs});
  CHECK_FALSE(counted.missing.has_value());
}

TEST_CASE("a CPU that is switched off has no time") {
  FakePerf perf;
  perf.switched_off = {3};
  auto program = on_all_kinds();
  program.ns_on_cpu[3] = 0;
  const Armed it = clocks_only(perf);
  CHECK(it.counting->finish(perf.run(it.requests, program), 0).counts ==
        Counts{69 * kMs, 0, 11 * kMs});
}

TEST_CASE("the times stand behind what another engine counts, and leave that as it is") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  const Armed it = armed(perf, engine::perf::make_perf_engine(perf.calls(), false), three_kinds(),
                         {"cycles", "instructions"});
  auto program = on_all_kinds();
  program.ns_on = {{"cpu", 100 * kMs}};
  program.counts = {{{"cpu", fakes::kCycles}, {1000, 300}},
                    {{"cpu", fakes::kInstructions}, {2000, 500}}};
  const auto counted = it.counting->finish(perf.run(it.requests, program), 0);
  CHECK(counted.counts == Counts{1300, 2500, 69 * kMs, 20 * kMs, 11 * kMs});
  CHECK(it.requests[2].leader == 2);
}

TEST_CASE("where the counters of every kind of core are in use, they tell the time: no clock") {
  FakePerf perf;
  fakes::add_two_kinds(perf);
  const CoreKinds kinds{{"P", {0, 1, 2, 3}, "cpu_core"}, {"E", {4, 5, 6, 7}, "cpu_atom"}};
  const Armed it =
      armed(perf, engine::perf::make_perf_engine(perf.calls(), false, kinds), kinds, {"cycles"});
  CHECK(it.requests.size() == 2);
  FakePerf::Program program;
  program.ns_on = {{"cpu_core", 60 * kMs}, {"cpu_atom", 40 * kMs}};
  program.counts = {{{"cpu_core", fakes::kCycles}, {1000, 0}},
                    {{"cpu_atom", fakes::kCycles}, {200, 0}}};
  program.usage.user_ns = 100 * kMs;
  // The sum, its parts on P and E, then the times.
  CHECK(it.counting->finish(perf.run(it.requests, program), 0).counts ==
        Counts{1200, 1000, 200, 60 * kMs, 40 * kMs});
}

TEST_CASE("kinds named by hand are timed by clocks also where the PMUs have other kinds") {
  FakePerf perf;
  fakes::add_two_kinds(perf);
  const Armed it = armed(perf, engine::perf::make_perf_engine(perf.calls(), false),
                         {{"P", {0}}, {"E", {1, 2, 3, 4, 5, 6, 7}}}, {"cycles"});
  CHECK(it.requests.size() == 4);
}

TEST_CASE("a program that loses its clocks at exec has no times, with the reason") {
  FakePerf perf;
  auto program = on_all_kinds();
  program.is_setuid = true;
  const Armed it = clocks_only(perf);
  const auto counted = it.counting->finish(perf.run(it.requests, program), 0);
  CHECK(counted.counts == Counts{std::nullopt, std::nullopt, std::nullopt});
  REQUIRE(counted.missing.has_value());
  CHECK(counted.missing->what ==
        "no time by kind of core: the counters stopped where a program began, as at one that is "
        "setuid or unreadable");
}

TEST_CASE("where descriptors do not suffice for the clocks, the run is counted without them") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  const Armed it =
      armed(perf, engine::perf::make_perf_engine(perf.calls(), false), three_kinds(), {"cycles"});
  perf.descriptor_limit = 2;
  auto program = on_all_kinds();
  program.ns_on = {{"cpu", 100 * kMs}};
  program.counts = {{{"cpu", fakes::kCycles}, {1000, 300}}};
  const os::Ended ended = perf.run(it.requests, program);
  CHECK(ended.counter_error == 0);
  const auto counted = it.counting->finish(ended, 0);
  CHECK(counted.counts == Counts{1300, std::nullopt, std::nullopt, std::nullopt});
  REQUIRE(counted.missing.has_value());
  CHECK(counted.missing->what ==
        "no time by kind of core: the limit of open files leaves no room for counters");
}

TEST_CASE("clocks that are more than are opened for a run are left out, and that is said") {
  FakePerf perf;
  CoreKinds kinds{{"P", {}}, {"E", {}}};
  for (std::uint32_t cpu = 0; cpu < 400; ++cpu) kinds[cpu % 2].cpus.push_back(cpu);
  const Armed it = clocks_only(perf, kinds);
  CHECK(it.requests.empty());
  const auto counted = it.counting->finish(perf.run(it.requests, on_all_kinds()), 0);
  REQUIRE(counted.missing.has_value());
  CHECK(counted.missing->what ==
        "no time by kind of core: it takes 201 counters, and at most 128 are opened for a run");
}

TEST_CASE("clocks that contradict each other are not believed") {
  FakePerf perf;
  const Armed it = clocks_only(perf);
  os::Ended ended = perf.run(it.requests, on_all_kinds());
  ended.readings[1].value += 60 * kMs;
  const auto counted = it.counting->finish(ended, 0);
  CHECK_FALSE(counted.counts[0].has_value());
  CHECK(counted.missing->what ==
        "no time by kind of core: the clocks of single CPUs add up to more than the clock of all");
}

TEST_CASE("without kinds to tell apart the engine is left as it is: nothing is paid") {
  FakePerf perf;
  auto none = engine::make_none_engine(std::nullopt);
  const auto* before = none.get();
  CHECK(with_core_time(std::move(none), Decided{}, &perf.calls()).get() == before);
}

TEST_CASE("a run with too small a share of its time on P is asked to be run again, thrice") {
  FakePerf perf;
  const auto with_least = [&](double share) {
    const Armed it = armed(perf, engine::make_none_engine(std::nullopt), three_kinds(), {}, share);
    return it.counting->finish(perf.run(it.requests, on_all_kinds()), 0).redo;
  };
  CHECK_FALSE(with_least(0.69).has_value());  // 69 of 100 ms are on P
  const auto redo = with_least(0.7);
  REQUIRE(redo.has_value());
  CHECK(redo->at_most == 3);
  CHECK(redo->why == "less than 70% of the CPU time was spent on P cores");
}

}  // namespace lauka::cores
