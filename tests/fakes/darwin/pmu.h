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
inline constexpr std::uint32_t kRawClass = 8;

/// The selectors that kpc takes.
enum class Selectors : std::uint8_t {
  Any,        ///< before macOS 14.4
  OfTheList,  ///< those in the kernel's list for the board (macOS 15.4)
  OfTheChip,  ///< those that the processor knows (macOS 26)
};

Selectors selectors_of(int macos_version);

/// The kernel's treatment of the counters: differences between versions of macOS, and faults.
struct PmuRules {
  Selectors selectors = Selectors::OfTheList;
  bool user_only = true;        ///< configurable counters count user space alone (macOS 15)
  bool words_at_start = false;  ///< words take effect when counting is switched on (macOS 26)
  bool forcing_frees_nothing = false;
  std::optional<std::uint16_t> refused_selector{};
  std::optional<std::uint16_t> dead_mask{};  ///< events of this mask read 0 (apmc's M4)
};

/// Words of the raw class: registers that the model ignores.
inline constexpr std::size_t kRawWords = 11;

/// The counters of the CPUs and kpc: facts, sections 0 and 3. The calls give 0 or an errno.
class Pmu {
 public:
  Pmu(const Chip& chip, PmuRules rules);

  // ---- the hardware

  /// A thread on `cpu` has worked from `before` to `after`.
  void count(unsigned cpu, const Work& before, const Work& after);

  /// Adds the counts of `cpu` since its last switch to `buffer`; null: a thread without a buffer.
  void switch_off(unsigned cpu, Counters* buffer);

  /// Returns the event on the configurable counter `index` (2 to 9); null: nothing, or one that it
  /// cannot count.
  const ChipEvent* counted_on(std::size_t index) const;
  Modes modes_of(std::size_t index) const;

  // ---- kpc

  std::uint32_t counter_count(std::uint32_t classes) const;
  std::uint32_t config_count(std::uint32_t classes) const;
  /// PMC numbers of the values of `classes`, in their order.
  std::vector<std::size_t> counters_of(std::uint32_t classes) const;
  /// As the registers have them: with the levels that are in effect.
  int words(std::uint32_t classes, std::vector<std::uint64_t>& words) const;
  /// `words` has at least config_count of them; all or none are set.
  int set_words(std::uint32_t classes, const std::vector<std::uint64_t>& words);
  void set_counting(std::uint32_t classes);
  /// Returns the classes of which all present counters run.
  std::uint32_t counting() const;
  void set_thread_counting(std::uint32_t classes);
  std::uint32_t thread_counting() const { return thread_counting_; }
  /// The counters that threads have values of: those in use when threads began to be counted.
  const std::vector<std::size_t>& thread_counters() const { return thread_counters_; }
  int force(std::uint64_t who, bool on);
  /// Returns the unique id of the process that has forced the counters; 0 if none.
  std::uint64_t forced_by() const { return forced_by_; }
  /// It has ended.
  void forget(std::uint64_t who);
  const Counters& cpu_counters(unsigned cpu) const { return cpus_.at(cpu).counters; }

  PmuRules rules;  // NOLINT(misc-non-private-member-variables-in-classes): tests change them

  /// Another client puts its own words in, unnoticed.
  void overwrite_words(std::uint64_t word);

 private:
  struct Cpu {
    Counters counters{};
    Counters snapshot{};
  };
  std::uint16_t available() const;
  /// Bits of the configurable counters of `classes`.
  std::uint16_t mask_of(std::uint32_t classes) const;
  bool raw_is_held() const;
  bool is_allowed(std::uint64_t word) const;
  std::uint64_t register_of(std::uint64_t word) const;

  const Chip* chip_;
  std::vector<Cpu> cpus_;
  std::array<std::uint64_t, kCounters> words_{};      ///< as set, by PMC
  std::array<std::uint64_t, kCounters> in_effect_{};  ///< as the hardware has them
  std::array<std::uint64_t, kRawWords> raw_{};
  std::uint16_t enabled_ = 0;
  std::uint32_t running_classes_ = 0;
  std::uint16_t running_mask_ = 0;
  std::uint32_t thread_counting_ = 0;
  std::vector<std::size_t> thread_counters_{};
  std::uint64_t forced_by_ = 0;
};

}  // namespace lauka::darwin
