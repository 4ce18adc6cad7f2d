#include "engine/kperf/framework.h"

#include <string_view>

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

}  // namespace

std::variant<KperfCalls, MissingSymbol> load_framework(const os::DarwinCalls& calls) {
  // It is no file on the disk but in the system's shared cache: only dlopen tells whether it is
  // there. It stays loaded.
  void* library = calls.dlopen(kFramework, os::kLoadLazily);
  if (library == nullptr) return MissingSymbol{};
  KperfCalls found{};
  Symbols symbols(calls, library);
  symbols.find(found.kpc_force_all_ctrs_set, "kpc_force_all_ctrs_set");
  symbols.find(found.kpc_force_all_ctrs_get, "kpc_force_all_ctrs_get");
  symbols.find(found.kpc_set_counting, "kpc_set_counting");
  symbols.find(found.kpc_get_counting, "kpc_get_counting");
  symbols.find(found.kpc_set_thread_counting, "kpc_set_thread_counting");
  symbols.find(found.kpc_get_thread_counting, "kpc_get_thread_counting");
  symbols.find(found.kpc_get_counter_count, "kpc_get_counter_count");
  symbols.find(found.kpc_get_config_count, "kpc_get_config_count");
  symbols.find(found.kpc_set_config, "kpc_set_config");
  symbols.find(found.kpc_get_config, "kpc_get_config");
  symbols.find(found.kpc_get_cpu_counters, "kpc_get_cpu_counters");
  symbols.find(found.kperf_action_count_set, "kperf_action_count_set");
  symbols.find(found.kperf_action_samplers_set, "kperf_action_samplers_set");
  symbols.find(found.kperf_action_filter_set_by_pid, "kperf_action_filter_set_by_pid");
  symbols.find(found.kperf_sample_set, "kperf_sample_set");
  symbols.find(found.kperf_reset, "kperf_reset");
  if (!symbols.missing().empty()) return MissingSymbol{symbols.missing()};
  return found;
}

}  // namespace lauka::engine::kperf
