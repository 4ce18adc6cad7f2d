#pragma once

#include <chrono>

namespace lauka::os {

/// Time that only moves forward; what budgets are measured with.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  /// Since an arbitrary start.
  virtual std::chrono::nanoseconds now() const = 0;
};

/// CLOCK_MONOTONIC.
class MonotonicClock final : public Clock {
 public:
  std::chrono::nanoseconds now() const override;
};

}  // namespace lauka::os
