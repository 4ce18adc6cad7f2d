#include "core/machine.h"
#include "must.h"
#include "tune/machine.h"
#include "tune/switches.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace lauka::tune {
namespace {

std::string list_of(const SharedFields& shape, const TuneRequest& request = {}) {
  FakeMachine machine(shape.tree);
  const CpuChoice cpus = own_cpus_of(machine, shape.fastest, request);
  return list_text(find_settings(machine, request, cpus), cpus);
}

SharedFields shape_of(const std::string& name) {
  for (const SharedFields& shape : shapes())
    if (shape.name == name) return shape;
  return {};
}

std::string cpus_text(const SharedFields& shape, const TuneRequest& request = {}) {
  FakeMachine machine(shape.tree);
  const CpuChoice cpus = own_cpus_of(machine, shape.fastest, request);
  if (cpus.command_cpus.empty()) return cpus.why_not;
  return cpu_list_text(cpus.command_cpus) + " | " + cpu_list_text(cpus.other_cpus);
}

}  // namespace

TEST_CASE("the commands get whole cores of the fastest kind and of one node, not the first core") {
  CHECK(cpus_text(shape_of("intel hybrid")) == "2-3 | 0-1,4-7");
  CHECK(cpus_text(shape_of("intel hybrid"), kAllSwitches) == "2 | 0-1,3-7");  // one of each core
  CHECK(cpus_text(shape_of("amd with boost")) == "1,3 | 0,2");
  CHECK(cpus_text(shape_of("amd without boost")) == "1-3 | 0");
  CHECK(cpus_text(shape_of("arm server")) == "4-7 | 0-3");  // the node that the first CPU is not in
  CHECK(cpus_text(shape_of("virtual machine")) == "1 | 0");
  CHECK(cpus_text({"one CPU", {{"/sys/devices/system/cpu/online", "0\n"}}}) ==
        "there is no core other than that of the first CPU");
}

TEST_CASE("a core that lauka may use half of is not chosen") {
  FakeMachine machine(intel_hybrid());
  CHECK(cpu_list_text(must(choose_cpus(machine, {}, {{0, 1, 2, 4, 5}, {}})).command_cpus) == "4-5");
}

TEST_CASE("CPUs that are given are taken, if they are there and leave one") {
  FakeMachine machine(arm_server());
  const CpuFacts facts{.allowed = {0, 1, 2, 3, 4, 5, 6}};
  const auto said = [&](const std::vector<std::uint32_t>& cpus) {
    const auto choice = choose_cpus(machine, {.cpus = cpus}, facts);
    return choice ? cpu_list_text(choice->command_cpus) + " | " + cpu_list_text(choice->other_cpus)
                  : choice.error().line();
  };
  CHECK(said({1, 5}) == "1,5 | 0,2-4,6-7");
  CHECK(said({1, 7}) == "--tune=cpus=1,7 has CPU 7, on which lauka may not run; choose from 0-6");
  FakeMachine small(virtual_machine());
  CHECK(choose_cpus(small, {.cpus = {0, 1}}, facts).error().line() ==
        "--tune=cpus=0-1 leaves no CPU for the rest of the system; leave out one CPU");
}

TEST_CASE("--tune=list shows each switch, its value, what it would get, and what is not possible") {
  CHECK(list_of(shape_of("intel hybrid"), {.choices = {{"smt", true}, {"timers", false}}}) ==
        R"(+ cpus        any -> 2
              the commands have whole cores to themselves
+ energy      balance_performance -> performance (8 files)
              the processor prefers speed to saving energy
+ governor    powersave -> performance (8 files)
              the clock does not follow the load
+ turbo       0 -> 1
              the clock does not depend on temperature and busy cores
+ irqs        0-7 -> 0-1,3-7; 2-3 -> 3; ff -> fb (5 files)
              interrupts are handled by other CPUs
+ workqueues  ff -> fb
              the kernel's own work is done by other CPUs
+ watchdog    1 -> 0
              the NMI watchdog holds no counter and interrupts nothing
+ numa        1 -> 0
              the kernel does not unmap pages to see who uses them
+ perf-rate   100000 -> 1
              the profilers of other programs do not sample
- timers      1 -> 0
              timers of idle CPUs do not move to busy ones
- swap        60 -> 0
              the memory of programs is not swapped out
- thp         madvise -> never
              programs get no huge pages, which a run may otherwise get by chance
- ksm         0 already
              the kernel does not look for equal pages to merge them
+ cstates     not bounded -> 10
              idle CPUs wake up within 10 us
+ partition   none -> isolated 2
              no other process runs on the commands' CPUs (cgroup v2)
+ smt         on -> off
              each core has one CPU

The commands get the CPUs 2, and everything else gets the CPUs 0-1,3-7.

--tune changes the settings that are marked with +. --tune=+NAME,-NAME changes the choice.
)");
}

TEST_CASE("what a machine does not have is said") {
  const auto check_lines = [](const char* shape, const std::vector<std::string>& lines) {
    const std::string list = list_of(shape_of(shape));
    for (const std::string& line : lines)
      CHECK_MESSAGE(list.find(line + "\n") != std::string::npos, line);
  };
  check_lines("virtual machine",
              {"+ governor    not here", "+ turbo       not here", "+ watchdog    0 already",
               "+ partition   not here",
               "- smt         notsupported, the machine has no SMT that can be switched off"});
  check_lines("bare container",
              {"+ cstates     No such file or directory", "+ numa        not here"});
}

TEST_CASE("a boost of each policy comes before the one of all") {
  FakeMachine machine(amd_with_boost());
  std::vector<std::string> paths;
  for (const SettingState& one : find_settings(machine, {}, {}))
    if (one.row->name == "turbo") paths.push_back(one.path + " " + one.current_value);
  CHECK(paths == std::vector<std::string>{"/sys/devices/system/cpu/cpufreq/policy0/boost 1",
                                          "/sys/devices/system/cpu/cpufreq/policy1/boost 0",
                                          "/sys/devices/system/cpu/cpufreq/policy2/boost 1",
                                          "/sys/devices/system/cpu/cpufreq/policy3/boost 1"});
}

TEST_CASE("a governor or preference that the driver does not have is not asked for") {
  auto tree = amd_without_boost();
  tree["/sys/devices/system/cpu/cpufreq/policy2/scaling_available_governors"] = "schedutil\n";
  const std::string text = list_of({"", tree});
  CHECK(text.find("+ governor    schedutil -> performance; schedutil, the machine has no "
                  "\"performance\" (4 files)\n") != std::string::npos);
}

TEST_CASE("a setting that may not be written says so") {
  FakeMachine machine(virtual_machine());
  machine.refused["not writable /proc/sys/kernel/numa_balancing"] = EROFS;
  const auto found = find_settings(machine, {}, {});
  const auto numa =
      std::ranges::find(found, "numa", [](const SettingState& one) { return one.row->name; });
  REQUIRE(numa != found.end());
  CHECK(numa->why_not == "Read-only file system");
  CHECK_FALSE(numa->must_be_changed());
}

TEST_CASE("without CPUs of the commands' own, interrupts stay where they are") {
  FakeMachine machine(arm_server());
  const TuneRequest request{.choices = {{"cpus", false}}};
  const CpuChoice cpus = own_cpus_of(machine, {}, request);
  CHECK(cpus.command_cpus.empty());
  for (const SettingState& one : find_settings(machine, request, cpus)) {
    const std::string_view name = one.row->name;
    if (name == "irqs" || name == "workqueues" || name == "partition")
      CHECK_FALSE(one.must_be_changed());
  }
}

TEST_CASE("interrupts that other CPUs handle already, and CPUs beyond 32, are left as they are") {
  auto tree = arm_server();
  tree["/proc/irq/9/smp_affinity_list"] = "1-2\n";
  tree["/proc/irq/120/smp_affinity_list"] = "3-5\n";
  tree["/proc/irq/121/smp_affinity_list"] = "5\n";
  tree["/proc/irq/default_smp_affinity"] = "00000001,000000f1\n";
  FakeMachine machine(tree);
  std::vector<std::string> irqs;
  for (const SettingState& one : find_settings(machine, {}, {{4, 5, 6, 7}, {0, 1, 2, 3, 32}, ""}))
    if (one.row->name == "irqs") irqs.push_back(one.current_value + " -> " + one.wanted);
  CHECK(irqs == std::vector<std::string>{"1,000000f1 -> 1,00000001", "0-7 -> 0-3", "1-2 -> 1-2",
                                         "3-5 -> 3", "5 -> 0-3,32"});
}

TEST_CASE("only the paths of the table are lauka's to write") {
  for (const SharedFields& shape : shapes()) {
    FakeMachine machine(shape.tree);
    const CpuChoice cpus = own_cpus_of(machine, shape.fastest);
    for (const SettingState& one : find_settings(machine, kAllSwitches, cpus))
      if (!one.path.empty()) CHECK(find_switch(one.path) == one.row);
  }
  for (const char* const path :
       {"", "/", "/etc/passwd", "/proc/sys/kernel/core_pattern",
        "/proc/irq/9/../10/smp_affinity_list", "/proc/irq//smp_affinity_list",
        "/proc/irq/07/smp_affinity_list", "/proc/irq/-1/smp_affinity_list",
        "/proc/irq/1 /smp_affinity_list", "/proc/irq/99999999999999999999/smp_affinity_list",
        "/proc/irq/*/smp_affinity_list", "/proc/sys/vm/swappiness/", "x/proc/sys/vm/swappiness"}) {
    CAPTURE(path);
    CHECK(find_switch(path) == nullptr);
  }
}

TEST_CASE("the value of a text is what its form allows, written in one way") {
  CHECK(parse_value(Form::Word, "powersave\n") == "powersave");
  CHECK(parse_value(Form::Chosen, "always [madvise] never\n") == "madvise");
  CHECK(parse_value(Form::Number, "60\n") == "60");
  CHECK(parse_value(Form::CpuList, "0-1,2,5\n") == "0-2,5");
  CHECK(parse_value(Form::CpuMask, "00000000,0000000f\n") == "f");
  CHECK(parse_value(Form::CpuMask, "3,00000000") == "3,00000000");
  CHECK(parse_value(Form::Controllers, "cpu cpuset io\n") == "+cpuset");
  CHECK(parse_value(Form::Controllers, "") == "-cpuset");
  CHECK(parse_value(Form::Group, "root 2-3") == "root 2-3");
  const std::vector<std::pair<Form, std::string>> refused = {
      {Form::Word, "a b"},          {Form::Word, ""},      {Form::Chosen, "always madvise never\n"},
      {Form::Number, "-1"},         {Form::Number, "060"}, {Form::CpuList, "\n"},
      {Form::CpuMask, "123456789"}, {Form::CpuMask, ",f"}, {Form::CpuMask, "g"},
      {Form::Group, "member 2-3"}};
  for (const auto& one : refused) CHECK_MESSAGE(!parse_value(one.first, one.second), one.second);
}

TEST_CASE("a switch that is in no row is refused") {
  CHECK(check_names({.choices = {{"smt", true}, {"partition", false}}}));
  CHECK(check_names({.choices = {{"turbos", true}}}).error().line() ==
        "--tune has no switch 'turbos'; did you mean turbo?");
  CHECK(check_names({.choices = {{"aslr", false}}}).error().line() ==
        "--tune has no switch 'aslr'; run lauka --tune=list to see all");
}

TEST_CASE("throttle counters, time given to other machines, and temperature are read") {
  auto tree = virtual_machine();
  const std::string cpu = "/sys/devices/system/cpu/cpu";
  tree[cpu + "0/thermal_throttle/core_throttle_count"] = "100\n";
  tree[cpu + "1/thermal_throttle/core_throttle_count"] = "7\n";
  tree[cpu + "1/thermal_throttle/package_throttle_count"] = "2\n";
  tree["/proc/stat"] =
      "cpu  9 9 9 9 9 9 9 9\ncpu0 1 0 0 9 0 0 0 5 0 0\ncpu1 4 0 1 90 0 0 0 5 0 0\n";
  tree["/sys/devices/virtual/thermal/thermal_zone0/temp"] = "41000\n";
  tree["/sys/devices/virtual/thermal/thermal_zone1/temp"] = "55500\n";
  FakeMachine machine(tree);
  CHECK(read_vitals(machine, {1}) == Vitals{9, 55.5, 5, 100});
  CHECK(read_vitals(machine, {}) == Vitals{109, 55.5, 10, 115});
  FakeMachine bare(bare_container());
  CHECK(read_vitals(bare, {0}) == Vitals{});
}

}  // namespace lauka::tune
