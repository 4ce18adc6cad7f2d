#pragma once

#include "core/numbers.h"
#include "core/result.h"

#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>

namespace lauka::os {

/// A clock that only moves forward, for measuring time budgets.
class Clock : NonCopyable {
 public:
  virtual ~Clock() = default;

  /// Returns the time since an arbitrary start.
  virtual std::chrono::nanoseconds now() const = 0;
};

/// Returns the resolution of `clock`: the smallest of several observed steps, or the time that a
/// reading takes if that is longer. Zero if no step was seen.
std::chrono::nanoseconds observed_step(const Clock& clock);

/// The system's clock CLOCK_MONOTONIC.
class MonotonicClock final : public Clock {
 public:
  std::chrono::nanoseconds now() const override;

  /// Returns the smallest difference of two readings: as the system reports it, or as observed if
  /// larger.
  std::chrono::nanoseconds resolution() const;
};

/// Returns MonotonicClock's time in nanoseconds by a single system call, which signal handlers and
/// vfork children may make.
inline std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// Sleeps for `time`, or until a signal asks lauka to end.
void sleep_for(std::chrono::nanoseconds time);

/// Returns the time between the ticks by which the kernel divides CPU time into user and system
/// time; nullopt if unknown, or if there are no such ticks (macOS).
std::optional<std::chrono::nanoseconds> scheduler_tick();

/// Returns the difference between the time since 1970 (UTC) and MonotonicClock.
std::chrono::nanoseconds time_of_day_ahead();

/// Returns the current time, UTC.
TimeOfDay time_of_day();

}  // namespace lauka::os
