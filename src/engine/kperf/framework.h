#pragma once

#include "os/darwin_calls.h"

#include <cstdint>
#include <string>
#include <variant>

namespace lauka::engine::kperf {

/// What lauka uses of Apple's private kperf.framework, under the framework's own names. Each gives
/// 0, or -1 with errno, unless it gives a value.
struct KperfCalls {
  int (*kpc_force_all_ctrs_set)(int on);
  int (*kpc_force_all_ctrs_get)(int* on);
  int (*kpc_set_counting)(std::uint32_t classes);
  std::uint32_t (*kpc_get_counting)();
  int (*kpc_set_thread_counting)(std::uint32_t classes);
  std::uint32_t (*kpc_get_thread_counting)();
  std::uint32_t (*kpc_get_counter_count)(std::uint32_t classes);
  std::uint32_t (*kpc_get_config_count)(std::uint32_t classes);
  int (*kpc_set_config)(std::uint32_t classes, std::uint64_t* words);
  int (*kpc_get_config)(std::uint32_t classes, std::uint64_t* words);
  int (*kpc_get_cpu_counters)(bool all_cpus, std::uint32_t classes, int* current_cpu,
                              std::uint64_t* values);
  int (*kperf_action_count_set)(std::uint32_t count);
  int (*kperf_action_samplers_set)(std::uint32_t action, std::uint32_t samplers);
  int (*kperf_action_filter_set_by_pid)(std::uint32_t action, std::int32_t pid);
  int (*kperf_sample_set)(std::uint32_t on);
  int (*kperf_reset)();
};

/// The framework's functions, all of them, or which is missing ("kpc_set_config"; empty: the whole
/// framework).
struct MissingSymbol {
  std::string name;
};
std::variant<KperfCalls, MissingSymbol> load_framework(const os::DarwinCalls& calls);

}  // namespace lauka::engine::kperf
