#include "engine/perf/perf_engine.h"
#include "fakes/fake_perf.h"

#include <cstring>
#include <memory>

#include <doctest/doctest.h>

namespace lauka::engine::perf {
namespace {

using fakes::FakePerf;
using Counts = std::vector<std::optional<std::uint64_t>>;
using Names = std::vector<std::string>;

using fakes::kMs;
constexpr std::pair<std::uint32_t, std::uint64_t> kRaw3c{4, 0x3c};

/// 60 ms on one kind of core, 40 ms on the other.
FakePerf::Program on_both_kinds() {
  FakePerf::Program program;
  program.ns_on = {{"cpu_core", 60 * kMs}, {"cpu_atom", 40 * kMs}};
  program.counts = {
      {{"cpu_core", fakes::kCycles}, {1000, 0}},  {{"cpu_atom", fakes::kCycles}, {200, 0}},
      {{"cpu_core", fakes::kBranches}, {70, 0}},  {{"cpu_atom", fakes::kBranches}, {5, 0}},
      {{"cpu_core", kRaw3c}, {999, 0}},           {{"cpu_atom", kRaw3c}, {199, 0}},
      {{"cpu_core", fakes::kRefCycles}, {33, 0}}, {{"software", {1, 2}}, {17, 0}}};
  program.usage.user_ns = 100 * kMs;
  return program;
}

struct Armed {
  EventSet set;
  std::unique_ptr<CounterEngine> engine;
  std::unique_ptr<Counting> counting;
  std::vector<os::CounterRequest> requests;
};

Armed armed(const FakePerf& perf, const Names& names) {
  Armed armed;
  armed.engine = make_perf_engine(perf.calls(), false);
  auto set = armed.engine->select({names, false});
  REQUIRE_MESSAGE(set.has_value(), (set ? "" : set.error().line()));
  armed.set = *set;
  auto counting = armed.engine->arm(0);
  REQUIRE(counting.has_value());
  armed.counting = *std::move(counting);
  armed.requests = armed.counting->requests();
  return armed;
}

}  // namespace

TEST_CASE("on a machine with two kinds of core an event is the sum over both") {
  FakePerf perf;
  fakes::add_two_kinds(perf);
  const Armed it = armed(perf, {"cycles", "branches", "page-faults"});
  CHECK(it.set.events[0].meaning == "perf cpu-cycles, sum of cpu_atom and cpu_core");
  CHECK(it.counting->finish(perf.run(it.requests, on_both_kinds()), 0).counts ==
        Counts{1200, 75, 17, 200, 1000, 5, 70});
}

TEST_CASE("a kernel that does not take the PMU's number in config is asked by sysfs' names") {
  FakePerf perf;
  fakes::add_two_kinds(perf);
  perf.knows_extended_type = false;
  for (const char* pmu : {"cpu_core", "cpu_atom"}) {
    perf.add_format(pmu, "event", "config:0-7");
    perf.add_event(pmu, "cpu_cycles", "event=0x3c");
  }
  const Armed it = armed(perf, {"cycles"});
  CHECK(it.counting->finish(perf.run(it.requests, on_both_kinds()), 0).counts ==
        Counts{1198, 199, 999});
}

TEST_CASE("an event that one kind of core has only says so") {
  FakePerf perf;
  fakes::add_two_kinds(perf);
  const Armed it = armed(perf, {"ref-cycles"});
  CHECK(it.set.events[0].meaning == "perf ref-cycles, on cpu_core only");
  // The other kind has a witness, so that it shows that nothing was missed.
  CHECK(it.requests.size() == 2);
  const Counted counted = it.counting->finish(perf.run(it.requests, on_both_kinds()), 0);
  CHECK(counted.counts == Counts{33});
}

TEST_CASE("an event of one PMU is counted there only") {
  FakePerf perf;
  fakes::add_two_kinds(perf);
  const Armed it = armed(perf, {"cpu_core/cycles/", "cpu_atom/cycles/"});
  CHECK(it.set.events[0].meaning == "perf cpu_core/cycles/");
  CHECK(it.set.passes.size() == 1);
  CHECK(it.counting->finish(perf.run(it.requests, on_both_kinds()), 0).counts == Counts{1000, 200});
}

TEST_CASE("groups never mix the kinds of core, nor these with the kernel's counts") {
  FakePerf perf;
  fakes::add_two_kinds(perf);
  const Armed it = armed(perf, {"cycles", "branches", "page-faults"});
  REQUIRE(it.requests.size() == 5);
  for (const os::CounterRequest& request : it.requests) {
    const auto pmu_type_of = [](const os::CounterRequest& one) {
      os::PerfEventAttr attributes;
      std::memcpy(&attributes, one.attributes.data(), sizeof attributes);
      return attributes.config >> 32U;
    };
    CHECK(pmu_type_of(request) == pmu_type_of(it.requests[request.leader]));
  }
}

TEST_CASE("times of both kinds that do not add up to the run's are not all the time") {
  FakePerf perf;
  fakes::add_two_kinds(perf);
  const Armed it = armed(perf, {"cycles"});
  auto program = on_both_kinds();
  os::Ended ended = perf.run(it.requests, program);
  ended.readings[0].running_ns -= kMs;
  const Counted counted = it.counting->finish(ended, 0);
  CHECK(counted.counts == Counts{std::nullopt, std::nullopt, std::nullopt});
  REQUIRE(counted.missing.has_value());
  CHECK(counted.missing->what == "other programs used the counters");
}

TEST_CASE("the kind of core with fewer counters decides how many passes there are") {
  FakePerf perf;
  fakes::add_two_kinds(perf);
  const auto engine = make_perf_engine(perf.calls(), false);
  // Three general counters on cpu_atom, four on cpu_core; cycles are free on both.
  const auto set = engine->select(
      {{"cycles", "branches", "branch-misses", "cache-misses", "cache-references"}, false});
  REQUIRE(set.has_value());
  CHECK(set->passes.size() == 2);
  const auto three =
      engine->select({{"cycles", "branches", "branch-misses", "cache-misses"}, true});
  CHECK(three.has_value());
}

TEST_CASE("raw codes are counted on both kinds of core") {
  FakePerf perf;
  fakes::add_two_kinds(perf);
  const Armed it = armed(perf, {"r3c"});
  CHECK(it.counting->finish(perf.run(it.requests, on_both_kinds()), 0).counts ==
        Counts{1198, 199, 999});
}

TEST_CASE("the parts of an event on each kind of core are told by the kinds' names, P first") {
  FakePerf perf;
  fakes::add_two_kinds(perf);
  const auto engine = make_perf_engine(
      perf.calls(), false, {{"P", {0, 1, 2, 3}, "cpu_core"}, {"E", {4, 5, 6, 7}, "cpu_atom"}});
  const auto set = engine->select({{"cycles", "ref-cycles", "page-faults"}, false});
  REQUIRE(set.has_value());
  REQUIRE(set->events.size() == 5);
  CHECK(set->events[3].name == "cycles (P)");
  CHECK(set->events[4].name == "cycles (E)");
  CHECK(set->events[3].part_of == 0U);
  CHECK(set->events[1].note == "(P only)");
  CHECK(set->events[0].note.empty());
  const auto counting = engine->arm(0);
  REQUIRE(counting.has_value());
  CHECK((*counting)->timed_pmus().size() == 2);
  const Counted counted =
      (*counting)->finish(perf.run((*counting)->requests(), on_both_kinds()), 0);
  CHECK(counted.counts == Counts{1200, 33, 17, 1000, 200});
  CHECK(counted.pmu_ns.size() == 2);
}

}  // namespace lauka::engine::perf
