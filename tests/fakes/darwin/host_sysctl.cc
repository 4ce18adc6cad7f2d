#include "fakes/darwin/host.h"

#include <cerrno>
#include <map>

// sysctls about the machine, and the way to the others.

namespace lauka::darwin {
namespace {

constexpr int kArm64 = 0x100000c;
constexpr int kArm64e = 2;
constexpr int kCtlKern = 1;
constexpr int kKernKdebug = 24;

}  // namespace

int Host::sysctlbyname(const std::string& name, const Io& io) {
  const bool is_of_counters = name.rfind("kpc.", 0) == 0 || name.rfind("kperf.", 0) == 0;
  if (is_of_counters && kernel.setup.is_virtual) return ENOENT;
  if (name.rfind("kpc.", 0) == 0) return kpc_by_name(name, io);
  if (name.rfind("kperf.", 0) == 0) return kperf_by_name(name, io);
  if (name.rfind("ktrace.", 0) == 0) return ktrace_by_name(name, io);
  if (name.rfind("hw.perflevel", 0) == 0) return perflevel_by_name(name, io);
  return facts_by_name(name, io);
}

int Host::sysctl(const int* name, unsigned length, const Io& io) {
  if (length >= 3 && name[0] == kCtlKern && name[1] == kKernKdebug) return kdebug(name, length, io);
  return ENOENT;
}

int Host::facts_by_name(const std::string& name, const Io& io) const {
  const Chip& chip = kernel.setup.chip;
  const bool is_virtual = kernel.setup.is_virtual;
  const int cpus = static_cast<int>(chip.cpus());
  const std::map<std::string, int> numbers = {
      {"hw.cputype", kArm64},
      {"hw.cpusubtype", kArm64e},
      {"hw.cpufamily", static_cast<int>(chip.family)},
      {"hw.nperflevels", is_virtual ? 1 : 2},
      {"hw.ncpu", cpus},
      {"hw.logicalcpu", cpus},
      {"hw.logicalcpu_max", cpus},
      {"hw.physicalcpu", cpus},
      {"hw.activecpu", cpus},
      {"kern.hv_vmm_present", is_virtual ? 1 : 0},
      {"kern.monotonic.supported", is_virtual ? 0 : 1},
      {"kern.cpc.secure", kernel.setup.pmu.user_only ? 1 : 0},
  };
  const std::map<std::string, std::string> texts = {
      {"machdep.cpu.brand_string", chip.marketing_name},
      {"hw.model", "Mac14,9"},
      {"kern.osproductversion", rules.os_version},
      {"kern.osrelease", "24.4.0"},
  };
  if (name == "hw.memsize") return give<std::uint64_t>(io, std::uint64_t{16} << 30U);
  if (const auto text = texts.find(name); text != texts.end()) return give_text(io, text->second);
  const auto number = numbers.find(name);
  return number == numbers.end() ? ENOENT : give(io, number->second);
}

int Host::perflevel_by_name(const std::string& name, const Io& io) const {
  const Chip& chip = kernel.setup.chip;
  const bool is_performance = name.rfind("hw.perflevel0.", 0) == 0;
  const bool is_efficiency = name.rfind("hw.perflevel1.", 0) == 0 && !kernel.setup.is_virtual;
  if (!is_performance && !is_efficiency) return ENOENT;
  const std::string what = name.substr(name.rfind('.') + 1);
  if (what == "name") return give_text(io, is_performance ? "Performance" : "Efficiency");
  const unsigned cpus = is_performance ? chip.performance_cpus : chip.efficiency_cpus;
  for (const char* count : {"logicalcpu", "physicalcpu", "logicalcpu_max", "physicalcpu_max"})
    if (what == count) return give<int>(io, static_cast<int>(cpus));
  return ENOENT;
}

}  // namespace lauka::darwin
