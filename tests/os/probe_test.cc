#include "fakes/fake_files.h"
#include "os/this_machine.h"

#include <cerrno>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

// Machines that the tests do not run on, by their files and sysctls.

namespace lauka::os {
namespace {

using fakes::Files;

Files& files() {
  static Files all;
  return all;
}

MachineFacts linux_with(const Files& all) {
  files() = all;
  LinuxCalls calls{};
  calls.read_file = [](const std::string& path) { return fakes::text_in(files(), path); };
  calls.list_folder = [](const std::string& path) {
    return fakes::names_in(files(), path == "/" ? "" : path);
  };
  calls.allowed_cpus = [] { return std::vector<std::uint32_t>{0, 1}; };
  return linux_facts(calls);
}

constexpr const char* kCgroup2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";
const std::string kCpu = "/sys/devices/system/cpu/";

Files laptop() {
  return {
      {"/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme sse2\n\nprocessor\t: 1\n"},
      {kCpu + "cpu0/cpufreq/scaling_governor", "powersave\n"},
      {kCpu + "cpu0/cpufreq/scaling_driver", "intel_pstate\n"},
      {kCpu + "cpu1/cpufreq/scaling_governor", "powersave\n"},
      {kCpu + "cpufreq/policy0", ""},
      {kCpu + "cpuidle/current_driver", "intel_idle\n"},
      {kCpu + "intel_pstate/no_turbo", "0\n"},
      {kCpu + "smt/active", "1\n"},
      {kCpu + "smt/control", "on\n"},
      {"/proc/loadavg", "0.31 0.20 0.18 1/911 4242\n"},
      {"/sys/class/power_supply/AC/type", "Mains\n"},
      {"/sys/class/power_supply/AC/online", "0\n"},
      {"/sys/class/power_supply/BAT0/type", "Battery\n"},
      {"/sys/class/power_supply/BAT0/status", "Discharging\n"},
      {"/sys/class/power_supply/mouse/type", "Battery\n"},
      {"/sys/class/power_supply/mouse/scope", "Device\n"},
      {"/sys/firmware/acpi/platform_profile", "low-power\n"},
      {"/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n"},
      {"/sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm \n"},
      {"/proc/sys/kernel/randomize_va_space", "2\n"}};
}

std::map<std::string, std::string>& sysctls() {
  static std::map<std::string, std::string> all;
  return all;
}

template <typename T>
std::string bytes_of(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

DarwinCalls darwin_with(std::map<std::string, std::string> all) {
  sysctls() = std::move(all);
  DarwinCalls calls{};
  calls.sysctlbyname = [](const char* name, void* value, std::size_t* length, void*, std::size_t) {
    const auto found = sysctls().find(name);
    if (found == sysctls().end() || found->second.size() > *length) {
      errno = ENOENT;
      return -1;
    }
    std::memcpy(value, found->second.data(), found->second.size());
    *length = found->second.size();
    return 0;
  };
  calls.dlopen = [](const char*, int) -> void* { return nullptr; };
  calls.dlsym = [](void*, const char*) -> void* { return nullptr; };
  return calls;
}

void* as_symbol(double (*function)()) {
  void* symbol = nullptr;
  std::memcpy(&symbol, &function, sizeof symbol);
  return symbol;
}

}  // namespace

TEST_CASE("a laptop on battery shows it, its governor, turbo and SMT") {
  const MachineFacts facts = linux_with(laptop());
  CHECK(facts.is_linux);
  REQUIRE(facts.governors.size() == 1);
  CHECK(facts.governors[0].name == "powersave");
  CHECK(facts.governors[0].number_of_cpus == 2);
  CHECK(facts.governor_driver == "intel_pstate");
  CHECK(facts.turbo.value().on);
  CHECK(facts.turbo->turn_off_command ==
        "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo");
  CHECK(facts.smt.value().on);
  CHECK(facts.smt->turn_off_command == "echo off | sudo tee /sys/devices/system/cpu/smt/control");
  CHECK(facts.load == 0.31);
  CHECK(facts.on_battery == true);
  CHECK(facts.power_saving == "low-power");
  CHECK(facts.clock_source == "hpet");
  CHECK(facts.good_clock_sources == std::vector<std::string>{"tsc"});
  CHECK(facts.aslr == true);
  CHECK(facts.hypervisor_is_certain);
  CHECK_FALSE(facts.hypervisor.has_value());
  CHECK_FALSE(facts.container.has_value());
}

TEST_CASE("plugged in, a laptop whose mouse runs on a battery is not on battery") {
  Files all = laptop();
  all["/sys/class/power_supply/AC/online"] = "1\n";
  all["/sys/class/power_supply/BAT0/status"] = "Charging\n";
  all["/sys/class/power_supply/mouse/status"] = "Discharging\n";
  CHECK(linux_with(all).on_battery == false);
}

TEST_CASE("a server with boost off and SMT that firmware turned off") {
  const MachineFacts facts =
      linux_with({{kCpu + "cpufreq/boost", "0\n"},
                  {kCpu + "smt/active", "0\n"},
                  {kCpu + "smt/control", "notsupported\n"},
                  {kCpu + "cpu0/cpufreq/scaling_governor", "performance\n"},
                  {kCpu + "cpu1/cpufreq/scaling_governor", "ondemand\n"},
                  {kCpu + "cpu10/cpufreq/scaling_governor", "performance\n"}});
  CHECK_FALSE(facts.turbo->on);
  CHECK_FALSE(facts.smt->on);
  CHECK(facts.smt->turn_off_command.empty());
  REQUIRE(facts.governors.size() == 2);
  CHECK(facts.governors[1].name == "performance");
  CHECK(facts.governors[1].number_of_cpus == 2);
}

TEST_CASE("a virtual machine is known by the flag, or else by its vendor") {
  Files all = {{"/proc/cpuinfo", "flags\t\t: fpu hypervisor sse2\n"},
               {"/proc/stat", "cpu  800 0 100 80 0 0 0 20 0 0\ncpu0 1 2\n"}};
  MachineFacts facts = linux_with(all);
  CHECK(facts.hypervisor == "");
  CHECK(facts.stolen_share.value() == doctest::Approx(0.02));
  all["/sys/class/dmi/id/sys_vendor"] = "QEMU\n";
  CHECK(linux_with(all).hypervisor == "QEMU");
  // A whole machine of a cloud has no such flag.
  facts = linux_with({{"/proc/cpuinfo", "flags\t\t: fpu sse2\n"},
                      {"/sys/class/dmi/id/sys_vendor", "Amazon EC2\n"}});
  CHECK(facts.hypervisor_is_certain);
  CHECK_FALSE(facts.hypervisor.has_value());
  // Arm has no flags at all.
  facts = linux_with(
      {{"/proc/cpuinfo", "CPU implementer\t: 0x41\n"}, {"/sys/class/dmi/id/sys_vendor", "QEMU\n"}});
  CHECK(facts.hypervisor == "QEMU");
  CHECK_FALSE(linux_with({{"/proc/cpuinfo", "CPU implementer\t: 0x41\n"}}).hypervisor_is_certain);
}

TEST_CASE("a container without /sys leaves out what it does not know") {
  const MachineFacts facts = linux_with({{"/.dockerenv", ""},
                                         {"/proc/loadavg", "1.50 1 1 1/1 1\n"},
                                         {"/proc/self/cgroup", "0::/\n"},
                                         {"/proc/self/mountinfo", kCgroup2},
                                         {"/sys/fs/cgroup/cpu.max", "150000 100000\n"},
                                         {"/proc/sys/kernel/randomize_va_space", "0\n"}});
  CHECK(facts.container == "Docker");
  CHECK(facts.machine.allowance.value().cpu_quota == 1.5);
  CHECK(facts.aslr == false);
  CHECK(facts.governors.empty());
  CHECK_FALSE(facts.turbo.has_value());
  CHECK_FALSE(facts.smt.has_value());
  CHECK_FALSE(facts.on_battery.has_value());
  CHECK_FALSE(facts.clock_source.has_value());
  CHECK_FALSE(facts.hypervisor_is_certain);
}

TEST_CASE("a Mac shows its kinds of core, its load and leftovers of kperf") {
  struct Load {
    std::uint32_t fixed[3];
    std::int64_t scale;
  } load{{4096, 2048, 2048}, 2048};
  const DarwinCalls calls = darwin_with({{"hw.nperflevels", bytes_of(std::int32_t{2})},
                                         {"hw.perflevel0.name", std::string("Performance\0", 12)},
                                         {"hw.perflevel0.logicalcpu", bytes_of(std::int32_t{4})},
                                         {"hw.perflevel1.name", std::string("Efficiency\0", 11)},
                                         {"hw.perflevel1.logicalcpu", bytes_of(std::int32_t{6})},
                                         {"hw.logicalcpu", bytes_of(std::int32_t{10})},
                                         {"hw.physicalcpu", bytes_of(std::int32_t{10})},
                                         {"kern.hv_vmm_present", bytes_of(std::int32_t{0})},
                                         {"vm.loadavg", bytes_of(load)},
                                         {"kpc.thread_counting", bytes_of(std::int32_t{3})},
                                         {"ktrace.owning_pid", bytes_of(std::int32_t{0})}});
  const MachineFacts facts = darwin_facts(calls);
  CHECK_FALSE(facts.is_linux);
  REQUIRE(facts.core_kinds.size() == 2);
  CHECK(facts.core_kinds[0].name == "Performance");
  CHECK(facts.core_kinds[1].number_of_cpus == 6);
  CHECK_FALSE(facts.smt->on);
  CHECK(facts.load == 2.0);
  CHECK(facts.hypervisor_is_certain);
  CHECK_FALSE(facts.hypervisor.has_value());
  CHECK_FALSE(facts.on_battery.has_value());
  CHECK(facts.tracing.value().readable);
  CHECK(facts.tracing->thread_counting);
  CHECK(facts.tracing->owner_pid == 0);
}

TEST_CASE("of the tracing's owners only a living one in the foreground is named") {
  for (const std::int32_t state : {0, 1, 2}) {
    for (const bool lives : {false, true}) {
      CAPTURE(state);
      CAPTURE(lives);
      DarwinCalls calls = darwin_with({{"ktrace.state", bytes_of(state)},
                                       {"ktrace.owning_pid", bytes_of(std::int32_t{77})},
                                       {"ktrace.configured_by", std::string("perfd\0", 6)}});
      calls.proc_name = [](int, void*, std::uint32_t) { return 0; };
      if (lives) calls.proc_name = [](int pid, void*, std::uint32_t) { return pid == 77 ? 5 : 0; };
      CHECK(darwin_facts(calls).tracing->owner_pid == (state == 1 && lives ? 77 : 0));
    }
  }
}

TEST_CASE("a Mac that may not be asked leaves out what it does not know") {
  const MachineFacts facts = darwin_facts(darwin_with({}));
  CHECK(facts.core_kinds.empty());
  CHECK_FALSE(facts.load.has_value());
  CHECK_FALSE(facts.hypervisor_is_certain);
  CHECK_FALSE(facts.tracing.value().readable);
}

TEST_CASE("IOKit shows a Mac on battery") {
  DarwinCalls calls = darwin_with({});
  calls.dlopen = [](const char* path, int) -> void* {
    return std::strstr(path, "IOKit") != nullptr ? &sysctls() : nullptr;
  };
  calls.dlsym = [](void*, const char*) { return as_symbol([] { return -2.0; }); };
  CHECK(darwin_facts(calls).on_battery == false);
  calls.dlsym = [](void*, const char*) { return as_symbol([] { return 7200.0; }); };
  CHECK(darwin_facts(calls).on_battery == true);
}

}  // namespace lauka::os
