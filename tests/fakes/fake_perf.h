#pragma once

#include "os/linux_calls.h"
#include "os/perf_abi.h"
#include "os/process.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lauka::fakes {

/// An event as one PMU knows it: its type (kPerfTypeRaw for the PMU's own codes) and config.
using EventKey = std::pair<std::uint32_t, std::uint64_t>;

/// What the model's kernel is like; to be set before its use.
struct FakeKernel {
  std::map<std::string, std::string> files;
  bool has_perf = true;  ///< false: ENOSYS
  bool is_root = false;
  bool is_debian = false;             ///< levels 3 and above refuse everything
  bool blocked_by_container = false;  ///< EPERM
  bool refuses_hypervisor_bit = false;
  bool knows_extended_type = true;  ///< the PMU's number in config: Arm since 6.6
  std::size_t descriptor_limit = 1000;
  std::set<int> switched_off{};  ///< CPUs: ENODEV
  std::uint32_t attr_size = 136;
  std::vector<std::uint32_t> allowed = {0, 1, 2, 3, 4, 5, 6, 7};  ///< CPUs, by the inherited mask
  std::string thread_is_on;  ///< the kind of core that this thread runs on; "": any
};

/// A model of perf_event_open and of the files that describe it: PMUs with a number of general
/// counters and some events that have a counter of their own, the permission levels, and the ways
/// to fail. Facts after the manual page, kernel sources and measurements on real PMUs. One at a
/// time.
class FakePerf : public FakeKernel {
 public:
  struct Pmu {
    std::string name;
    std::uint32_t type = 4;
    std::string cpus{};        ///< a file of that name: a core PMU of a machine with several kinds
    bool per_package = false;  ///< a file "cpumask"; its events are refused on a task
    std::size_t general = 4;   ///< counters that take any event
    std::set<EventKey> fixed{};    ///< events with a counter of their own
    std::set<EventKey> knows{};    ///< generic and cache events that it has; raw codes it takes all
    bool takes_exclusions = true;  ///< false: EINVAL for user space only, as msr
    std::size_t taken = 0;         ///< general counters that others hold: seen when scheduled only
  };

  /// What a program does on one PMU with one event.
  struct Amount {
    std::uint64_t user = 0;
    std::uint64_t kernel = 0;
  };

  /// A program that is run with counters.
  struct Program {
    std::map<std::string, std::uint64_t> ns_on{};  ///< CPU time, by PMU; "" where there is one kind
    std::map<std::pair<std::string, EventKey>, Amount> counts{};  ///< by PMU and event
    std::map<std::uint32_t, std::uint64_t> ns_on_cpu{};           ///< what task-clock shows there
    bool is_setuid = false;  ///< loses its counters at exec, after 9 microseconds
    Usage usage{};
  };

  /// What a thread of another process does while it is counted. Its id is the key of `threads`.
  std::map<int, Program> threads{};

  FakePerf() { current() = this; }
  ~FakePerf() { current() = nullptr; }
  FakePerf(const FakePerf&) = delete;
  FakePerf& operator=(const FakePerf&) = delete;
  FakePerf(FakePerf&&) = delete;
  FakePerf& operator=(FakePerf&&) = delete;

  /// The calls that lead here.
  const os::LinuxCalls& calls() const {
    static constexpr os::LinuxCalls kCalls{&open_counter,  &enable_group, &read_words,
                                           &close_counter, &allowed_cpus, &read_file,
                                           &list_folder};
    return kCalls;
  }

  void add(Pmu pmu) {
    const std::string folder = "/sys/bus/event_source/devices/" + pmu.name;
    files[folder + "/type"] = std::to_string(pmu.type) + "\n";
    if (!pmu.cpus.empty()) files[folder + "/cpus"] = pmu.cpus + "\n";
    if (pmu.per_package) files[folder + "/cpumask"] = "0\n";
    pmus_.push_back(std::move(pmu));
  }
  void add_event(const std::string& pmu, const std::string& name, const std::string& terms) {
    files["/sys/bus/event_source/devices/" + pmu + "/events/" + name] = terms + "\n";
  }
  void add_format(const std::string& pmu, const std::string& term, const std::string& format) {
    files["/sys/bus/event_source/devices/" + pmu + "/format/" + term] = format + "\n";
  }
  void set_paranoid(int level) {
    paranoid_ = level;
    files["/proc/sys/kernel/perf_event_paranoid"] = std::to_string(level) + "\n";
  }

  /// Opens, runs and reads as the launcher does.
  os::Ended run(std::span<const os::CounterRequest> requests, const Program& program) {
    os::Ended ended{Exited{0}, program.usage};
    std::vector<int> descriptors;
    for (std::size_t i = 0; i < requests.size() && ended.counter_error == 0; ++i) {
      os::PerfEventAttr attributes;
      std::memcpy(&attributes, requests[i].attributes.data(), sizeof attributes);
      const bool leads = requests[i].leader == i;
      const int cpu = requests[i].cpu;
      const bool is_off = switched_off.contains(cpu);
      const int got =
          is_off ? -ENODEV : open(attributes, leads ? -1 : descriptors[requests[i].leader]);
      if (got >= 0)
        open_.at(got).cpu = cpu;
      else if (requests[i].optional && !is_off)
        ended.optional_error = -got;
      else if (!is_off)
        ended.counter_error = -got;
      descriptors.push_back(got);
    }
    if (ended.counter_error == 0)
      for (std::size_t i = 0; i < requests.size(); ++i) {
        const bool is_open =
            descriptors[i] >= 0 && (!requests[i].optional || ended.optional_error == 0);
        ended.readings.push_back(is_open ? read(descriptors[i], program) : os::Reading{});
      }
    for (const int descriptor : descriptors) open_.erase(descriptor);
    return ended;
  }

  std::size_t open_now() const { return open_.size(); }

 private:
  struct Open {
    os::PerfEventAttr attributes;
    int leader = -1;  ///< its own descriptor: it leads
    std::string pmu;  ///< "software"
    EventKey key;
    bool enabled = false;
    int cpu = -1;
    int thread = 0;  ///< 0: the calling one
  };

  static FakePerf*& current() {
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): plain calls have no state
    static FakePerf* fake = nullptr;
    return fake;
  }

  const Pmu* pmu_of(const os::PerfEventAttr& attributes, EventKey& key) const {
    const bool is_generic =
        attributes.type == os::kPerfTypeHardware || attributes.type == os::kPerfTypeCache;
    const auto wanted = static_cast<std::uint32_t>(attributes.config >> 32U);
    key = is_generic ? EventKey{attributes.type, attributes.config & 0xffffffffU}
                     : EventKey{os::kPerfTypeRaw, attributes.config};
    for (const Pmu& pmu : pmus_) {
      const bool is_core = pmu.name == "cpu" || !pmu.cpus.empty();
      if (is_generic) {
        if (!is_core || (wanted != 0 && (!knows_extended_type || wanted != pmu.type))) continue;
        if (pmu.knows.contains(key)) return &pmu;
        if (wanted != 0) return nullptr;
      } else if (pmu.type == attributes.type) {
        return &pmu;
      }
    }
    return nullptr;
  }

  bool fits(const Pmu& pmu, const std::vector<EventKey>& keys, std::size_t general) const {
    std::set<EventKey> on_fixed;
    std::size_t on_general = 0;
    for (const EventKey& key : keys)
      if (!pmu.fixed.contains(key) || !on_fixed.insert(key).second) ++on_general;
    return on_general <= general;
  }

  std::vector<EventKey> keys_of_group(int leader) const {
    std::vector<EventKey> keys;
    for (const auto& [descriptor, other] : open_)
      if (other.leader == leader && other.pmu != "software") keys.push_back(other.key);
    return keys;
  }

  const Pmu* pmu_named(const std::string& name) const {
    const auto found =
        std::find_if(pmus_.begin(), pmus_.end(), [&](const Pmu& pmu) { return pmu.name == name; });
    return found == pmus_.end() ? nullptr : &*found;
  }

  int permission(const os::PerfEventAttr& attributes) const {
    if (!has_perf) return ENOSYS;
    if (blocked_by_container) return EPERM;
    if (attributes.size > attr_size && attributes.config3 != 0) return E2BIG;
    if (is_root) return 0;
    const bool with_kernel = (attributes.flags & os::kPerfExcludeKernel) == 0;
    if (paranoid_ >= 3 && is_debian) return EACCES;
    return paranoid_ >= 2 && with_kernel ? EACCES : 0;
  }

  /// 0, or why a PMU does not take the event into the group.
  int refusal_of(const Pmu& pmu, const Open& event) const {
    const bool has_bit = (event.attributes.flags & os::kPerfExcludeHypervisor) != 0;
    const bool excludes = (event.attributes.flags & os::kPerfExcludeKernel) != 0;
    if (pmu.per_package || (has_bit && refuses_hypervisor_bit)) return EINVAL;
    if (excludes && !pmu.takes_exclusions) return EINVAL;
    if (event.leader < 0) return 0;
    const std::string& other = open_.at(event.leader).pmu;
    if (other != "software" && other != pmu.name) return EINVAL;
    auto keys = keys_of_group(event.leader);
    keys.push_back(event.key);
    return fits(pmu, keys, pmu.general) ? 0 : EINVAL;
  }

  int open(const os::PerfEventAttr& attributes, int group) {
    if (const int error = permission(attributes); error != 0) return -error;
    Open event{attributes, group, "software", {attributes.type, attributes.config}};
    if (attributes.type != os::kPerfTypeSoftware) {
      const Pmu* pmu = pmu_of(attributes, event.key);
      if (pmu == nullptr) return -ENOENT;
      if (const int error = refusal_of(*pmu, event); error != 0) return -error;
      event.pmu = pmu->name;
    }
    if (open_.size() >= descriptor_limit) return -EMFILE;
    const int descriptor = next_++;
    if (group < 0) event.leader = descriptor;
    open_.emplace(descriptor, event);
    return descriptor;
  }

  /// Whether the group has its counters when it is scheduled.
  bool is_scheduled(int leader) const {
    const auto keys = keys_of_group(leader);
    const Pmu* pmu = pmu_named(open_.at(leader).pmu);
    return pmu == nullptr || fits(*pmu, keys, pmu->general - pmu->taken);
  }

  os::Reading read(int descriptor, const Program& program) const {
    const Open& event = open_.at(descriptor);
    if (event.key == EventKey{os::kPerfTypeSoftware, 1} && !program.ns_on_cpu.empty())
      return read_clock(event.cpu, program);
    std::uint64_t all = 0;
    for (const auto& [pmu, ns] : program.ns_on) all += ns;
    const auto here = program.ns_on.find(event.pmu);
    std::uint64_t running = here != program.ns_on.end()                             ? here->second
                            : program.ns_on.contains("") || event.pmu == "software" ? all
                                                                                    : 0;
    const auto amount = program.counts.find({event.pmu, event.key});
    std::uint64_t value = 0;
    if (amount != program.counts.end()) {
      if ((event.attributes.flags & os::kPerfExcludeUser) == 0) value += amount->second.user;
      if ((event.attributes.flags & os::kPerfExcludeKernel) == 0) value += amount->second.kernel;
    }
    if (program.is_setuid) return {value / 1000, 9000, 9000};
    // The kernel takes turns: half of the time, half of the count.
    if (!is_scheduled(event.leader)) return {value / 2, all, running / 2};
    return {value, all, running};
  }

  static os::Reading read_clock(int cpu, const Program& program) {
    if (program.is_setuid) return {9000, 9000, 9000};
    std::uint64_t all = 0;
    std::uint64_t here = 0;
    for (const auto& [number, ns] : program.ns_on_cpu) {
      all += ns;
      if (cpu < 0 || static_cast<std::uint32_t>(cpu) == number) here += ns;
    }
    return {here, all, here};
  }

  static long read_words(int descriptor, std::uint64_t* words, std::size_t capacity) {
    const Open& event = current()->open_.at(descriptor);
    if (event.thread != 0) return current()->read_thread(descriptor, words, capacity);
    const std::size_t members =
        std::max<std::size_t>(1, current()->keys_of_group(descriptor).size());
    if (capacity < 3 + members) return -ENOSPC;
    const bool elsewhere = !current()->thread_is_on.empty() && event.pmu != "software" &&
                           event.pmu != current()->thread_is_on;
    words[0] = members;
    words[1] = event.enabled ? 1000 : 0;
    words[2] = event.enabled && !elsewhere && current()->is_scheduled(descriptor) ? 1000 : 0;
    std::fill(words + 3, words + 3 + members, 0);
    return static_cast<long>(3 + members);
  }

  static std::optional<std::string> read_file(const std::string& path) {
    const auto found = current()->files.find(path);
    if (found == current()->files.end()) return std::nullopt;
    return found->second;
  }

  static std::vector<std::string> list_folder(const std::string& path) {
    std::set<std::string> names;
    for (const auto& [file, text] : current()->files)
      if (file.starts_with(path + "/"))
        names.insert(
            file.substr(path.size() + 1, file.find('/', path.size() + 1) - path.size() - 1));
    return {names.begin(), names.end()};
  }

  static std::vector<std::uint32_t> allowed_cpus() { return current()->allowed; }

  static int enable_group(int leader) {
    current()->open_.at(leader).enabled = true;
    return 0;
  }

  /// Reads a group on a thread of another process.
  long read_thread(int leader, std::uint64_t* words, std::size_t capacity) const {
    const Open& event = open_.at(leader);
    const Program& work = threads.at(event.thread);
    std::size_t count = 0;
    for (const auto& [descriptor, other] : open_) {
      if (other.leader != leader) continue;
      if (3 + count >= capacity) return -ENOSPC;
      const os::Reading reading = read(descriptor, work);
      words[1] = reading.enabled_ns;
      words[2] = reading.running_ns;
      words[3 + count++] = reading.value;
    }
    words[0] = count;
    return static_cast<long>(3 + count);
  }

  int attach(const os::PerfEventAttr& attributes, const os::CounterPlace& place, int group) {
    if (!threads.contains(place.thread)) return -ESRCH;
    if (switched_off.contains(place.cpu)) return -ENODEV;
    const int descriptor = open(attributes, group);
    if (descriptor < 0) return descriptor;
    open_.at(descriptor).thread = place.thread;
    open_.at(descriptor).cpu = place.cpu;
    return descriptor;
  }

  static int open_counter(const os::PerfEventAttr& attributes, const os::CounterPlace& place,
                          int group) {
    return place.thread == 0 ? current()->open(attributes, group)
                             : current()->attach(attributes, place, group);
  }

  static void close_counter(int descriptor) { current()->open_.erase(descriptor); }

  std::vector<Pmu> pmus_;
  int paranoid_ = 1;
  std::map<int, Open> open_;
  int next_ = 3;
};

inline constexpr EventKey kCycles{0, 0};
inline constexpr EventKey kInstructions{0, 1};
inline constexpr EventKey kCacheReferences{0, 2};
inline constexpr EventKey kCacheMisses{0, 3};
inline constexpr EventKey kBranches{0, 4};
inline constexpr EventKey kBranchMisses{0, 5};
inline constexpr EventKey kRefCycles{0, 9};

/// The events that the model's processors have: six generic ones and first-level data cache misses.
inline std::set<EventKey> usual_events() {
  return {kCycles,   kInstructions, kCacheReferences, kCacheMisses,
          kBranches, kBranchMisses, {3, 0x10000}};
}

/// A processor with one kind of core: cycles and instructions have counters of their own, four more
/// are general.
inline FakePerf::Pmu usual_pmu() {
  return {"cpu", 4, "", false, 4, {kCycles, kInstructions}, usual_events()};
}

/// A processor with two kinds of core, as Intel's.
inline void add_two_kinds(FakePerf& perf) {
  FakePerf::Pmu core{"cpu_core", 8, "0-3", false, 4, {kCycles, kInstructions}, usual_events()};
  core.knows.insert(kRefCycles);
  perf.add(core);
  perf.add({"cpu_atom", 9, "4-7", false, 3, {kCycles, kInstructions}, usual_events()});
  perf.thread_is_on = "cpu_core";
}

/// A launcher that keeps what it is given and runs nothing.
class CapturingLauncher final : public os::Launcher {
 public:
  Result<os::ProgramId> add_program(const os::ProgramSpec& /*spec*/) override {
    return Error{"this launcher runs nothing", ""};
  }
  Result<os::CounterSetId> add_counters(std::span<const os::CounterRequest> requests) override {
    sets.emplace_back(requests.begin(), requests.end());
    return static_cast<os::CounterSetId>(sets.size() - 1);
  }
  Result<std::vector<os::Ended>> run(std::span<const os::Launch> /*launches*/,
                                     bool /*go_on_after_failure*/,
                                     const os::Tick& /*tick*/) override {
    return Error{"this launcher runs nothing", ""};
  }
  std::string error_output_end() const override { return {}; }

  std::vector<std::vector<os::CounterRequest>> sets;
};

}  // namespace lauka::fakes
