#include "darwin/kperf_bench.h"

#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

// Apple's framework, made of functions that lead to the model's sysctls as the real ones lead to
// the kernel's.

namespace lauka::darwin {
namespace {

// The framework's functions get no argument that would lead to the model.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
const os::DarwinCalls* framework_model = nullptr;
std::string_view missing_symbol;
int framework_calls = 0;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

template <typename T>
int set(const char* name, T value) {
  ++framework_calls;
  return framework_model->sysctlbyname(name, nullptr, nullptr, &value, sizeof value);
}

template <typename T>
int get(const char* name, T* value) {
  ++framework_calls;
  std::size_t length = sizeof *value;
  return framework_model->sysctlbyname(name, value, &length, nullptr, 0);
}

std::uint32_t count(const char* name, std::uint32_t classes) {
  ++framework_calls;
  std::uint32_t value = 0;
  std::size_t length = sizeof value;
  return framework_model->sysctlbyname(name, &value, &length, &classes, sizeof classes) == 0 ? value
                                                                                             : 0;
}

int force_set(int on) {
  return set("kpc.force_all_ctrs", on);
}
int set_counting(std::uint32_t classes) {
  return set("kpc.counting", classes);
}
int set_thread_counting(std::uint32_t classes) {
  return set("kpc.thread_counting", classes);
}
std::uint32_t get_counting() {
  std::uint32_t classes = 0;
  return get("kpc.counting", &classes) == 0 ? classes : 0;
}
std::uint32_t get_thread_counting() {
  std::uint32_t classes = 0;
  return get("kpc.thread_counting", &classes) == 0 ? classes : 0xffffffff;
}
std::uint32_t counter_count(std::uint32_t classes) {
  return count("kpc.counter_count", classes);
}
std::uint32_t config_count(std::uint32_t classes) {
  return count("kpc.config_count", classes);
}
int set_config(std::uint32_t classes, std::uint64_t* words) {
  ++framework_calls;
  std::vector<std::uint64_t> request = {classes};
  request.insert(request.end(), words, words + config_count(classes));
  return framework_model->sysctlbyname("kpc.config", nullptr, nullptr, request.data(),
                                       request.size() * sizeof(std::uint64_t));
}
int get_config(std::uint32_t classes, std::uint64_t* words) {
  ++framework_calls;
  std::uint64_t request = classes;
  std::size_t length = config_count(classes) * sizeof(std::uint64_t);
  return framework_model->sysctlbyname("kpc.config", words, &length, &request, sizeof request);
}
int cpu_counters(bool all, std::uint32_t classes, int* current, std::uint64_t* values) {
  ++framework_calls;
  std::uint64_t request = classes | (all ? 0x80000000U : 0U);
  std::array<std::uint64_t, 1025> room{};
  std::size_t length = sizeof room;
  const int got =
      framework_model->sysctlbyname("kpc.counters", room.data(), &length, &request, sizeof request);
  if (got != 0) return got;
  *current = static_cast<int>(room[0]);
  std::memcpy(values, &room[1], length - sizeof(std::uint64_t));
  return 0;
}
int action_count(std::uint32_t number) {
  return set("kperf.action.count", number);
}
int action_samplers(std::uint32_t action, std::uint32_t samplers) {
  return set("kperf.action.samplers", std::array<std::uint64_t, 2>{action, samplers});
}
int action_filter(std::uint32_t action, std::int32_t pid) {
  return set("kperf.action.filter_by_pid",
             std::array<std::uint64_t, 2>{action, static_cast<std::uint64_t>(pid)});
}
int sample_set(std::uint32_t on) {
  return set("kperf.sampling", on);
}
int reset() {
  return set("kperf.reset", std::uint32_t{1});
}

struct Symbol {
  std::string_view name;
  void* address;
};

template <typename Function>
Symbol symbol(std::string_view name, Function* function) {
  return {name, reinterpret_cast<void*>(function)};
}

void* find_symbol(void* /*library*/, const char* name) {
  static const std::array kSymbols = {symbol("kpc_force_all_ctrs_set", force_set),
                                      symbol("kpc_set_counting", set_counting),
                                      symbol("kpc_get_counting", get_counting),
                                      symbol("kpc_set_thread_counting", set_thread_counting),
                                      symbol("kpc_get_thread_counting", get_thread_counting),
                                      symbol("kpc_get_counter_count", counter_count),
                                      symbol("kpc_get_config_count", config_count),
                                      symbol("kpc_set_config", set_config),
                                      symbol("kpc_get_config", get_config),
                                      symbol("kpc_get_cpu_counters", cpu_counters),
                                      symbol("kperf_action_count_set", action_count),
                                      symbol("kperf_action_samplers_set", action_samplers),
                                      symbol("kperf_action_filter_set_by_pid", action_filter),
                                      symbol("kperf_sample_set", sample_set),
                                      symbol("kperf_reset", reset)};
  if (name == missing_symbol) return nullptr;
  for (const Symbol& one : kSymbols)
    if (one.name == name) return one.address;
  return nullptr;
}

void* open_framework(const char* path, int /*mode*/) {
  static int library = 0;
  return std::string_view(path).ends_with("/kperf.framework/kperf") ? &library : nullptr;
}

/// The model with Apple's framework.
struct WithFramework {
  explicit WithFramework(std::string_view without = "") : calls(bench.driver.calls) {
    framework_model = &bench.driver.calls;
    missing_symbol = without;
    framework_calls = 0;
    calls.dlopen = open_framework;
    calls.dlsym = find_symbol;
  }

  void make(StrategyChoice strategy) {
    auto made = engine::kperf::make_kperf_engine({calls, bench.launcher.get(), false, strategy},
                                                 database_of(bench.driver.host.kernel.setup.chip));
    REQUIRE(made.has_value());
    bench.engine = *std::move(made);
  }

  KperfBench bench;
  os::DarwinCalls calls;
};

}  // namespace

TEST_CASE("through Apple's framework the counts are the same, and all is given back") {
  WithFramework with;
  with.make(StrategyChoice::Auto);
  REQUIRE(with.bench.select() == "");
  CHECK(with.bench.notes() == "");
  const auto counted = with.bench.run("run 3ms\nthreads 5 {\nrun 200us e\n}\njoin");
  CHECK(with.bench.named(counted).at("inst_all") == with.bench.truth().events.at("INST_ALL"));
  CHECK(with.bench.named(counted).at("cycles") == with.bench.truth().cycles);
  CHECK(framework_calls > 20);
  with.bench.armed.clear();
  with.bench.engine.reset();
  CHECK(with.bench.driver.host.still_held() == std::vector<std::string>{});
}

TEST_CASE("through Apple's framework the whole machine is counted as by sysctl") {
  WithFramework with;
  with.make(StrategyChoice::Machine);
  REQUIRE(with.bench.select() == "");
  const auto counted = with.bench.run("run 30ms");
  const Truth truth = with.bench.truth();
  CHECK(with.bench.named(counted).at("instructions").value() >= truth.instructions);
  CHECK(with.bench.named(counted).at("instructions").value() < 2 * truth.instructions);
}

TEST_CASE("a framework that lacks a function is not used at all, and the function is reported") {
  WithFramework with("kpc_set_config");
  with.make(StrategyChoice::Auto);
  REQUIRE(with.bench.select() == "");
  CHECK(with.bench.notes() ==
        "macOS changed its private framework (kpc_set_config is missing); lauka uses sysctls\n");
  const auto counted = with.bench.run("run 3ms");
  CHECK(with.bench.named(counted).at("inst_all") == with.bench.truth().events.at("INST_ALL"));
  CHECK(framework_calls == 0);
}

}  // namespace lauka::darwin
