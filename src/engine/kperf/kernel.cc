#include "engine/kperf/kernel.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <string_view>
#include <system_error>
#include <variant>

#include <fmt/format.h>

namespace lauka::engine::kperf {
namespace {

constexpr const char* kFramework = "/System/Library/PrivateFrameworks/kperf.framework/kperf";

/// Looks symbols up until one is missing.
class Symbols {
 public:
  Symbols(const os::DarwinCalls& calls, void* library) : calls_(calls), library_(library) {}

  template <typename Function>
  void find(Function*& function, const char* name) {
    if (!missing_.empty()) return;
    // What dlsym gives is a function's address; POSIX has it converted like this.
    function = reinterpret_cast<Function*>(calls_.dlsym(library_, name));
    if (function == nullptr) missing_ = name;
  }

  const std::string& missing() const { return missing_; }

 private:
  const os::DarwinCalls& calls_;
  void* library_;
  std::string missing_;
};

/// 0, or the errno of a call that has just given something below 0.
int settled(int returned) {
  return returned < 0 ? errno : 0;
}

}  // namespace

std::variant<KperfCalls, MissingSymbol> load_framework(const os::DarwinCalls& calls) {
  // It is no file on the disk but in the system's shared cache: only dlopen tells whether it is
  // there. It stays loaded.
  void* library = calls.dlopen(kFramework, os::kLoadLazily);
  if (library == nullptr) return MissingSymbol{};
  KperfCalls found{};
  Symbols symbols(calls, library);
  symbols.find(found.kpc_force_all_ctrs_set, "kpc_force_all_ctrs_set");
  symbols.find(found.kpc_set_counting, "kpc_set_counting");
  symbols.find(found.kpc_get_counting, "kpc_get_counting");
  symbols.find(found.kpc_set_thread_counting, "kpc_set_thread_counting");
  symbols.find(found.kpc_get_thread_counting, "kpc_get_thread_counting");
  symbols.find(found.kpc_get_counter_count, "kpc_get_counter_count");
  symbols.find(found.kpc_get_config_count, "kpc_get_config_count");
  symbols.find(found.kpc_set_config, "kpc_set_config");
  symbols.find(found.kperf_action_count_set, "kperf_action_count_set");
  symbols.find(found.kperf_action_samplers_set, "kperf_action_samplers_set");
  symbols.find(found.kperf_action_filter_set_by_pid, "kperf_action_filter_set_by_pid");
  symbols.find(found.kperf_sample_set, "kperf_sample_set");
  symbols.find(found.kperf_reset, "kperf_reset");
  if (!symbols.missing().empty()) return MissingSymbol{symbols.missing()};
  return found;
}

Kernel::Kernel(const os::DarwinCalls& calls) : calls_(calls) {
  auto loaded = load_framework(calls);
  if (auto* found = std::get_if<KperfCalls>(&loaded))
    framework_ = *found;
  else
    missing_ = std::get<MissingSymbol>(loaded);
}

template <typename T>
int Kernel::set(const char* name, const T& value) const {
  T copy = value;
  return settled(calls_.sysctlbyname(name, nullptr, nullptr, &copy, sizeof copy));
}

template <typename T>
int Kernel::get(const char* name, T& value) const {
  std::size_t length = sizeof value;
  return settled(calls_.sysctlbyname(name, &value, &length, nullptr, 0));
}

bool Kernel::has_counters() const {
  std::uint32_t classes = 0;
  const int error = get("kpc.classes", classes);
  return error != ENOENT && error != ENOTSUP;
}

int Kernel::force_all_counters(bool on) const {
  const int value = on ? 1 : 0;
  return framework_ ? settled(framework_->kpc_force_all_ctrs_set(value))
                    : set("kpc.force_all_ctrs", value);
}

std::uint32_t Kernel::number_of(const char* name, std::uint32_t classes) const {
  std::uint32_t count = 0;
  std::size_t length = sizeof count;
  const int got = calls_.sysctlbyname(name, &count, &length, &classes, sizeof classes);
  return got == 0 ? count : 0;
}

std::uint32_t Kernel::counter_count(std::uint32_t classes) const {
  return framework_ ? framework_->kpc_get_counter_count(classes)
                    : number_of("kpc.counter_count", classes);
}

std::uint32_t Kernel::word_count(std::uint32_t classes) const {
  return framework_ ? framework_->kpc_get_config_count(classes)
                    : number_of("kpc.config_count", classes);
}

int Kernel::set_words(std::span<const std::uint64_t> words) const {
  // The classes, then the words; with room, as the kernel reads as many as it has now.
  std::array<std::uint64_t, 1 + kMaxUserCounters> request{kConfigurableClass};
  std::copy_n(words.begin(), std::min<std::size_t>(words.size(), kMaxUserCounters), &request[1]);
  if (framework_) return settled(framework_->kpc_set_config(kConfigurableClass, &request[1]));
  return set("kpc.config", request);
}

int Kernel::get_words(std::vector<std::uint64_t>& words) const {
  std::array<std::uint64_t, kMaxUserCounters> room{};
  std::uint64_t classes = kConfigurableClass;
  std::size_t length = sizeof room;
  const int error =
      settled(calls_.sysctlbyname("kpc.config", room.data(), &length, &classes, sizeof classes));
  const std::size_t count = error == 0 ? std::min(length / sizeof room[0], room.size()) : 0;
  words.assign(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(count));
  return error;
}

int Kernel::set_counting(std::uint32_t classes) const {
  return framework_ ? settled(framework_->kpc_set_counting(classes)) : set("kpc.counting", classes);
}

int Kernel::set_thread_counting(std::uint32_t classes) const {
  return framework_ ? settled(framework_->kpc_set_thread_counting(classes))
                    : set("kpc.thread_counting", classes);
}

std::uint32_t Kernel::counting() const {
  if (framework_) return framework_->kpc_get_counting();
  return number("kpc.counting").value_or(0);
}

std::uint32_t Kernel::thread_counting() const {
  constexpr std::uint32_t refused = 0xffffffff;
  const std::uint32_t classes = framework_ ? framework_->kpc_get_thread_counting()
                                           : number("kpc.thread_counting").value_or(0);
  return classes == refused ? 0 : classes;
}

int Kernel::machine_counters(std::size_t cpus, std::vector<std::uint64_t>& values) const {
  values.assign(1 + cpus * kMaxUserCounters, 0);
  std::uint64_t request = kBothClasses | kAllCpus;
  std::size_t length = values.size() * sizeof values[0];
  const int error = settled(
      calls_.sysctlbyname("kpc.counters", values.data(), &length, &request, sizeof request));
  values.resize(error == 0 ? std::min(length / sizeof values[0], values.size()) : 0);
  if (!values.empty()) values.erase(values.begin());  // the number of the current CPU
  return error;
}

int Kernel::set_count(const char* name) const {
  const int error = set(name, std::uint32_t{1});
  return error == EINVAL && number(name).value_or(0) >= 1 ? 0 : error;
}

int Kernel::make_action() const {
  return set_count("kperf.action.count");
}

int Kernel::set_action(std::uint32_t action, std::uint32_t samplers) const {
  constexpr std::int32_t any_pid = -1;
  if (framework_) {
    const int error = settled(framework_->kperf_action_samplers_set(action, samplers));
    return error != 0 ? error
                      : settled(framework_->kperf_action_filter_set_by_pid(action, any_pid));
  }
  const int error = set("kperf.action.samplers", std::array<std::uint64_t, 2>{action, samplers});
  if (error != 0) return error;
  return set("kperf.action.filter_by_pid",
             std::array<std::uint64_t, 2>{action, static_cast<std::uint64_t>(any_pid)});
}

int Kernel::set_sampling(bool on) const {
  const std::uint32_t value = on ? 1 : 0;
  return framework_ ? settled(framework_->kperf_sample_set(value)) : set("kperf.sampling", value);
}

int Kernel::reset_sampling() const {
  return framework_ ? settled(framework_->kperf_reset()) : set("kperf.reset", std::uint32_t{1});
}

int Kernel::start_pet(std::uint64_t period_ns, std::uint32_t action) const {
  Timebase timebase;
  if (calls_.mach_timebase_info(&timebase) != 0 || timebase.numerator == 0) return EINVAL;
  const std::uint64_t ticks = period_ns * timebase.denominator / timebase.numerator;
  constexpr std::uint64_t timer = 0;
  if (const int error = set_count("kperf.timer.count"); error != 0) return error;
  if (const int error = set("kperf.timer.period", std::array{timer, ticks}); error != 0)
    return error;
  // Before the timer becomes PET's, which takes the action that stands there now.
  if (const int error = set("kperf.timer.action", std::array<std::uint64_t, 2>{timer, action});
      error != 0)
    return error;
  if (const int error = set("kperf.timer.pet_timer", std::uint32_t{timer}); error != 0)
    return error;
  return set("kperf.lightweight_pet", std::uint32_t{1});
}

int Kernel::stop_pet() const {
  return set("kperf.lightweight_pet", std::uint32_t{0});
}

int Kernel::trigger_at_thread_end(std::uint32_t action) const {
  KdebugTrigger trigger;
  trigger.codes[0] = kMatchEvent;
  trigger.debugid = kThreadTerminatePid;
  if (const int error = set("kperf.kdebug.filter", trigger); error != 0) return error;
  return set("kperf.kdebug.action", action);
}

int Kernel::stop_trigger() const {
  return set("kperf.kdebug.action", std::uint32_t{0});
}

std::optional<std::uint32_t> Kernel::number(const char* name) const {
  std::uint32_t value = 0;
  if (get(name, value) != 0) return std::nullopt;
  return value;
}

std::string Kernel::text(const char* name) const {
  std::array<char, 256> bytes{};
  std::size_t length = bytes.size() - 1;
  if (calls_.sysctlbyname(name, bytes.data(), &length, nullptr, 0) != 0) return "";
  return bytes.data();
}

std::string Kernel::owner_of_tracing() const {
  constexpr std::uint32_t foreground = 1;
  if (number("ktrace.state").value_or(0) != foreground) return "";
  const auto pid = static_cast<std::int32_t>(number("ktrace.owning_pid").value_or(0));
  std::array<char, 256> bytes{};
  if (pid <= 0 || calls_.proc_name(pid, bytes.data(), bytes.size() - 1) <= 0) return "";
  return fmt::format("{} (process {})", bytes.data(), pid);
}

Error reason_of(Asked asked, int error, const Kernel& kernel) {
  switch (error) {
    case EPERM:
      return {"counting events needs root", "run 'sudo lauka ...'; the commands still run as you"};
    case ENOENT:
    case ENOTSUP:
      return {"this kernel has no counters, as in a virtual machine", ""};
    case EACCES:
      if (asked != Asked::Force) break;
      return {"another process, such as Instruments, holds the counters", "quit it"};
    case EBUSY:
      if (asked != Asked::Trace)
        return {"a service of the system holds the counters", "try later, or restart the Mac"};
      {
        const std::string owner = kernel.owner_of_tracing();
        if (owner.empty())
          return {"the kernel's tracing is busy", "quit what traces, such as Instruments"};
        return {fmt::format("{} has the kernel's tracing", owner), fmt::format("quit {}", owner)};
      }
    default:
      break;
  }
  return {fmt::format("the kernel refused to count: {}", std::generic_category().message(error)),
          "please report it"};
}

std::string forbidden_event(const std::string& name, std::uint64_t word) {
  return fmt::format("not counted: {} (this kernel does not allow its selector {:#x} here)", name,
                     word & kSelectorBits);
}

}  // namespace lauka::engine::kperf
