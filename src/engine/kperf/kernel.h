#pragma once

#include "core/result.h"
#include "engine/kperf/abi.h"
#include "os/darwin_calls.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace lauka::engine::kperf {

/// What lauka uses of Apple's private kperf.framework, under the framework's own names. Each gives
/// 0, or -1 with errno, unless it gives a value. What would hide how much the kernel gave (words,
/// values of all CPUs) is asked for by sysctl instead.
struct KperfCalls {
  int (*kpc_force_all_ctrs_set)(int on);
  int (*kpc_set_counting)(std::uint32_t classes);
  std::uint32_t (*kpc_get_counting)();
  int (*kpc_set_thread_counting)(std::uint32_t classes);
  std::uint32_t (*kpc_get_thread_counting)();
  std::uint32_t (*kpc_get_counter_count)(std::uint32_t classes);
  std::uint32_t (*kpc_get_config_count)(std::uint32_t classes);
  int (*kpc_set_config)(std::uint32_t classes, std::uint64_t* words);
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

/// The kernel's counters (kpc) and its sampling of them (kperf): through Apple's framework where
/// all of it is there, else by the sysctls that it wraps. Timers and triggers go by sysctl always,
/// since the framework's names for their arguments are misleading. Functions that give an int give
/// 0 or an errno. Source: XNU osfmk/kern/kern_kpc.c, osfmk/kperf/kperfbsd.c.
class Kernel {
 public:
  explicit Kernel(const os::DarwinCalls& calls);

  /// What is missing of the framework; none: all is there.
  const std::optional<MissingSymbol>& missing() const { return missing_; }

  // kpc
  /// False in a virtual machine.
  bool has_counters() const;
  int force_all_counters(bool on) const;
  /// 0 where the kernel does not tell.
  std::uint32_t counter_count(std::uint32_t classes) const;
  std::uint32_t word_count(std::uint32_t classes) const;
  int set_words(std::span<const std::uint64_t> words) const;
  int get_words(std::vector<std::uint64_t>& words) const;
  int set_counting(std::uint32_t classes) const;
  int set_thread_counting(std::uint32_t classes) const;
  std::uint32_t counting() const;
  std::uint32_t thread_counting() const;
  /// The counters of both classes, CPU by CPU, as many values as the kernel gave: a CPU that is
  /// switched off makes them fewer.
  int machine_counters(std::size_t cpus, std::vector<std::uint64_t>& values) const;

  // kperf
  /// Makes action 1 be there. Counts of actions and timers never shrink before a restart, so that
  /// more of them, from an earlier tool, are taken as they are.
  int make_action() const;
  /// What action `action` (from 1) samples, of all processes.
  int set_action(std::uint32_t action, std::uint32_t samplers) const;
  int set_sampling(bool on) const;
  int reset_sampling() const;
  /// Each period a thread that comes on a CPU is sampled on itself by `action`.
  int start_pet(std::uint64_t period_ns, std::uint32_t action) const;
  int stop_pet() const;
  /// `action` is taken on the thread that ends, just after the trace's record of its end.
  int trigger_at_thread_end(std::uint32_t action) const;
  int stop_trigger() const;

  // facts
  /// None where there is no such sysctl.
  std::optional<std::uint32_t> number(const char* name) const;
  std::string text(const char* name) const;
  /// "Instruments (process 77)": who has the kernel's tracing so that nobody else may take it;
  /// empty: nobody has. The pid of an owner that has ended stays, and one in the background gives
  /// way.
  std::string owner_of_tracing() const;

 private:
  template <typename T>
  int set(const char* name, const T& value) const;
  template <typename T>
  int get(const char* name, T& value) const;
  int set_count(const char* name) const;
  std::uint32_t number_of(const char* name, std::uint32_t classes) const;

  const os::DarwinCalls& calls_;
  std::optional<KperfCalls> framework_;
  std::optional<MissingSymbol> missing_;
};

/// What was asked of the kernel when it refused.
enum class Asked : unsigned char {
  Force,  ///< all counters for lauka
  Count,  ///< kpc: words, counting
  Trace,  ///< kperf and kdebug
};

/// Why the kernel refused with `error`, and the way out. `kernel` tells who has the tracing.
Error reason_of(Asked asked, int error, const Kernel& kernel);

/// What is told of an event that this kernel refuses to count.
std::string forbidden_event(const std::string& name, std::uint64_t word);

}  // namespace lauka::engine::kperf
