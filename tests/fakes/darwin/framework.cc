#include "fakes/darwin/host.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace lauka::darwin {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// The functions get no argument that would lead to the model.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
const os::DarwinCalls* system_calls = nullptr;

template <typename T>
int set(const char* name, T value) {
  return system_calls->sysctlbyname(name, nullptr, nullptr, &value, sizeof value);
}

int set_pair(const char* name, u64 which, u64 value) {
  return set(name, std::array<u64, 2>{which, value});
}

u32 get(const char* name, u32 on_error) {
  u32 value = 0;
  std::size_t length = sizeof value;
  return system_calls->sysctlbyname(name, &value, &length, nullptr, 0) == 0 ? value : on_error;
}

u32 count(const char* name, u32 classes) {
  u32 value = 0;
  std::size_t length = sizeof value;
  const int given = system_calls->sysctlbyname(name, &value, &length, &classes, sizeof classes);
  return given == 0 ? value : 0;
}

int force_set(int on) {
  return set("kpc.force_all_ctrs", on);
}
int set_counting(u32 classes) {
  return set("kpc.counting", classes);
}
u32 get_counting() {
  return get("kpc.counting", 0);
}
int set_thread_counting(u32 classes) {
  return set("kpc.thread_counting", classes);
}
u32 get_thread_counting() {
  return get("kpc.thread_counting", ~u32{0});
}
u32 counter_count(u32 classes) {
  return count("kpc.counter_count", classes);
}
u32 config_count(u32 classes) {
  return count("kpc.config_count", classes);
}

int set_config(u32 classes, u64* words) {
  std::vector<u64> all = {classes};
  all.insert(all.end(), words, words + config_count(classes));
  const std::size_t bytes = all.size() * sizeof(u64);
  return system_calls->sysctlbyname("kpc.config", nullptr, nullptr, all.data(), bytes);
}

int samplers_set(u32 action, u32 mask) {
  return set_pair("kperf.action.samplers", action, mask);
}
int filter_by_pid(u32 action, std::int32_t pid) {
  return set_pair("kperf.action.filter_by_pid", action, static_cast<u64>(pid));
}
int sample_set(u32 on) {
  return set("kperf.sampling", on);
}
int reset() {
  return set("kperf.reset", u32{1});
}

template <typename Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);  // as dlsym does
}

}  // namespace

void* framework_symbol(const os::DarwinCalls& calls, const std::string& name) {
  system_calls = &calls;
  static const std::map<std::string, void*> kSymbols = {
      {"kpc_force_all_ctrs_set", address(force_set)},
      {"kpc_set_counting", address(set_counting)},
      {"kpc_get_counting", address(get_counting)},
      {"kpc_set_thread_counting", address(set_thread_counting)},
      {"kpc_get_thread_counting", address(get_thread_counting)},
      {"kpc_get_counter_count", address(counter_count)},
      {"kpc_set_config", address(set_config)},
      {"kperf_action_samplers_set", address(samplers_set)},
      {"kperf_action_filter_set_by_pid", address(filter_by_pid)},
      {"kperf_sample_set", address(sample_set)},
      {"kperf_reset", address(reset)},
  };
  const auto found = kSymbols.find(name);
  return found == kSymbols.end() ? nullptr : found->second;
}

}  // namespace lauka::darwin
