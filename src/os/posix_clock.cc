#include "os/clock.h"

#include <ctime>

namespace lauka::os {

std::chrono::nanoseconds MonotonicClock::now() const {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

}  // namespace lauka::os
