#pragma once

#include "core/numbers.h"
#include "core/result.h"

#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>

namespace lauka::os {

/// Time that only moves forward; what budgets are measured with.
class Clock : NonCopyable {
 public:
  virtual ~Clock() = default;

  /// Since an arbitrary start.
  virtual std::chrono::nanoseconds now() const = 0;
};

/// The smallest step that `clock` was seen to make in a few: what it can tell apart, or the time a
/// reading takes, whichever is longer. Zero where it does not move.
std::chrono::nanoseconds observed_step(const Clock& clock);

/// CLOCK_MONOTONIC.
class MonotonicClock final : public Clock {
 public:
  std::chrono::nanoseconds now() const override;

  /// What two readings can tell apart: what the system says, but not less than is observed.
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

/// Length of the ticks by which the kernel divides CPU time into user and system; none where that
/// is not known.
std::optional<std::chrono::nanoseconds> scheduler_tick();

/// How far the time of day, since 1970 UTC, is ahead of MonotonicClock.
std::chrono::nanoseconds time_of_day_ahead();

/// The time of day, UTC.
TimeOfDay time_of_day();

}  // namespace lauka::os
