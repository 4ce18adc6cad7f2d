#include "fakes/darwin/host.h"

#include <cerrno>
#include <cstring>

// kpc's sysctls: facts, 1.2, 3.

namespace lauka::darwin {
namespace {

constexpr std::uint64_t kAllCpus = 0x80000000;

}  // namespace

bool Host::may_read() const {
  const bool is_owner = kernel.ktrace.owner == kernel.processes().at(1)->pid ||
                        kernel.ktrace.blessed == kernel.processes().at(1)->pid;
  return kernel.setup.is_root || is_owner;
}

int Host::kpc_by_name(const std::string& name, const Io& io) {
  if (kernel.setup.cpmu_is_busy) return EBUSY;
  const auto classes = taken<std::uint32_t>(io);
  if (name == "kpc.classes") return give<std::uint32_t>(io, kFixedClass | kConfigurableClass);
  if (name == "kpc.counter_count" || name == "kpc.config_count") {
    if (!classes) return EINVAL;
    return give(io, name == "kpc.counter_count" ? kernel.pmu.counter_count(*classes)
                                                : kernel.pmu.config_count(*classes));
  }
  if (!may_read()) return EPERM;
  if (io.new_value != nullptr && io.old_value == nullptr) kernel.settle_all();
  if (name == "kpc.pmu_version") return give<std::uint32_t>(io, 2);
  if (name == "kpc.config") return kpc_words(io);
  if (name == "kpc.counters" || name == "kpc.thread_counters") return kpc_values(io);
  return kpc_setting(name, io);
}

int Host::kpc_setting(const std::string& name, const Io& io) {
  Pmu& pmu = kernel.pmu;
  const auto value = taken<std::uint32_t>(io);
  if (io.new_value != nullptr && !value) return EINVAL;
  if (name == "kpc.force_all_ctrs") {
    if (!value) return give<int>(io, pmu.forced_by() != 0 ? 1 : 0);
    return kernel.setup.force_is_taken ? EACCES : pmu.force(kernel.lauka().pid, *value != 0);
  }
  const bool of_threads = name == "kpc.thread_counting";
  if (!of_threads && name != "kpc.counting") return ENOENT;
  if (!value) return give(io, of_threads ? pmu.thread_counting() : pmu.counting());
  if ((*value & ~(kFixedClass | kConfigurableClass)) != 0) return EINVAL;
  if (!of_threads) return pmu.set_counting(*value);
  kernel.set_thread_counting(*value);
  return 0;
}

/// New: the classes, to read; the classes and the words, to set.
int Host::kpc_words(const Io& io) {
  if (io.new_value == nullptr || io.new_length < sizeof(std::uint64_t)) return EINVAL;
  std::vector<std::uint64_t> given(io.new_length / sizeof(std::uint64_t));
  std::memcpy(given.data(), io.new_value, given.size() * sizeof(std::uint64_t));
  const auto classes = static_cast<std::uint32_t>(given.front());
  if (io.old_value != nullptr) {
    const auto words = kernel.pmu.words(classes);
    if (words.empty() || *io.old_length < words.size() * sizeof(std::uint64_t)) return EINVAL;
    return give_bytes(io, words.data(), words.size() * sizeof(std::uint64_t));
  }
  given.erase(given.begin());
  return kernel.pmu.set_words(classes, given);
}

int Host::kpc_values(const Io& io) {
  std::vector<std::uint64_t> values;
  if (const auto classes = taken<std::uint64_t>(io)) {
    kernel.settle_all();
    const bool all = (*classes & kAllCpus) != 0;
    const unsigned own = kernel.setup.chip.performance_cpus - 1;
    values.push_back(own);
    for (unsigned cpu = 0; cpu < kernel.setup.chip.cpus(); ++cpu) {
      if (!all && cpu != own) continue;
      for (const std::size_t i : kernel.pmu.counters_of(static_cast<std::uint32_t>(*classes)))
        values.push_back(kernel.pmu.cpu_counters(cpu).at(i));
    }
  } else {
    const auto& buffer = kernel.lauka_thread().buffer;
    if (!buffer || kernel.pmu.thread_counting() == 0) return EINVAL;
    for (const std::size_t i : kernel.pmu.counters_of(kernel.pmu.thread_counting()))
      values.push_back(buffer->at(i));
  }
  if (io.old_value == nullptr || *io.old_length < values.size() * sizeof(std::uint64_t))
    return EINVAL;
  return give_bytes(io, values.data(), values.size() * sizeof(std::uint64_t));
}

}  // namespace lauka::darwin
