#include "os/clock.h"
#include "os/platform.h"
#include "os/signals.h"

#include <algorithm>
#include <cerrno>

namespace lauka::os {
namespace {

constexpr int kSteps = 16;
/// Readings before the clock is thought to have stopped; one step of 10 ms fits in even at 10 ns.
constexpr int kMostReadings = 2'000'000;

}  // namespace

std::chrono::nanoseconds observed_step(const Clock& clock) {
  std::chrono::nanoseconds smallest{};
  std::chrono::nanoseconds before = clock.now();
  int steps = 0;
  for (int i = 0; i < kMostReadings && steps < kSteps; ++i) {
    const std::chrono::nanoseconds now = clock.now();
    if (now == before) continue;
    smallest = steps == 0 ? now - before : std::min(smallest, now - before);
    before = now;
    ++steps;
  }
  return smallest;
}

void sleep_for(std::chrono::nanoseconds time) {
  timespec left = timespec_of(time);
  while (interrupt() == 0 && nanosleep(&left, &left) != 0 && errno == EINTR) {
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

std::chrono::nanoseconds time_of_day_ahead() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970) - MonotonicClock().now();
}

TimeOfDay time_of_day() {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

}  // namespace lauka::os
