#pragma once

#include "core/machine.h"
#include "fakes/fake_files.h"
#include "fakes/fake_pmu.h"
#include "os/linux_calls.h"
#include "os/process.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lauka::fakes {

/// The kernel's attributes that a request has.
inline os::PerfEventAttr attributes_of(const os::CounterRequest& request) {
  os::PerfEventAttr attributes;
  std::memcpy(&attributes, request.attributes.data(), sizeof attributes);
  return attributes;
}

/// A model of perf_event_open and of the files that describe it: PMUs with a number of general
/// counters and some events that have a counter of their own, the permission levels, and the ways
/// to fail. Facts after the manual page, kernel sources and measurements on real PMUs. One at a
/// time.
class FakePerf : public FakeKernel {
 public:
  using Pmu = FakePmu;
  using Program = FakeProgram;

  /// The work of a thread of another process while it is counted. Its id is the key of `threads`.
  std::map<int, Program> threads{};

  FakePerf() { current() = this; }
  explicit FakePerf(Pmu pmu) : FakePerf() { add(std::move(pmu)); }
  ~FakePerf() { current() = nullptr; }
  FakePerf(const FakePerf&) = delete;
  FakePerf& operator=(const FakePerf&) = delete;
  FakePerf(FakePerf&&) = delete;
  FakePerf& operator=(FakePerf&&) = delete;

  /// The calls that lead here.
  const os::LinuxCalls& calls() const {
    static constexpr os::LinuxCalls kCalls{
        &open_counter, &enable_group, &disable_group,   &read_words,  &close_counter,
        &allowed_cpus, &run_on,       &read_file,       &list_folder, &count_folder,
        &open_file,    &read_again,   &describe_program};
    return kCalls;
  }

  /// Returns how many events were opened so far.
  int opened() const { return next_ - kFirst; }

  /// Adds a PMU; returns it, to be changed before the next is added.
  Pmu& add(Pmu pmu) {
    const std::string folder = "/sys/bus/event_source/devices/" + pmu.name;
    files[folder + "/type"] = std::to_string(pmu.type) + "\n";
    if (!pmu.cpus.empty()) files[folder + "/cpus"] = pmu.cpus + "\n";
    if (pmu.per_package) files[folder + "/cpumask"] = "0\n";
    return pmus_.emplace_back(std::move(pmu));
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
      const bool leads = requests[i].leader == i;
      const int cpu = requests[i].cpu;
      const bool is_off = switched_off.contains(cpu);
      const int group = leads ? -1 : descriptors[requests[i].leader];
      const int got = is_off ? -ENODEV : open(attributes_of(requests[i]), group);
      if (got >= 0)
        open_.at(got).cpu = cpu;
      else if (requests[i].optional && !is_off)
        ended.optional_counter_error = -got;
      else if (!is_off)
        ended.counter_error = -got;
      descriptors.push_back(got);
    }
    if (ended.counter_error == 0)
      for (std::size_t i = 0; i < requests.size(); ++i) {
        const bool is_open =
            descriptors[i] >= 0 && (!requests[i].optional || ended.optional_counter_error == 0);
        ended.readings.push_back(is_open ? read(descriptors[i], program) : os::Reading{});
      }
    for (const int descriptor : descriptors) open_.erase(descriptor);
    return ended;
  }

  /// To be changed while it is in use.
  Pmu& pmu(const std::string& name) {
    return *std::find_if(pmus_.begin(), pmus_.end(),
                         [&](const Pmu& one) { return one.name == name; });
  }

  std::size_t open_now() const { return open_.size(); }

 private:
  struct Open {
    os::PerfEventAttr attributes;
    int leader = -1;  ///< its own descriptor: it leads
    std::string pmu;  ///< "software"
    EventKey key;
    std::uint64_t periods = 0;  ///< how often it was enabled
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

  /// The events of a group's PMU. `to_validate`: those for which there must be a place.
  std::vector<EventKey> keys_of_group(int leader, bool to_validate = false) const {
    std::vector<EventKey> keys;
    for (const auto& [descriptor, member] : open_)
      if (member.leader == leader && member.pmu != "software" &&
          (!to_validate || is_validated(member)))
        keys.push_back(member.key);
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
    const bool with_kernel = (attributes.flags & os::kPerfExcludeKernel) == 0;
    if (paranoid_ >= 3 && is_debian) return EACCES;
    return paranoid_ >= 2 && with_kernel ? EACCES : 0;
  }

  /// True if a group's events have to have a place for this one, too: on Arm (validate_event in
  /// drivers/perf/arm_pmu.c) not for one that is disabled and will not be enabled at exec.
  bool is_validated(const Open& event) const {
    const std::uint64_t flags = event.attributes.flags;
    return !validates_like_arm || (flags & os::kPerfDisabled) == 0 ||
           (flags & os::kPerfEnableOnExec) != 0;
  }

  /// 0, or why a PMU does not take the event into the group.
  int refusal_of(const Pmu& pmu, const Open& event) const {
    const bool has_bit = (event.attributes.flags & os::kPerfExcludeHypervisor) != 0;
    const bool excludes = (event.attributes.flags & os::kPerfExcludeKernel) != 0;
    if (pmu.per_package || (has_bit && refuses_hypervisor_bit)) return EINVAL;
    if (excludes && !pmu.takes_exclusions) return EINVAL;
    if (pmu.led.contains(event.key) &&
        (event.leader < 0 || open_.at(event.leader).key != pmu.leader))
      return EINVAL;
    if (event.leader < 0) return 0;
    const std::string& other = open_.at(event.leader).pmu;
    if (other != "software" && other != pmu.name) return EINVAL;
    std::vector<EventKey> keys = keys_of_group(event.leader, true);
    if (is_validated(event)) keys.push_back(event.key);
    return pmu.places(keys, 0) ? 0 : EINVAL;
  }

  int open(const os::PerfEventAttr& attributes, int group) {
    if (const int error = permission(attributes); error != 0) return -error;
    Open event{attributes, group, "software", {attributes.type, attributes.config}};
    if (attributes.type != os::kPerfTypeSoftware) {
      const Pmu* pmu = pmu_of(attributes, event.key);
      if (pmu == nullptr) return -ENOENT;
      if (const int error = refusal_of(*pmu, event); error != 0) return -error;
      event.pmu = pmu->name;
    } else if (attributes.config > kLastSoftwareEvent) {
      return -ENOENT;
    }
    if (open_.size() >= descriptor_limit) return -EMFILE;
    const int descriptor = next_++;
    if (group < 0) event.leader = descriptor;
    open_.emplace(descriptor, event);
    return descriptor;
  }

  /// True if an event counts while others hold `held` counters; nullopt: its group is not
  /// scheduled.
  std::optional<bool> counts(int descriptor, const Pmu& pmu, std::size_t held) const {
    const int leader = open_.at(descriptor).leader;
    const auto places = pmu.places(keys_of_group(leader), held);
    if (!places) return std::nullopt;
    const auto before = std::count_if(open_.begin(), open_.find(descriptor), [&](const auto& one) {
      return one.second.leader == leader && one.second.pmu != "software";
    });
    return places->at(static_cast<std::size_t>(before));
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
    return shared(descriptor, program, {value, all, running});
  }

  /// Returns the rest of a reading if others had counters meanwhile.
  os::Reading shared(int descriptor, const Program& program, const os::Reading& whole) const {
    const Open& event = open_.at(descriptor);
    const Pmu* pmu = pmu_named(event.pmu);
    if (pmu == nullptr) return whole;
    os::Reading reading = whole;
    if (program.silent.contains(event.key)) reading.value = 0;
    auto phases = program.phases;
    if (phases.empty()) phases = {{1000, pmu->taken}};
    for (const Program::Phase& phase : phases) {
      const auto counted = counts(descriptor, *pmu, phase.held);
      // The kernel takes turns: half of the time, half of the count.
      if (!counted) reading.running_ns -= whole.running_ns / 2 * phase.part / 1000;
      if (!counted) reading.value -= reading.value / 2 * phase.part / 1000;
      if (counted == false)
        reading.value -= std::min(reading.value, whole.value * phase.part / 1000);
    }
    return reading;
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
    return current()->read_own(descriptor, words, capacity);
  }

  /// Reads a group on the calling thread, which runs the same while each is enabled.
  long read_own(int leader, std::uint64_t* words, std::size_t capacity) const {
    const Open& event = open_.at(leader);
    const Pmu* pmu = pmu_named(event.pmu);
    std::size_t members = 0;
    bool runs = pmu == nullptr || here().empty() || event.pmu == here();
    for (const auto& [descriptor, other] : open_) {
      if (other.leader != leader) continue;
      if (3 + members >= capacity) return -ENOSPC;
      const auto counted =
          pmu == nullptr ? std::optional(false) : counts(descriptor, *pmu, pmu->taken);
      runs = runs && counted.has_value();
      words[3 + members++] = runs && *counted ? event.periods * 1'000'000 : 0;
    }
    words[0] = members;
    words[1] = event.periods * 1000;
    words[2] = runs ? words[1] : 0;
    return static_cast<long>(3 + members);
  }

  /// The PMU of the CPUs that the calling thread is on; "": any.
  std::string here() const {
    for (const Pmu& pmu : pmus_) {
      const auto cpus = parse_cpu_list(pmu.cpus);
      if (!thread_cpus.empty() && thread_cpus.size() < allowed.size() && cpus &&
          std::includes(cpus->begin(), cpus->end(), thread_cpus.begin(), thread_cpus.end()))
        return pmu.name;
    }
    return thread_is_on;
  }

  static std::optional<std::string> read_file(const std::string& path) {
    return text_in(current()->files, path);
  }

  static std::vector<std::string> list_folder(const std::string& path) {
    return names_in(current()->files, path);
  }

  static long count_folder(const std::string& path) {
    const std::size_t count = list_folder(path).size();
    return count == 0 ? -1 : static_cast<long>(count);
  }

  static constexpr int kFirstFile = 1'000'000;

  static int open_file(const std::string& path) {
    if (!current()->files.contains(path)) return -ENOENT;
    current()->kept_files_.push_back(path);
    return kFirstFile + static_cast<int>(current()->kept_files_.size()) - 1;
  }

  static long read_again(int descriptor, char* bytes, std::size_t capacity) {
    const auto text =
        read_file(current()->kept_files_.at(static_cast<std::size_t>(descriptor - kFirstFile)));
    if (!text) return -ESRCH;
    return static_cast<long>(text->copy(bytes, capacity));
  }

  static std::vector<std::uint32_t> allowed_cpus() { return current()->allowed; }

  static int enable_group(int leader) {
    ++current()->open_.at(leader).periods;
    return 0;
  }

  static int disable_group(int leader) { return current()->open_.contains(leader) ? 0 : -EBADF; }

  static int run_on(const std::vector<std::uint32_t>& cpus) {
    current()->thread_cpus = cpus;
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

  static std::optional<os::ProgramFile> describe_program(const std::string& path) {
    const auto found = current()->programs.find(path);
    return found == current()->programs.end() ? std::nullopt : std::optional(found->second);
  }

  static int open_counter(const os::PerfEventAttr& attributes, const os::CounterPlace& place,
                          int group) {
    return place.thread == 0 ? current()->open(attributes, group)
                             : current()->attach(attributes, place, group);
  }

  static void close_counter(int descriptor) { current()->open_.erase(descriptor); }

  static constexpr int kFirst = 3;
  static constexpr std::uint64_t kLastSoftwareEvent = 11;  // cgroup-switches

  std::vector<std::string> kept_files_;
  std::vector<Pmu> pmus_;
  int paranoid_ = 1;
  std::map<int, Open> open_;
  int next_ = kFirst;
};

/// A processor with the usual terms and some events made of them.
inline void add_usual_terms(FakePerf& perf) {
  perf.add(usual_pmu());
  perf.add_format("cpu", "event", "config:0-7,32-35");
  perf.add_format("cpu", "umask", "config:8-15");
  perf.add_format("cpu", "edge", "config:18");
  perf.add_format("cpu", "ldlat", "config1:0-15");
  perf.add_event("cpu", "cpu-cycles", "event=0x3c");
  perf.add_event("cpu", "mem-loads", "event=0xcd,umask=0x1,ldlat=3");
  perf.add_event("cpu", "asks", "event=0x10,umask=?");
}

/// A processor with two kinds of core, as Intel's.
inline void add_two_kinds(FakePerf& perf) {
  FakePerf::Pmu core{"cpu_core", 8, "0-3", false, 4, {kCycles, kInstructions}, usual_events()};
  core.knows.insert(kRefCycles);
  perf.add(core);
  perf.add({"cpu_atom", 9, "4-7", false, 3, {kCycles, kInstructions}, usual_events()});
  perf.thread_is_on = "cpu_core";
}

/// A machine with such a processor.
class FakeHybrid : public FakePerf {
 public:
  FakeHybrid() { add_two_kinds(*this); }
};

}  // namespace lauka::fakes
