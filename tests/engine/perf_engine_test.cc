#include "engine/perf/perf_engine.h"

#include "engine/armed.h"
#include "fakes/fake_perf.h"
#include "has.h"
#include "must.h"
#include "notes.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::engine::perf {

namespace {

using fakes::FakePerf;
using fakes::small_pmu;
using Names = std::vector<std::string>;

EventSet selected(const FakePerf& perf, const Names& names, bool user_only = false) {
  EventSet set = must(make_perf_engine(perf.calls(), user_only)->select({names, false}));
  CHECK(perf.open_now() == 0);
  return set;
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
    for (std::size_t i = 0; i < pass.event_indices.size(); ++i)
      text += (i > 0 ? " " : "") + std::to_string(pass.event_indices[i]);
  }
  return text;
}

}  // namespace

TEST_CASE(
    "by default cycles, instructions, cache references, cache and branch misses are counted") {
  FakePerf perf(fakes::usual_pmu());
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
  perf.add(fakes::usual_pmu()).knows = {fakes::kCycles, fakes::kInstructions, fakes::kBranchMisses};
  const EventSet set = selected(perf, {});
  CHECK(names_of(set) == Names{"cycles", "instructions", "branch-misses"});
  CHECK(texts_of(set.notes) ==
        Names{"not counted: cache-references and cache-misses (this machine has no counter for it; "
              "lauka --list-events shows what it counts)"});
}

TEST_CASE("on a virtual machine without counters a short note says who knows more") {
  FakePerf perf;
  perf.set_paranoid(2);
  const EventSet set = selected(perf, {});
  CHECK(set.events.empty());
  CHECK(set.passes.empty());
  CHECK(texts_of(set.notes) ==
        Names{"there are no hardware counters here; lauka --check says why"});
}

TEST_CASE("where the kernel's part is forbidden counters cover user space and one note says so") {
  FakePerf perf(fakes::usual_pmu());
  perf.set_paranoid(2);
  const EventSet set = selected(perf, {"cycles", "branches", "task-clock"});
  CHECK(set.events[0].meaning == "perf cpu-cycles, user space only");
  CHECK(set.events[2].meaning == "perf task-clock, CPU time in nanoseconds");
  CHECK(texts_of(set.notes) ==
        Names{"counters cover user space only: perf_event_paranoid is 2, which hides the kernel "
              "from users; run sudo sysctl kernel.perf_event_paranoid=1"});
}

TEST_CASE("an event knows which privilege levels are in its count, and is what its name says") {
  FakePerf perf(fakes::usual_pmu());
  perf.set_paranoid(1);
  using enum CountedPrivilegeLevels;
  const EventSet set = selected(
      perf, {"cycles:uk", "instructions:u", "branches:k", "branch-misses:h", "task-clock"});
  std::vector<CountedPrivilegeLevels> levels;
  for (const Event& event : set.events) levels.push_back(event.privilege_levels);
  CHECK(levels == std::vector{UserAndKernel, UserOnly, KernelOnly, HypervisorOnly, UserAndKernel});
  CHECK(set.events[0].role == Role::Cycles);
  CHECK(set.events[1].role == Role::Instructions);
  CHECK(set.events[2].role == Role::Other);
  perf.set_paranoid(2);
  CHECK(selected(perf, {"cycles"}).events[0].privilege_levels == UserOnly);
  CHECK(selected(perf, {"task-clock"}).events[0].privilege_levels == UserAndKernel);
}

TEST_CASE("a clock alone is the same without the kernel's part, so there is no note") {
  FakePerf perf;
  perf.set_paranoid(2);
  CHECK(selected(perf, {"task-clock"}).notes.empty());
}

TEST_CASE("with --user-only nothing is noted: the user wanted it") {
  FakePerf perf(fakes::usual_pmu());
  perf.set_paranoid(2);
  const EventSet set = selected(perf, {"cycles"}, true);
  CHECK(set.notes.empty());
  CHECK(set.events[0].meaning == "perf cpu-cycles, user space only");
}

TEST_CASE("an architecture that refuses to leave the hypervisor out is asked without that") {
  FakePerf perf(fakes::usual_pmu());
  perf.refuses_hypervisor_bit = true;
  CHECK(selected(perf, {"cycles:u"}).events[0].meaning == "perf cpu-cycles, user space only");
}

TEST_CASE("without the kernel's part faults and switches come from the kernel's accounting") {
  FakePerf perf;
  perf.set_paranoid(2);
  const Names four{"page-faults", "context-switches", "minor-faults", "major-faults"};
  for (const bool user_only : {false, true}) {
    CAPTURE(user_only);
    const Armed it = armed(perf, four, user_only);
    const auto& events = it.set.events;
    CHECK(events[0].meaning == "minor and major page faults, as recorded by the kernel");
    CHECK(events[1].meaning == "voluntary and involuntary switches, as recorded by the kernel");
    CHECK(events[0].name_suffix == "(with exec)");
    CHECK(it.set.notes.empty());
    CHECK(it.requests.empty());
    os::Ended ended{Exited{0}, {}};
    ended.usage.minor_faults = 70;
    ended.usage.major_faults = 5;
    ended.usage.voluntary_switches = 3;
    ended.usage.involuntary_switches = 4;
    const CountsOfRun counted = it.counting->finish(ended, 0);
    CHECK(counted.counts == Counts{75, 7, 70, 5});
    CHECK_FALSE(counted.why_missing_counts.has_value());
  }
}

TEST_CASE("with the kernel's part faults and switches are counters") {
  FakePerf perf;
  perf.set_paranoid(1);
  CHECK(selected(perf, {"page-faults"}).events[0].meaning == "perf page-faults");
  CHECK(selected(perf, {"page-faults"}).events[0].name_suffix.empty());
  CHECK(selected(perf, {"context-switches"}).events[0].meaning == "perf context-switches");
}

TEST_CASE("the same event twice is counted once") {
  FakePerf perf(fakes::usual_pmu());
  const EventSet set = selected(perf, {"cycles", "CYCLES", "cpu-cycles", "cycles:u"});
  CHECK(names_of(set) == Names{"cycles", "cycles:u"});
  CHECK(texts_of(set.notes) ==
        Names{"'cpu-cycles' is the same event as 'cycles', so it is counted only once"});
}

TEST_CASE("more events than counters take the fewest passes, and ratios share one") {
  FakePerf perf(small_pmu(2));
  // cycles and instructions have counters of their own; of the five others two fit at once.
  const EventSet set = selected(perf, {"branches", "cache-references", "l1d-cache-misses", "cycles",
                                       "branch-misses", "cache-misses", "instructions"});
  CHECK(set.passes.size() == 3);
  const auto pass_of = [&](std::size_t event) {
    for (std::size_t pass = 0; pass < set.passes.size(); ++pass) {
      const auto& events = set.passes[pass].event_indices;
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
  perf.add(small_pmu(3)).taken = 1;
  CHECK(passes_of(selected(perf, {"branches", "branch-misses", "cache-misses"})) == "0 1|2");
}

TEST_CASE("if others hold all counters each event has a pass, and the run will show it") {
  FakePerf perf;
  perf.add(small_pmu(1)).taken = 1;
  CHECK(passes_of(selected(perf, {"branches", "branch-misses"})) == "0|1");
}

TEST_CASE("software events cost no counter and no pass") {
  FakePerf perf(small_pmu(1));
  const EventSet set =
      selected(perf, {"task-clock", "branches", "page-faults", "branch-misses", "cpu-clock"});
  CHECK(passes_of(set) == "0 1 2 4|3");
  CHECK(passes_of(selected(perf, {"task-clock", "page-faults"})) == "0 1");
}

TEST_CASE("a pass is armed as one group of each PMU, started by exec") {
  FakePerf perf(fakes::usual_pmu());
  const auto requests = armed(perf, {"task-clock", "cycles", "page-faults", "branches"}).requests;
  REQUIRE(requests.size() == 4);
  const std::array<std::size_t, 4> leaders = {0, 0, 2, 2};
  const std::array<std::uint32_t, 4> types = {1, 1, 0, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    const os::PerfEventAttr attributes = fakes::attributes_of(requests[i]);
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
  FakePerf perf(fakes::usual_pmu());
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
  CHECK(catalog[0].counters_text == "cpu");
  CHECK(catalog[5].description == "cache misses, mostly of the last level (event=0x2e)");
  CHECK(catalog[6].alias == "l1d-cache-misses");
  CHECK(catalog[10].counters_text == "software");
  CHECK(perf.open_now() == 0);
}

TEST_CASE("where the kernel is left out the catalog says that faults are the accounting's") {
  FakePerf perf;
  perf.set_paranoid(2);
  const Catalog catalog = make_perf_engine(perf.calls(), false)->catalog();
  REQUIRE(!catalog.empty());
  CHECK(catalog[0].name == "page-faults");
  CHECK(catalog[0].counters_text == "accounting");
  CHECK(std::none_of(catalog.begin(), catalog.end(),
                     [](const CatalogEntry& entry) { return entry.name == "cpu-migrations"; }));
}

TEST_CASE("the list shows what a generic event really is on this processor") {
  FakePerf perf(fakes::usual_pmu());
  perf.add_event("cpu", "cache-misses", "event=0x2e,umask=0x41");
  CHECK(selected(perf, {"cache-misses"}).events[0].meaning ==
        "perf cache-misses (event=0x2e,umask=0x41)");
}

TEST_CASE("an explanation lists the passes, whose counters they use, and which events compete") {
  FakePerf perf(small_pmu(2));
  const auto engine = make_perf_engine(perf.calls(), false);
  const Explanation explanation =
      must(engine->explain({{"branches", "branch-misses", "cache-misses", "page-faults"}, true}));
  REQUIRE(explanation.passes.size() == 2);
  CHECK(explanation.passes[0].size() + explanation.passes[1].size() == 4);
  CHECK(explanation.passes[0][0].event == "branches");
  CHECK(explanation.passes[0][0].counter == "cpu");
  CHECK(explanation.competition ==
        "branches, branch-misses and cache-misses do not fit the counters of cpu at the same time, "
        "but if you leave out any one of them, the others fit");
  CHECK(perf.open_now() == 0);
  CHECK(engine->explain({{"branches"}, false})->competition == std::nullopt);
}

namespace {

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

}  // namespace

TEST_CASE("on a machine with two kinds of core an event is the sum over both") {
  fakes::FakeHybrid perf;
  const Armed it = armed(perf, {"cycles", "branches", "page-faults"});
  CHECK(it.set.events[0].meaning == "perf cpu-cycles, sum of cpu_atom and cpu_core");
  CHECK(it.count(perf, on_both_kinds()).counts == Counts{1200, 75, 17, 200, 1000, 5, 70});
}

TEST_CASE("a kernel that does not take the PMU's number in config is asked by sysfs' names") {
  fakes::FakeHybrid perf;
  perf.knows_extended_type = false;
  for (const char* pmu : {"cpu_core", "cpu_atom"}) {
    perf.add_format(pmu, "event", "config:0-7");
    perf.add_event(pmu, "cpu_cycles", "event=0x3c");
  }
  const Armed it = armed(perf, {"cycles"});
  CHECK(it.count(perf, on_both_kinds()).counts == Counts{1198, 199, 999});
}

TEST_CASE("an event that one kind of core has only says so") {
  fakes::FakeHybrid perf;
  const Armed it = armed(perf, {"ref-cycles"});
  CHECK(it.set.events[0].meaning == "perf ref-cycles, on cpu_core only");
  // The other kind has a witness, so that it shows that nothing was missed.
  CHECK(it.requests.size() == 2);
  const CountsOfRun counted = it.count(perf, on_both_kinds());
  CHECK(counted.counts == Counts{33});
}

TEST_CASE("an event of one PMU is counted there only") {
  fakes::FakeHybrid perf;
  const Armed it = armed(perf, {"cpu_core/cycles/", "cpu_atom/cycles/"});
  CHECK(it.set.events[0].meaning == "perf cpu_core/cycles/");
  CHECK(it.set.passes.size() == 1);
  CHECK(it.count(perf, on_both_kinds()).counts == Counts{1000, 200});
}

TEST_CASE("groups never mix the kinds of core, nor these with the kernel's counts") {
  fakes::FakeHybrid perf;
  const Armed it = armed(perf, {"cycles", "branches", "page-faults"});
  REQUIRE(it.requests.size() == 5);
  const auto pmu_type_of = [](const os::CounterRequest& one) {
    return fakes::attributes_of(one).config >> 32U;
  };
  for (const os::CounterRequest& request : it.requests)
    CHECK(pmu_type_of(request) == pmu_type_of(it.requests[request.leader]));
}

TEST_CASE("times of both kinds that do not add up to the run's are not all the time") {
  fakes::FakeHybrid perf;
  const Armed it = armed(perf, {"cycles"});
  os::Ended ended = perf.run(it.requests, on_both_kinds());
  ended.readings[0].running_ns -= kMs;
  const CountsOfRun counted = it.counting->finish(ended, 0);
  CHECK(counted.counts == Counts{std::nullopt, std::nullopt, std::nullopt});
  CHECK(has(counted.why_missing_counts.value().what, "other programs"));
}

TEST_CASE("the kind of core with fewer counters decides how many passes there are") {
  fakes::FakeHybrid perf;
  const auto engine = make_perf_engine(perf.calls(), false);
  // Three general counters on cpu_atom, four on cpu_core; cycles are free on both.
  const Names three{"cycles", "branches", "branch-misses", "cache-misses"};
  CHECK(engine->select({three, true}).has_value());
  Names four = three;
  four.emplace_back("cache-references");
  CHECK(must(engine->select({four, false})).passes.size() == 2);
}

TEST_CASE("raw codes are counted on both kinds of core") {
  fakes::FakeHybrid perf;
  const Armed it = armed(perf, {"r3c"});
  CHECK(it.count(perf, on_both_kinds()).counts == Counts{1198, 199, 999});
}

TEST_CASE("the parts of an event on each kind of core have the kinds' names, P first") {
  fakes::FakeHybrid perf;
  const Armed it(
      make_perf_engine(perf.calls(), false,
                       {{"P", {0, 1, 2, 3}, "cpu_core"}, {"E", {4, 5, 6, 7}, "cpu_atom"}}),
      {{"cycles", "ref-cycles", "page-faults"}});
  const auto& events = it.set.events;
  REQUIRE(events.size() == 5);
  CHECK(events[3].name == "cycles (P)");
  CHECK(events[4].name == "cycles (E)");
  CHECK(events[3].index_for_all_core_kinds == 0U);
  CHECK(events[1].name_suffix == "(P only)");
  CHECK(events[0].name_suffix.empty());
  CHECK(it.counting->timed_pmus().size() == 2);
  const CountsOfRun counted = it.count(perf, on_both_kinds());
  CHECK(counted.counts == Counts{1200, 33, 17, 1000, 200});
  CHECK(counted.cpu_ns_by_pmu.size() == 2);
}

// Intel's topdown events, with the codes of Linux' sysfs: 0x400 is slots, 0x8000 to 0x8300 are the
// four metrics, which count in a group that slots leads only.

namespace {

constexpr fakes::EventKey kSlots{4, 0x400};
constexpr fakes::EventKey kRetiring{4, 0x8000};
constexpr fakes::EventKey kBadSpec{4, 0x8100};
constexpr fakes::EventKey kFrontend{4, 0x8200};
constexpr fakes::EventKey kBackend{4, 0x8300};

void add_topdown(FakePerf& perf, const std::string& name) {
  fakes::FakePmu& pmu = perf.pmu(name);
  pmu.led = {kRetiring, kBadSpec, kFrontend, kBackend};
  pmu.leader = kSlots;
  pmu.fixed.insert({kSlots, kRetiring, kBadSpec, kFrontend, kBackend});
  perf.add_format(name, "event", "config:0-7");
  perf.add_format(name, "umask", "config:8-15");
  perf.add_event(name, "slots", "event=0x00,umask=0x4");
  perf.add_event(name, "topdown-retiring", "event=0x00,umask=0x80");
  perf.add_event(name, "topdown-bad-spec", "event=0x00,umask=0x81");
  perf.add_event(name, "topdown-fe-bound", "event=0x00,umask=0x82");
  perf.add_event(name, "topdown-be-bound", "event=0x00,umask=0x83");
}

FakePerf::Program program_on(const std::string& pmu) {
  FakePerf::Program program;
  program.ns_on = {{pmu == "cpu" ? "" : pmu, 100'000'000}};
  program.counts = {{{pmu, kSlots}, {10'000, 0}},
                    {{pmu, kRetiring}, {4'000, 0}},
                    {{pmu, kBadSpec}, {1'000, 0}},
                    {{pmu, kFrontend}, {2'000, 0}},
                    {{pmu, kBackend}, {3'000, 0}},
                    {{pmu, fakes::kCycles}, {2'500, 0}},
                    {{pmu, fakes::kInstructions}, {3'900, 0}}};
  program.usage.user_ns = 100'000'000;
  return program;
}

}  // namespace

TEST_CASE("topdown's metrics are counted in one group, which slots leads") {
  FakePerf perf(fakes::usual_pmu());
  add_topdown(perf, "cpu");
  const Armed it =
      armed(perf, {"topdown-retiring", "cycles", "topdown-be-bound", "slots"}, false, true);
  CHECK(it.set.passes.size() == 1);
  CHECK(it.count(perf, program_on("cpu")).counts == Counts{4'000, 2'500, 3'000, 10'000});
  REQUIRE(it.requests.size() == 4);
  const os::PerfEventAttr leader = fakes::attributes_of(it.requests.front());
  CHECK(leader.config == 0x400);
  CHECK((leader.flags & os::kPerfEnableOnExec) != 0);
  CHECK((fakes::attributes_of(it.requests[1]).flags & os::kPerfEnableOnExec) == 0);
}

TEST_CASE("a metric alone gets its leader, which has no row") {
  FakePerf perf(fakes::usual_pmu());
  add_topdown(perf, "cpu");
  for (const char* name : {"topdown-fe-bound", "cpu/topdown-fe-bound/"}) {
    CAPTURE(name);
    const Armed it = armed(perf, {name});
    CHECK(it.count(perf, program_on("cpu")).counts == Counts{2'000});
    CHECK(it.requests.size() == 2);
  }
  CHECK(armed(perf, {"slots"}).requests.size() == 1);
}

TEST_CASE("without rights to the kernel's part the metrics and their leader leave it out") {
  FakePerf perf(fakes::usual_pmu());
  add_topdown(perf, "cpu");
  perf.set_paranoid(2);
  const Armed it = armed(perf, {"topdown-retiring"});
  CHECK(it.count(perf, program_on("cpu")).counts == Counts{4'000});
  for (const os::CounterRequest& request : it.requests)
    CHECK((fakes::attributes_of(request).flags & os::kPerfExcludeKernel) != 0);
  CHECK(it.requests.size() == 2);
}

TEST_CASE("on two kinds of core the metrics are those of the kind that has slots") {
  fakes::FakeHybrid perf;
  add_topdown(perf, "cpu_core");
  perf.add_format("cpu_atom", "event", "config:0-7");
  perf.add_event("cpu_atom", "topdown-retiring", "event=0xc2");
  const Armed it = armed(perf, {"topdown-retiring", "slots"});
  CHECK(it.count(perf, program_on("cpu_core")).counts == Counts{4'000, 10'000});
  CHECK(it.set.events[0].name_suffix == "(cpu_core only)");
}

TEST_CASE("where no event leads, events of these names are plain ones, in slots") {
  FakePerf perf(fakes::usual_pmu());
  perf.add_format("cpu", "event", "config:0-7");
  perf.add_event("cpu", "topdown-total-slots", "event=0x3c");
  perf.add_event("cpu", "topdown-total-slots.scale", "4");
  perf.add_event("cpu", "topdown-slots-issued", "event=0x0e");
  auto program = program_on("cpu");
  program.counts[{"cpu", {4, 0x3c}}] = {2'500, 0};
  program.counts[{"cpu", {4, 0x0e}}] = {700, 0};
  for (const char* name : {"topdown-total-slots", "cpu/topdown-total-slots/"}) {
    CAPTURE(name);
    const Armed it = armed(perf, {name, "topdown-slots-issued"});
    CHECK(it.requests.size() == 2);
    CHECK(it.count(perf, program).counts == Counts{10'000, 700});
  }
  for (const char* odd : {"0", "65", "x", "-1", "4x", ""}) {
    perf.add_event("cpu", "topdown-total-slots.scale", odd);
    CHECK_MESSAGE(armed(perf, {"topdown-total-slots"}).count(perf, program).counts == Counts{2'500},
                  odd);
  }
}

}  // namespace lauka::engine::perf
