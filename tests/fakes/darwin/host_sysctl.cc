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
  Request request(io);
  const bool is_of_counters = name.rfind("kpc.", 0) == 0 || name.rfind("kperf.", 0) == 0;
  if (is_of_counters && kernel.setup.is_virtual) return ENOENT;
  if (name.rfind("kpc.", 0) == 0) return request.finish(kpc_by_name(name, request));
  if (name.rfind("kperf.", 0) == 0) return request.finish(kperf_by_name(name, request));
  if (name.rfind("ktrace.", 0) == 0) return request.finish(ktrace_by_name(name, request));
  if (name.rfind("hw.perflevel", 0) == 0) return request.finish(perflevel_by_name(name, request));
  return request.finish(facts_by_name(name, request));
}

int Host::sysctl(const int* name, unsigned length, const Io& io) {
  Request request(io);
  if (length < 2 || name[0] != kCtlKern || name[1] != kKernKdebug) return ENOENT;
  return request.finish(kdebug(name + 2, length - 2, request));
}

int Host::facts_by_name(const std::string& name, Request& request) const {
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
  if (name == "hw.memsize")
    return request.number(std::int64_t{16} << 30U, static_cast<std::uint64_t*>(nullptr));
  if (const auto text = texts.find(name); text != texts.end()) return request.give(text->second);
  const auto number = numbers.find(name);
  if (number == numbers.end()) return ENOENT;
  return request.number(number->second, static_cast<std::int32_t*>(nullptr));
}

int Host::perflevel_by_name(const std::string& name, Request& request) const {
  const Chip& chip = kernel.setup.chip;
  const bool is_performance = name.rfind("hw.perflevel0.", 0) == 0;
  const bool is_efficiency = name.rfind("hw.perflevel1.", 0) == 0 && !kernel.setup.is_virtual;
  if (!is_performance && !is_efficiency) return ENOENT;
  const std::string what = name.substr(name.rfind('.') + 1);
  if (what == "name") return request.give(is_performance ? "Performance" : "Efficiency");
  const unsigned cpus = is_performance ? chip.performance_cpus : chip.efficiency_cpus;
  for (const char* count : {"logicalcpu", "physicalcpu", "logicalcpu_max", "physicalcpu_max"})
    if (what == count) return request.number(cpus, static_cast<std::int32_t*>(nullptr));
  return ENOENT;
}

}  // namespace lauka::darwin
