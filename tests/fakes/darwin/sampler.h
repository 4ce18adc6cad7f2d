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

/// The configuration of kperf: facts, 4.3, 4.4, 4.7. The calls give 0 or an errno.
class Sampler {
 public:
  struct Action {
    std::uint32_t samplers = 0;
    std::uint32_t userdata = 0;
    Pid pid_filter = -1;
  };
  struct Timer {
    std::uint64_t period_ns = 0;
    std::uint32_t action = 0;
  };
  static constexpr std::uint32_t kMostActions = 32;
  static constexpr std::uint32_t kMostTimers = 8;
  static constexpr std::uint32_t kNoPet = ~std::uint32_t{0};

  // Actions count from 1, timers from 0.
  int set_action_count(std::uint32_t count);
  std::uint32_t action_count() const { return static_cast<std::uint32_t>(actions_.size()); }
  /// Null where there is no such action.
  Action* action(std::uint64_t number);
  int set_samplers(std::uint64_t action, std::uint32_t mask);

  int set_timer_count(std::uint32_t count);
  std::uint32_t timer_count() const { return static_cast<std::uint32_t>(timers_.size()); }
  Timer* timer(std::uint64_t number);
  int set_period(std::uint64_t timer, std::uint64_t ns);
  int set_timer_action(std::uint64_t timer, std::uint64_t action);
  int set_pet_timer(std::uint32_t timer);
  int set_lightweight(bool on);
  int set_sampling(bool on);

  /// As the sysctl's bytes have it: 16 bytes of nibbles, then debugids. 16 bytes or fewer clear it.
  int set_trigger_filter(std::span<const std::uint8_t> bytes);
  int set_trigger_action(std::uint32_t action);
  std::uint32_t trigger_action() const { return trigger_action_; }
  bool triggers(std::uint32_t debugid) const;
  const std::vector<std::uint8_t>& trigger_filter() const { return filter_; }

  bool is_sampling() const { return sampling_; }
  bool is_lightweight() const { return lightweight_; }
  std::uint32_t pet_timer() const { return pet_timer_; }
  std::uint32_t pet_action() const { return pet_action_; }
  std::uint64_t pet_period_ns() const;
  bool is_configured() const;
  void reset() { *this = Sampler{}; }

 private:
  std::vector<Action> actions_{};
  std::vector<Timer> timers_{};
  std::uint32_t pet_timer_ = kNoPet;
  std::uint32_t pet_action_ = 0;  ///< as it was when the PET timer was set
  bool lightweight_ = false;
  bool sampling_ = false;
  std::vector<std::uint8_t> filter_{};
  std::uint32_t trigger_action_ = 0;
};

}  // namespace lauka::darwin
