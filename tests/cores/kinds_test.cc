#include "core/machine.h"
#include "cores/cores.h"
#include "fakes/fake_perf.h"

#include <string>

#include <doctest/doctest.h>

namespace lauka::cores {
namespace {

using fakes::FakePerf;

/// "P 0-3 cpu_core, E 4-7 cpu_atom".
std::string told(const CoreKinds& kinds) {
  std::string text;
  for (const CoreKind& kind : kinds) {
    if (!text.empty()) text += ", ";
    text += kind.name + " " + cpu_list_text(kind.cpus);
    if (!kind.pmu.empty()) text += " " + kind.pmu;
  }
  return text;
}

void set_cpus(FakePerf& perf, const std::string& present, const std::string& online) {
  perf.files["/sys/devices/system/cpu/present"] = present + "\n";
  perf.files["/sys/devices/system/cpu/online"] = online + "\n";
}

void set_of_cpu(FakePerf& perf, int cpu, const std::string& file, int value) {
  perf.files["/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/" + file] =
      std::to_string(value) + "\n";
}

std::string why_not(const CoreKinds& by_hand, const FakePerf& perf) {
  const auto kinds = check_kinds(by_hand, perf.calls());
  return kinds ? "" : kinds.error().line();
}

}  // namespace

TEST_CASE("Intel's kinds of core are told by the names of their PMUs") {
  FakePerf perf;
  fakes::add_two_kinds(perf);
  set_cpus(perf, "0-7", "0-7");
  CHECK(told(find_kinds(perf.calls()).kinds) == "P 0-3 cpu_core, E 4-7 cpu_atom");
  set_cpus(perf, "0-9", "0-9");
  perf.add({"cpu_lowpower", 10, "8-9"});
  CHECK(told(find_kinds(perf.calls()).kinds) ==
        "P 0-3 cpu_core, E 4-7 cpu_atom, LP 8-9 cpu_lowpower");
}

TEST_CASE("Arm's kinds of core are ranked by capacity, else by the highest frequency") {
  FakePerf perf;
  perf.add({"armv8_cortex_a53", 8, "0-1"});
  perf.add({"armv8_cortex_a72", 9, "2-3"});
  set_cpus(perf, "0-3", "0-3");
  SUBCASE("capacity") {
    for (const int cpu : {0, 1, 2, 3}) set_of_cpu(perf, cpu, "cpu_capacity", cpu < 2 ? 446 : 1024);
  }
  SUBCASE("frequency") {
    for (const int cpu : {0, 1, 2, 3})
      set_of_cpu(perf, cpu, "cpufreq/cpuinfo_max_freq", cpu < 2 ? 1400000 : 1800000);
  }
  CHECK(told(find_kinds(perf.calls()).kinds) == "P 2-3 armv8_cortex_a72, E 0-1 armv8_cortex_a53");
}

TEST_CASE("several PMUs that nothing ranks are no kinds, with the reason") {
  FakePerf perf;
  perf.add({"armv8_cortex_a53", 8, "0-1"});
  perf.add({"armv8_cortex_a72", 9, "2-3"});
  set_cpus(perf, "0-3", "0-3");
  const FoundKinds found = find_kinds(perf.calls());
  CHECK(found.kinds.empty());
  CHECK(found.why_none ==
        "no time by kind of core: the kernel does not say which of armv8_cortex_a53 and "
        "armv8_cortex_a72 is the fast one; name them with --core-kinds");
}

TEST_CASE("without several PMUs the capacities tell the kinds, gaps under a tenth merged") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  set_cpus(perf, "0-7", "0-7");
  SUBCASE("three kinds, the fastest with a favoured core") {
    const int capacity[] = {250, 250, 250, 250, 870, 870, 1009, 1024};
    for (int cpu = 0; cpu < 8; ++cpu) set_of_cpu(perf, cpu, "cpu_capacity", capacity[cpu]);
    CHECK(told(find_kinds(perf.calls()).kinds) == "P 6-7, M 4-5, E 0-3");
  }
  SUBCASE("four kinds") {
    const int capacity[] = {200, 200, 400, 400, 700, 700, 1024, 1024};
    for (int cpu = 0; cpu < 8; ++cpu) set_of_cpu(perf, cpu, "cpu_capacity", capacity[cpu]);
    CHECK(told(find_kinds(perf.calls()).kinds) == "P 6-7, M1 4-5, M2 2-3, E 0-1");
  }
  SUBCASE("one kind whose cores differ a little") {
    for (int cpu = 0; cpu < 8; ++cpu) set_of_cpu(perf, cpu, "cpu_capacity", cpu < 4 ? 1009 : 1024);
    CHECK(find_kinds(perf.calls()).kinds.empty());
  }
  SUBCASE("one without a capacity: nothing is guessed") {
    for (int cpu = 0; cpu < 7; ++cpu) set_of_cpu(perf, cpu, "cpu_capacity", cpu < 4 ? 250 : 1024);
    CHECK(find_kinds(perf.calls()).kinds.empty());
  }
}

TEST_CASE("a machine that says nothing has one kind, and nothing to tell") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  set_cpus(perf, "0-1", "0-1");
  set_of_cpu(perf, 0, "cpufreq/cpuinfo_max_freq", 3000000);
  set_of_cpu(perf, 1, "cpufreq/cpuinfo_max_freq", 2000000);
  const FoundKinds found = find_kinds(perf.calls());
  CHECK(found.kinds.empty());
  CHECK(found.why_none.empty());
}

TEST_CASE("PMUs that do not have every CPU give way to capacities") {
  FakePerf perf;
  fakes::add_two_kinds(perf);
  set_cpus(perf, "0-9", "0-9");
  CHECK(find_kinds(perf.calls()).kinds.empty());
  for (int cpu = 0; cpu < 10; ++cpu) set_of_cpu(perf, cpu, "cpu_capacity", cpu < 4 ? 1024 : 500);
  CHECK(told(find_kinds(perf.calls()).kinds) == "P 0-3, E 4-9");
}

TEST_CASE("kinds named by hand hold every CPU that is switched on and none that is not there") {
  FakePerf perf;
  set_cpus(perf, "0-3", "0-2");
  CHECK(why_not({{"P", {0, 1}}, {"E", {2, 3}}}, perf).empty());  // 3 is switched off
  CHECK(why_not({{"P", {0, 1}}, {"E", {2}}}, perf).empty());
  CHECK(why_not({{"P", {0, 1}}, {"E", {2, 4, 5}}}, perf) ==
        "--core-kinds names CPU 4-5, which this machine does not have; this machine has 0-3");
  CHECK(why_not({{"P", {0}}, {"E", {2, 3}}}, perf) ==
        "--core-kinds leaves out CPU 1; put each CPU into a kind");
}

TEST_CASE("the kind that is called P is the fast one wherever it stands") {
  FakePerf perf;
  set_cpus(perf, "0-2", "0-2");
  const auto kinds = check_kinds({{"E", {0}}, {"M", {1}}, {"p", {2}}}, perf.calls());
  REQUIRE(kinds.has_value());
  CHECK(told(*kinds) == "p 2, E 0, M 1");
  CHECK(*cpus_of(CorePreference::Performance, *kinds, perf.calls()) ==
        std::vector<std::uint32_t>{2});
  CHECK(*cpus_of(CorePreference::Efficiency, *kinds, perf.calls()) ==
        std::vector<std::uint32_t>{0});
}

TEST_CASE("a preferred kind is narrowed to what lauka may run on") {
  FakePerf perf;
  const CoreKinds kinds{{"P", {0, 1, 2, 3}}, {"E", {4, 5, 6, 7}}};
  perf.allowed = {1, 3, 5};
  CHECK(*cpus_of(CorePreference::Performance, kinds, perf.calls()) ==
        std::vector<std::uint32_t>{1, 3});
  CHECK(cpus_of(CorePreference::Any, kinds, perf.calls())->empty());
  perf.allowed = {5};
  CHECK(cpus_of(CorePreference::Performance, kinds, perf.calls()).error().line() ==
        "--cores p: lauka was started for CPU 5 only, and the P cores are 0-3; change taskset or "
        "the container's cpuset");
}

TEST_CASE("on a machine with one kind of core nothing is measured, and no kind can be wanted") {
  FakePerf perf;
  perf.add(fakes::usual_pmu());
  set_cpus(perf, "0-3", "0-3");
  const auto decided = decide({}, &perf.calls());
  REQUIRE(decided.has_value());
  CHECK(decided->use.timed.empty());
  CHECK(decided->note.empty());
  CHECK(decide({{}, CorePreference::Performance}, &perf.calls()).error().line() ==
        "--cores p: this machine has one kind of core; leave it out, or name the kinds with "
        "--core-kinds");
  CHECK(decide({{}, CorePreference::Any, 0.9}, &perf.calls()).error().line() ==
        "--min-p-share: this machine has one kind of core; leave it out, or name the kinds with "
        "--core-kinds");
}

TEST_CASE("where no clock can be opened there is no time by kind, with the reason and the remedy") {
  FakePerf perf;
  fakes::add_two_kinds(perf);
  perf.is_debian = true;
  perf.set_paranoid(3);
  const auto decided = decide({}, &perf.calls());
  REQUIRE(decided.has_value());
  CHECK(decided->use.timed.empty());
  CHECK(decided->note ==
        "no time by kind of core: perf_event_paranoid is 3, which denies users all counters; "
        "sudo sysctl kernel.perf_event_paranoid=1 (2 is enough with --user-only)");
  CHECK_FALSE(decide({{}, CorePreference::Any, 0.9}, &perf.calls()).has_value());
  // A preference needs no clock.
  CHECK(decide({{}, CorePreference::Efficiency}, &perf.calls())->use.cpus ==
        std::vector<std::uint32_t>{4, 5, 6, 7});
}

TEST_CASE("at perf_event_paranoid 2 the times are measured for ordinary users too") {
  FakePerf perf;
  fakes::add_two_kinds(perf);
  perf.set_paranoid(2);
  CHECK(decide({}, &perf.calls())->use.timed == std::vector<std::string>{"P", "E"});
}

TEST_CASE("elsewhere than on Linux, kinds named by hand are refused") {
  CHECK(decide({}, nullptr).has_value());
  CHECK(decide({{{"P", {0}}, {"E", {1}}}}, nullptr).error().what ==
        "--core-kinds is for Linux; here the system tells the kinds of core");
}

}  // namespace lauka::cores
