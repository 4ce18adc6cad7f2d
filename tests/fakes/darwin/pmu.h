#pragma once

#include "fakes/darwin/chip.h"
#include "fakes/darwin/process.h"
#include "fakes/darwin/work.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace lauka::darwin {

inline constexpr std::uint32_t kFixedClass = 1;
inline constexpr std::uint32_t kConfigurableClass = 2;
inline constexpr std::uint32_t kPowerClass = 4;

/// How the kernel treats the counters: what differs between versions of macOS, and what may go
/// wrong.
struct PmuRules {
  bool user_only = true;        ///< configurable counters count user space alone (macOS 15)
  bool words_at_start = false;  ///< words take effect when counting is switched on (macOS 26)
  bool forcing_frees_nothing = false;
  std::optional<std::uint16_t> refused_selector{};
  std::optional<std::uint16_t> dead_mask{};  ///< events of this mask read 0 (apmc's M4)
};

/// The counters of the CPUs and kpc: facts, section 3. The calls give 0 or an errno.
class Pmu {
 public:
  Pmu(const Chip& chip, PmuRules rules);

  // ---- the hardware

  /// A thread on `cpu` has worked from `before` to `after`.
  void count(unsigned cpu, const Work& before, const Work& after);

  /// Adds to `buffer` what `cpu` counted since its last switch; null: a thread without a buffer.
  void switch_off(unsigned cpu, Counters* buffer);

  /// What the configurable counter `index` (2 to 9) counts; null: nothing, or what it cannot.
  const ChipEvent* counted_on(std::size_t index) const;
  Modes modes_of(std::size_t index) const;

  // ---- kpc

  std::uint32_t counter_count(std::uint32_t classes) const;
  std::uint32_t config_count(std::uint32_t classes) const;
  /// PMC numbers of the values of `classes`, in their order.
  std::vector<std::size_t> counters_of(std::uint32_t classes) const;
  std::vector<std::uint64_t> words(std::uint32_t classes) const;
  int set_words(std::uint32_t classes, const std::vector<std::uint64_t>& words);
  int set_counting(std::uint32_t classes);
  std::uint32_t counting() const { return counting_; }
  void set_thread_counting(std::uint32_t classes) { thread_counting_ = classes; }
  std::uint32_t thread_counting() const { return thread_counting_; }
  int force(Pid who, bool on);
  Pid forced_by() const { return forced_by_; }
  const Counters& cpu_counters(unsigned cpu) const { return cpus_.at(cpu).counters; }

  PmuRules rules;  // NOLINT(misc-non-private-member-variables-in-classes): tests change them

  /// Another client puts its own words in; nobody is told.
  void overwrite_words(std::uint64_t word);

 private:
  struct Cpu {
    Counters counters{};
    Counters snapshot{};
  };
  std::uint16_t available() const;

  const Chip* chip_;
  std::vector<Cpu> cpus_;
  std::array<std::uint64_t, kCounters> words_{};      ///< as set, by PMC
  std::array<std::uint64_t, kCounters> in_effect_{};  ///< as the hardware has them
  std::uint32_t counting_ = 0;
  std::uint32_t thread_counting_ = 0;
  Pid forced_by_ = 0;
};

}  // namespace lauka::darwin
