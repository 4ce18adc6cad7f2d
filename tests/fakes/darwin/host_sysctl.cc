#include "fakes/darwin/host.h"

#include <cerrno>

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
  if (name == "hw.cputype") return give<int>(io, kArm64);
  if (name == "hw.cpusubtype") return give<int>(io, kArm64e);
  if (name == "hw.cpufamily") return give<std::uint32_t>(io, chip.family);
  if (name == "hw.nperflevels") return give<int>(io, kernel.setup.is_virtual ? 1 : 2);
  for (const char* count :
       {"hw.ncpu", "hw.logicalcpu", "hw.physicalcpu", "hw.activecpu", "hw.logicalcpu_max"})
    if (name == count) return give<int>(io, static_cast<int>(chip.cpus()));
  if (name == "hw.memsize") return give<std::uint64_t>(io, std::uint64_t{16} << 30U);
  if (name == "machdep.cpu.brand_string") return give_text(io, chip.marketing_name);
  if (name == "hw.model") return give_text(io, "Mac14,9");
  if (name == "kern.osproductversion") return give_text(io, rules.os_version);
  if (name == "kern.osrelease") return give_text(io, "24.4.0");
  if (name == "kern.hv_vmm_present") return give<int>(io, kernel.setup.is_virtual ? 1 : 0);
  if (name == "kern.monotonic.supported") return give<int>(io, kernel.setup.is_virtual ? 0 : 1);
  if (name == "kern.cpc.secure") return give<int>(io, kernel.setup.pmu.user_only ? 1 : 0);
  return ENOENT;
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
