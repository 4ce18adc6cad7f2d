#include "engine/perf/resolve.h"

#include "fakes/fake_perf.h"
#include "must.h"

#include <doctest/doctest.h>

namespace lauka::engine::perf {
namespace {

os::EventCode code_of(std::string_view name, const fakes::FakePerf& perf) {
  const auto resolved = must(resolve(name, os::Sysfs(perf.calls())));
  REQUIRE(resolved.events_on_pmus.size() == 1);
  return resolved.events_on_pmus.front().codes.front();
}

std::string refusal_of(std::string_view name, const fakes::FakePerf& perf) {
  const auto resolved = resolve(name, os::Sysfs(perf.calls()));
  return resolved ? "no refusal" : resolved.error().line();
}

}  // namespace

TEST_CASE("portable aliases and perf's names stand for the kernel's numbers") {
  // The numbers are from perf_event_open(2): type, then config. perf_abi_test compares those of all
  // names with the kernel's header.
  fakes::FakePerf perf(fakes::usual_pmu());
  struct Known {
    const char* name;
    os::EventCode code;
  };
  const std::vector<Known> known = {{"cycles", {0, 0}},
                                    {"branches", {0, 4}},
                                    {"task-clock", {1, 1}},
                                    {"l1d-cache-misses", {3, 0x10000}},
                                    {"L1-dcache-load-misses", {3, 0x10000}},
                                    {"l1i-cache-misses", {3, 0x10001}},
                                    {"l1d-tlb-misses", {3, 0x10003}},
                                    {"l1i-tlb-misses", {3, 0x10004}},
                                    {"r01c2", {4, 0x1c2}}};
  for (const Known& event : known)
    CHECK_MESSAGE(code_of(event.name, perf) == event.code, event.name);
}

TEST_CASE("names are found in any case and shown in the usual spelling") {
  fakes::FakePerf perf(fakes::usual_pmu());
  const os::Sysfs sysfs(perf.calls());
  CHECK(resolve("Cycles", sysfs)->name == "cycles");
  CHECK(resolve("llc-LOADS:u", sysfs)->name == "LLC-loads:u");
  CHECK(resolve("cpu-cycles", sysfs)->name == "cpu-cycles");
}

TEST_CASE("modifiers say which privilege levels are counted") {
  fakes::FakePerf perf(fakes::usual_pmu());
  const os::Sysfs sysfs(perf.calls());
  CHECK(resolve("cycles", sysfs)->levels == PrivilegeLevels{true, true, true, false});
  CHECK(resolve("cycles:u", sysfs)->levels == PrivilegeLevels{true, false, false, true});
  CHECK(resolve("cycles:k", sysfs)->levels == PrivilegeLevels{false, true, false, true});
  CHECK(resolve("cycles:uk", sysfs)->levels == PrivilegeLevels{true, true, false, true});
  CHECK(resolve("r3c:h", sysfs)->levels == PrivilegeLevels{false, false, true, true});
  CHECK(resolve("cpu/config=1/u", sysfs)->levels == PrivilegeLevels{true, false, false, true});
  CHECK(resolve("cpu/config=1/:k", sysfs)->levels == PrivilegeLevels{false, true, false, true});
  CHECK(refusal_of("cycles:pp", perf) ==
        "'cycles:pp' has an unknown modifier 'p'; modifiers are u (user space), k (kernel) and h "
        "(hypervisor)");
}

TEST_CASE("an unknown event is answered with the nearest names") {
  fakes::FakePerf perf(fakes::usual_pmu());
  CHECK(refusal_of("cylces", perf) == "there is no event 'cylces'; did you mean cycles?");
  CHECK(refusal_of("brnch-misses", perf).ends_with(" branch-misses?"));
  CHECK(refusal_of("tlb-misses", perf).ends_with(" l1d-tlb-misses or l1i-tlb-misses?"));
  CHECK(refusal_of("qqqqq", perf).ends_with("; lauka --list-events lists them"));
  for (const char* name : {"sched:sched_switch", "", "rxyz", "r11112222333344445"}) {
    CAPTURE(name);
    CHECK(resolve(name, os::Sysfs(perf.calls())).error().unknown_name == name);
  }
}

TEST_CASE("events of a PMU are taken from sysfs, with the kernel's names as well") {
  fakes::FakePerf perf(fakes::usual_pmu());
  perf.add_format("cpu", "event", "config:0-7");
  perf.add_event("cpu", "l2_rqsts", "event=0x24");
  CHECK(code_of("cpu/l2_rqsts/", perf) == os::EventCode{4, 0x24});
  CHECK(code_of("l2_rqsts", perf) == os::EventCode{4, 0x24});
  CHECK(code_of("cpu/r01c2/", perf) == os::EventCode{4, 0x1c2});
  CHECK(code_of("cpu/cycles/", perf) == os::EventCode{0, 0});
  CHECK(code_of("cpu/LLC-loads/", perf) == os::EventCode{3, 2});
}

TEST_CASE("a PMU that is not there, counts packages or is not closed is refused with the reason") {
  fakes::FakePerf perf(fakes::usual_pmu());
  perf.add({"uncore_imc_0", 20, "", true});
  CHECK(refusal_of("cpu_core/cycles/", perf) ==
        "'cpu_core/cycles/' names the PMU 'cpu_core', which does not exist here; the PMU "
        "of the cores is cpu");
  CHECK(refusal_of("uncore_imc_0/config=1/", perf) ==
        "'uncore_imc_0/config=1/' cannot be counted for one program, because uncore_imc_0 counts "
        "for a whole package; use perf stat -a to count it");
  CHECK(refusal_of("cpu/cycles", perf) == "'cpu/cycles' has no closing slash; write pmu/event/");
  CHECK(refusal_of("cpu/nosuch/", perf)
            .starts_with("'cpu/nosuch/': cpu has no event or term 'nosuch'"));
}

}  // namespace lauka::engine::perf
