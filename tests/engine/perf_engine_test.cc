#include "engine/perf/perf_engine.h"

#include "fakes/fake_perf.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <doctest/doctest.h>

namespace lauka::engine::perf {
namespace {

using fakes::FakePerf;
using fakes::small_pmu;
using Names = std::vector<std::string>;

EventSet selected(const FakePerf& perf, const Names& names, bool user_only = false) {
  const auto engine = make_perf_engine(perf.calls(), user_only);
  auto set = engine->select({names, false});
  REQUIRE_MESSAGE(set.has_value(), (set ? "" : set.error().line()));
  CHECK(perf.open_now() == 0);
  return *set;
}

Names names_of(const EventSet& set) {
  Names names;
  for (const Event& event : set.events) names.push_back(event.name);
  return names;
}

/// "0 1 2|3 4": the events of each pass.
std::string passes_of(const EventSet& set) {
  std::string text;
  for (const Pass& pass : set.passes) {
    if (!text.empty()) text += "|";
    for (std::size_t i = 0; i < pass.events.size(); ++i)
      text += (i > 0 ? " " : "") + std::to_string(pass.events[i]);
  }
  return text;
}

os::PerfEventAttr attributes_of(const os::CounterRequest& request) {
  os::PerfEventAttr attributes;
  std::memcpy(&attributes, request.attributes.data(), sizeof attributes);
  return attributes;
}

}  // namespace

TEST_CASE(
    "by default cycles, instructions, cache references, cache and branch misses are counted") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  perf.set_paranoid(1);
  const EventSet set = selected(perf, {});
  CHECK(names_of(set) ==
        Names{"cycles", "instructions", "cache-references", "cache-misses", "branch-misses"});
  CHECK(passes_of(set) == "0 1 2 3 4");
  CHECK(set.notes.empty());
  CHECK(set.events[0].meaning == "perf cpu-cycles");
}

TEST_CASE("default events that are not there are left out with one note for all") {
  FakePerf perf;
  auto pmu = fakes::usual_pmu();
  pmu.knows = {fakes::kCycles, fakes::kInstructions, fakes::kBranchMisses};
  perf.add(pmu);
  const EventSet set = selected(perf, {});
  CHECK(names_of(set) == Names{"cycles", "instructions", "branch-misses"});
  CHECK(set.notes == Names{"not counted: cache-references and cache-misses (not on this machine; "
                           "lauka --list-events shows what is)"});
}

TEST_CASE("on a virtual machine without counters a short note says who knows more") {
  FakePerf perf;
  perf.set_paranoid(2);
  const EventSet set = selected(perf, {});
  CHECK(set.events.empty());
  CHECK(set.passes.empty());
  CHECK(set.notes == Names{"no hardware counters here; lauka --check says why"});
}

TEST_CASE("where the kernel's part is forbidden counters cover user space and one note says so") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  perf.set_paranoid(2);
  const EventSet set = selected(perf, {"cycles", "branches", "task-clock"});
  CHECK(set.events[0].meaning == "perf cpu-cycles, user space only");
  CHECK(set.events[2].meaning == "perf task-clock, CPU time in nanoseconds");
  CHECK(set.notes == Names{"counters cover user space only: perf_event_paranoid is 2, which hides "
                           "the kernel from users; sudo sysctl "
                           "kernel.perf_event_paranoid=1"});
}

TEST_CASE("a clock alone is the same without the kernel's part, so there is no note") {
  FakePerf perf;
  perf.set_paranoid(2);
  CHECK(selected(perf, {"task-clock"}).notes.empty());
}

TEST_CASE("with --user-only nothing is noted: the user wanted it") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  perf.set_paranoid(2);
  const EventSet set = selected(perf, {"cycles"}, true);
  CHECK(set.notes.empty());
  CHECK(set.events[0].meaning == "perf cpu-cycles, user space only");
}

TEST_CASE("an architecture that refuses to leave the hypervisor out is asked without that") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  perf.refuses_hypervisor_bit = true;
  CHECK(selected(perf, {"cycles:u"}).events[0].meaning == "perf cpu-cycles, user space only");
}

TEST_CASE("without the kernel's part faults and switches come from the kernel's accounting") {
  FakePerf perf;
  perf.set_paranoid(2);
  const Names four{"page-faults", "context-switches", "minor-faults", "major-faults"};
  for (const bool user_only : {false, true}) {
    const auto engine = make_perf_engine(perf.calls(), user_only);
    const auto set = engine->select({four, false});
    REQUIRE(set.has_value());
    CHECK(set->events[0].meaning == "minor and major page faults, from the kernel's accounting");
    CHECK(set->events[1].meaning ==
          "voluntary and involuntary switches, from the kernel's accounting");
    CHECK(set->events[0].note == "(with exec)");
    CHECK(set->notes.empty());
    auto counting = engine->arm(0);
    REQUIRE(counting.has_value());
    CHECK((*counting)->requests().empty());
    os::Ended ended{Exited{0}, {}};
    ended.usage.minor_faults = 70;
    ended.usage.major_faults = 5;
    ended.usage.voluntary_switches = 3;
    ended.usage.involuntary_switches = 4;
    const Counted counted = (*counting)->finish(ended, 0);
    CHECK(counted.counts == std::vector<std::optional<std::uint64_t>>{75, 7, 70, 5});
    CHECK_FALSE(counted.missing.has_value());
  }
}

TEST_CASE("with the kernel's part faults and switches are counters") {
  FakePerf perf;
  perf.set_paranoid(1);
  CHECK(selected(perf, {"page-faults"}).events[0].meaning == "perf page-faults");
  CHECK(selected(perf, {"page-faults"}).events[0].note.empty());
  CHECK(selected(perf, {"context-switches"}).events[0].meaning == "perf context-switches");
}

TEST_CASE("the same event twice is counted once") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  const EventSet set = selected(perf, {"cycles", "CYCLES", "cpu-cycles", "cycles:u"});
  CHECK(names_of(set) == Names{"cycles", "cycles:u"});
  CHECK(set.notes == Names{"'cpu-cycles' is the same event as 'cycles' and counted once"});
}

TEST_CASE("more events than counters take the fewest passes, and ratios share one") {
  FakePerf perf;
  perf.add(small_pmu(2));
  // cycles and instructions have counters of their own; of the five others two fit at once.
  const EventSet set = selected(perf, {"branches", "cache-references", "l1d-cache-misses", "cycles",
                                       "branch-misses", "cache-misses", "instructions"});
  CHECK(set.passes.size() == 3);
  const auto pass_of = [&](std::size_t event) {
    for (std::size_t pass = 0; pass < set.passes.size(); ++pass) {
      const auto& events = set.passes[pass].events;
      if (std::find(events.begin(), events.end(), event) != events.end()) return pass;
    }
    return set.passes.size();
  };
  CHECK(pass_of(3) == pass_of(6));
  CHECK(pass_of(1) == pass_of(5));
  CHECK(pass_of(0) == pass_of(4));
}

TEST_CASE("counters that the kernel promises at open but never has make a further pass") {
  // The NMI watchdog holds one: groups are taken at open and never scheduled.
  FakePerf perf;
  auto pmu = small_pmu(3);
  pmu.taken = 1;
  perf.add(pmu);
  CHECK(passes_of(selected(perf, {"branches", "branch-misses", "cache-misses"})) == "0 1|2");
}

TEST_CASE("where others hold all counters each event has a pass and the run will tell") {
  FakePerf perf;
  auto pmu = small_pmu(1);
  pmu.taken = 1;
  perf.add(pmu);
  CHECK(passes_of(selected(perf, {"branches", "branch-misses"})) == "0|1");
}

TEST_CASE("software events cost no counter and no pass") {
  FakePerf perf;
  perf.add(small_pmu(1));
  const EventSet set =
      selected(perf, {"task-clock", "branches", "page-faults", "branch-misses", "cpu-clock"});
  CHECK(passes_of(set) == "0 1 2 4|3");
  CHECK(passes_of(selected(perf, {"task-clock", "page-faults"})) == "0 1");
}

TEST_CASE("a pass is armed as one group of each PMU, started by exec") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  const auto engine = make_perf_engine(perf.calls(), false);
  REQUIRE(engine->select({{"task-clock", "cycles", "page-faults", "branches"}, false}).has_value());
  const auto counting = engine->arm(0);
  REQUIRE(counting.has_value());
  const auto requests = (*counting)->requests();
  REQUIRE(requests.size() == 4);
  const std::array<std::size_t, 4> leaders = {0, 0, 2, 2};
  const std::array<std::uint32_t, 4> types = {1, 1, 0, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    const os::PerfEventAttr attributes = attributes_of(requests[i]);
    CHECK(requests[i].leader == leaders[i]);
    CHECK(attributes.type == types[i]);
    // PERF_FORMAT_TOTAL_TIME_ENABLED | _RUNNING | GROUP; inherit is bit 1, disabled 0,
    // enable_on_exec 12.
    CHECK(attributes.read_format == 11);
    CHECK(attributes.flags == (leaders[i] == i ? 0x1003U : 0x2U));
    CHECK(attributes.size == 64);
  }
}

TEST_CASE("the catalog holds what was seen to open, portable names first") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  perf.add_format("cpu", "event", "config:0-7");
  perf.add_event("cpu", "cache-misses", "event=0x2e");
  perf.add({"uncore_imc_0", 20, "", true});
  perf.add_event("uncore_imc_0", "reads", "config=1");
  const Catalog catalog = make_perf_engine(perf.calls(), false)->catalog();
  Names names;
  for (const CatalogEntry& entry : catalog) names.push_back(entry.name);
  CHECK(names == Names{"cpu-cycles", "instructions", "branch-instructions", "branch-misses",
                       "cache-references", "cache-misses", "L1-dcache-load-misses", "page-faults",
                       "context-switches", "cpu/cache-misses/", "task-clock", "cpu-clock",
                       "cpu-migrations", "minor-faults", "major-faults", "alignment-faults",
                       "emulation-faults", "cgroup-switches", "dummy"});
  CHECK(catalog[0].alias == "cycles");
  CHECK(catalog[0].counters == "cpu");
  CHECK(catalog[5].description == "cache misses, mostly of the last level (event=0x2e)");
  CHECK(catalog[6].alias == "l1d-cache-misses");
  CHECK(catalog[10].counters == "software");
  CHECK(perf.open_now() == 0);
}

TEST_CASE("where the kernel is left out the catalog says that faults are the accounting's") {
  FakePerf perf;
  perf.set_paranoid(2);
  const Catalog catalog = make_perf_engine(perf.calls(), false)->catalog();
  REQUIRE(!catalog.empty());
  CHECK(catalog[0].name == "page-faults");
  CHECK(catalog[0].counters == "accounting");
  CHECK(std::none_of(catalog.begin(), catalog.end(),
                     [](const CatalogEntry& entry) { return entry.name == "cpu-migrations"; }));
}

TEST_CASE("what a generic event really is on this processor is told") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  perf.add_event("cpu", "cache-misses", "event=0x2e,umask=0x41");
  CHECK(selected(perf, {"cache-misses"}).events[0].meaning ==
        "perf cache-misses (event=0x2e,umask=0x41)");
}

TEST_CASE("an explanation tells the passes, whose counters they use, and which events compete") {
  FakePerf perf;
  perf.add(small_pmu(2));
  const auto engine = make_perf_engine(perf.calls(), false);
  const auto explanation =
      engine->explain({{"branches", "branch-misses", "cache-misses", "page-faults"}, true});
  REQUIRE_MESSAGE(explanation.has_value(), (explanation ? "" : explanation.error().line()));
  REQUIRE(explanation->passes.size() == 2);
  CHECK(explanation->passes[0].size() + explanation->passes[1].size() == 4);
  CHECK(explanation->passes[0][0].event == "branches");
  CHECK(explanation->passes[0][0].counter == "cpu");
  CHECK(explanation->competition ==
        "branches, branch-misses and cache-misses do not fit the counters of cpu at once, although "
        "without any one of them the others do");
  CHECK(perf.open_now() == 0);
  CHECK(engine->explain({{"branches"}, false})->competition == std::nullopt);
}

}  // namespace lauka::engine::perf
