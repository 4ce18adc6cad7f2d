#include "engine/kperf/kernel.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <variant>

namespace lauka::engine::kperf {
namespace {

/// 0, or the errno of a call that has just given something below 0.
int settled(int returned) {
  return returned < 0 ? errno : 0;
}

}  // namespace

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

int Kernel::is_forced(bool& on) const {
  int value = 0;
  const int error = framework_ ? settled(framework_->kpc_force_all_ctrs_get(&value))
                               : get("kpc.force_all_ctrs", value);
  on = value != 0;
  return error;
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
  std::vector<std::uint64_t> request = {kConfigurableClass};
  request.insert(request.end(), words.begin(), words.end());
  if (framework_) return settled(framework_->kpc_set_config(kConfigurableClass, &request[1]));
  return settled(calls_.sysctlbyname("kpc.config", nullptr, nullptr, request.data(),
                                     request.size() * sizeof(std::uint64_t)));
}

int Kernel::get_words(std::vector<std::uint64_t>& words) const {
  // The framework writes as many words as the kernel has now, which may have become more.
  std::array<std::uint64_t, kMaxUserCounters> room{};
  const std::size_t count = std::min<std::size_t>(word_count(kConfigurableClass), room.size());
  std::uint64_t classes = kConfigurableClass;
  std::size_t length = count * sizeof(std::uint64_t);
  const int error = framework_
                        ? settled(framework_->kpc_get_config(kConfigurableClass, room.data()))
                        : settled(calls_.sysctlbyname("kpc.config", room.data(), &length, &classes,
                                                      sizeof classes));
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

int Kernel::machine_counters(std::size_t cpus, std::vector<std::uint64_t>& sums) const {
  const std::size_t each = counter_count(kBothClasses);
  // The sysctl puts the number of the current CPU before the values.
  const std::size_t before = framework_ ? 0 : 1;
  std::vector<std::uint64_t> values(cpus * each + 1);
  int error = 0;
  if (framework_) {
    int current = 0;
    error = settled(framework_->kpc_get_cpu_counters(true, kBothClasses, &current, values.data()));
  } else {
    std::uint64_t request = kBothClasses | kAllCpus;
    std::size_t length = values.size() * sizeof(std::uint64_t);
    error = settled(
        calls_.sysctlbyname("kpc.counters", values.data(), &length, &request, sizeof request));
  }
  sums.assign(each, 0);
  for (std::size_t i = 0; i < cpus * each; ++i) sums[i % each] += values[before + i];
  return error;
}

int Kernel::set_action_count(std::uint32_t count) const {
  return framework_ ? settled(framework_->kperf_action_count_set(count))
                    : set("kperf.action.count", count);
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
  if (const int error = set("kperf.timer.count", std::uint32_t{1}); error != 0) return error;
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

std::string Kernel::process_name(std::int32_t pid) const {
  std::array<char, 256> bytes{};
  if (calls_.proc_name(pid, bytes.data(), bytes.size() - 1) <= 0) return "";
  return bytes.data();
}

}  // namespace lauka::engine::kperf
