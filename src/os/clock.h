#pragma once

#include "core/numbers.h"
#include "core/result.h"

#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>

namespace lauka::os {

/// A clock that never goes back.
class Clock : NonCopyable {
 public:
  virtual ~Clock() = default;

  /// Returns the time since an arbitrary but fixed start.
  virtual std::chrono::nanoseconds now() const = 0;
};

/// Reads `clock` repeatedly. Returns the smallest difference between successive readings that
/// differ; zero if all readings are equal.
std::chrono::nanoseconds observed_step(const Clock& clock);

class MonotonicClock final : public Clock {
 public:
  std::chrono::nanoseconds now() const override;

  /// Returns the larger of the resolution that the system reports and observed_step().
  std::chrono::nanoseconds resolution() const;
};

/// Returns the time of CLOCK_MONOTONIC. Signal handlers and vfork children may call this.
inline std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// Sleeps for `time`, or less if lauka is asked to end (first_interrupt_signal()).
void sleep_for(std::chrono::nanoseconds time);

/// Returns the period of the kernel's timer tick; nullopt if unknown, and on macOS.
std::optional<std::chrono::nanoseconds> scheduler_tick();

/// Returns the time since 1970 (UTC) minus the time of MonotonicClock.
std::chrono::nanoseconds utc_minus_monotonic();

UtcTime utc_now();

}  // namespace lauka::os
