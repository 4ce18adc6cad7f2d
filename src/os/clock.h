#pragma once

#include "core/numbers.h"
#include "core/result.h"

#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>

namespace lauka::os {

/// Time that only moves forward, for measuring budgets.
class Clock : NonCopyable {
 public:
  virtual ~Clock() = default;

  /// Since an arbitrary start.
  virtual std::chrono::nanoseconds now() const = 0;
};

/// Returns the smallest of a few steps of `clock`: its resolution, or the time that a reading takes
/// if that is longer. Zero if it does not move.
std::chrono::nanoseconds observed_step(const Clock& clock);

/// CLOCK_MONOTONIC.
class MonotonicClock final : public Clock {
 public:
  std::chrono::nanoseconds now() const override;

  /// Returns the smallest difference of readings: the system's, or the observed one if larger.
  std::chrono::nanoseconds resolution() const;
};

/// MonotonicClock in ns, as a single system call: for signal handlers and vfork children.
inline std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// Does nothing for so long, or until a signal asks lauka to end.
void sleep_for(std::chrono::nanoseconds time);

/// Returns the length of the ticks by which the kernel divides CPU time into user and system;
/// nullopt if unknown.
std::optional<std::chrono::nanoseconds> scheduler_tick();

/// Returns the time of day, since 1970 UTC, less MonotonicClock.
std::chrono::nanoseconds time_of_day_ahead();

/// The time of day, UTC.
TimeOfDay time_of_day();

}  // namespace lauka::os
