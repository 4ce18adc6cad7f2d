#include "engine/perf/perf_engine.h"
#include "fakes/fake_perf.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

// Intel's topdown events, whose codes are those of Linux' sysfs: 0x400 is slots, 0x8000 to 0x8300
// are the four metrics, which count in a group that slots leads only.

namespace lauka::engine::perf {
namespace {

using fakes::FakePerf;
using Counts = std::vector<std::optional<std::uint64_t>>;
using Names = std::vector<std::string>;

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

struct Counted {
  EventSet set;
  Counts counts;
  std::vector<os::PerfEventAttr> opened{};
};

Counted counted_topdown(FakePerf& perf, const EventRequest& wanted,
                        const FakePerf::Program& program = program_on("cpu")) {
  const auto engine = make_perf_engine(perf.calls(), false);
  auto set = engine->select(wanted);
  REQUIRE_MESSAGE(set.has_value(), (set ? "" : set.error().line()));
  auto counting = engine->arm(0);
  REQUIRE(counting.has_value());
  Counted result{*set, {}};
  const auto requests = (*counting)->requests();
  for (const os::CounterRequest& request : requests) {
    os::PerfEventAttr attributes;
    std::memcpy(&attributes, request.attributes.data(), sizeof attributes);
    result.opened.push_back(attributes);
  }
  result.counts = (*counting)->finish(perf.run(requests, program), 0).counts;
  return result;
}

}  // namespace

TEST_CASE("topdown's metrics are counted in one group, which slots leads") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  add_topdown(perf, "cpu");
  const Counted it =
      counted_topdown(perf, {{"topdown-retiring", "cycles", "topdown-be-bound", "slots"}, true});
  CHECK(it.set.passes.size() == 1);
  CHECK(it.counts == Counts{4'000, 2'500, 3'000, 10'000});
  REQUIRE(it.opened.size() == 4);
  CHECK(it.opened.front().config == 0x400);
  CHECK((it.opened.front().flags & os::kPerfEnableOnExec) != 0);
  CHECK((it.opened[1].flags & os::kPerfEnableOnExec) == 0);
}

TEST_CASE("a metric alone gets its leader, which is nobody's row") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  add_topdown(perf, "cpu");
  for (const char* name : {"topdown-fe-bound", "cpu/topdown-fe-bound/"}) {
    const Counted it = counted_topdown(perf, {{name}});
    CHECK(it.counts == Counts{2'000});
    CHECK(it.opened.size() == 2);
  }
  CHECK(counted_topdown(perf, {{"slots"}}).opened.size() == 1);
}

TEST_CASE("without rights to the kernel's part the metrics and their leader leave it out") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  add_topdown(perf, "cpu");
  perf.set_paranoid(2);
  const Counted it = counted_topdown(perf, {{"topdown-retiring"}});
  CHECK(it.counts == Counts{4'000});
  for (const os::PerfEventAttr& attributes : it.opened)
    CHECK((attributes.flags & os::kPerfExcludeKernel) != 0);
  CHECK(it.opened.size() == 2);
}

TEST_CASE("on two kinds of core the metrics are those of the kind that has slots") {
  FakePerf perf;
  fakes::add_two_kinds(perf);
  const std::uint32_t core = perf.pmu("cpu_core").type;
  CHECK(core != 0);
  add_topdown(perf, "cpu_core");
  perf.add_format("cpu_atom", "event", "config:0-7");
  perf.add_event("cpu_atom", "topdown-retiring", "event=0xc2");
  const Counted it = counted_topdown(perf, {{"topdown-retiring", "slots"}}, program_on("cpu_core"));
  CHECK(it.counts == Counts{4'000, 10'000});
  CHECK(it.set.events[0].note == "(cpu_core only)");
}

TEST_CASE("where no event leads, events of these names are plain ones, in slots") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  perf.add_format("cpu", "event", "config:0-7");
  perf.add_event("cpu", "topdown-total-slots", "event=0x3c");
  perf.add_event("cpu", "topdown-total-slots.scale", "4");
  perf.add_event("cpu", "topdown-slots-issued", "event=0x0e");
  auto program = program_on("cpu");
  program.counts[{"cpu", {4, 0x3c}}] = {2'500, 0};
  program.counts[{"cpu", {4, 0x0e}}] = {700, 0};
  for (const char* name : {"topdown-total-slots", "cpu/topdown-total-slots/"}) {
    const Counted it = counted_topdown(perf, {{name, "topdown-slots-issued"}}, program);
    CHECK(it.opened.size() == 2);
    CHECK(it.counts == Counts{10'000, 700});
  }
  for (const char* odd : {"0", "65", "x", "-1", "4x", ""}) {
    perf.add_event("cpu", "topdown-total-slots.scale", odd);
    CHECK(counted_topdown(perf, {{"topdown-total-slots"}}, program).counts == Counts{2'500});
  }
}

}  // namespace lauka::engine::perf
