#pragma once

#include "fakes/darwin/process.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace lauka::darwin {

namespace sampler_bit {
inline constexpr std::uint32_t kThreadInfo = 1U << 0;
inline constexpr std::uint32_t kThreadCounters = 1U << 4;
inline constexpr std::uint32_t kCpuCounters = 1U << 5;
inline constexpr std::uint32_t kInsCyc = 1U << 12;
}  // namespace sampler_bit

/// Periods below which kperf's timers do not go, in ticks of the machine.
struct LeastPeriods {
  std::uint64_t timer = 1'200;
  std::uint64_t pet = 24'000;
  std::uint64_t background = 24'000;  ///< of any timer, while a background tool owns the tracing
};

/// The configuration of kperf: facts, sections 0, 4.3, 4.4, 4.7. The calls give 0 or an errno.
class Sampler {
 public:
  struct Action {
    std::uint32_t samplers = 0;
    std::uint32_t userdata = 0;
    Pid pid_filter = -1;
    std::uint32_t user_frames = 256;
    std::uint32_t kernel_frames = 128;
  };
  struct Timer {
    std::uint64_t period = 0;  ///< ticks
    std::uint32_t action = 0;
  };
  static constexpr std::uint32_t kMaxActions = 32;
  static constexpr std::uint32_t kMaxTimers = 8;
  static constexpr std::uint32_t kNoPet = 999;
  static constexpr std::size_t kMaxDebugids = 32;

  explicit Sampler(LeastPeriods least) : least_(least) {}

  // Actions count from 1, timers from 0. The number of actions never becomes smaller.
  int set_action_count(std::uint32_t count);
  std::uint32_t action_count() const { return static_cast<std::uint32_t>(actions_.size()); }
  /// Returns null if there is no such action.
  Action* action(std::uint32_t number);
  const Action* action(std::uint32_t number) const;
  int set_samplers(std::uint32_t action, std::uint32_t mask);
  int set_userdata(std::uint32_t action, std::uint32_t value);
  int set_pid_filter(std::uint32_t action, Pid pid);
  int set_user_frames(std::uint32_t action, std::uint32_t depth);
  int set_kernel_frames(std::uint32_t action, std::uint32_t depth);

  int set_timer_count(std::uint32_t count);
  std::uint32_t timer_count() const { return timer_count_; }
  /// Returns null if there is no such timer.
  const Timer* timer(std::uint32_t number) const;
  int set_period(std::uint32_t timer, std::uint64_t ticks, bool in_background);
  int set_timer_action(std::uint32_t timer, std::uint32_t action);
  int set_pet_timer(std::uint32_t timer, bool in_background);
  int set_lightweight(std::int32_t value);
  int set_sampling(std::uint32_t on);

  /// In the sysctl's format: 16 bytes of nibbles, then debugids.
  int set_trigger_filter(std::span<const std::uint8_t> bytes);
  int set_trigger_action(std::int32_t action);
  std::uint32_t trigger_action() const { return trigger_action_; }
  bool triggers(std::uint32_t debugid) const;
  const std::vector<std::uint8_t>& trigger_filter() const { return filter_; }

  bool is_sampling() const { return sampling_; }
  bool is_lightweight() const { return lightweight_; }
  std::uint32_t pet_timer() const { return pet_timer_; }
  std::uint32_t pet_action() const { return pet_action_; }
  /// Something that goes on or that a run would find; a mere number of actions is nothing.
  bool is_configured() const;
  void reset();

  /// Settings that few tools use and the model only keeps.
  struct Rest {
    std::int32_t switches = 0;  ///< kdbg_cswitch
    std::int32_t idle_rate = 15;
    std::uint64_t wait_threshold = 0, cpu_threshold = 0;
    std::int32_t wait_action = 0, cpu_action = 0;
  };
  Rest rest{};  // NOLINT(misc-non-private-member-variables-in-classes): values without rules

 private:
  std::uint64_t least_period(bool pet, bool in_background) const;

  LeastPeriods least_;
  std::vector<Action> actions_{};
  std::array<Timer, kMaxTimers> timers_{};  ///< those beyond the count stay unchanged
  std::uint32_t timer_count_ = 0;
  std::uint32_t pet_timer_ = kNoPet;
  std::uint32_t pet_action_ = 0;  ///< when the PET timer was set
  bool lightweight_ = false;
  bool sampling_ = false;
  std::vector<std::uint8_t> filter_{};
  std::uint32_t trigger_action_ = 0;
};

}  // namespace lauka::darwin
