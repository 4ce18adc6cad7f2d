#include "os/clock.h"

#include <ctime>

namespace lauka::os {

std::optional<std::chrono::nanoseconds> scheduler_tick() {
  // The coarse clock is moved on by the tick. sysconf(_SC_CLK_TCK) is another thing, always 100.
  timespec t{};
  if (clock_getres(CLOCK_MONOTONIC_COARSE, &t) != 0) return std::nullopt;
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

}  // namespace lauka::os
