#pragma once

#include "engine/kperf/abi.h"
#include "engine/kperf/framework.h"
#include "os/darwin_calls.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lauka::engine::kperf {

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
  int is_forced(bool& on) const;
  /// 0 where the kernel does not tell.
  std::uint32_t counter_count(std::uint32_t classes) const;
  std::uint32_t word_count(std::uint32_t classes) const;
  int set_words(std::span<const std::uint64_t> words) const;
  int get_words(std::vector<std::uint64_t>& words) const;
  int set_counting(std::uint32_t classes) const;
  int set_thread_counting(std::uint32_t classes) const;
  std::uint32_t counting() const;
  std::uint32_t thread_counting() const;
  /// The counters of both classes, each summed over all CPUs.
  int machine_counters(std::size_t cpus, std::vector<std::uint64_t>& sums) const;

  // kperf
  int set_action_count(std::uint32_t count) const;
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
  std::string process_name(std::int32_t pid) const;

 private:
  template <typename T>
  int set(const char* name, const T& value) const;
  template <typename T>
  int get(const char* name, T& value) const;
  std::uint32_t number_of(const char* name, std::uint32_t classes) const;

  const os::DarwinCalls& calls_;
  std::optional<KperfCalls> framework_;
  std::optional<MissingSymbol> missing_;
};

}  // namespace lauka::engine::kperf
