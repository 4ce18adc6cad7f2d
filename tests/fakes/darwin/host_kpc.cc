#include "fakes/darwin/host.h"

#include <algorithm>
#include <cerrno>

// kpc's sysctls: facts, sections 0, 1.2, 3.

namespace lauka::darwin {
namespace {

constexpr std::uint32_t kAllCpus = 0x80000000;
constexpr std::int64_t kPmuVersion = 2;

}  // namespace

int Host::kpc_by_name(const std::string& name, Request& request) {
  const bool is_classes = name == "kpc.classes";
  const bool is_count = name == "kpc.counter_count" || name == "kpc.config_count";
  const bool is_version = name == "kpc.pmu_version";
  const bool is_setting =
      name == "kpc.force_all_ctrs" || name == "kpc.counting" || name == "kpc.thread_counting";
  const bool is_array =
      name == "kpc.config" || name == "kpc.counters" || name == "kpc.thread_counters";
  if (!is_classes && !is_count && !is_version && !is_setting && !is_array) return ENOENT;
  if ((is_classes || is_version) && request.has_new()) return EPERM;
  if (!is_classes && !is_count) {
    if (const int error = kernel.ktrace.check_read(caller()); error != 0) return error;
  }
  if (kernel.setup.cpmu_is_busy) return EBUSY;
  if (request.has_new() && !request.has_old()) kernel.settle_all();
  constexpr std::int64_t classes = kFixedClass | kConfigurableClass | kRawClass;
  if (is_classes || is_version)
    return request.number(is_classes ? classes : kPmuVersion, static_cast<std::int32_t*>(nullptr));
  if (is_count) return kpc_count(name == "kpc.counter_count", request);
  if (is_setting) return kpc_setting(name, request);
  if (name == "kpc.config") return kpc_words(request);
  return name == "kpc.counters" ? kpc_counters(request) : kpc_thread_counters(request);
}

int Host::kpc_count(bool of_counters, Request& request) {
  std::uint32_t classes = 0;
  if (const int error = request.take(&classes, sizeof classes); error != 0) return error;
  const std::uint32_t count =
      of_counters ? kernel.pmu.counter_count(classes) : kernel.pmu.config_count(classes);
  return request.give(&count, sizeof count);
}

int Host::kpc_setting(const std::string& name, Request& request) {
  Pmu& pmu = kernel.pmu;
  const bool forces = name == "kpc.force_all_ctrs";
  const bool of_threads = name == "kpc.thread_counting";
  const std::uint32_t now = forces       ? (pmu.forced_by() != 0 ? 1 : 0)
                            : of_threads ? pmu.thread_counting()
                                         : pmu.counting();
  std::uint32_t value = 0;
  if (const int error = request.number(now, &value); error != 0 || !request.has_new()) return error;
  if (forces) return pmu.force(caller().unique_id, value != 0);
  if (!of_threads) {
    pmu.set_counting(value);
    return 0;
  }
  Process* process = kernel.find(caller().pid);
  const bool has_thread = process != nullptr && !process->threads.empty();
  kernel.set_thread_counting(value, has_thread ? process->threads.front().get() : nullptr);
  return 0;
}

/// New: the classes, to read; the classes and the words, to set.
int Host::kpc_words(Request& request) {
  std::uint64_t classes = 0;
  if (const int error = request.take(&classes, sizeof classes); error != 0) return error;
  const auto wanted = static_cast<std::uint32_t>(classes);
  std::vector<std::uint64_t> words(kernel.pmu.config_count(wanted));
  const std::size_t bytes = words.size() * sizeof(std::uint64_t);
  if (words.empty()) return EINVAL;
  int error = request.take(words.data(), bytes);
  if (error == 0) error = kernel.pmu.set_words(wanted, words);
  if (error != 0 && error != EINVAL) return error;
  // Too few words are none, and all right where they are only to be read.
  if (!request.has_old()) return error;
  error = kernel.pmu.words(wanted, words);
  return error != 0 ? error : request.give(words.data(), bytes);
}

/// The number of the caller's CPU, then the values. Those of all CPUs lie CPU by CPU, but only as
/// many are given as CPUs have answered, from the first place on.
int Host::kpc_counters(Request& request) {
  std::uint32_t classes = 0;
  if (const int error = request.take(&classes, sizeof classes); error != 0) return error;
  kernel.settle_all();
  const auto counters = kernel.pmu.counters_of(classes);
  const unsigned own = kernel.setup.chip.performance_cpus - 1;
  const bool of_all = (classes & kAllCpus) != 0;
  std::vector<std::uint64_t> values = {own};
  std::size_t answered = 0;
  for (unsigned cpu = 0; cpu < kernel.setup.chip.cpus(); ++cpu) {
    if (!of_all && cpu != own) continue;
    const bool is_off = kernel.setup.cpus_off.count(cpu) != 0;
    for (const std::size_t i : counters) {
      values.push_back(is_off ? 0 : kernel.pmu.cpu_counters(cpu).at(i));
      if (!is_off) ++answered;
    }
  }
  if (answered == 0) return EINVAL;
  return request.give(values.data(), (1 + answered) * sizeof(std::uint64_t));
}

/// Of the calling thread, which must have a buffer by now; it keeps that when counting ends.
int Host::kpc_thread_counters(Request& request) {
  std::uint32_t tid = 0;
  if (const int error = request.take(&tid, sizeof tid); error != 0) return error;
  const Process* process = kernel.find(caller().pid);
  const Thread* thread =
      process == nullptr || process->threads.empty() ? nullptr : process->threads.front().get();
  if (tid != 0 || thread == nullptr || !thread->buffer) return EINVAL;
  std::vector<std::uint64_t> values;
  for (const std::size_t i : kernel.pmu.thread_counters()) values.push_back(thread->buffer->at(i));
  return request.give(values.data(), values.size() * sizeof(std::uint64_t));
}

}  // namespace lauka::darwin
