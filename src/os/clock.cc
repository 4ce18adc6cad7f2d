#include "os/clock.h"

#include "os/platform.h"
#include "os/signals.h"

#include <algorithm>
#include <cerrno>

namespace lauka::os {

std::chrono::nanoseconds observed_step(const Clock& clock) {
  constexpr int most_steps = 16;
  constexpr int most_readings = 2'000'000;
  std::chrono::nanoseconds smallest{};
  std::chrono::nanoseconds before = clock.now();
  int steps = 0;
  for (int i = 0; i < most_readings && steps < most_steps; ++i) {
    const std::chrono::nanoseconds now = clock.now();
    if (now == before) continue;
    smallest = steps == 0 ? now - before : std::min(smallest, now - before);
    before = now;
    ++steps;
  }
  return smallest;
}

void sleep_for(std::chrono::nanoseconds time) {
  timespec left = to_timespec(time);
  while (first_interrupt_signal() == 0 && nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

std::chrono::nanoseconds MonotonicClock::now() const {
  return std::chrono::nanoseconds(now_ns());
}

std::chrono::nanoseconds MonotonicClock::resolution() const {
  timespec t{};
  clock_getres(CLOCK_MONOTONIC, &t);
  return std::max(std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec),
                  observed_step(*this));
}

std::chrono::nanoseconds utc_minus_monotonic() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970) - MonotonicClock().now();
}

UtcTime utc_now() {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

}  // namespace lauka::os
